/* SPDX-License-Identifier: Apache-2.0. Made of check_partial.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_PARTIAL_SQL_H
#define NM_TOOL_CHECK_CHECK_PARTIAL_SQL_H

#include "store/question.h"

#define NM_CHECK_PARTIAL_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(input_count) REAL(missing_value) \
    INTEGER(lossy_count) TEXT(state) INTEGER(late_count) INTEGER(thinned_count)
NM_QUESTION_OF_TEXTS(check_partial, NM_CHECK_PARTIAL_COLUMNS, NM_QUESTION_NONE)

#endif
