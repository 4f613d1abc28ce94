/* SPDX-License-Identifier: Apache-2.0
 *
 * Many rows of integers into one table, fast: thousands are collected in memory and inserted at once (store/offered_rows.h), which was
 * measured three times as fast as binding. Each batch goes in by ascending first column, because rows come in the order of their ends and the table is
 * keyed by their births.
 */
#ifndef NM_STORE_BULK_SQL_ROWS_H
#define NM_STORE_BULK_SQL_ROWS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/database.h"

#define NM_SQL_BATCH_ROWS 32768

typedef struct nm_sql_rows nm_sql_rows;

nm_status nm_sql_rows_open(sqlite3 *db, const nm_columns *columns, nm_sql_rows **out, nm_error *err); /* checks them */

/*
 * *values is the next row, to be filled by the caller before the next call: one integer a column, NM_NULL for NULL.
 * Writes the rows so far when a batch is full.
 */
nm_status nm_sql_rows_next(nm_sql_rows *rows, int64_t **values, nm_error *err);

nm_status nm_sql_rows_flush(nm_sql_rows *rows, nm_error *err);
void nm_sql_rows_close(
    nm_sql_rows *rows); /* before the database is closed; rows not flushed are forgotten; NULL is fine */

#endif
