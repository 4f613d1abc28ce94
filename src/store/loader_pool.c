/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a miss was cold is known when all steps have come.
 */
#include "store/loader_pool.h"

nm_status nm_loader_settle_misses(nm_loader *loader, nm_error *err)
{
    static const char sql[] =
        "UPDATE pool_miss SET cause = CASE WHEN heap_id IN"
        " (SELECT heap.heap_id FROM heap JOIN step ON step.process_id = heap.process_id)"
        " THEN 1 ELSE nullif(cause - " NM_EARLY_CAUSE_TEXT ", 0) END WHERE cause >= " NM_EARLY_CAUSE_TEXT;

    return loader->has_early_misses ? nm_db_exec(loader->db, sql, err) : NM_OK;
}
