/* SPDX-License-Identifier: Apache-2.0. Made of budget.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_BUDGET_SQL_H
#define NM_SCREEN_BUDGET_SQL_H

#include "store/question.h"

#define NM_BUDGET_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(device) TEXT(device_kind) FLAG(is_largest) \
    FLAG(is_said) TEXT(name) INTEGER(bytes)
NM_QUESTION_OF_TEXTS(budget, NM_BUDGET_COLUMNS, NM_QUESTION_NONE)

#endif
