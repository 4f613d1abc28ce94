/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads back what table_file.c wrote, page by page, as SQLite's own quick_check does for tables that SQLite wrote: which takes
 * two thousand instructions a row of thirty columns. The file may lie on anything; what is wrong with it is to be known before
 * it gets its name. Tables of that form are read in the same way out of a file that is there: where SQLite's machine takes a thousand
 * instructions a row, that takes a tenth.
 */
#ifndef NM_STORE_BULK_TABLE_CHECK_H
#define NM_STORE_BULK_TABLE_CHECK_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/bulk/cell.h"

typedef struct nm_table_form {
    uint32_t root_page;
    uint64_t row_count;
    size_t column_count;
    const uint8_t *has_null;     /* a byte a column: may it be NULL; borrowed */
    const uint8_t *is_else_zero; /* the same: is it 0 where a row ends before it, else NULL; borrowed */
} nm_table_form;

/*
 * NM_ERR_DATABASE: the tree is none of its form: a page of another kind, a cell that reaches out of its page or over another,
 * ids that do not ascend or contradict the page above, a record that is none, a NULL that may not be, or another number of
 * rows. err->offset is the page's place in the file.
 */
nm_status nm_table_check(int fd, const nm_table_form *form, nm_error *err);

/* The same of an index: each entry is read, and is the one given in its place. */
nm_status nm_index_check(int fd, int64_t root_page, const nm_index_entries *entries, nm_error *err);

typedef struct nm_table_rows {
    int64_t first_id, last_id; /* of rows */
    int64_t *const *into; /* a place a column: take finds its value there, NM_NULL for NULL. NULL: it is not wanted */
    nm_status (*take)(void *context, nm_error *err);
    void *context;
} nm_table_rows;

/*
 * Rows in the order of their ids, of a file that a connection holds (nm_validate_hold, or a statement that has begun to read) and
 * does not write. Each row is checked before it is given, and each page behind its rows, as nm_table_check does, but for how many
 * there are. `wanted` NULL: that is all. *is_wrong: from behind the last row that was given on it is not of its form (NM_OK: SQLite
 * may have written it). A status but NM_OK is that of take, but for NM_END, which ends it; or there is no memory.
 */
nm_status nm_table_read(sqlite3_file *file, const nm_table_form *form, const nm_table_rows *wanted, bool *is_wrong,
                        nm_error *err);

#endif
