/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of judged.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_JUDGED_SQL_H
#define NM_SCREEN_JUDGED_SQL_H

#include "store/question.h"

#define NM_JUDGED_SQL \
    "SELECT (SELECT count(*) FROM leak_by_site) AS leak_count, coalesce(sum(reason = 'no steps'), 0) AS " \
    "stepless_count, coalesce(sum(reason = 'too few steps'), 0) AS early_count, coalesce(sum(CASE WHEN reason = " \
    "'stack cut' THEN size_bytes END), 0) AS cut_bytes, (SELECT coalesce(sum(outstanding_count), 0) FROM " \
    "heap_total) AS outstanding_count, (SELECT coalesce(sum(outstanding_bytes), 0) FROM heap_total) AS " \
    "outstanding_bytes, (SELECT count(*) FROM completeness WHERE verdict NOT IN ('complete', 'begun', 'kept', " \
    "'contradictory')) AS partial_count, (SELECT count(*) FROM input WHERE state = 'running') AS running_count, " \
    "(SELECT count(*) FROM z_out_of_memory_chain) AS failure_count, (SELECT count(*) FROM misuse) AS misuse_count, " \
    "(SELECT count(*) FROM completeness WHERE verdict <> 'complete') + ( SELECT count(*) FROM process WHERE " \
    "end_kind = 'signal' OR (end_kind = 'exit' AND end_status <> 0) ) AS limit_count FROM suspect_by_site;"
#define NM_JUDGED_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(leak_count) INTEGER(stepless_count) \
    INTEGER(early_count) INTEGER(cut_bytes) INTEGER(outstanding_count) INTEGER(outstanding_bytes) \
    INTEGER(partial_count) INTEGER(running_count) INTEGER(failure_count) INTEGER(misuse_count) INTEGER(limit_count)
NM_QUESTION_ROW(judged, NM_JUDGED_COLUMNS)
NM_QUESTION_ASK(judged, NM_JUDGED_SQL, NM_QUESTION_NONE)
NM_QUESTION_GET(judged, NM_QUESTION_NONE)

#endif
