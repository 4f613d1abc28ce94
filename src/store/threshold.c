/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of measures stand in one array, by their number; the table has a row for each.
 */
#include "store/threshold.h"

#include <inttypes.h>
#include <stdio.h>

#include "store/database.h"

const char *nm_measure_name(nm_measure measure)
{
    static const char *const names[NM_MEASURE_COUNT] = {
        [NM_MEASURE_COST] = "allocation cost",
        [NM_MEASURE_FRAGMENTATION] = "fragmentation",
        [NM_MEASURE_HIT_RATE] = "pool hit rate",
        [NM_MEASURE_ZERO_COPY] = "zero copy",
    };

    return names[measure];
}

bool nm_thresholds_are_set(const nm_thresholds *thresholds)
{
    for (int measure = 0; measure < NM_MEASURE_COUNT; measure++)
        if (thresholds->items[measure].is_set)
            return true;
    return false;
}

nm_status nm_thresholds_apply(sqlite3 *db, const nm_thresholds *thresholds, nm_error *err)
{
    char sql[160];
    nm_status status = NM_OK;

    for (int measure = 0; measure < NM_MEASURE_COUNT && status == NM_OK; measure++) {
        if (!thresholds->items[measure].is_set)
            continue;
        snprintf(sql, sizeof sql, "UPDATE z_threshold SET floor = %" PRId64 ", capacity_ratio = 0 WHERE measure = '%s'",
                 thresholds->items[measure].floor, nm_measure_name((nm_measure)measure));
        status = nm_db_exec(db, sql, err);
    }
    return status;
}
