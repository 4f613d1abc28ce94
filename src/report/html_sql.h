/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of a page that answers SQL: SQLite as wasm, the queries, and a copy of the database with less detail (--detail live).
 * Rows of its larger tables are not in the file of the copy but beside it, by column (html_columns.h), which takes a third of the
 * room: the page puts them back.
 *
 *     <script class="sql" data-head='{"name":"engine"}'>     sql-wasm.js and web/worker.js, one script
 *     ... "wasm", "queries" (name and text of each, a zero behind both), "database"
 *     <script class="table" ...>                             sql_view: the public views; sql_TABLE: rows of that table
 *
 * Where they would take too much of the page it has one element of them, with the name "left_out".
 */
#ifndef NM_REPORT_HTML_SQL_H
#define NM_REPORT_HTML_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/strings.h"
#include "store/live_rule.h"

/* Is it part of this build? */
bool nm_html_sql_is_built(void);

/*
 * *text: all of it as it stands in a page, *len bytes, the caller's to free; at most `bytes_max`, else that it is left out. The
 * copy lies meanwhile beside `scratch_path`. Texts of rows get numbers of `strings`. `live_ids`: store/live_copy.h.
 */
nm_status nm_html_sql_make(sqlite3 *db, const char *scratch_path, uint64_t bytes_max, const nm_live_ids *live_ids,
                           nm_strings *strings, char **text, size_t *len, nm_error *err);

#endif
