/* SPDX-License-Identifier: Apache-2.0. Made of deaths.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_DEATHS_SQL_H
#define NM_SCREEN_DEATHS_SQL_H

#include "store/question.h"

#define NM_DEATHS_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(is_dead) INTEGER(error_code) INTEGER(step)
NM_QUESTION(deaths, NM_DEATHS_COLUMNS, NM_QUESTION_NONE)

#endif
