/* SPDX-License-Identifier: Apache-2.0. Made of limits.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_LIMITS_SQL_H
#define NM_SCREEN_LIMITS_SQL_H

#include "store/question.h"

#define NM_LIMITS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(nobody_count) INTEGER(nobody_lost_count) \
    INTEGER(left_count) INTEGER(contradiction_count) INTEGER(late_count) INTEGER(paused_count)
NM_QUESTION(limits, NM_LIMITS_COLUMNS, NM_QUESTION_NONE)

#endif
