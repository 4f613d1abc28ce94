/* SPDX-License-Identifier: Apache-2.0. Made of repeat_touched.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_REPEAT_TOUCHED_SQL_H
#define NM_STORE_REPEAT_TOUCHED_SQL_H

#include "store/question.h"

#define NM_REPEAT_TOUCHED_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(number) FLAG(is_all)
NM_QUESTION(repeat_touched, NM_REPEAT_TOUCHED_COLUMNS, NM_QUESTION_NONE)

#endif
