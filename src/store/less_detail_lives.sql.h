/* SPDX-License-Identifier: Apache-2.0. Made of less_detail_lives.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_LESS_DETAIL_LIVES_SQL_H
#define NM_STORE_LESS_DETAIL_LIVES_SQL_H

#include "store/question.h"

#define NM_LESS_DETAIL_LIVES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(allocation_id) INTEGER(heap_id) \
    INTEGER(end_code) INTEGER(alloc_seq) INTEGER(free_seq)
NM_QUESTION(less_detail_lives, NM_LESS_DETAIL_LIVES_COLUMNS, NM_QUESTION_NONE)

#endif
