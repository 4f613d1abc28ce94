/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_ranges.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_RANGES_SQL_H
#define NM_EXPORT_SNAPSHOT_RANGES_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_RANGES_SQL \
    "WITH used (device_id, process_id, ordinal) AS ( SELECT device_id, process_id, ordinal FROM device WHERE " \
    "EXISTS (SELECT 1 FROM heap WHERE heap.device_id = device.device_id AND heap.level IN (1, 2, 3)) ), dev " \
    "(device_id, process_id, number) AS ( SELECT device_id, process_id, CASE WHEN ( SELECT count(DISTINCT " \
    "process_id) = 1 AND count(*) = count(DISTINCT ordinal) AND min(ordinal) >= 0 AND max(ordinal) < 4096 FROM " \
    "used ) THEN ordinal ELSE row_number() OVER (ORDER BY device_id) - 1 END FROM used ), own (heap_id, number, " \
    "level, start_ns) AS ( SELECT h.heap_id, dev.number, h.level, coalesce(i.start_realtime_ns, 0) FROM heap AS h " \
    "JOIN dev ON dev.device_id = h.device_id JOIN process AS p ON p.process_id = h.process_id JOIN input AS i ON " \
    "i.input_id = p.input_id WHERE h.level IN (2, 3) OR (h.level = 1 AND i.fragmentation_basis IN ('exact', " \
    "'estimate')) ) , first (process_id, number) AS (SELECT process_id, min(number) FROM dev GROUP BY process_id), " \
    "range (process_id, name, begin_ns, end_ns, id) AS ( SELECT process_id, coalesce(name, '?' || '?'), begin_ns, " \
    "end_ns, operation_id FROM operation UNION ALL SELECT process_id, 'ProfilerStep#' || number, begin_ns, end_ns, " \
    "-step_id FROM step WHERE source = 'marked' UNION ALL SELECT coalesce(process_id, (SELECT min(process_id) FROM " \
    "first)), name, ns, ns, moment_id FROM moment WHERE kind = 3 AND name <> 'snapshot' ), placed (number, name, " \
    "begin_ns, end_ns, id) AS ( SELECT f.number, r.name, coalesce(i.start_realtime_ns, 0) + r.begin_ns, " \
    "coalesce(i.start_realtime_ns, 0) + r.end_ns, r.id FROM range AS r JOIN first AS f ON f.process_id = " \
    "r.process_id JOIN process AS p ON p.process_id = r.process_id JOIN input AS i ON i.input_id = p.input_id " \
    "WHERE r.begin_ns IS NOT NULL AND r.name IS NOT NULL ), half (number, name, ns, is_end, begin_ns, end_ns, id) " \
    "AS ( SELECT number, name, begin_ns, 0, begin_ns, end_ns, id FROM placed UNION ALL SELECT number, name, " \
    "end_ns, 1, begin_ns, end_ns, id FROM placed WHERE begin_ns <= end_ns ) SELECT number AS device, name, ns / " \
    "1000 AS time_us, is_end FROM half ORDER BY ns / 1000, CASE WHEN begin_ns / 1000 = end_ns / 1000 THEN 2 ELSE 1 " \
    "- is_end END, begin_ns, id, is_end;"
#define NM_SNAPSHOT_RANGES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(device) TEXT(name) INTEGER(time_us) \
    FLAG(is_end)
NM_QUESTION_OF_TEXTS(snapshot_ranges, NM_SNAPSHOT_RANGES_SQL, NM_SNAPSHOT_RANGES_COLUMNS, NM_QUESTION_NONE)

#endif
