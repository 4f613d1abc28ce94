/* SPDX-License-Identifier: Apache-2.0. Made of repeat_is_all.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_REPEAT_IS_ALL_SQL_H
#define NM_STORE_REPEAT_IS_ALL_SQL_H

#include "store/question.h"

#define NM_REPEAT_IS_ALL_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(is_all)
#define NM_REPEAT_IS_ALL_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(number)
NM_QUESTION(repeat_is_all, NM_REPEAT_IS_ALL_COLUMNS, NM_REPEAT_IS_ALL_PARAMETERS)

#endif
