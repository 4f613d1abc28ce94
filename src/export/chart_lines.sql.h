/* SPDX-License-Identifier: Apache-2.0. Made of chart_lines.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_CHART_LINES_SQL_H
#define NM_EXPORT_CHART_LINES_SQL_H

#include "store/question.h"

#define NM_CHART_LINES_SQL \
    "SELECT heap.heap_id AS heap_id, coalesce(heap.name, heap_level.name, 'heap') AS name, s.peak_bytes AS " \
    "peak_bytes, coalesce(CASE WHEN :has_times THEN s.peak_ns ELSE s.peak_seq END, 0) AS peak_number FROM heap " \
    "JOIN z_heap_sum AS s ON s.heap_id = heap.heap_id LEFT JOIN heap_level ON heap_level.level = heap.level WHERE " \
    "s.peak_bytes > 0 AND CASE WHEN :heap_id IS NULL THEN heap.process_id = :process_id AND heap.device_id = " \
    ":device_id ELSE heap.heap_id = :heap_id END ORDER BY max(s.peak_bytes, coalesce(s.peak_reserved_bytes, 0)) " \
    "DESC, heap.level, heap.heap_id;"
#define NM_CHART_LINES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) TEXT(name) INTEGER(peak_bytes) \
    INTEGER(peak_number)
#define NM_CHART_LINES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(has_times) INTEGER(heap_id) INTEGER(process_id) \
    INTEGER(device_id)
NM_QUESTION_OF_TEXTS(chart_lines, NM_CHART_LINES_SQL, NM_CHART_LINES_COLUMNS, NM_CHART_LINES_PARAMETERS)

#endif
