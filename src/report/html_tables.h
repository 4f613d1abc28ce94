/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of a page that are a question to the database each: one row of html_tables.def, whose name and columns the script
 * (web/) knows them by. Every question says how many rows it gives at most.
 */
#ifndef NM_REPORT_HTML_TABLES_H
#define NM_REPORT_HTML_TABLES_H

#include <sqlite3.h>
#include <stdio.h>

#include "base/strings.h"

/* All of them, in order. The texts in them get numbers of `strings`. */
nm_status nm_html_tables_write(sqlite3 *db, nm_strings *strings, FILE *out, nm_error *err);

/* One more, of rows that the caller has prepared and finalizes. */
nm_status nm_html_table_write(sqlite3 *db, nm_strings *strings, const char *name, sqlite3_stmt *rows, FILE *out,
                              nm_error *err);

/* The block of all texts, each with a zero byte behind it, in the order of their numbers from 1. The last one. */
nm_status nm_html_strings_write(const nm_strings *strings, FILE *out, nm_error *err);

#endif
