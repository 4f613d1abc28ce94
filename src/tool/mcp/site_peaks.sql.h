/* SPDX-License-Identifier: Apache-2.0. Made of site_peaks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_SITE_PEAKS_SQL_H
#define NM_TOOL_MCP_SITE_PEAKS_SQL_H

#include "store/question.h"

#define NM_SITE_PEAKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(heap) \
    TEXT(site) INTEGER(live_count) INTEGER(live_bytes) INTEGER(top_stack_id)
#define NM_SITE_PEAKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(site) INTEGER(rank)
NM_QUESTION_OF_TEXTS(site_peaks, NM_SITE_PEAKS_COLUMNS, NM_SITE_PEAKS_PARAMETERS)

#endif
