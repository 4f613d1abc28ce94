/* SPDX-License-Identifier: Apache-2.0. Made of moment_sites.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_MOMENT_SITES_SQL_H
#define NM_TOOL_MCP_MOMENT_SITES_SQL_H

#include "store/question.h"

#define NM_MOMENT_SITES_SQL \
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
    "a.free_ns > s.ns ELSE a.free_seq > s.seq END) GROUP BY 1, 2, 3, 4, 5 ) SELECT p.rank AS rank, p.pid AS pid, " \
    "p.device AS device, p.heap AS heap, p.level AS level, CASE WHEN l.is_baseline THEN '(baseline)' ELSE " \
    "coalesce(f.label, '(no stack)') END AS site, sum(l.live_count) AS live_count, sum(l.live_bytes) AS live_bytes " \
    "FROM live AS l JOIN z_heap_place AS p ON p.heap_id = l.heap_id LEFT JOIN stack AS s ON s.stack_id = " \
    "l.stack_id LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE :rank IS NULL OR p.rank = :rank GROUP " \
    "BY l.heap_id, CASE WHEN l.is_baseline THEN '(baseline)' ELSE coalesce(f.label, '(no stack)') END ORDER BY " \
    "l.heap_id, live_bytes DESC, site;"
#define NM_MOMENT_SITES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(heap) \
    TEXT(level) TEXT(site) INTEGER(live_count) INTEGER(live_bytes)
#define NM_MOMENT_SITES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(moment) FLAG(has_rows) INTEGER(rank)
NM_QUESTION_OF_TEXTS(moment_sites, NM_MOMENT_SITES_SQL, NM_MOMENT_SITES_COLUMNS, NM_MOMENT_SITES_PARAMETERS)

#endif
