/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads back what table_file.c wrote, page by page, as SQLite's own quick_check does for tables that SQLite wrote: which takes
 * two thousand instructions a row of thirty columns. The file may lie on anything; what is wrong with it is to be known before
 * it gets its name.
 */
#ifndef NM_STORE_BULK_TABLE_CHECK_H
#define NM_STORE_BULK_TABLE_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

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

#endif
