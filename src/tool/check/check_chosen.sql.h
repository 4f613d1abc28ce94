/* SPDX-License-Identifier: Apache-2.0. Made of check_chosen.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_CHOSEN_SQL_H
#define NM_TOOL_CHECK_CHECK_CHOSEN_SQL_H

#include "store/question.h"

#define NM_CHECK_CHOSEN_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_count) INTEGER(all_count)
#define NM_CHECK_CHOSEN_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) TEXT(heap)
NM_QUESTION(check_chosen, NM_CHECK_CHOSEN_COLUMNS, NM_CHECK_CHOSEN_PARAMETERS)

#endif
