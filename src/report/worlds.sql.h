/* SPDX-License-Identifier: Apache-2.0. Made of worlds.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_WORLDS_SQL_H
#define NM_REPORT_WORLDS_SQL_H

#include "store/question.h"

#define NM_WORLDS_SQL \
    "SELECT (SELECT count(DISTINCT host) FROM process) AS host_count, (SELECT count(*) FROM input) AS input_count, " \
    "( SELECT CASE WHEN min(world_size) = max(world_size) AND max(rank) < max(world_size) AND min(rank) >= 0 THEN " \
    "max(world_size) ELSE 0 END FROM process WHERE rank IS NOT NULL ) AS world_count, (SELECT count(DISTINCT rank) " \
    "FROM process) AS rank_count, ( SELECT CASE WHEN min(capacity_bytes) = max(capacity_bytes) AND " \
    "count(capacity_bytes) = count(*) AND count(DISTINCT process_id) = count(*) THEN max(capacity_bytes) ELSE 0 " \
    "END FROM device ) AS capacity_bytes;"
#define NM_WORLDS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(host_count) INTEGER(input_count) INTEGER(world_count) \
    INTEGER(rank_count) INTEGER(capacity_bytes)
NM_QUESTION(worlds, NM_WORLDS_SQL, NM_WORLDS_COLUMNS, NM_QUESTION_NONE)

#endif
