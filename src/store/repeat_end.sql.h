/* SPDX-License-Identifier: Apache-2.0. Made of repeat_end.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_REPEAT_END_SQL_H
#define NM_STORE_REPEAT_END_SQL_H

#include "store/question.h"

#define NM_REPEAT_END_SQL \
    "UPDATE temp.repeat_input SET is_out = 1 WHERE kept_id <> id AND number IN (SELECT number FROM " \
    "temp.repeat_begin); DELETE FROM repeat_gone; DELETE FROM main.meta WHERE key = 'redacted' AND NOT EXISTS " \
    "(SELECT 1 FROM main.input);"
NM_QUESTION_SCRIPT(repeat_end, NM_REPEAT_END_SQL)

#endif
