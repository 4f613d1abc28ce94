/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of npumem-ingest.
 */
#ifndef NM_TOOL_INGEST_OPTIONS_H
#define NM_TOOL_INGEST_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "store/store.h"

#define EXIT_USAGE 2

typedef struct ingest_options {
    const char *const *operands;
    size_t operand_count;
    char *output_path;           /* owned; NULL: the input's name says it */
    const char *csv_folder;      /* NULL: no CSV */
    const char *rules_path;      /* NULL: none */
    const char *step_at;         /* where steps begin; NULL: find out */
    const char **symbol_folders; /* owned */
    size_t symbol_folder_count;
    nm_retention detail;
    int64_t server_minutes; /* 0: as the store has it */
    nm_thresholds thresholds;
    bool has_csv_bom;
    bool is_forced;
    bool is_quiet;
    bool is_redacted;
} ingest_options;

/* Into zeroed options, which borrow from argv. 0, or the exit status; -1 when the program has done what was asked (--help). */
int ingest_options_take(int argc, char **argv, ingest_options *options);
void ingest_options_free(ingest_options *options);

#endif
