/* SPDX-License-Identifier: Apache-2.0. Made of picture_heaps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_PICTURE_HEAPS_SQL_H
#define NM_PAGE_PICTURE_HEAPS_SQL_H

#include "store/question.h"

#define NM_PICTURE_HEAPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(first_seq) INTEGER(last_seq)
NM_QUESTION(picture_heaps, NM_PICTURE_HEAPS_COLUMNS, NM_QUESTION_NONE)

#endif
