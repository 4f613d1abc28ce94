/* SPDX-License-Identifier: Apache-2.0. Made of exit_heaps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_EXIT_HEAPS_SQL_H
#define NM_STORE_VERDICTS_EXIT_HEAPS_SQL_H

#include "store/question.h"

#define NM_EXIT_HEAPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id)
NM_QUESTION(exit_heaps, NM_EXIT_HEAPS_COLUMNS, NM_QUESTION_NONE)

#endif
