/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a load with less than all rows: what was only needed for sums goes again.
 */
#ifndef NM_STORE_PRUNE_H
#define NM_STORE_PRUNE_H

#include <sqlite3.h>

#include "store/retention.h"

/* When all rows and sums are there. Nothing is done with NM_RETENTION_ALL. */
nm_status nm_prune(sqlite3 *db, nm_retention retention, nm_error *err);

#endif
