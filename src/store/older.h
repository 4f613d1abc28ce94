/* SPDX-License-Identifier: Apache-2.0
 *
 * Databases of the versions before this one, from NM_SCHEMA_OLDEST on: tonight's run is compared with last week's, whatever was
 * installed in between. What their tables say is copied into tables of now, in a database that goes with the connection. Columns
 * are found by their names; what has become of one that was renamed or added is said in older.c, and with it what an older
 * version could not know.
 */
#ifndef NM_STORE_OLDER_H
#define NM_STORE_OLDER_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/error.h"

/* Is that file a database of a version that nm_older_copy reads, and not of this one? Reads nothing but its header. */
bool nm_older_is(const char *path);

/*
 * Fills the database `to`, which has no tables and may be written, with what the one that is attached as `older` has in its tables;
 * without `has_large` those with a row an event stay empty. Of that one nothing is read but columns that are stored in it.
 */
nm_status nm_older_copy(sqlite3 *db, const char *to, bool has_large, nm_error *err);

#endif
