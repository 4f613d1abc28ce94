/* SPDX-License-Identifier: Apache-2.0. Made of folded.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_FOLDED_SQL_H
#define NM_EXPORT_FOLDED_SQL_H

#include "store/question.h"

#define NM_FOLDED_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(heap) INTEGER(stack_id) FLAG(is_baseline) \
    INTEGER(live_bytes)
#define NM_FOLDED_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(moment) FLAG(has_rows)
NM_QUESTION_OF_TEXTS(folded, NM_FOLDED_COLUMNS, NM_FOLDED_PARAMETERS)

#endif
