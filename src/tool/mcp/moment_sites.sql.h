/* SPDX-License-Identifier: Apache-2.0. Made of moment_sites.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_MOMENT_SITES_SQL_H
#define NM_TOOL_MCP_MOMENT_SITES_SQL_H

#include "store/question.h"

#define NM_MOMENT_SITES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(heap) \
    TEXT(level) TEXT(site) INTEGER(live_count) INTEGER(live_bytes)
#define NM_MOMENT_SITES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(moment) FLAG(has_rows) INTEGER(rank)
NM_QUESTION_OF_TEXTS(moment_sites, NM_MOMENT_SITES_COLUMNS, NM_MOMENT_SITES_PARAMETERS)

#endif
