/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of any values into one table, some hundred at a time (offered_rows.h). For nm_insert, which says when. Large tables of integers
 * have bulk/.
 */
#ifndef NM_STORE_INSERT_ROWS_H
#define NM_STORE_INSERT_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

#define NM_INSERT_ROWS_COUNT 256

typedef struct nm_insert_rows nm_insert_rows;

/* Once a table and connection. */
nm_status nm_insert_rows_new(sqlite3 *db, const char *table, int column_count, nm_insert_rows **out, nm_error *err);

/* The value of column `at` of the row at hand, the first is 1. Returns SQLite's code. */
int nm_insert_rows_null(nm_insert_rows *rows, int at);
int nm_insert_rows_int(nm_insert_rows *rows, int at, int64_t value);
int nm_insert_rows_real(nm_insert_rows *rows, int at, double value);
int nm_insert_rows_bytes(nm_insert_rows *rows, int at, nm_bytes text); /* copied */

/* Each column of the row at hand has its value. Writes all when there are enough. */
nm_status nm_insert_rows_end(nm_insert_rows *rows, nm_error *err);

nm_status nm_insert_rows_flush(nm_insert_rows *rows, nm_error *err);

/* Before the database is closed. Rows not flushed are forgotten. NULL is fine. */
void nm_insert_rows_free(nm_insert_rows *rows);

#endif
