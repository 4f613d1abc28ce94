/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of npumem-whatif.
 */
#ifndef NM_TOOL_WHATIF_OPTIONS_H
#define NM_TOOL_WHATIF_OPTIONS_H

#include "tool/common/options.h"
#include "tool/common/progress.h"
#include "whatif/workload.h"

/* A setting as it was given; it is read when the device is known. */
typedef struct whatif_setting_text {
    const char *text; /* borrowed */
    bool is_bucket;
} whatif_setting_text;

typedef struct whatif_options {
    const char *const *paths; /* borrowed */
    size_t path_count;
    struct {
        whatif_setting_text *items; /* owned */
        size_t count, capacity;
    } settings;
    const char *csv_path;
    const char *output_path; /* NULL: standard output */
    uint64_t capacity_bytes; /* 0: that of the recorded device, if it is known */
    uint64_t other_bytes;
    uint64_t heap_id; /* 0: the pool that held most */
    bool has_pad;     /* else as the device is known to have it */
    uint64_t pad_bytes;
    nm_workload_options workload;
    nm_progress_form progress;
    bool is_list, is_compare, is_suggest, is_advise, is_json, is_forced, is_quiet;
} whatif_options;

/* Into zeroed options, which borrow from argv. */
options_outcome whatif_options_read(int argc, char **argv, whatif_options *options);
void whatif_options_free(whatif_options *options);

#endif
