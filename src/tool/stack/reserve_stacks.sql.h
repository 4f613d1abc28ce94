/* SPDX-License-Identifier: Apache-2.0. Made of reserve_stacks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_STACK_RESERVE_STACKS_SQL_H
#define NM_TOOL_STACK_RESERVE_STACKS_SQL_H

#include "store/question.h"

#define NM_RESERVE_STACKS_SQL \
    "SELECT a.stack_id AS stack_id, sum(a.size_bytes) AS bytes, count(*) AS allocation_count, " \
    "'live when the pool held most' AS words, n.rank AS rank, n.pid AS pid, n.device AS device, (SELECT " \
    "upper(max(kind)) FROM device) AS device_kind, coalesce(n.heap, n.level) AS heap, n.heap_id AS heap_id FROM " \
    "z_named_moment AS n JOIN allocation AS a ON a.heap_id = n.heap_id WHERE n.moment = 'reserve' AND n.level IN " \
    "('pool', 'workspace') AND (:rank IS NULL OR n.rank IS :rank) AND (a.alloc_seq IS NOT NULL OR a.stack_id IS " \
    "NOT NULL) AND coalesce(a.alloc_seq, -1) <= n.seq AND (a.free_seq IS NULL OR a.free_seq > n.seq) GROUP BY " \
    "n.heap_id, a.stack_id ORDER BY bytes DESC, n.heap_id, a.stack_id;"
#define NM_RESERVE_STACKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) INTEGER(bytes) \
    INTEGER(allocation_count) TEXT(words) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(device_kind) TEXT(heap) \
    INTEGER(heap_id)
#define NM_RESERVE_STACKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank)
NM_QUESTION_OF_TEXTS(reserve_stacks, NM_RESERVE_STACKS_SQL, NM_RESERVE_STACKS_COLUMNS, NM_RESERVE_STACKS_PARAMETERS)

#endif
