/* SPDX-License-Identifier: Apache-2.0. Made of check_misses.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_MISSES_SQL_H
#define NM_TOOL_CHECK_CHECK_MISSES_SQL_H

#include "store/question.h"

#define NM_CHECK_MISSES_SQL \
    "SELECT p.host AS host, p.rank AS rank, p.pid AS pid, p.device AS device, p.heap AS heap, p.level AS level, " \
    "coalesce(max(CAST(s.miss_count AS REAL) / (s.last_generation - s.generation + 1)), 0) AS measured_value, NULL " \
    "AS limit_value, CASE WHEN s.miss_count > 0 THEN 'in step ' || s.number END AS note FROM z_heap_place AS p " \
    "JOIN z_warm_up AS w ON w.process_id = p.process_id LEFT JOIN z_step_sum AS s ON s.heap_id = p.heap_id AND " \
    "s.generation > w.warm_up_count WHERE p.level = 'pool' AND w.step_count > w.warm_up_count AND (:rank IS NULL " \
    "OR p.rank IS :rank) AND (:heap IS NULL OR p.heap IS :heap OR p.level IS :heap) GROUP BY p.heap_id HAVING " \
    "count(s.heap_id) = count(s.miss_count);"
#define NM_CHECK_MISSES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(heap) TEXT(level) REAL(measured_value) REAL(limit_value) TEXT(note)
#define NM_CHECK_MISSES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) TEXT(heap)
NM_QUESTION_OF_TEXTS(check_misses, NM_CHECK_MISSES_SQL, NM_CHECK_MISSES_COLUMNS, NM_CHECK_MISSES_PARAMETERS)

#endif
