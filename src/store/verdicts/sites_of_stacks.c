/* SPDX-License-Identifier: Apache-2.0
 *
 * Read once, for stacks may be a million.
 */
#include "store/verdicts/sites_of_stacks.h"

#include "store/verdicts/sites_of_stacks.sql.h"

nm_status nm_sites_of_stacks_read(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_sites_of_stacks_row row;
    nm_status status = nm_sites_of_stacks_ask(db, &rows, err);

    while (status == NM_OK && nm_sites_of_stacks_next(rows, &row))
        status =
            nm_map_put(&settings->rows->site_of, (nm_key){0, (uint64_t)row.stack_id}, (uint64_t)row.site_frame_id, err);
    return nm_question_end(rows, status, err);
}
