/* SPDX-License-Identifier: Apache-2.0. Made of chart_marks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_CHART_MARKS_SQL_H
#define NM_EXPORT_CHART_MARKS_SQL_H

#include "store/question.h"

#define NM_CHART_MARKS_SQL \
    "SELECT coalesce(CASE WHEN :has_times THEN m.ns ELSE m.seq END, 0) AS at_number, m.kind = 4 AS is_failure, " \
    "coalesce(m.name, CASE m.kind WHEN 4 THEN 'request failed' ELSE 'mark' END) AS name FROM moment AS m LEFT JOIN " \
    "heap AS h ON h.heap_id = m.heap_id WHERE m.kind IN (3, 4) AND (m.process_id IS NULL OR m.process_id = " \
    ":process_id) AND (m.kind = 3 OR h.device_id IS NULL OR h.device_id = :device_id) ORDER BY m.kind DESC, m.seq, " \
    "m.moment_id LIMIT 200;"
#define NM_CHART_MARKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(at_number) FLAG(is_failure) TEXT(name)
#define NM_CHART_MARKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(has_times) INTEGER(process_id) INTEGER(device_id)
NM_QUESTION_OF_TEXTS(chart_marks, NM_CHART_MARKS_SQL, NM_CHART_MARKS_COLUMNS, NM_CHART_MARKS_PARAMETERS)

#endif
