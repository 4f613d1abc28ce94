/* SPDX-License-Identifier: Apache-2.0. Made of block_rows.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_BLOCK_ROWS_SQL_H
#define NM_PAGE_BLOCK_ROWS_SQL_H

#include "store/question.h"

#define NM_BLOCK_ROWS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(alloc_seq) INTEGER(free_seq) \
    INTEGER(address) INTEGER(size_bytes) INTEGER(stack_id) INTEGER(allocation_id) INTEGER(segment_id) \
    INTEGER(end_code) FLAG(is_segment) INTEGER(stream) INTEGER(category_id) INTEGER(private_pool_id) \
    INTEGER(spare_bytes) INTEGER(given_up_seq) INTEGER(operation_id) INTEGER(source_code)
#define NM_BLOCK_ROWS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(is_whole) INTEGER(first_id) INTEGER(last_id)
NM_QUESTION(block_rows, NM_BLOCK_ROWS_COLUMNS, NM_BLOCK_ROWS_PARAMETERS)

#endif
