/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows back from their tables, as rows.def declares them.
 */
#ifndef NM_STORE_ROW_READ_H
#define NM_STORE_ROW_READ_H

#include <sqlite3.h>

#include "rows/sink.h"

/*
 * Gives the rows of a kind that has a table to a sink that wants them, in the order of `clause` (what stands behind the
 * name of the table in SQL; "" for none). A row is as the replay gave it, as far as its table says: what is NULL there is
 * unknown, members without a column are 0, and so are texts of the input, whose numbers are the input's own; a TEXT is
 * borrowed from the statement until the sink returns. Of allocations, which are many, see store/allocation_rows.h.
 */
nm_status nm_rows_give(sqlite3 *db, nm_row_kind kind, const char *clause, const nm_sink *sink, nm_error *err);

#endif
