/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of npumem-ingest.
 */
#ifndef NM_TOOL_INGEST_OPTIONS_H
#define NM_TOOL_INGEST_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "store/store.h"
#include "tool/common/options.h"
#include "tool/common/progress.h"

typedef struct ingest_options { /* texts are borrowed from the command line */
    const char *const *operands;
    size_t operand_count;
    const char *output_path; /* NULL: the input's name says it */
    const char *csv_folder;  /* NULL: no CSV */
    const char *report_path; /* NULL: no page */
    const char *rules_path;  /* NULL: none */
    const char *step_at;     /* where steps begin; NULL: find out */
    struct {
        const char **items; /* owned */
        size_t count, capacity;
    } symbol_folders;
    nm_buffer own_rules; /* site rules that --own stands for, a line each */
    nm_retention detail; /* NM_RETENTION_WINDOW: of `window` */
    nm_window_bounds window;
    bool has_window;
    int64_t server_minutes; /* 0: as the store has it */
    nm_thresholds thresholds;
    uint64_t job_count; /* 0: as many as there are processors */
    bool has_csv_all, has_csv_internal;
    uint32_t color;    /* a tool_color */
    uint32_t language; /* a tool_language */
    bool has_csv_bom;
    bool is_json;
    bool is_safe_load;
    bool is_forced;
    bool is_quiet;
    nm_progress_form progress;
    bool is_redacted;
} ingest_options;

/* Into zeroed options. */
options_outcome ingest_options_read(int argc, char **argv, ingest_options *options);
void ingest_options_free(ingest_options *options);

#endif
