/* SPDX-License-Identifier: Apache-2.0. Made of repeat_add.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_REPEAT_ADD_SQL_H
#define NM_STORE_REPEAT_ADD_SQL_H

#include "store/question.h"

#define NM_REPEAT_ADD_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(number) INTEGER(input_id) TEXT(recording) \
    INTEGER(ingested_count) INTEGER(unkept_count) FLAG(is_complete) INTEGER(detail_code) INTEGER(redacted_count) \
    INTEGER(beside_count) TEXT(name)
NM_QUESTION_RUN(repeat_add, NM_REPEAT_ADD_PARAMETERS)

#endif
