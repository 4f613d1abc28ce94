/* SPDX-License-Identifier: Apache-2.0. Made of usage_heaps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_USAGE_HEAPS_SQL_H
#define NM_PAGE_USAGE_HEAPS_SQL_H

#include "store/question.h"

#define NM_USAGE_HEAPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_count)
NM_QUESTION(usage_heaps, NM_USAGE_HEAPS_COLUMNS, NM_QUESTION_NONE)

#endif
