/* SPDX-License-Identifier: Apache-2.0. Made of unjudged.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_UNJUDGED_SQL_H
#define NM_TOOL_MCP_UNJUDGED_SQL_H

#include "store/question.h"

#define NM_UNJUDGED_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_id) TEXT(kind) TEXT(text) TEXT(reason) \
    INTEGER(finding_count)
#define NM_UNJUDGED_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) TEXT(severity) INTEGER(rank)
NM_QUESTION_OF_TEXTS(unjudged, NM_UNJUDGED_COLUMNS, NM_UNJUDGED_PARAMETERS)

#endif
