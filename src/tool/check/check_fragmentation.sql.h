/* SPDX-License-Identifier: Apache-2.0. Made of check_fragmentation.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_FRAGMENTATION_SQL_H
#define NM_TOOL_CHECK_CHECK_FRAGMENTATION_SQL_H

#include "store/question.h"

#define NM_CHECK_FRAGMENTATION_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(floor_number) INTEGER(rank) TEXT(heap)
NM_QUESTION_ASK(check_fragmentation, NM_CHECK_FRAGMENTATION_PARAMETERS)

#endif
