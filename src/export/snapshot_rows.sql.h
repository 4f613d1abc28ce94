/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_rows.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_ROWS_SQL_H
#define NM_EXPORT_SNAPSHOT_ROWS_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_ROWS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(allocation_id) INTEGER(heap_id) \
    INTEGER(alloc_seq) INTEGER(alloc_ns) INTEGER(address) INTEGER(size_bytes) INTEGER(asked_bytes) INTEGER(stream) \
    INTEGER(segment_id) INTEGER(stack_id) INTEGER(pool_id) FLAG(is_no_segment) FLAG(is_mapped) FLAG(is_plain) \
    INTEGER(split_from_id) INTEGER(free_requested_seq) INTEGER(free_seq) INTEGER(free_stack_id) INTEGER(free_ns)
NM_QUESTION(snapshot_rows, NM_SNAPSHOT_ROWS_COLUMNS, NM_QUESTION_NONE)

#endif
