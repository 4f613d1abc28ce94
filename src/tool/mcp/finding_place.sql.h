/* SPDX-License-Identifier: Apache-2.0. Made of finding_place.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_FINDING_PLACE_SQL_H
#define NM_TOOL_MCP_FINDING_PLACE_SQL_H

#include "store/question.h"

#define NM_FINDING_PLACE_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(site) INTEGER(stack_id) TEXT(source_view)
#define NM_FINDING_PLACE_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_id)
NM_QUESTION_OF_TEXTS(finding_place, NM_FINDING_PLACE_COLUMNS, NM_FINDING_PLACE_PARAMETERS)

#endif
