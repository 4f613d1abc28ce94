/* SPDX-License-Identifier: Apache-2.0
 *
 * pool_rows.sql: pools with allocations of which there are no rows, and those of which there is not a row for each; and
 * inputs that may have begun late.
 * Made of that file by the target `sql`; a test compares them. store/question.h says how it is used.
 */
/* clang-format off */
#ifndef NM_TOOL_WHATIF_POOL_ROWS_SQL_H
#define NM_TOOL_WHATIF_POOL_ROWS_SQL_H

#include "store/question.h"

#define NM_POOL_ROWS_SQL \
    "SELECT ( SELECT count(*) FROM _heap_sum JOIN heap USING (heap_id) WHERE level = 2 AND allocation_count > 0 " \
    "AND NOT EXISTS ( SELECT 1 FROM allocation WHERE allocation.heap_id = heap.heap_id AND alloc_seq IS NOT NULL ) " \
    ") AS missing_count, ( SELECT count(*) FROM _heap_sum JOIN heap USING (heap_id) JOIN process USING " \
    "(process_id) JOIN input USING (input_id) WHERE level = 2 AND allocation_count > 0 AND detail <> 'all' ) AS " \
    "thinned_count, (SELECT count(*) FROM input WHERE baseline = 'unknown') AS late_count;"
#define NM_POOL_ROWS_COLUMNS(INTEGER, FLAG, REAL, TEXT) \
    INTEGER(missing_count) INTEGER(thinned_count) INTEGER(late_count)
NM_QUESTION_ROW(pool_rows, NM_POOL_ROWS_COLUMNS)
NM_QUESTION_ASK(pool_rows, NM_POOL_ROWS_SQL, NM_QUESTION_NONE)
NM_QUESTION_GET(pool_rows, NM_QUESTION_NONE)

#endif
