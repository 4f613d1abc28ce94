/* SPDX-License-Identifier: Apache-2.0. Made of check_gaps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_GAPS_SQL_H
#define NM_TOOL_CHECK_CHECK_GAPS_SQL_H

#include "store/question.h"

#define NM_CHECK_GAPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(paused_count) INTEGER(unkept_count)
NM_QUESTION(check_gaps, NM_CHECK_GAPS_COLUMNS, NM_QUESTION_NONE)

#endif
