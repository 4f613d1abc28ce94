/* SPDX-License-Identifier: Apache-2.0. Made of moment_processes.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_DIFF_MOMENT_PROCESSES_SQL_H
#define NM_TOOL_DIFF_MOMENT_PROCESSES_SQL_H

#include "store/question.h"

#define NM_MOMENT_PROCESSES_SQL \
    "WITH asked (moment) AS ( SELECT :from UNION ALL SELECT :to ), lacking (process_id) AS ( SELECT " \
    "process.process_id FROM process JOIN asked WHERE CASE WHEN asked.moment GLOB 'mark:*' THEN NOT EXISTS ( " \
    "SELECT 1 FROM moment WHERE moment.process_id = process.process_id AND moment.kind = 3 AND moment.name = " \
    "substr(asked.moment, 6) ) WHEN asked.moment GLOB 'step:*' THEN NOT EXISTS ( SELECT 1 FROM step WHERE " \
    "step.process_id = process.process_id AND step.begin_seq IS NOT NULL AND step.number = " \
    "CAST(substr(asked.moment, 6) AS INTEGER) ) END ) SELECT count(*) AS all_count, coalesce(sum(process_id NOT IN " \
    "(SELECT process_id FROM lacking)), 0) AS both_count FROM process WHERE (:rank IS NULL OR rank = :rank) AND " \
    "process_id IN (SELECT process_id FROM heap);"
#define NM_MOMENT_PROCESSES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(all_count) INTEGER(both_count)
#define NM_MOMENT_PROCESSES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(from) TEXT(to) INTEGER(rank)
NM_QUESTION(moment_processes, NM_MOMENT_PROCESSES_SQL, NM_MOMENT_PROCESSES_COLUMNS, NM_MOMENT_PROCESSES_PARAMETERS)

#endif
