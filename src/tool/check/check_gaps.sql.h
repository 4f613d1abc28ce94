/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of check_gaps.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_GAPS_SQL_H
#define NM_TOOL_CHECK_CHECK_GAPS_SQL_H

#include "store/question.h"

#define NM_CHECK_GAPS_SQL \
    "SELECT (SELECT count(DISTINCT process_id) FROM main.z_pause WHERE is_memory_told IS NOT 1) AS paused_count, " \
    "(SELECT total(events_unkept) FROM main.input) AS unkept_count;"
#define NM_CHECK_GAPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(paused_count) INTEGER(unkept_count)
NM_QUESTION_ROW(check_gaps, NM_CHECK_GAPS_COLUMNS)
NM_QUESTION_ASK(check_gaps, NM_CHECK_GAPS_SQL, NM_QUESTION_NONE)
NM_QUESTION_GET(check_gaps, NM_QUESTION_NONE)

#endif
