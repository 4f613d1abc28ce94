/* SPDX-License-Identifier: Apache-2.0. Made of usage_curves.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_USAGE_CURVES_SQL_H
#define NM_PAGE_USAGE_CURVES_SQL_H

#include "store/question.h"

#define NM_USAGE_CURVES_SQL \
    "SELECT u.heap_id AS heap_id, u.first_seq AS first_seq, u.last_seq AS last_seq, u.last_ns AS last_ns, " \
    "u.max_seq AS max_seq, u.max_ns AS max_ns, u.max_live_bytes AS max_live_bytes, u.live_bytes AS live_bytes, " \
    "u.live_count AS live_count, u.reserved_bytes AS reserved_bytes, n.row_count AS row_count FROM usage AS u JOIN " \
    "(SELECT heap_id, count(*) AS row_count FROM usage GROUP BY heap_id) AS n ON n.heap_id = u.heap_id ORDER BY " \
    "u.heap_id, u.last_seq;"
#define NM_USAGE_CURVES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(first_seq) INTEGER(last_seq) \
    INTEGER(last_ns) INTEGER(max_seq) INTEGER(max_ns) INTEGER(max_live_bytes) INTEGER(live_bytes) \
    INTEGER(live_count) INTEGER(reserved_bytes) INTEGER(row_count)
NM_QUESTION(usage_curves, NM_USAGE_CURVES_SQL, NM_USAGE_CURVES_COLUMNS, NM_QUESTION_NONE)

#endif
