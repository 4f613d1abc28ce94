/* SPDX-License-Identifier: Apache-2.0. Made of repeat_touched.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_REPEAT_TOUCHED_SQL_H
#define NM_STORE_REPEAT_TOUCHED_SQL_H

#include "store/question.h"

#define NM_REPEAT_TOUCHED_SQL \
    "SELECT number, NOT EXISTS (SELECT 1 FROM temp.repeat_input AS s WHERE s.number = i.number AND s.kept_id = " \
    "s.id) AS is_all FROM temp.repeat_input AS i WHERE kept_id <> id AND is_out = 0 AND number IN (SELECT number " \
    "FROM temp.repeat_begin) GROUP BY number ORDER BY number;"
#define NM_REPEAT_TOUCHED_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(number) FLAG(is_all)
NM_QUESTION(repeat_touched, NM_REPEAT_TOUCHED_SQL, NM_REPEAT_TOUCHED_COLUMNS, NM_QUESTION_NONE)

#endif
