/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of diff_timeless.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_TOOL_DIFF_DIFF_TIMELESS_SQL_H
#define NM_TOOL_DIFF_DIFF_TIMELESS_SQL_H

#include "store/question.h"

#define NM_DIFF_TIMELESS_SQL \
    "SELECT EXISTS ( SELECT 1 FROM allocation WHERE (alloc_seq IS NOT NULL AND alloc_ns IS NULL) OR (free_seq IS " \
    "NOT NULL AND free_ns IS NULL) ) AS is_timeless;"
#define NM_DIFF_TIMELESS_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(is_timeless)
NM_QUESTION_ROW(diff_timeless, NM_DIFF_TIMELESS_COLUMNS)
NM_QUESTION_ASK(diff_timeless, NM_DIFF_TIMELESS_SQL, NM_QUESTION_NONE)
NM_QUESTION_GET(diff_timeless, NM_QUESTION_NONE)

#endif
