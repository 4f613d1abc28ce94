/* SPDX-License-Identifier: Apache-2.0. Made of failed_stacks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_STACK_FAILED_STACKS_SQL_H
#define NM_TOOL_STACK_FAILED_STACKS_SQL_H

#include "store/question.h"

#define NM_FAILED_STACKS_SQL \
    "SELECT stack_id, bytes, allocation_count, words, rank, pid, device, (SELECT upper(max(kind)) FROM device) AS " \
    "device_kind, heap, heap_id FROM ( SELECT q.stack_id AS stack_id, coalesce(q.tried_bytes, " \
    "q.at_least_tried_bytes) AS bytes, NULL AS allocation_count, 'asked for: out of memory, ' || q.outcome AS " \
    "words, p.rank AS rank, p.pid AS pid, p.device AS device, coalesce(p.heap, p.level) AS heap, p.heap_id AS " \
    "heap_id, 0 AS part, q.out_of_memory_chain_id AS place FROM z_out_of_memory_chain AS q LEFT JOIN z_heap_place " \
    "AS p ON p.heap_id = q.heap_id WHERE :rank IS NULL OR p.rank IS :rank UNION ALL SELECT q.stack_id, " \
    "q.live_bytes, q.live_count, 'held when it failed', p.rank, p.pid, p.device, coalesce(p.heap, p.level), " \
    "p.heap_id, 1, -q.live_bytes FROM z_out_of_memory_stack AS q JOIN z_heap_place AS p ON p.heap_id = q.heap_id " \
    "AND (:rank IS NULL OR p.rank IS :rank) WHERE q.is_rest = 0 AND q.is_baseline = 0 AND q.out_of_memory_chain_id " \
    "= ( SELECT min(c.out_of_memory_chain_id) FROM z_out_of_memory_chain AS c LEFT JOIN z_heap_place AS h ON " \
    "h.heap_id = c.heap_id WHERE :rank IS NULL OR h.rank IS :rank ) ) ORDER BY part, place, stack_id;"
#define NM_FAILED_STACKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) INTEGER(bytes) \
    INTEGER(allocation_count) TEXT(words) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(device_kind) TEXT(heap) \
    INTEGER(heap_id)
#define NM_FAILED_STACKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank)
NM_QUESTION_OF_TEXTS(failed_stacks, NM_FAILED_STACKS_SQL, NM_FAILED_STACKS_COLUMNS, NM_FAILED_STACKS_PARAMETERS)

#endif
