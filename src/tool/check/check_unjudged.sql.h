/* SPDX-License-Identifier: Apache-2.0. Made of check_unjudged.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_UNJUDGED_SQL_H
#define NM_TOOL_CHECK_CHECK_UNJUDGED_SQL_H

#include "store/question.h"

#define NM_CHECK_UNJUDGED_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(text) TEXT(sentence)
#define NM_CHECK_UNJUDGED_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) INTEGER(rank) TEXT(heap) \
    TEXT(allows_partial) TEXT(of_rising)
NM_QUESTION_OF_TEXTS(check_unjudged, NM_CHECK_UNJUDGED_COLUMNS, NM_CHECK_UNJUDGED_PARAMETERS)

#endif
