/* SPDX-License-Identifier: Apache-2.0. Made of perfetto_processes.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PERFETTO_PROCESSES_SQL_H
#define NM_EXPORT_PERFETTO_PROCESSES_SQL_H

#include "store/question.h"

#define NM_PERFETTO_PROCESSES_SQL \
    "SELECT process.process_id AS process_id, CASE WHEN process.pid BETWEEN 1 AND 1000000000 AND (SELECT count(*) " \
    "FROM process AS other WHERE other.pid = process.pid) = 1 THEN process.pid ELSE 1000000000 + " \
    "process.process_id END AS pid, coalesce('rank ' || process.rank || ', ', '') || coalesce(process.host || " \
    "', ', '') || coalesce(process.command, 'pid ' || process.pid, 'process') AS name FROM process ORDER BY " \
    "process_id;"
#define NM_PERFETTO_PROCESSES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(pid) TEXT(name)
NM_QUESTION_OF_TEXTS(perfetto_processes, NM_PERFETTO_PROCESSES_SQL, NM_PERFETTO_PROCESSES_COLUMNS, NM_QUESTION_NONE)

#endif
