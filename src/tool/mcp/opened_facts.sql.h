/* SPDX-License-Identifier: Apache-2.0. Made of opened_facts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_OPENED_FACTS_SQL_H
#define NM_TOOL_MCP_OPENED_FACTS_SQL_H

#include "store/question.h"

#define NM_OPENED_FACTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_count) INTEGER(rank_count) \
    INTEGER(device_count) INTEGER(step_count) INTEGER(running_count) INTEGER(fault_count) INTEGER(warning_count) \
    INTEGER(not_judged_count)
NM_QUESTION(opened_facts, NM_OPENED_FACTS_COLUMNS, NM_QUESTION_NONE)

#endif
