/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that are not needed any more: at the end of a load with less than all of them, what was only needed for sums.
 */
#ifndef NM_STORE_PRUNE_H
#define NM_STORE_PRUNE_H

#include <sqlite3.h>

#include "store/retention.h"

/* When all rows and sums are there. Nothing is done with NM_RETENTION_ALL. */
nm_status nm_prune(sqlite3 *db, nm_retention retention, nm_error *err);

/* Rows of a table of which one may be within another (operation, stack, frame), numbered above first_id and up to last_id, that
 * no row names. */
nm_status nm_prune_unnamed(sqlite3 *db, const char *table, int64_t first_id, int64_t last_id, nm_error *err);

#endif
