/* SPDX-License-Identifier: Apache-2.0. Made of listed_findings.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_LISTED_FINDINGS_SQL_H
#define NM_TOOL_MCP_LISTED_FINDINGS_SQL_H

#include "store/question.h"

#define NM_LISTED_FINDINGS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_id) TEXT(code) TEXT(severity) \
    TEXT(kind) TEXT(text) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(heap) TEXT(level) TEXT(site) \
    TEXT(verdict) TEXT(basis) FLAG(is_bound) TEXT(value) TEXT(unit) INTEGER(bytes) INTEGER(count) TEXT(source_view)
#define NM_LISTED_FINDINGS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(is_good) TEXT(kind) TEXT(severity) \
    INTEGER(rank)
NM_QUESTION_OF_TEXTS(listed_findings, NM_LISTED_FINDINGS_COLUMNS, NM_LISTED_FINDINGS_PARAMETERS)

#endif
