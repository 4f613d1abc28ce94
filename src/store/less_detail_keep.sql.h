/* SPDX-License-Identifier: Apache-2.0. Made of less_detail_keep.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_LESS_DETAIL_KEEP_SQL_H
#define NM_STORE_LESS_DETAIL_KEEP_SQL_H

#include "store/question.h"

#define NM_LESS_DETAIL_KEEP_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(allocation_id)
NM_QUESTION_RUN(less_detail_keep, NM_LESS_DETAIL_KEEP_PARAMETERS)

#endif
