/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of check_unjudged.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_UNJUDGED_SQL_H
#define NM_TOOL_CHECK_CHECK_UNJUDGED_SQL_H

#include "store/question.h"

#define NM_CHECK_UNJUDGED_SQL \
    "SELECT ( SELECT count(*) FROM (SELECT process_id FROM step GROUP BY process_id HAVING max(generation) < 3) ) " \
    "AS few_step_count, coalesce(sum(reason = 'no steps'), 0) AS stepless_count, coalesce(sum(reason = " \
    "'stack cut'), 0) AS cut_count FROM suspect_by_site;"
#define NM_CHECK_UNJUDGED_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(few_step_count) INTEGER(stepless_count) \
    INTEGER(cut_count)
NM_QUESTION_ROW(check_unjudged, NM_CHECK_UNJUDGED_COLUMNS)
NM_QUESTION_ASK(check_unjudged, NM_CHECK_UNJUDGED_SQL, NM_QUESTION_NONE)
NM_QUESTION_GET(check_unjudged, NM_QUESTION_NONE)

#endif
