/* SPDX-License-Identifier: Apache-2.0. Made of screen_facts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_SCREEN_FACTS_SQL_H
#define NM_SCREEN_SCREEN_FACTS_SQL_H

#include "store/question.h"

#define NM_SCREEN_FACTS_SQL \
    "SELECT (SELECT count(*) FROM process) AS process_count, ( SELECT count(DISTINCT process_id) FROM z_heap_sum " \
    "JOIN heap USING (heap_id) WHERE peak_bytes > 0 ) AS holder_count, ( SELECT count(DISTINCT process_id) FROM " \
    "z_heap_sum JOIN heap USING (heap_id) WHERE peak_bytes > 0 AND device_id IS NOT NULL ) AS device_holder_count, " \
    "(SELECT count(*) FROM (SELECT DISTINCT host, device FROM z_heap_place WHERE device IS NOT NULL)) AS " \
    "device_count, coalesce((SELECT max(n) FROM (SELECT count(*) AS n FROM step GROUP BY process_id)), 0) AS " \
    "step_count, (SELECT count(DISTINCT rank) > 1 FROM process) AS has_ranks, (SELECT " \
    "coalesce(sum(allocation_count + free_count) = 0 AND sum(baseline_count) > 0, 0) FROM z_heap_sum) AS " \
    "is_listed, (SELECT upper(max(kind)) FROM device) AS device_kind;"
#define NM_SCREEN_FACTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_count) INTEGER(holder_count) \
    INTEGER(device_holder_count) INTEGER(device_count) INTEGER(step_count) FLAG(has_ranks) FLAG(is_listed) \
    TEXT(device_kind)
NM_QUESTION_OF_TEXTS(screen_facts, NM_SCREEN_FACTS_SQL, NM_SCREEN_FACTS_COLUMNS, NM_QUESTION_NONE)

#endif
