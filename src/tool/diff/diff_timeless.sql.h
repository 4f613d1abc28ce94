/* SPDX-License-Identifier: Apache-2.0. Made of diff_timeless.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_DIFF_DIFF_TIMELESS_SQL_H
#define NM_TOOL_DIFF_DIFF_TIMELESS_SQL_H

#include "store/question.h"

#define NM_DIFF_TIMELESS_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(is_timeless)
NM_QUESTION(diff_timeless, NM_DIFF_TIMELESS_COLUMNS, NM_QUESTION_NONE)

#endif
