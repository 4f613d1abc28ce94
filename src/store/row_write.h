/* SPDX-License-Identifier: Apache-2.0
 *
 * A row into its table.
 */
#ifndef NM_STORE_ROW_WRITE_H
#define NM_STORE_ROW_WRITE_H

#include "store/loader_state.h"

/*
 * Writes a row of any kind that has a table, and does nothing of the others. A row of a large table goes where
 * store/retention.h says. What it refers to is looked up: what the input does not define becomes NULL and is counted,
 * operations and allocations are remembered among those that must be written in the end.
 */
nm_status nm_row_write(nm_loader *loader, nm_row_kind kind, const void *row, nm_error *err);

#endif
