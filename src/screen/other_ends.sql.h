/* SPDX-License-Identifier: Apache-2.0. Made of other_ends.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_OTHER_ENDS_SQL_H
#define NM_SCREEN_OTHER_ENDS_SQL_H

#include "store/question.h"

#define NM_OTHER_ENDS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_count) FLAG(is_ending)
#define NM_OTHER_ENDS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(is_going_on)
NM_QUESTION(other_ends, NM_OTHER_ENDS_COLUMNS, NM_OTHER_ENDS_PARAMETERS)

#endif
