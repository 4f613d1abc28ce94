/* SPDX-License-Identifier: Apache-2.0
 *
 * What an index over few rows of a large table has to hold, gathered while the rows come: SQLite would read the whole table again to
 * find them. Which table and index that is, and of which rows, is said in index_rows.c and in allocation_outstanding.sql.
 *
 *     nm_index_rows_new(&columns, &index, err);
 *     nm_index_rows_add(index, values, err); ...          all rows of the table, in any order
 *     nm_index_rows_make(index, db, err);                 while the table is empty
 *     nm_index_rows_root(index), nm_index_rows_entries(index)
 */
#ifndef NM_STORE_BULK_INDEX_ROWS_H
#define NM_STORE_BULK_INDEX_ROWS_H

#include <sqlite3.h>

#include "base/error.h"
#include "store/bulk/cell.h"
#include "store/database.h"

#define NM_INDEX_ENTRIES_MAX (1u << 16) /* of more the index is not made here; 3.5 MiB */

typedef struct nm_index_rows nm_index_rows;

/* *out is NULL for a table without such an index. */
nm_status nm_index_rows_new(const nm_columns *columns, nm_index_rows **out, nm_error *err);

nm_status nm_index_rows_add(nm_index_rows *index, const int64_t *values, nm_error *err);

/* Inside a transaction: makes the index, of nothing, unless there are too many entries; and puts them in its order. */
nm_status nm_index_rows_make(nm_index_rows *index, sqlite3 *db, nm_error *err);

int64_t nm_index_rows_root(const nm_index_rows *index); /* NM_NULL: it is not made; SQLite is to make it, of the rows */
nm_index_entries nm_index_rows_entries(const nm_index_rows *index); /* point into `index` */

void nm_index_rows_free(nm_index_rows *index); /* NULL is fine */

#endif
