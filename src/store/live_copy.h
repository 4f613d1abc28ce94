/* SPDX-License-Identifier: Apache-2.0
 *
 * A finished database once more, as --detail live has it, for who takes it along: rows of the allocations that were live at
 * moments, all sums, and no view or table that is not ours.
 */
#ifndef NM_STORE_LIVE_COPY_H
#define NM_STORE_LIVE_COPY_H

#include <sqlite3.h>

#include "base/error.h"
#include "store/store.h"

/*
 * *out: the finished copy, the caller's to take or to close; NULL on failure. It is made beside `beside`, whose folder has to
 * have the room. `db` is the connection that has the database open, which is read anew by
 * its name; all of its pages have been vetted, or it has just been written. `live_ids`: which
 * allocations live_rule.h keeps, where somebody has looked; or NULL.
 */
nm_status nm_live_copy(sqlite3 *db, const char *beside, const nm_live_ids *live_ids, nm_store **out, nm_error *err);

#endif
