/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_entries.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_ENTRIES_SQL_H
#define NM_EXPORT_SNAPSHOT_ENTRIES_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_ENTRIES_SQL \
    "WITH used (device_id, process_id, ordinal) AS ( SELECT device_id, process_id, ordinal FROM device WHERE " \
    "EXISTS (SELECT 1 FROM heap WHERE heap.device_id = device.device_id AND heap.level IN (1, 2, 3)) ), dev " \
    "(device_id, process_id, number) AS ( SELECT device_id, process_id, CASE WHEN ( SELECT count(DISTINCT " \
    "process_id) = 1 AND count(*) = count(DISTINCT ordinal) AND min(ordinal) >= 0 AND max(ordinal) < 4096 FROM " \
    "used ) THEN ordinal ELSE row_number() OVER (ORDER BY device_id) - 1 END FROM used ), own (heap_id, number, " \
    "level, start_ns) AS ( SELECT h.heap_id, dev.number, h.level, coalesce(i.start_realtime_ns, 0) FROM heap AS h " \
    "JOIN dev ON dev.device_id = h.device_id JOIN process AS p ON p.process_id = h.process_id JOIN input AS i ON " \
    "i.input_id = p.input_id WHERE h.level IN (2, 3) OR (h.level = 1 AND i.fragmentation_basis IN ('exact', " \
    "'estimate')) ) , carried (id, stream, seq) AS ( SELECT segment_id, stream, min(alloc_seq) FROM allocation " \
    "WHERE segment_id IS NOT NULL AND stream IS NOT NULL GROUP BY segment_id ) , part (id, size_bytes, left_bytes) " \
    "AS ( SELECT r.split_from_id, sum(r.size_bytes), max(CASE WHEN r.address = a.address THEN r.size_bytes END) " \
    "FROM allocation AS r JOIN allocation AS a ON a.allocation_id = r.split_from_id WHERE r.split_from_id IS NOT " \
    "NULL GROUP BY r.split_from_id ) SELECT own.number AS device, a.alloc_seq AS seq, CASE WHEN own.level <> 1 " \
    "THEN 7 WHEN a.is_mapped = 1 THEN 6 ELSE 5 END AS action_code, a.address AS address, CASE WHEN own.level = 1 " \
    "THEN a.size_bytes ELSE coalesce(a.requested_bytes, a.size_bytes) END AS size_bytes, coalesce( a.stream, CASE " \
    "WHEN a.is_mapped = 0 THEN ( SELECT c.stream FROM carried AS c WHERE c.id = CASE WHEN own.level = 1 THEN " \
    "a.allocation_id ELSE a.segment_id END ) END, 0 ) AS stream, a.stack_id AS stack_id, coalesce(a.private_pool, " \
    "0) AS pool_id, own.start_ns + a.alloc_ns AS ns FROM allocation AS a CROSS JOIN own ON own.heap_id = a.heap_id " \
    "WHERE a.alloc_seq IS NOT NULL AND a.split_from_id IS NULL UNION ALL SELECT own.number, a.alloc_seq, 7, " \
    "a.address, coalesce(a.requested_bytes, a.size_bytes), coalesce( a.stream, CASE WHEN a.is_mapped = 0 THEN " \
    "(SELECT c.stream FROM carried AS c WHERE c.id = a.allocation_id) END, 0 ), a.stack_id, " \
    "coalesce(a.private_pool, 0), own.start_ns + a.alloc_ns FROM allocation AS a CROSS JOIN own ON own.heap_id = " \
    "a.heap_id WHERE a.alloc_seq IS NOT NULL AND own.level = 1 AND a.is_segment = 0 AND a.allocation_id NOT IN ( " \
    "SELECT w.segment_id FROM allocation AS w WHERE w.segment_id IS NOT NULL AND w.heap_id IN (SELECT heap_id FROM " \
    "own WHERE level = 3) ) UNION ALL SELECT own.number, a.free_requested_seq, 1, a.address, " \
    "coalesce(a.requested_bytes, a.size_bytes), coalesce( a.stream, CASE WHEN a.is_mapped = 0 THEN ( SELECT " \
    "c.stream FROM carried AS c WHERE c.id = CASE WHEN own.level = 1 THEN a.allocation_id ELSE a.segment_id END ) " \
    "END, 0 ), a.free_stack_id, 0, NULL FROM allocation AS a CROSS JOIN own ON own.heap_id = a.heap_id WHERE " \
    "a.free_requested_seq IS NOT NULL AND NOT coalesce(own.level <> 1 AND a.end_kind <> 4 AND a.free_seq = " \
    "a.free_requested_seq + 1, 0) UNION ALL SELECT own.number, CASE WHEN own.level <> 1 AND a.end_kind <> 4 AND " \
    "a.free_seq = a.free_requested_seq + 1 THEN a.free_requested_seq ELSE a.free_seq END, CASE WHEN own.level <> 1 " \
    "AND a.end_kind <> 4 AND a.free_seq = a.free_requested_seq + 1 THEN 0 WHEN own.level <> 1 THEN 2 WHEN " \
    "a.is_mapped = 1 THEN 4 ELSE 3 END, a.address + coalesce(part.left_bytes, 0), CASE WHEN own.level <> 1 THEN " \
    "coalesce(a.requested_bytes, a.size_bytes) ELSE a.size_bytes - coalesce(part.size_bytes, 0) END, coalesce( " \
    "a.stream, CASE WHEN a.is_mapped = 0 THEN ( SELECT c.stream FROM carried AS c WHERE c.id = CASE WHEN own.level " \
    "= 1 THEN a.allocation_id ELSE a.segment_id END ) END, 0 ), a.free_stack_id, 0, own.start_ns + a.free_ns FROM " \
    "allocation AS a CROSS JOIN own ON own.heap_id = a.heap_id LEFT JOIN part ON part.id = a.allocation_id WHERE " \
    "a.free_seq IS NOT NULL AND a.end_kind <> 4 UNION ALL SELECT own.number, a.free_seq, 2, a.address, " \
    "coalesce(a.requested_bytes, a.size_bytes), coalesce( a.stream, CASE WHEN a.is_mapped = 0 THEN (SELECT " \
    "c.stream FROM carried AS c WHERE c.id = a.allocation_id) END, 0 ), a.free_stack_id, 0, own.start_ns + " \
    "a.free_ns FROM allocation AS a CROSS JOIN own ON own.heap_id = a.heap_id WHERE a.free_seq IS NOT NULL AND " \
    "a.end_kind <> 4 AND own.level = 1 AND a.is_segment = 0 AND a.allocation_id NOT IN ( SELECT w.segment_id FROM " \
    "allocation AS w WHERE w.segment_id IS NOT NULL AND w.heap_id IN (SELECT heap_id FROM own WHERE level = 3) ) " \
    "UNION ALL SELECT own.number, f.seq, 8, f.device_free_bytes, f.requested_bytes, coalesce(f.stream, 0), " \
    "f.stack_id, 0, own.start_ns + f.ns FROM failure AS f JOIN own ON own.heap_id = f.heap_id UNION ALL SELECT " \
    "own.number, m.seq, 9, 0, 0, 0, NULL, 0, own.start_ns + m.ns FROM moment AS m JOIN own ON own.heap_id = ( " \
    "SELECT min(o.heap_id) FROM own AS o JOIN heap ON heap.heap_id = o.heap_id WHERE m.process_id IS NULL OR " \
    "heap.process_id = m.process_id ) WHERE m.kind = 3 AND m.name = 'snapshot' ORDER BY 1, 2, 3, 4;"
#define NM_SNAPSHOT_ENTRIES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(device) INTEGER(seq) INTEGER(action_code) \
    INTEGER(address) INTEGER(size_bytes) INTEGER(stream) INTEGER(stack_id) INTEGER(pool_id) INTEGER(ns)
NM_QUESTION(snapshot_entries, NM_SNAPSHOT_ENTRIES_SQL, NM_SNAPSHOT_ENTRIES_COLUMNS, NM_QUESTION_NONE)

#endif
