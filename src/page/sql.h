/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of a page that answers SQL: SQLite as wasm, the queries, and a copy of the database with less detail (--detail live).
 * Rows of its larger tables are not in the file of the copy but beside it, by column (columns.h), which takes a third of the
 * room: the page puts them back.
 *
 *     <script class="sql" data-head='{"name":"engine"}'>     sql-wasm.js and web/worker.js, one script
 *     ... "wasm", "queries" (name and text of each, a zero behind both), "database"
 *     <script class="table" ...>                             sql_view: the public views; sql_TABLE: rows of that table
 *
 * A second database, for comparisons, has "database_2" and sql_2_TABLE alone, and the queries of the page are then those as well
 * that attach another database. Where one would take too much of the page it has one element of it, with the name "left_out" or
 * "left_out_2".
 */
#ifndef NM_PAGE_SQL_H
#define NM_PAGE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/strings.h"
#include "store/live_rule.h"

/* Is it part of this build? */
bool nm_page_sql_is_built(void);

typedef enum nm_page_sql_role {
    NM_PAGE_SQL_ALONE,
    NM_PAGE_SQL_FIRST, /* of two */
    NM_PAGE_SQL_SECOND
} nm_page_sql_role;

/* What is asked. */
typedef struct nm_page_sql_source {
    sqlite3 *db;
    nm_page_sql_role role;
    const nm_live_ids *live_ids; /* store/live_copy.h; NULL: nobody has looked */
} nm_page_sql_source;

/*
 * *text: all of it as it stands in a page, *len bytes, the caller's to free; at most `bytes_max`, else that it is left out. The
 * copy lies meanwhile beside `scratch_path`. Texts of rows get numbers of `strings`. *is_there: it is not left out, as one is that
 * does not fit, or is of an older version, which lies in no file.
 */
nm_status nm_page_sql_make(const nm_page_sql_source *source, const char *scratch_path, uint64_t bytes_max,
                           nm_strings *strings, char **text, size_t *len, bool *is_there, nm_error *err);

#endif
