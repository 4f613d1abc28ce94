/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of a page that are a question to the database each: one row of tables.def, whose name and columns the script
 * (web/) knows them by. Every question says how many rows it gives at most.
 */
#ifndef NM_PAGE_TABLES_H
#define NM_PAGE_TABLES_H

#include "page/page.h"

/* All of them, in order. `database` is the name that commands have for it. */
nm_status nm_page_tables_write(nm_page *page, const char *database, nm_error *err);

/* One more, of rows that the caller has prepared and finalizes. */
nm_status nm_page_table_write(nm_page *page, const char *name, sqlite3_stmt *rows, nm_error *err);

/* One more, whose rows the caller has. */
nm_status nm_page_tables_put(nm_page *page, const nm_page_columns *columns, const char *name, nm_error *err);

/* One more, of a question. */
nm_status nm_page_question_write(nm_page *page, sqlite3 *db, const char *name, const char *sql, nm_error *err);

#endif
