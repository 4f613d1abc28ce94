/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of repeat_is_kept.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_STORE_REPEAT_IS_KEPT_SQL_H
#define NM_STORE_REPEAT_IS_KEPT_SQL_H

#include "store/question.h"

#define NM_REPEAT_IS_KEPT_SQL \
    "SELECT EXISTS ( SELECT 1 FROM temp.repeat_input WHERE number = :number AND input_id = :input_id AND kept_id = " \
    "id ) AS is_kept;"
#define NM_REPEAT_IS_KEPT_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(is_kept)
#define NM_REPEAT_IS_KEPT_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(number) INTEGER(input_id)
NM_QUESTION_ROW(repeat_is_kept, NM_REPEAT_IS_KEPT_COLUMNS)
NM_QUESTION_ASK(repeat_is_kept, NM_REPEAT_IS_KEPT_SQL, NM_REPEAT_IS_KEPT_PARAMETERS)
NM_QUESTION_GET(repeat_is_kept, NM_REPEAT_IS_KEPT_PARAMETERS)

#endif
