/* SPDX-License-Identifier: Apache-2.0. Made of site_leaks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_SITE_LEAKS_SQL_H
#define NM_TOOL_MCP_SITE_LEAKS_SQL_H

#include "store/question.h"

#define NM_SITE_LEAKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(heap) \
    TEXT(site) TEXT(verdict) INTEGER(leak_count) INTEGER(leak_bytes) REAL(bytes_per_step) TEXT(evidence) \
    INTEGER(top_stack_id)
#define NM_SITE_LEAKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(site) INTEGER(rank)
NM_QUESTION_OF_TEXTS(site_leaks, NM_SITE_LEAKS_COLUMNS, NM_SITE_LEAKS_PARAMETERS)

#endif
