/* SPDX-License-Identifier: Apache-2.0. Made of segment_blocks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_SEGMENT_BLOCKS_SQL_H
#define NM_PAGE_SEGMENT_BLOCKS_SQL_H

#include "store/question.h"

#define NM_SEGMENT_BLOCKS_SQL \
    "SELECT a.heap_id AS heap_id, coalesce(a.alloc_seq, -1) AS born, a.free_seq - coalesce(a.alloc_seq, -1) AS " \
    "life, a.address AS address, a.size_bytes AS size_bytes, a.stack_id AS stack_id, a.allocation_id AS " \
    "allocation_id, a.stream AS stream, a.category_id AS category_id, a.private_pool AS private_pool, CASE WHEN " \
    "c.name = 'other' THEN ( WITH RECURSIVE around (operation_id, distance) AS ( SELECT a.operation_id, 0 UNION " \
    "ALL SELECT i.parent_id, around.distance + 1 FROM around JOIN operation AS i ON i.operation_id = " \
    "around.operation_id WHERE i.parent_id IS NOT NULL ) SELECT i.name FROM around JOIN operation AS i ON " \
    "i.operation_id = around.operation_id JOIN operation_kind AS k ON k.kind = i.kind AND k.name = 'category' " \
    "ORDER BY around.distance LIMIT 1 ) END AS own_category, o.name AS operation, NULL AS module FROM allocation " \
    "AS a LEFT JOIN operation AS o ON o.operation_id = a.operation_id LEFT JOIN z_category AS c ON c.category_id = " \
    "a.category_id WHERE a.allocation_id = :segment_id;"
#define NM_SEGMENT_BLOCKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) TEXT(born) TEXT(life) INTEGER(address) \
    INTEGER(size_bytes) INTEGER(stack_id) INTEGER(allocation_id) INTEGER(stream) INTEGER(category_id) \
    TEXT(private_pool) TEXT(own_category) TEXT(operation) TEXT(module)
#define NM_SEGMENT_BLOCKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(segment_id)
NM_QUESTION_OF_TEXTS(segment_blocks, NM_SEGMENT_BLOCKS_SQL, NM_SEGMENT_BLOCKS_COLUMNS, NM_SEGMENT_BLOCKS_PARAMETERS)

#endif
