/* SPDX-License-Identifier: Apache-2.0
 *
 * The copy is a merge of one: a database that may come from anybody is read as ingest reads it, and what is copied are rows alone. Its pages
 * are not looked at a second time: who has it open has done that.
 */
#include "store/live_copy.h"

#include "store/database.h"

/* Who writes a database holds its file for itself. The lock goes with the next statement that reads. */
static nm_status let_others_read(sqlite3 *db, nm_error *err)
{
    if (sqlite3_db_readonly(db, "main") == 1)
        return NM_OK;
    return nm_db_exec(db, "PRAGMA main.locking_mode = NORMAL; SELECT count(*) FROM main.input", err);
}

nm_status nm_live_copy(sqlite3 *db, const char *beside, const nm_live_ids *live_ids, nm_store **out, nm_error *err)
{
    const nm_store_options options = {
        .role = NM_STORE_MERGED, .retention = NM_RETENTION_LIVE, .is_scratch = true, .input_fd = -1};
    const nm_merge_options all = {
        .is_vetted = true, .adopts_thresholds = true, .retention = NM_RETENTION_LIVE, .live_ids = live_ids};
    const char *path = sqlite3_db_filename(db, "main");
    nm_store *store = NULL;
    nm_status status = path == NULL || path[0] == 0 ? nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "is no file")
                                                    : let_others_read(db, err);

    *out = NULL;
    if (status == NM_OK)
        status = nm_store_open(beside, &options, &store, err);
    if (status == NM_OK)
        status = nm_store_merge_with(store, path, &all, err);
    if (status == NM_OK)
        status = nm_store_finish_merged(store, err);
    if (status == NM_OK)
        *out = store;
    else
        nm_store_close(store);
    return status;
}
