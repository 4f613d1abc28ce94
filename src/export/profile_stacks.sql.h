/* SPDX-License-Identifier: Apache-2.0. Made of profile_stacks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PROFILE_STACKS_SQL_H
#define NM_EXPORT_PROFILE_STACKS_SQL_H

#include "store/question.h"

#define NM_PROFILE_STACKS_SQL \
    "WITH span (heap_id, seq, ns) AS ( SELECT DISTINCT heap_id, seq, ns FROM ( SELECT h.heap_id, CASE WHEN " \
    "n.moment IS NOT NULL THEN n.seq WHEN :moment GLOB 'seq:*' THEN CAST(substr(:moment, 5) AS INTEGER) END AS " \
    "seq, CASE WHEN n.moment IS NULL AND :moment NOT GLOB '*[^0-9]*' THEN CAST(:moment AS INTEGER) END AS ns FROM " \
    "heap AS h LEFT JOIN z_named_moment AS n ON n.heap_id = h.heap_id AND n.moment = :moment ) WHERE coalesce(seq, " \
    "ns) IS NOT NULL ), live (heap_id, stack_id, is_baseline, stream, category_id, live_count, live_bytes) AS ( " \
    "SELECT heap_id, stack_id, is_baseline, NULL, NULL, sum(live_count), sum(live_bytes) FROM z_peak_stack WHERE " \
    "NOT :has_rows GROUP BY heap_id, stack_id, is_baseline UNION ALL SELECT a.heap_id, a.stack_id, a.alloc_seq IS " \
    "NULL AND a.stack_id IS NULL, a.stream, a.category_id, count(*), sum(a.size_bytes) FROM allocation AS a CROSS " \
    "JOIN span AS s ON s.heap_id = a.heap_id WHERE :has_rows AND (a.alloc_seq IS NULL OR CASE WHEN s.seq IS NULL " \
    "THEN a.alloc_ns <= s.ns ELSE a.alloc_seq <= s.seq END) AND (a.end_kind = 0 OR CASE WHEN s.seq IS NULL THEN " \
    "a.free_ns > s.ns ELSE a.free_seq > s.seq END) GROUP BY 1, 2, 3, 4, 5 ) SELECT live.heap_id AS heap_id, " \
    "live.stack_id AS stack_id, live.is_baseline AS is_baseline, sum(live.live_count) AS live_count, " \
    "sum(live.live_bytes) AS live_bytes, coalesce( ( SELECT max(coalesce(n.ns, n.seq * 1000, 0), 0) FROM " \
    "z_named_moment AS n WHERE n.heap_id = live.heap_id AND n.moment = :moment ), 0 ) AS ns FROM live GROUP BY " \
    "live.heap_id, live.stack_id, live.is_baseline ORDER BY 1, 2, 3;"
#define NM_PROFILE_STACKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(stack_id) FLAG(is_baseline) \
    INTEGER(live_count) INTEGER(live_bytes) INTEGER(ns)
#define NM_PROFILE_STACKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(moment) FLAG(has_rows)
NM_QUESTION(profile_stacks, NM_PROFILE_STACKS_SQL, NM_PROFILE_STACKS_COLUMNS, NM_PROFILE_STACKS_PARAMETERS)

#endif
