/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of a page: rows of a query, kept by column and written as one block (block.h) behind a head that says how to read
 * it: {"name":..., "rows":..., "columns":[{"name":..., "kind":..., "bytes":..., "base":...}, ...]}. Columns follow each other, each
 * as byte planes, the lowest byte of all rows first: what is alike lies together, and deflates well.
 *
 *   int    0 is NULL, else the value less `base`, and 1, in `bytes` bytes
 *   rise   no NULL, never falling: the first value less `base`, then by how much each is above the one before it
 *   step   no NULL: by how much each is above the one before it, of which the first is `base`; -1 is 1, 1 is 2, -2 is 3
 *   real   the 8 bytes of an IEEE double, NaN is NULL
 *   text   the number of the text in block "strings", 0 is NULL
 *
 * The head holds names of ours and numbers alone; all that is foreign is in blocks.
 */
#ifndef NM_PAGE_COLUMNS_H
#define NM_PAGE_COLUMNS_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

#include "base/strings.h"

#define NM_PAGE_COLUMNS_MAX 48
#define NM_PAGE_TEXT_BYTES  4096 /* what is longer is cut */

typedef enum nm_page_kind { NM_PAGE_NONE, NM_PAGE_INT, NM_PAGE_REAL, NM_PAGE_TEXT } nm_page_kind;

typedef struct nm_page_column {
    char name[40];
    nm_page_kind kind; /* of the first value that is not NULL */
    int64_t *values;   /* owned; of a real its bits; NM_NULL, a NaN's or 0 (text) for NULL */
    size_t capacity;
} nm_page_column;

typedef struct nm_page_columns {
    nm_page_column columns[NM_PAGE_COLUMNS_MAX];
    size_t column_count, row_count;
} nm_page_columns;

/* Reads all rows; texts get numbers, safe to show (base/shown.h). `columns` is empty before, and to be freed on failure too. */
nm_status nm_page_columns_read(nm_page_columns *columns, nm_strings *strings, sqlite3 *db, sqlite3_stmt *rows,
                               nm_error *err);

/* A text of a row, safe to show, as the number that stands in a column of texts; 0: `foreign` is NULL. */
nm_status nm_page_columns_text(nm_strings *strings, const char *foreign, int64_t *value, nm_error *err);

/* The same by hand: columns of integers (texts where `kind` is set so), then rows of a value for each, NM_NULL for NULL. */
void nm_page_columns_name(nm_page_columns *columns, const char *const *names); /* ends with NULL */
nm_status nm_page_columns_add(nm_page_columns *columns, const int64_t *values, nm_error *err);

/* Writes the element <script class="table" ...>. `name` is of our own letters, digits and underscores. */
nm_status nm_page_columns_write(const nm_page_columns *columns, const char *name, FILE *out, nm_error *err);

void nm_page_columns_free(nm_page_columns *columns);

#endif
