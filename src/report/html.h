/* SPDX-License-Identifier: Apache-2.0
 *
 * A finished database as one HTML file that asks nobody for anything: how it looks and what it does is in web/, what it shows
 * in blocks of data at its end (html_block.h). It is written as the database is read; what is held in memory grows with the
 * longest table of the page, whose rows are bounded (html_tables.h), and with the part that answers SQL, which is bounded too
 * (html_sql.h), never with the number of events.
 */
#ifndef NM_REPORT_HTML_H
#define NM_REPORT_HTML_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "report/sentence.h"

#define NM_HTML_BYTES_MAX   ((uint64_t)16 << 20)
#define NM_HTML_BYTES_LEAST ((uint64_t)1 << 20)

typedef struct nm_html_options {
    const char *database_path; /* as it is shown; borrowed */
    nm_language language;      /* of the summary that is there without script */
    uint64_t
        bytes_max; /* about how large the page may get: of more blocks the largest are in it. 0: NM_HTML_BYTES_MAX */
    const char
        *scratch_path; /* beside it lies a copy of the database meanwhile; NULL: the page cannot be asked in SQL */
} nm_html_options;

/* All text is foreign and becomes data or escaped text, never markup. The caller looks at ferror(out). */
nm_status nm_html_write(sqlite3 *db, const nm_html_options *options, FILE *out, nm_error *err);

#endif
