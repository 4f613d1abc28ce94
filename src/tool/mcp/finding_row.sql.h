/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of finding_row.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_TOOL_MCP_FINDING_ROW_SQL_H
#define NM_TOOL_MCP_FINDING_ROW_SQL_H

#include "store/question.h"

#define NM_FINDING_ROW_SQL \
    "SELECT finding_id, severity, kind, text, reason, host, rank, pid, device, heap, level, site, verdict, basis, " \
    "value, unit, bytes, count, moment, seq, stack_id, source_view, source_id FROM finding WHERE finding_id = " \
    ":finding_id;"
#define NM_FINDING_ROW_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_id) TEXT(severity) TEXT(kind) TEXT(text) \
    TEXT(reason) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(heap) TEXT(level) TEXT(site) \
    TEXT(verdict) TEXT(basis) TEXT(value) TEXT(unit) INTEGER(bytes) INTEGER(count) TEXT(moment) INTEGER(seq) \
    INTEGER(stack_id) TEXT(source_view) INTEGER(source_id)
#define NM_FINDING_ROW_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_id)
NM_QUESTION_ROW(finding_row, NM_FINDING_ROW_COLUMNS)
NM_QUESTION_ASK(finding_row, NM_FINDING_ROW_SQL, NM_FINDING_ROW_PARAMETERS)

#endif
