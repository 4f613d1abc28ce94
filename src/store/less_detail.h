/* SPDX-License-Identifier: Apache-2.0
 *
 * Less detail of a database that is finished: which rows of the large tables stay when it is copied (store/merge.c). The rule
 * is that of retention.h, asked of rows that are all there instead of rows that come. Inputs that have no more than is asked
 * for are left as they are. What is read is the database attached as `source`.
 */
#ifndef NM_STORE_LESS_DETAIL_H
#define NM_STORE_LESS_DETAIL_H

#include <sqlite3.h>

#include "store/live_rule.h"
#include "store/retention.h"

/*
 * Temporary tables of the connection. The one that others read:
 *     less_condition  owner, condition: the tables of which not all rows stay, and which do
 * Empties them, too; with NM_RETENTION_ALL that is all. `known`: which allocations live_rule.h keeps, where somebody has looked; or NULL.
 */
nm_status nm_less_detail_choose(sqlite3 *db, nm_retention retention, const nm_live_ids *known, nm_error *err);

/* After the copy, and before the numbers of merge_table (store/merge.h) are renewed: says of the inputs in `main` which had
 * more what they have now. */
nm_status nm_less_detail_note(sqlite3 *db, nm_retention retention, nm_error *err);

#endif
