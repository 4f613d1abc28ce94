/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that lie in memory, offered to SQLite as a table of its own (a virtual one): one INSERT ... SELECT takes all of them, without a
 * call for each value and a statement for each row. Part of who has the rows (insert_rows.c, bulk/sql_rows.c), and stays where it is
 * as long as it is open.
 *
 *     mine->offered = (nm_offered_rows){.give = give_value, .owner = mine, .column_count = 3};
 *     status = nm_offered_rows_open(&mine->offered, db, "thing", err);
 *     mine->offered.row_count = 100;
 *     status = nm_offered_rows_insert(&mine->offered, err);
 */
#ifndef NM_STORE_OFFERED_ROWS_H
#define NM_STORE_OFFERED_ROWS_H

#include <sqlite3.h>
#include <stddef.h>

#include "base/error.h"

typedef struct nm_offered_rows {
    /* Gives `out` the value; who gives none says NULL. A text stays where it is while the rows are inserted. */
    void (*give)(const void *owner, size_t row, size_t column, sqlite3_context *out);
    const void *owner; /* borrowed */
    size_t column_count;
    size_t row_count;     /* that are offered now */
    sqlite3_stmt *insert; /* owned; of nobody else's business */
} nm_offered_rows;

/* Into this table of `db`, of which nothing else offers rows. */
nm_status nm_offered_rows_open(nm_offered_rows *offered, sqlite3 *db, const char *table, nm_error *err);

nm_status nm_offered_rows_insert(nm_offered_rows *offered, nm_error *err); /* then row_count is 0 */

void nm_offered_rows_close(nm_offered_rows *offered); /* before the database is closed; a zeroed one is fine */

#endif
