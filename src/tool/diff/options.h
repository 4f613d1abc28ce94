/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of npumem-diff.
 */
#ifndef NM_TOOL_DIFF_OPTIONS_H
#define NM_TOOL_DIFF_OPTIONS_H

#include "report/compare.h"
#include "tool/common/options.h"

typedef struct diff_options {
    nm_compare_choice
        choice; /* `from` and `to`: two moments of the run, as moments.c spells them in the end; NULL: two runs are compared */
    const char *run_path;
    const char *csv_folder;  /* NULL: no CSV */
    const char *output_path; /* NULL: standard output */
    bool is_forced, is_json, is_quiet;
    int64_t top; /* INT64_MAX: all */
} diff_options;

/* Into zeroed options, which borrow from argv. */
options_outcome diff_options_read(int argc, char **argv, diff_options *options);

#endif
