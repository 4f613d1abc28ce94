/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_facts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_FACTS_SQL_H
#define NM_EXPORT_SNAPSHOT_FACTS_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_FACTS_SQL \
    "WITH used (device_id, process_id, ordinal) AS ( SELECT device_id, process_id, ordinal FROM device WHERE " \
    "EXISTS (SELECT 1 FROM heap WHERE heap.device_id = device.device_id AND heap.level IN (1, 2, 3)) ), dev " \
    "(device_id, process_id, number) AS ( SELECT device_id, process_id, CASE WHEN ( SELECT count(DISTINCT " \
    "process_id) = 1 AND count(*) = count(DISTINCT ordinal) AND min(ordinal) >= 0 AND max(ordinal) < 4096 FROM " \
    "used ) THEN ordinal ELSE row_number() OVER (ORDER BY device_id) - 1 END FROM used ), own (heap_id, number, " \
    "level, start_ns) AS ( SELECT h.heap_id, dev.number, h.level, coalesce(i.start_realtime_ns, 0) FROM heap AS h " \
    "JOIN dev ON dev.device_id = h.device_id JOIN process AS p ON p.process_id = h.process_id JOIN input AS i ON " \
    "i.input_id = p.input_id WHERE h.level IN (2, 3) OR (h.level = 1 AND i.fragmentation_basis IN ('exact', " \
    "'estimate')) ) SELECT (SELECT coalesce(max(number) + 1, 0) FROM dev) AS device_count, (SELECT count(*) FROM " \
    "device WHERE kind = 'npu') AS npu_count, (SELECT count(*) FROM device WHERE kind = 'gpu') AS gpu_count, " \
    "(SELECT count(*) FROM input WHERE detail <> 'all') AS partial_count, (SELECT count(*) FROM input WHERE " \
    "peak_basis IN ('estimate', 'curve', 'none')) AS inexact_count;"
#define NM_SNAPSHOT_FACTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(device_count) INTEGER(npu_count) \
    INTEGER(gpu_count) INTEGER(partial_count) INTEGER(inexact_count)
NM_QUESTION(snapshot_facts, NM_SNAPSHOT_FACTS_SQL, NM_SNAPSHOT_FACTS_COLUMNS, NM_QUESTION_NONE)

#endif
