/* SPDX-License-Identifier: Apache-2.0. Made of trend_values.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_TREND_VALUES_SQL_H
#define NM_STORE_VERDICTS_TREND_VALUES_SQL_H

#include "store/question.h"

#define NM_TREND_VALUES_SQL \
    "SELECT heap.process_id AS process_id, heap.device_id AS device_id, coalesce(device.capacity_bytes, 0) AS " \
    "capacity_bytes, t.heap_id AS heap_id, heap.level AS level_code, t.generation AS generation, t.last_generation " \
    "AS last_generation, t.peak_bytes AS peak_bytes, t.live_bytes AS live_bytes, t.peak_reserved_bytes AS " \
    "peak_reserved_bytes, t.number AS number, t.begin_ns AS begin_ns, t.graph_bytes AS graph_bytes, " \
    "t.graph_reserved_bytes AS graph_reserved_bytes FROM z_step_sum AS t JOIN heap ON heap.heap_id = t.heap_id " \
    "JOIN device ON device.device_id = heap.device_id JOIN process ON process.process_id = heap.process_id ORDER " \
    "BY heap.process_id, heap.device_id, t.heap_id, t.generation;"
#define NM_TREND_VALUES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(device_id) \
    INTEGER(capacity_bytes) INTEGER(heap_id) INTEGER(level_code) INTEGER(generation) INTEGER(last_generation) \
    INTEGER(peak_bytes) INTEGER(live_bytes) INTEGER(peak_reserved_bytes) INTEGER(number) INTEGER(begin_ns) \
    INTEGER(graph_bytes) INTEGER(graph_reserved_bytes)
NM_QUESTION(trend_values, NM_TREND_VALUES_SQL, NM_TREND_VALUES_COLUMNS, NM_QUESTION_NONE)

#endif
