/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts rows in the order of their ids, however many they are: what does not fit into the memory given goes, in order, into
 * a file without a name beside the database, and is merged from there. Rows come mostly in order (by their ends, while
 * ids are given at their births), which costs nothing more.
 */
#ifndef NM_STORE_BULK_ROW_ORDER_H
#define NM_STORE_BULK_ROW_ORDER_H

#include "base/error.h"
#include "store/bulk/cell.h"

typedef struct nm_row_order nm_row_order;

typedef nm_status nm_take_cell(void *context, const nm_cell *cell, nm_error *err);

/* `beside` is borrowed until nm_row_order_free. The memory is for the cells; their order takes a quarter of it again or so. */
nm_status nm_row_order_new(const char *beside, size_t memory_bytes, nm_row_order **out, nm_error *err);

nm_status nm_row_order_add(nm_row_order *order, const int64_t *values, size_t column_count, nm_error *err);

/* All rows, ascending, for once. NM_ERR_DATABASE: two have the same id. */
nm_status nm_row_order_each(nm_row_order *order, nm_take_cell *take, void *context, nm_error *err);

void nm_row_order_free(nm_row_order *order); /* NULL is fine */

#endif
