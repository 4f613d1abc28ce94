/* SPDX-License-Identifier: Apache-2.0. Made of limits.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_LIMITS_SQL_H
#define NM_SCREEN_LIMITS_SQL_H

#include "store/question.h"

#define NM_LIMITS_SQL \
    "SELECT NOT EXISTS (SELECT 1 FROM process) AND NOT EXISTS ( SELECT 1 FROM input WHERE events_seen > " \
    "events_ingested OR bytes_cut > 0 OR state NOT IN ('ended', 'recovered') ) AS nobody_count, NOT EXISTS (SELECT " \
    "1 FROM process) AND EXISTS ( SELECT 1 FROM input WHERE events_seen > events_ingested OR bytes_cut > 0 OR " \
    "state NOT IN ('ended', 'recovered') ) AS nobody_lost_count, ( SELECT coalesce(sum(processes_left), 0) FROM " \
    "input WHERE EXISTS (SELECT 1 FROM process) ) AS left_count, (SELECT coalesce(sum(blocks_outside_count), 0) " \
    "FROM input) AS contradiction_count, (SELECT count(*) FROM input WHERE baseline = 'unknown') AS late_count, " \
    "(SELECT count(*) FROM z_pause WHERE is_memory_told = 0) AS paused_count;"
#define NM_LIMITS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(nobody_count) INTEGER(nobody_lost_count) \
    INTEGER(left_count) INTEGER(contradiction_count) INTEGER(late_count) INTEGER(paused_count)
NM_QUESTION(limits, NM_LIMITS_SQL, NM_LIMITS_COLUMNS, NM_QUESTION_NONE)

#endif
