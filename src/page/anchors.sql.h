/* SPDX-License-Identifier: Apache-2.0. Made of anchors.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_ANCHORS_SQL_H
#define NM_PAGE_ANCHORS_SQL_H

#include "store/question.h"

#define NM_ANCHORS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(kind_code) INTEGER(seq)
NM_QUESTION(anchors, NM_ANCHORS_COLUMNS, NM_QUESTION_NONE)

#endif
