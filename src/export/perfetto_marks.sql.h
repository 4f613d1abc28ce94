/* SPDX-License-Identifier: Apache-2.0. Made of perfetto_marks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PERFETTO_MARKS_SQL_H
#define NM_EXPORT_PERFETTO_MARKS_SQL_H

#include "store/question.h"

#define NM_PERFETTO_MARKS_SQL \
    "SELECT coalesce(m.process_id, (SELECT min(process_id) FROM process)) AS process_id, CASE WHEN m.kind = 3 THEN " \
    "coalesce(m.name, 'mark') ELSE 'failed request of ' || coalesce(f.requested_bytes, '?') || ' bytes' END AS " \
    "name, max(coalesce(m.ns, m.seq * 1000, 0), 0) AS ns FROM moment AS m LEFT JOIN failure AS f ON f.failure_id = " \
    "m.failure_id WHERE m.kind IN (3, 4) ORDER BY 1, 3, m.moment_id;"
#define NM_PERFETTO_MARKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) TEXT(name) INTEGER(ns)
NM_QUESTION_OF_TEXTS(perfetto_marks, NM_PERFETTO_MARKS_SQL, NM_PERFETTO_MARKS_COLUMNS, NM_QUESTION_NONE)

#endif
