/* SPDX-License-Identifier: Apache-2.0. Made of profile_rows.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PROFILE_ROWS_SQL_H
#define NM_EXPORT_PROFILE_ROWS_SQL_H

#include "store/question.h"

#define NM_PROFILE_ROWS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(stack_id) INTEGER(size_bytes) \
    INTEGER(alloc_seq) INTEGER(alloc_ns) FLAG(is_live) INTEGER(free_seq) INTEGER(free_ns)
NM_QUESTION(profile_rows, NM_PROFILE_ROWS_COLUMNS, NM_QUESTION_NONE)

#endif
