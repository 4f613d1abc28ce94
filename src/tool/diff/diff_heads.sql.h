/* SPDX-License-Identifier: Apache-2.0. Made of diff_heads.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_DIFF_DIFF_HEADS_SQL_H
#define NM_TOOL_DIFF_DIFF_HEADS_SQL_H

#include "store/question.h"

#define NM_DIFF_HEADS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(name) INTEGER(process_count) INTEGER(rank_count) \
    INTEGER(step_count) INTEGER(partial_count) INTEGER(midway_count)
NM_QUESTION_OF_TEXTS(diff_heads, NM_DIFF_HEADS_COLUMNS, NM_QUESTION_NONE)

#endif
