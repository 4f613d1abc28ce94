/* SPDX-License-Identifier: Apache-2.0. Made of segment_blocks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_SEGMENT_BLOCKS_SQL_H
#define NM_PAGE_SEGMENT_BLOCKS_SQL_H

#include "store/question.h"

#define NM_SEGMENT_BLOCKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) TEXT(born) TEXT(life) INTEGER(address) \
    INTEGER(size_bytes) INTEGER(stack_id) INTEGER(allocation_id) INTEGER(stream) INTEGER(category_id) \
    TEXT(private_pool) TEXT(own_category) TEXT(operation) TEXT(module)
#define NM_SEGMENT_BLOCKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(segment_id)
NM_QUESTION_OF_TEXTS(segment_blocks, NM_SEGMENT_BLOCKS_COLUMNS, NM_SEGMENT_BLOCKS_PARAMETERS)

#endif
