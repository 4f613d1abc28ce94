/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of npumem-report.
 */
#ifndef NM_TOOL_REPORT_OPTIONS_H
#define NM_TOOL_REPORT_OPTIONS_H

#include "tool/common/options.h"

/* What a page is made of meanwhile, in the temporary folder (answer_scratch). */
#define REPORT_SCRATCH     "npumem-report.db"
#define REPORT_SQL_SCRATCH "npumem-report-sql.db"

typedef struct report_options {
    const char *const *databases; /* at least one, each another file; borrowed, as all texts */
    size_t database_count;
    const char *against; /* NULL: no other run */
    const char *output;  /* NULL: by the database's name, "-": standard output */
    uint64_t bytes_max;
    bool is_forced;
    bool is_whatif;  /* other settings are tried */
    bool has_no_sql; /* the page cannot be asked in SQL */
} report_options;

/* Into zeroed options, which borrow from argv. */
options_outcome report_options_read(int argc, char **argv, report_options *options);

#endif
