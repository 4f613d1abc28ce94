/* SPDX-License-Identifier: Apache-2.0. Made of listed_groups.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_LISTED_GROUPS_SQL_H
#define NM_TOOL_MCP_LISTED_GROUPS_SQL_H

#include "store/question.h"

#define NM_LISTED_GROUPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_group_id) TEXT(code) TEXT(severity) \
    TEXT(kind) TEXT(text) TEXT(site) TEXT(verdict) INTEGER(holder_count) INTEGER(all_count) INTEGER(total_bytes) \
    INTEGER(total_count) TEXT(worst_rank)
#define NM_LISTED_GROUPS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) TEXT(severity)
NM_QUESTION_OF_TEXTS(listed_groups, NM_LISTED_GROUPS_COLUMNS, NM_LISTED_GROUPS_PARAMETERS)

#endif
