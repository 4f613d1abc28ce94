/* SPDX-License-Identifier: Apache-2.0
 *
 * The large tables of a database, all of integers, fast. Rows become cells at once (cell.h) and are kept in order
 * (row_order.h); in the end they go into the file as whole pages, behind what SQLite wrote (table_file.h). SQLite itself never
 * sees them before. A connection that is `is_plain` gets them by INSERT instead (sql_rows.h), which is slower, and is what the
 * other way is compared with.
 *
 * No thread does that beside the caller: measured, a row of thirty integers costs as much to be handed over to another
 * processor as to be made a cell.
 *
 *     nm_bulks_new(db, &options, &bulks, err);          the tables are there, and empty
 *     nm_bulks_open(bulks, &columns, &bulk, err);       one of them
 *     nm_bulk_next(bulk, &values, err); ...             its rows, in any order
 *     nm_bulks_finish(bulks, err);                      all rows are in their tables
 *     nm_bulks_free(bulks);
 */
#ifndef NM_STORE_BULK_BULK_H
#define NM_STORE_BULK_BULK_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/database.h"

typedef struct nm_bulks nm_bulks;
typedef struct nm_bulk nm_bulk; /* a table, owned by its nm_bulks */

typedef struct nm_bulk_options {
    const char *path; /* of the database file; borrowed until nm_bulks_free */
    int fd; /* of that file, for reading and writing; the same. Not closed while `db` is open: see close(2) on locks */
    bool is_plain;       /* by INSERT */
    size_t memory_bytes; /* for the rows of a table that wait; 0: NM_BULK_MEMORY_BYTES */
} nm_bulk_options;

#define NM_BULK_MEMORY_BYTES (32u << 20)

nm_status nm_bulks_new(sqlite3 *db, const nm_bulk_options *options, nm_bulks **out, nm_error *err);

/* NM_ERR_DATABASE: its columns are others. Only a rowid table of nothing but integers, with an INTEGER PRIMARY KEY as its
 * first column, without any other key, index, check or trigger, or a default but 0, can be written as pages: others get their rows by
 * INSERT. Rows of view allocation go to the table below it (narrow.h). */
nm_status nm_bulks_open(nm_bulks *bulks, const nm_columns *columns, nm_bulk **out, nm_error *err);

/* *values is the next row, to be filled by the caller before the next call: one integer a column, NM_NULL for NULL. */
nm_status nm_bulk_next(nm_bulk *bulk, int64_t **values, nm_error *err);

uint64_t nm_bulk_row_count(const nm_bulk *bulk); /* so far */

/* Inside a transaction, which is committed, and another one begun. What was written as pages has been read back and checked.
 * NM_ERR_DATABASE: two rows have the same id, or the file did not keep what was written. */
nm_status nm_bulks_finish(nm_bulks *bulks, nm_error *err);

void nm_bulks_free(nm_bulks *bulks); /* before the database is closed; rows not finished are forgotten; NULL is fine */

#endif
