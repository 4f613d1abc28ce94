/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of the tables of somebody else's SQLite file. Nothing that the file says is run: tables alone are read, by their names; a view, a
 * trigger, a virtual table or a column that is computed is not. The file is only read, as it lies: no lock, and no journal
 * beside it. What the reading may cost is bounded by its size.
 *
 *     nm_foreign_tables_open(input, &tables, err);
 *     nm_foreign_rows_open(tables, "MEMORY_RECORD", columns, 2, &rows, err);
 *     while ((status = nm_foreign_rows_next(rows, &cells, err)) == NM_OK)
 *         ... cells[0], cells[1], as those of source/csv_rows.h
 *     nm_foreign_rows_close(rows);
 *     nm_foreign_tables_close(tables);
 */
#ifndef NM_SOURCE_FOREIGN_ROWS_H
#define NM_SOURCE_FOREIGN_ROWS_H

#include "base/error.h"
#include "source/cell.h"
#include "source/input.h"

#define NM_FOREIGN_COLUMNS_MAX   256       /* of any table of the file */
#define NM_FOREIGN_ROW_BYTES_MAX (1 << 20) /* and of a text, and of what made a table */

typedef struct nm_foreign_tables nm_foreign_tables;
typedef struct nm_foreign_rows nm_foreign_rows;

bool nm_foreign_matches(nm_bytes head); /* a file that begins so is an SQLite database */

/* `input` (borrowed) is no gzip file (nm_input_unpack). NM_ERR_FORMAT: damaged, or no database; NM_ERR_LIMIT: it would cost too much. */
nm_status nm_foreign_tables_open(nm_input *input, nm_foreign_tables **out, nm_error *err);
void nm_foreign_tables_close(nm_foreign_tables *tables); /* NULL is fine */

/* Is there a table (not a view) of that name? */
bool nm_foreign_tables_has(const nm_foreign_tables *tables, const char *table);

/* The rows by their numbers. A table, or a column, that is not there is no error: it has no rows, its cells are NM_CELL_NONE.
 * `columns` is only read here. NM_ERR_FORMAT: a column of it is computed. */
nm_status nm_foreign_rows_open(nm_foreign_tables *tables, const char *table, const char *const *columns,
                               size_t column_count, nm_foreign_rows **out, nm_error *err);
void nm_foreign_rows_close(nm_foreign_rows *rows); /* NULL is fine; before its tables */

/* *cells: as many as were asked for, borrowed until the next call. */
nm_status nm_foreign_rows_next(nm_foreign_rows *rows, const nm_cell **cells, nm_error *err);

#endif
