/* SPDX-License-Identifier: Apache-2.0. Made of pprof_samples.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PPROF_SAMPLES_SQL_H
#define NM_EXPORT_PPROF_SAMPLES_SQL_H

#include "store/question.h"

#define NM_PPROF_SAMPLES_SQL \
    "WITH place (heap_id, rank, pid, device, heap, level, text) AS ( SELECT heap_id, rank, pid, device, heap, " \
    "level, words || CASE WHEN count(*) OVER (PARTITION BY words) > 1 THEN coalesce(', ' || host, '') || " \
    "coalesce(', pid ' || pid, '') || ', heap ' || heap_id ELSE '' END FROM ( SELECT p.heap_id, p.host, p.rank, " \
    "p.pid, p.device, p.heap, p.level, coalesce('rank ' || p.rank || ', ', 'pid ' || p.pid || ', ', '') || " \
    "coalesce( coalesce(nullif(upper(d.kind), 'DEVICE'), 'device') || ' ' || p.device || ', ', '' ) || " \
    "coalesce(p.heap, p.level, 'heap') AS words FROM z_heap_place AS p LEFT JOIN device AS d ON d.device_id = " \
    "p.device_id ) ) , span (heap_id, seq, ns) AS ( SELECT DISTINCT heap_id, seq, ns FROM ( SELECT h.heap_id, CASE " \
    "WHEN n.moment IS NOT NULL THEN n.seq WHEN :moment GLOB 'seq:*' THEN CAST(substr(:moment, 5) AS INTEGER) END " \
    "AS seq, CASE WHEN n.moment IS NULL AND :moment NOT GLOB '*[^0-9]*' THEN CAST(:moment AS INTEGER) END AS ns " \
    "FROM heap AS h LEFT JOIN z_named_moment AS n ON n.heap_id = h.heap_id AND n.moment = :moment ) WHERE " \
    "coalesce(seq, ns) IS NOT NULL ), live (heap_id, stack_id, is_baseline, stream, category_id, live_count, " \
    "live_bytes) AS ( SELECT heap_id, stack_id, is_baseline, NULL, NULL, sum(live_count), sum(live_bytes) FROM " \
    "z_peak_stack WHERE NOT :has_rows GROUP BY heap_id, stack_id, is_baseline UNION ALL SELECT a.heap_id, " \
    "a.stack_id, a.alloc_seq IS NULL AND a.stack_id IS NULL, a.stream, a.category_id, count(*), sum(a.size_bytes) " \
    "FROM allocation AS a CROSS JOIN span AS s ON s.heap_id = a.heap_id WHERE :has_rows AND (a.alloc_seq IS NULL " \
    "OR CASE WHEN s.seq IS NULL THEN a.alloc_ns <= s.ns ELSE a.alloc_seq <= s.seq END) AND (a.end_kind = 0 OR CASE " \
    "WHEN s.seq IS NULL THEN a.free_ns > s.ns ELSE a.free_seq > s.seq END) GROUP BY 1, 2, 3, 4, 5 ) , row ( " \
    "heap_id, stack_id, is_baseline, stream, category_id, alloc_count, alloc_bytes, live_count, live_bytes, " \
    "peak_bytes, leak_bytes ) AS ( SELECT heap_id, stack_id, 0, NULL, NULL, allocation_count, allocated_bytes, 0, " \
    "0, 0, 0 FROM z_stack_sum UNION ALL SELECT heap_id, stack_id, is_baseline, stream, category_id, 0, 0, " \
    "live_count, live_bytes, 0, 0 FROM live UNION ALL SELECT heap_id, stack_id, is_baseline, NULL, NULL, 0, 0, 0, " \
    "0, live_bytes, 0 FROM z_peak_stack UNION ALL SELECT heap_id, stack_id, 0, NULL, NULL, 0, 0, 0, 0, 0, " \
    "leak_count * size_bytes FROM z_leaked_sum ) SELECT r.stack_id AS stack_id, r.is_baseline AS is_baseline, " \
    "sum(r.alloc_count) AS alloc_count, sum(r.alloc_bytes) AS alloc_bytes, sum(r.live_count) AS live_count, " \
    "sum(r.live_bytes) AS live_bytes, sum(r.peak_bytes) AS peak_bytes, sum(r.leak_bytes) AS leak_bytes, p.heap AS " \
    "heap, p.level AS level, p.device AS device_name, p.rank AS rank_name, p.pid AS pid_name, r.stream AS " \
    "stream_name, c.name AS category FROM row AS r JOIN place AS p ON p.heap_id = r.heap_id LEFT JOIN z_category " \
    "AS c ON c.category_id = r.category_id GROUP BY r.heap_id, r.stack_id, r.is_baseline, r.stream, r.category_id " \
    "ORDER BY r.heap_id, r.stack_id, r.is_baseline, r.stream, r.category_id;"
#define NM_PPROF_SAMPLES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) FLAG(is_baseline) INTEGER(alloc_count) \
    INTEGER(alloc_bytes) INTEGER(live_count) INTEGER(live_bytes) INTEGER(peak_bytes) INTEGER(leak_bytes) TEXT(heap) \
    TEXT(level) TEXT(device_name) TEXT(rank_name) TEXT(pid_name) TEXT(stream_name) TEXT(category)
#define NM_PPROF_SAMPLES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(moment) FLAG(has_rows)
NM_QUESTION_OF_TEXTS(pprof_samples, NM_PPROF_SAMPLES_SQL, NM_PPROF_SAMPLES_COLUMNS, NM_PPROF_SAMPLES_PARAMETERS)

#endif
