/* SPDX-License-Identifier: Apache-2.0. Made of repeat_is_kept.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_REPEAT_IS_KEPT_SQL_H
#define NM_STORE_REPEAT_IS_KEPT_SQL_H

#include "store/question.h"

#define NM_REPEAT_IS_KEPT_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(is_kept)
#define NM_REPEAT_IS_KEPT_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(number) INTEGER(input_id)
NM_QUESTION(repeat_is_kept, NM_REPEAT_IS_KEPT_COLUMNS, NM_REPEAT_IS_KEPT_PARAMETERS)

#endif
