/* SPDX-License-Identifier: Apache-2.0. Made of pool_rows.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_WHATIF_POOL_ROWS_SQL_H
#define NM_TOOL_WHATIF_POOL_ROWS_SQL_H

#include "store/question.h"

#define NM_POOL_ROWS_SQL \
    "SELECT ( SELECT count(*) FROM z_heap_sum JOIN heap USING (heap_id) WHERE level = 2 AND allocation_count > 0 " \
    "AND NOT EXISTS ( SELECT 1 FROM allocation WHERE allocation.heap_id = heap.heap_id AND alloc_seq IS NOT NULL ) " \
    ") AS missing_count, ( SELECT count(*) FROM z_heap_sum JOIN heap USING (heap_id) JOIN process USING " \
    "(process_id) JOIN input USING (input_id) WHERE level = 2 AND allocation_count > 0 AND detail <> 'all' ) AS " \
    "thinned_count, (SELECT count(*) FROM input WHERE baseline = 'unknown') AS late_count;"
#define NM_POOL_ROWS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(missing_count) INTEGER(thinned_count) \
    INTEGER(late_count)
NM_QUESTION(pool_rows, NM_POOL_ROWS_SQL, NM_POOL_ROWS_COLUMNS, NM_QUESTION_NONE)

#endif
