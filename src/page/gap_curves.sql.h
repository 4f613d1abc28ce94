/* SPDX-License-Identifier: Apache-2.0. Made of gap_curves.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_GAP_CURVES_SQL_H
#define NM_PAGE_GAP_CURVES_SQL_H

#include "store/question.h"

#define NM_GAP_CURVES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(last_seq) INTEGER(last_ns) \
    INTEGER(reserved_bytes) INTEGER(free_bytes) INTEGER(stuck_bytes) INTEGER(largest_free_bytes) INTEGER(row_count)
NM_QUESTION(gap_curves, NM_GAP_CURVES_COLUMNS, NM_QUESTION_NONE)

#endif
