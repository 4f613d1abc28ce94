/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a CSV file of somebody else (RFC 4180, read by libcsv), one after another, with the cells of the columns that are asked for
 * by name. A mark of a spreadsheet in front, line breaks within quotes, blanks around a cell and a comma behind the last one are
 * taken as they come. Of the file one row is held.
 *
 *     static const char *const columns[] = {"Name", "Size(KB)"};
 *     nm_csv_rows_open(input, columns, 2, &rows, err);
 *     while ((status = nm_csv_rows_next(rows, &cells, err)) == NM_OK)
 *         ... cells[0], cells[1]
 *     nm_csv_rows_close(rows);
 */
#ifndef NM_SOURCE_CSV_ROWS_H
#define NM_SOURCE_CSV_ROWS_H

#include "base/error.h"
#include "source/cell.h"
#include "source/input.h"

#define NM_CSV_ROW_BYTES_MAX ((size_t)16 << 20)
#define NM_CSV_COLUMNS_MAX   256

typedef struct nm_csv_rows nm_csv_rows;

/* Is the first line of `head` (the first bytes of a file) a header with all these names, of which NULL is the last? */
bool nm_csv_has_columns(nm_bytes head, const char *const *columns);

/* `input` (borrowed) is at its start; the first row names the columns. A name that it lacks is no error: its cells are
 * NM_CELL_NONE. `columns` is only read here. NM_ERR_FORMAT: there is no row. */
nm_status nm_csv_rows_open(nm_input *input, const char *const *columns, size_t column_count, nm_csv_rows **out,
                           nm_error *err);
void nm_csv_rows_close(nm_csv_rows *rows); /* NULL is fine */

/* *cells: as many as were asked for, borrowed until the next call. Rows without any text are passed over. NM_ERR_LIMIT: a row longer than
 * NM_CSV_ROW_BYTES_MAX. Errors name the line and have its offset. */
nm_status nm_csv_rows_next(nm_csv_rows *rows, const nm_cell **cells, nm_error *err);

/* Of the row at hand: its line, from 1, and the bytes in front of it. */
uint64_t nm_csv_rows_line(const nm_csv_rows *rows);
uint64_t nm_csv_rows_offset(const nm_csv_rows *rows);

/* After NM_END: the file ends within a row, which is left out. */
bool nm_csv_rows_is_cut(const nm_csv_rows *rows);

#endif
