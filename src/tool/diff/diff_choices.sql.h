/* SPDX-License-Identifier: Apache-2.0. Made of diff_choices.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_DIFF_DIFF_CHOICES_SQL_H
#define NM_TOOL_DIFF_DIFF_CHOICES_SQL_H

#include "store/question.h"

#define NM_DIFF_CHOICES_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(has_rank) FLAG(has_level) FLAG(has_rows) \
    FLAG(has_mark) TEXT(mark_names)
#define NM_DIFF_CHOICES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) TEXT(level) TEXT(mark)
NM_QUESTION_OF_TEXTS(diff_choices, NM_DIFF_CHOICES_COLUMNS, NM_DIFF_CHOICES_PARAMETERS)

#endif
