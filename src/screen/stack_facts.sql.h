/* SPDX-License-Identifier: Apache-2.0. Made of stack_facts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_STACK_FACTS_SQL_H
#define NM_SCREEN_STACK_FACTS_SQL_H

#include "store/question.h"

#define NM_STACK_FACTS_SQL \
    "SELECT (SELECT count(*) FROM stack) AS stack_count, (SELECT count(*) FROM stack WHERE parent_id IS NOT NULL " \
    "OR is_cut = 1) AS caller_count, (SELECT count(*) FROM peak_by_site WHERE site <> '(baseline)') AS site_count, " \
    "sum(p.live_bytes) AS live_bytes, sum(CASE WHEN s.is_cut = 1 THEN p.live_bytes ELSE 0 END) AS cut_bytes, " \
    "sum(CASE WHEN f.is_cut = 1 THEN p.live_bytes ELSE 0 END) AS unplaced_bytes, CASE WHEN EXISTS (SELECT 1 FROM " \
    "frame WHERE module GLOB 'python3.*') THEN sum(CASE WHEN f.module GLOB 'python3.*' THEN 0 ELSE p.live_bytes " \
    "END) END AS no_python_bytes FROM z_peak_stack AS p LEFT JOIN stack AS s ON s.stack_id = p.stack_id LEFT JOIN " \
    "frame AS f ON f.frame_id = s.site_frame_id JOIN heap AS h ON h.heap_id = p.heap_id WHERE NOT p.is_baseline " \
    "AND NOT ( h.level IN (1, 7) AND EXISTS ( SELECT 1 FROM heap AS o JOIN z_heap_sum AS t ON t.heap_id = " \
    "o.heap_id WHERE o.process_id = h.process_id AND o.device_id IS h.device_id AND o.level IN (2, 3) AND " \
    "t.peak_reserved_bytes > 0 ) );"
#define NM_STACK_FACTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_count) INTEGER(caller_count) \
    INTEGER(site_count) INTEGER(live_bytes) INTEGER(cut_bytes) INTEGER(unplaced_bytes) INTEGER(no_python_bytes)
NM_QUESTION(stack_facts, NM_STACK_FACTS_SQL, NM_STACK_FACTS_COLUMNS, NM_QUESTION_NONE)

#endif
