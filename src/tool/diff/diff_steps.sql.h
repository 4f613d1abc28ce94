/* SPDX-License-Identifier: Apache-2.0. Made of diff_steps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_DIFF_DIFF_STEPS_SQL_H
#define NM_TOOL_DIFF_DIFF_STEPS_SQL_H

#include "store/question.h"

#define NM_DIFF_STEPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(has_step) TEXT(numbers)
#define NM_DIFF_STEPS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(step_number)
NM_QUESTION_OF_TEXTS(diff_steps, NM_DIFF_STEPS_COLUMNS, NM_DIFF_STEPS_PARAMETERS)

#endif
