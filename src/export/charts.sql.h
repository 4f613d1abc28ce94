/* SPDX-License-Identifier: Apache-2.0. Made of charts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_CHARTS_SQL_H
#define NM_EXPORT_CHARTS_SQL_H

#include "store/question.h"

#define NM_CHARTS_SQL \
    "SELECT process_id, device_id, heap_id, title, capacity_bytes, chart_count FROM ( SELECT h.process_id AS " \
    "process_id, h.device_id AS device_id, CASE WHEN h.device_id IS NULL THEN h.heap_id END AS heap_id, " \
    "coalesce('rank ' || p.rank || ', ', 'pid ' || p.pid || ', ', '') || CASE WHEN h.device_id IS NULL THEN " \
    "'host memory' ELSE coalesce( coalesce(nullif(upper(d.kind), 'DEVICE'), 'device') || ' ' || " \
    "coalesce(d.physical_ordinal, d.ordinal) , 'device' ) || coalesce(', ' || d.name, '') END AS title, " \
    "coalesce(d.capacity_bytes, 0) AS capacity_bytes, count(*) OVER () AS chart_count FROM heap AS h JOIN " \
    "z_heap_sum AS s ON s.heap_id = h.heap_id JOIN process AS p ON p.process_id = h.process_id LEFT JOIN device AS " \
    "d ON d.device_id = h.device_id WHERE s.peak_bytes > 0 GROUP BY h.process_id, h.device_id, CASE WHEN " \
    "h.device_id IS NULL THEN h.heap_id END ORDER BY max(s.peak_bytes) DESC, 1, 2, 3 LIMIT :most_count ) ORDER BY " \
    "process_id, device_id IS NULL, device_id, heap_id;"
#define NM_CHARTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(device_id) INTEGER(heap_id) \
    TEXT(title) INTEGER(capacity_bytes) INTEGER(chart_count)
#define NM_CHARTS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(charts, NM_CHARTS_SQL, NM_CHARTS_COLUMNS, NM_CHARTS_PARAMETERS)

#endif
