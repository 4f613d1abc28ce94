/* SPDX-License-Identifier: Apache-2.0. Made of site_stacks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_SITE_STACKS_SQL_H
#define NM_TOOL_MCP_SITE_STACKS_SQL_H

#include "store/question.h"

#define NM_SITE_STACKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) TEXT(site) INTEGER(allocated_bytes) \
    INTEGER(allocation_count) INTEGER(older_bytes)
#define NM_SITE_STACKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(site) INTEGER(rank) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(site_stacks, NM_SITE_STACKS_COLUMNS, NM_SITE_STACKS_PARAMETERS)

#endif
