/* SPDX-License-Identifier: Apache-2.0. Made of opened_facts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_OPENED_FACTS_SQL_H
#define NM_TOOL_MCP_OPENED_FACTS_SQL_H

#include "store/question.h"

#define NM_OPENED_FACTS_SQL \
    "SELECT (SELECT count(*) FROM process) AS process_count, (SELECT count(DISTINCT rank) FROM process) AS " \
    "rank_count, (SELECT count(*) FROM device) AS device_count, (SELECT max(generation) FROM step) AS step_count, " \
    "(SELECT count(*) FROM input WHERE state = 'running') AS running_count, (SELECT count(*) FROM finding WHERE " \
    "severity = 'fault') AS fault_count, (SELECT count(*) FROM finding WHERE severity = 'warning') AS " \
    "warning_count, (SELECT count(*) FROM finding WHERE severity = 'not judged') AS not_judged_count;"
#define NM_OPENED_FACTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_count) INTEGER(rank_count) \
    INTEGER(device_count) INTEGER(step_count) INTEGER(running_count) INTEGER(fault_count) INTEGER(warning_count) \
    INTEGER(not_judged_count)
NM_QUESTION(opened_facts, NM_OPENED_FACTS_SQL, NM_OPENED_FACTS_COLUMNS, NM_QUESTION_NONE)

#endif
