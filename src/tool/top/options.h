/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of npumem-top.
 */
#ifndef NM_TOOL_TOP_OPTIONS_H
#define NM_TOOL_TOP_OPTIONS_H

#include "tool/common/options.h"

typedef struct top_options {
    const char *path; /* NULL: `pid` says which */
    const char *pid;
    const char *output_path;     /* NULL: standard output */
    const char *prometheus_path; /* NULL: none */
    int64_t interval_ns;
    uint64_t site_count;
    bool is_once, is_json, is_forced, is_quiet;
} top_options;

/* Into zeroed options, which borrow from argv. */
options_outcome top_options_read(int argc, char **argv, top_options *options);

#endif
