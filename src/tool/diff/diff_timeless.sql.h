/* SPDX-License-Identifier: Apache-2.0. Made of diff_timeless.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_DIFF_DIFF_TIMELESS_SQL_H
#define NM_TOOL_DIFF_DIFF_TIMELESS_SQL_H

#include "store/question.h"

#define NM_DIFF_TIMELESS_SQL \
    "SELECT EXISTS ( SELECT 1 FROM allocation WHERE (alloc_seq IS NOT NULL AND alloc_ns IS NULL) OR (free_seq IS " \
    "NOT NULL AND free_ns IS NULL) ) AS is_timeless;"
#define NM_DIFF_TIMELESS_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(is_timeless)
NM_QUESTION(diff_timeless, NM_DIFF_TIMELESS_SQL, NM_DIFF_TIMELESS_COLUMNS, NM_QUESTION_NONE)

#endif
