/* SPDX-License-Identifier: Apache-2.0. Made of gap_curves.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_GAP_CURVES_SQL_H
#define NM_PAGE_GAP_CURVES_SQL_H

#include "store/question.h"

#define NM_GAP_CURVES_SQL \
    "SELECT u.heap_id AS heap_id, u.last_seq AS last_seq, u.last_ns AS last_ns, u.reserved_bytes AS " \
    "reserved_bytes, u.free_bytes AS free_bytes, u.stuck_bytes AS stuck_bytes, u.largest_free_bytes AS " \
    "largest_free_bytes, n.row_count AS row_count FROM z_fragmentation_usage AS u JOIN ( SELECT heap_id, count(*) " \
    "AS row_count FROM z_fragmentation_usage WHERE part_id IS NULL GROUP BY heap_id ) AS n ON n.heap_id = " \
    "u.heap_id WHERE u.part_id IS NULL ORDER BY u.heap_id, u.last_seq;"
#define NM_GAP_CURVES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(last_seq) INTEGER(last_ns) \
    INTEGER(reserved_bytes) INTEGER(free_bytes) INTEGER(stuck_bytes) INTEGER(largest_free_bytes) INTEGER(row_count)
NM_QUESTION(gap_curves, NM_GAP_CURVES_SQL, NM_GAP_CURVES_COLUMNS, NM_QUESTION_NONE)

#endif
