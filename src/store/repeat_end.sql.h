/* SPDX-License-Identifier: Apache-2.0. Made of repeat_end.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_REPEAT_END_SQL_H
#define NM_STORE_REPEAT_END_SQL_H

#include "store/question.h"

NM_QUESTION_SCRIPT(repeat_end)

#endif
