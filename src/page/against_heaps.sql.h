/* SPDX-License-Identifier: Apache-2.0. Made of against_heaps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_AGAINST_HEAPS_SQL_H
#define NM_PAGE_AGAINST_HEAPS_SQL_H

#include "store/question.h"

#define NM_AGAINST_HEAPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(heap) TEXT(level) INTEGER(heap_id) INTEGER(process_id) INTEGER(input_id) INTEGER(peak_bytes) \
    INTEGER(peak_seq)
NM_QUESTION_OF_TEXTS(against_heaps, NM_AGAINST_HEAPS_COLUMNS, NM_QUESTION_NONE)

#endif
