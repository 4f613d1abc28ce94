/* SPDX-License-Identifier: Apache-2.0. Made of perfetto_slices.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PERFETTO_SLICES_SQL_H
#define NM_EXPORT_PERFETTO_SLICES_SQL_H

#include "store/question.h"

#define NM_PERFETTO_SLICES_SQL \
    "SELECT process_id, track_number, track_name, category, name, begin_ns, end_ns FROM ( SELECT s.process_id AS " \
    "process_id, -1 - coalesce(s.device_id, 0) AS track_number, 'steps' || coalesce(' of device ' || " \
    "coalesce(d.physical_ordinal, d.ordinal), '') AS track_name, 'step' AS category, 'step ' || s.number AS name, " \
    "max(coalesce(s.begin_ns, s.begin_seq * 1000, 0), 0) AS begin_ns, CASE WHEN coalesce(s.end_seq, s.end_ns) IS " \
    "NOT NULL THEN max(coalesce(s.end_ns, s.end_seq * 1000, 0), 0) END AS end_ns, s.step_id AS number FROM step AS " \
    "s LEFT JOIN device AS d ON d.device_id = s.device_id UNION ALL SELECT o.process_id, coalesce(o.thread_id, 0), " \
    "coalesce('thread ' || coalesce(t.name, t.tid), 'operations'), coalesce(k.name, 'operation'), coalesce(o.name, " \
    "k.name, '?' || '?'), max(coalesce(o.begin_ns, o.begin_seq * 1000, 0), 0), CASE WHEN coalesce(o.end_seq, " \
    "o.end_ns) IS NOT NULL THEN max(coalesce(o.end_ns, o.end_seq * 1000, 0), 0) END, o.operation_id FROM operation " \
    "AS o LEFT JOIN thread AS t ON t.thread_id = o.thread_id LEFT JOIN operation_kind AS k ON k.kind = o.kind ) " \
    "ORDER BY process_id, track_number, begin_ns, end_ns IS NOT NULL, end_ns DESC, number;"
#define NM_PERFETTO_SLICES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(track_number) \
    TEXT(track_name) TEXT(category) TEXT(name) INTEGER(begin_ns) INTEGER(end_ns)
NM_QUESTION_OF_TEXTS(perfetto_slices, NM_PERFETTO_SLICES_SQL, NM_PERFETTO_SLICES_COLUMNS, NM_QUESTION_NONE)

#endif
