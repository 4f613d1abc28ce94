/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of finding_said.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_TOOL_MCP_FINDING_SAID_SQL_H
#define NM_TOOL_MCP_FINDING_SAID_SQL_H

#include "store/question.h"

#define NM_FINDING_SAID_SQL \
    "SELECT rank, pid, device, (SELECT upper(max(kind)) FROM device) AS device_kind, heap, site, stack_id, " \
    "evidence, remedy, next_command, source_view FROM finding WHERE finding_id = :finding_id;"
#define NM_FINDING_SAID_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(device_kind) TEXT(heap) TEXT(site) INTEGER(stack_id) TEXT(evidence) TEXT(remedy) TEXT(next_command) \
    TEXT(source_view)
#define NM_FINDING_SAID_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_id)
NM_QUESTION_ROW(finding_said, NM_FINDING_SAID_COLUMNS)
NM_QUESTION_ASK(finding_said, NM_FINDING_SAID_SQL, NM_FINDING_SAID_PARAMETERS)

#endif
