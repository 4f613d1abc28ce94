/* SPDX-License-Identifier: Apache-2.0
 *
 * Databases of npumem-ingest, opened for reading by programs that ask them. They may come from anybody, so nothing that the
 * file says is run: tables are read only when they are ours to the letter, and our views are not those of the file but made
 * anew for the connection, from the text in the program. A user's own views, tables, indexes and triggers may lie in the
 * file; they are not touched. What the reading may cost is bounded (store/read_limit.h).
 *
 *     nm_foreign_open("run.db", false, &run, err);
 *     nm_foreign_attach(run, "old.db", "base", false, err);   its tables, as base.heap; views are of the first one alone
 *     ... nm_foreign_db(run)
 *     nm_foreign_close(run);
 */
#ifndef NM_STORE_FOREIGN_H
#define NM_STORE_FOREIGN_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/error.h"

typedef struct nm_foreign nm_foreign;

/*
 * NM_ERR_FORMAT, NM_ERR_VERSION: not a database of npumem-ingest, older than NM_SCHEMA_OLDEST, or damaged. NULL in *out then.
 * `reads_events`: tables with a row an event will be read, so that their pages are checked too, however many they are.
 */
nm_status nm_foreign_open(const char *path, bool reads_events, nm_foreign **out, nm_error *err);

/* Only one. */
nm_status nm_foreign_attach(nm_foreign *foreign, const char *path, const char *schema, bool reads_events,
                            nm_error *err);

/*
 * Borrowed. Of it one can ask SELECTs, of our tables and of our views, by their plain names. ATTACH and DETACH in a text of
 * SQL do nothing: files of queries/ name a second database so, which is there already.
 */
sqlite3 *nm_foreign_db(nm_foreign *foreign);

void nm_foreign_close(nm_foreign *foreign); /* NULL is fine */

#endif
