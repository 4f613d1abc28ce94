/* SPDX-License-Identifier: Apache-2.0. Made of check_baseline.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_BASELINE_SQL_H
#define NM_TOOL_CHECK_CHECK_BASELINE_SQL_H

#include "store/question.h"

#define NM_CHECK_BASELINE_SQL \
    "WITH place (host, rank, pid, device, heap, level, size_basis, peak_bytes, is_base) AS ( SELECT process.host, " \
    "process.rank, process.pid, coalesce(device.physical_ordinal, device.ordinal), heap.name, heap_level.name, " \
    "heap.size_basis, s.peak_bytes, 0 FROM main.z_heap_sum AS s JOIN main.heap ON heap.heap_id = s.heap_id LEFT " \
    "JOIN main.process ON process.process_id = heap.process_id LEFT JOIN main.device ON device.device_id = " \
    "heap.device_id LEFT JOIN main.heap_level ON heap_level.level = heap.level UNION ALL SELECT process.host, " \
    "process.rank, process.pid, coalesce(device.physical_ordinal, device.ordinal), heap.name, heap_level.name, " \
    "heap.size_basis, s.peak_bytes, 1 FROM base.z_heap_sum AS s JOIN base.heap ON heap.heap_id = s.heap_id LEFT " \
    "JOIN base.process ON process.process_id = heap.process_id LEFT JOIN base.device ON device.device_id = " \
    "heap.device_id LEFT JOIN base.heap_level ON heap_level.level = heap.level ), highest (host, rank, pid, " \
    "device, heap, level, size_basis, peak_bytes, is_base) AS ( SELECT host, rank, pid, device, heap, level, " \
    "size_basis, max(peak_bytes), is_base FROM place WHERE (:rank IS NULL OR rank IS :rank) AND (:heap IS NULL OR " \
    "heap IS :heap OR level IS :heap) AND (:heap IS NOT NULL OR (device IS NOT NULL AND level IN ('driver', " \
    "'pool'))) GROUP BY is_base, rank, device, heap, level ) SELECT n.host AS host, n.rank AS rank, n.pid AS pid, " \
    "n.device AS device, n.heap AS heap, n.level AS level, n.peak_bytes AS measured_value, CASE WHEN n.size_basis " \
    "IS o.size_basis THEN o.peak_bytes ELSE 0 END AS limit_value, CASE WHEN o.peak_bytes IS NULL THEN " \
    "'not in the baseline' WHEN n.size_basis IS NOT o.size_basis THEN 'the baseline counts other sizes (' || " \
    "o.size_basis || ')' END AS note FROM highest AS n LEFT JOIN highest AS o ON o.is_base = 1 AND o.rank IS " \
    "n.rank AND o.device IS n.device AND o.heap IS n.heap AND o.level IS n.level WHERE n.is_base = 0 AND " \
    "n.peak_bytes > 0;"
#define NM_CHECK_BASELINE_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(heap) TEXT(level) REAL(measured_value) REAL(limit_value) TEXT(note)
#define NM_CHECK_BASELINE_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) TEXT(heap)
NM_QUESTION_OF_TEXTS(check_baseline, NM_CHECK_BASELINE_SQL, NM_CHECK_BASELINE_COLUMNS, NM_CHECK_BASELINE_PARAMETERS)

#endif
