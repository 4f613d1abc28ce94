/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of diff_steps.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_TOOL_DIFF_DIFF_STEPS_SQL_H
#define NM_TOOL_DIFF_DIFF_STEPS_SQL_H

#include "store/question.h"

#define NM_DIFF_STEPS_SQL \
    "SELECT EXISTS (SELECT 1 FROM step WHERE number = :step_number AND begin_seq IS NOT NULL) AS has_step, (SELECT " \
    "min(number) || ' to ' || max(number) FROM step) AS numbers;"
#define NM_DIFF_STEPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(has_step) TEXT(numbers)
#define NM_DIFF_STEPS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(step_number)
NM_QUESTION_ROW(diff_steps, NM_DIFF_STEPS_COLUMNS)
NM_QUESTION_ASK(diff_steps, NM_DIFF_STEPS_SQL, NM_DIFF_STEPS_PARAMETERS)

#endif
