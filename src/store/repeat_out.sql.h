/* SPDX-License-Identifier: Apache-2.0. Made of repeat_out.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_REPEAT_OUT_SQL_H
#define NM_STORE_REPEAT_OUT_SQL_H

#include "store/question.h"

#define NM_REPEAT_OUT_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(number)
NM_QUESTION_RUN(repeat_out, NM_REPEAT_OUT_PARAMETERS)

#endif
