/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_rows.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_ROWS_SQL_H
#define NM_EXPORT_SNAPSHOT_ROWS_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_ROWS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(alloc_seq) INTEGER(alloc_code) INTEGER(address) \
    INTEGER(size_bytes) INTEGER(asked_bytes) INTEGER(stream) INTEGER(stack_id) INTEGER(pool_id) INTEGER(alloc_ns) \
    FLAG(is_own_block) INTEGER(free_requested_seq) INTEGER(free_seq) FLAG(is_at_once) INTEGER(end_code) \
    INTEGER(left_bytes) INTEGER(end_bytes) INTEGER(free_stack_id) INTEGER(free_ns)
#define NM_SNAPSHOT_ROWS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(device)
NM_QUESTION(snapshot_rows, NM_SNAPSHOT_ROWS_COLUMNS, NM_SNAPSHOT_ROWS_PARAMETERS)

#endif
