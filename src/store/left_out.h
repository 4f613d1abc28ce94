/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a load with less than all rows: what was only needed for sums goes again, and table left_out says so.
 */
#ifndef NM_STORE_LEFT_OUT_H
#define NM_STORE_LEFT_OUT_H

#include <sqlite3.h>

#include "store/detail.h"

/* When all rows and sums are there. Nothing is done with NM_DETAIL_ALL. */
nm_status nm_left_out_finish(sqlite3 *db, nm_detail detail, const nm_last_numbers *last, nm_error *err);

#endif
