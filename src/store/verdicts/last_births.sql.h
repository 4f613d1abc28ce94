/* SPDX-License-Identifier: Apache-2.0. Made of last_births.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_LAST_BIRTHS_SQL_H
#define NM_STORE_VERDICTS_LAST_BIRTHS_SQL_H

#include "store/question.h"

#define NM_LAST_BIRTHS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(last_alloc_seq)
NM_QUESTION(last_births, NM_LAST_BIRTHS_COLUMNS, NM_QUESTION_NONE)

#endif
