/* SPDX-License-Identifier: Apache-2.0. Made of usage_curves.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_USAGE_CURVES_SQL_H
#define NM_PAGE_USAGE_CURVES_SQL_H

#include "store/question.h"

#define NM_USAGE_CURVES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(first_seq) INTEGER(last_seq) \
    INTEGER(last_ns) INTEGER(max_seq) INTEGER(max_ns) INTEGER(max_live_bytes) INTEGER(live_bytes) \
    INTEGER(live_count) INTEGER(reserved_bytes) INTEGER(row_count)
NM_QUESTION(usage_curves, NM_USAGE_CURVES_COLUMNS, NM_QUESTION_NONE)

#endif
