/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_order.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_ORDER_SQL_H
#define NM_EXPORT_SNAPSHOT_ORDER_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_ORDER_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(alloc_seq) FLAG(is_contrary)
NM_QUESTION(snapshot_order, NM_SNAPSHOT_ORDER_COLUMNS, NM_QUESTION_NONE)

#endif
