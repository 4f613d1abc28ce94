/* SPDX-License-Identifier: Apache-2.0. Made of rising_say.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_RISING_SAY_SQL_H
#define NM_STORE_VERDICTS_RISING_SAY_SQL_H

#include "store/question.h"

#define NM_RISING_SAY_PARAMETERS(INTEGER, FLAG, REAL, TEXT) REAL(hourly_value) INTEGER(verdict_id)
NM_QUESTION_RUN(rising_say, NM_RISING_SAY_PARAMETERS)

#endif
