/* SPDX-License-Identifier: Apache-2.0. Made of asked_stacks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_STACK_ASKED_STACKS_SQL_H
#define NM_TOOL_STACK_ASKED_STACKS_SQL_H

#include "store/question.h"

#define NM_ASKED_STACKS_SQL \
    "SELECT stack_id, bytes, allocation_count, words, rank, pid, device, (SELECT upper(max(kind)) FROM device) AS " \
    "device_kind, heap, heap_id FROM ( SELECT q.stack_id AS stack_id, q.allocated_bytes AS bytes, " \
    "q.allocation_count AS allocation_count, 'allocated' AS words, p.rank AS rank, p.pid AS pid, p.device AS " \
    "device, coalesce(p.heap, p.level) AS heap, q.heap_id AS heap_id FROM z_stack_sum AS q JOIN z_heap_place AS p " \
    "ON p.heap_id = q.heap_id WHERE :has_allocated UNION ALL SELECT q.stack_id, sum(q.live_bytes), " \
    "sum(q.live_count), CASE q.is_baseline WHEN 1 THEN 'live at the peak, from before the recording' ELSE " \
    "'live at the peak' END, p.rank, p.pid, p.device, coalesce(p.heap, p.level), q.heap_id FROM z_peak_stack AS q " \
    "JOIN z_heap_place AS p ON p.heap_id = q.heap_id WHERE :has_live GROUP BY q.heap_id, q.stack_id, q.is_baseline " \
    "UNION ALL SELECT q.stack_id, sum(q.leak_count * q.size_bytes), sum(q.leak_count), 'leaked (' || q.verdict || " \
    "')', p.rank, p.pid, p.device, coalesce(p.heap, p.level), q.heap_id FROM z_leaked_sum AS q JOIN z_heap_place " \
    "AS p ON p.heap_id = q.heap_id WHERE :has_leaked GROUP BY q.heap_id, q.stack_id, q.verdict UNION ALL SELECT " \
    "q.stack_id, q.block_bytes, q.block_count, 'from before the recording', p.rank, p.pid, p.device, " \
    "coalesce(p.heap, p.level), q.heap_id FROM z_older_blocks AS q JOIN z_heap_place AS p ON p.heap_id = q.heap_id " \
    "WHERE :has_allocated UNION ALL SELECT stack_id, NULL, NULL, 'no sum is kept of it', NULL, NULL, NULL, NULL, " \
    "NULL FROM stack WHERE stack_id = :stack_id AND NOT EXISTS (SELECT 1 FROM z_stack_sum WHERE stack_id = " \
    ":stack_id) AND NOT EXISTS (SELECT 1 FROM z_peak_stack WHERE stack_id = :stack_id) AND NOT EXISTS (SELECT 1 " \
    "FROM z_older_blocks WHERE stack_id = :stack_id) ) WHERE heap_id IS NULL OR ( (:rank IS NULL OR rank IS :rank) " \
    "AND (:stack_id IS NULL OR stack_id = :stack_id) AND ( :site IS NULL OR stack_id IN ( SELECT s.stack_id FROM " \
    "stack AS s JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE instr(f.label, :site) > 0 ) ) ) ORDER BY " \
    "CASE WHEN :stack_id IS NULL THEN bytes END DESC, heap_id, CASE WHEN :stack_id IS NULL THEN stack_id ELSE " \
    "words END;"
#define NM_ASKED_STACKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) INTEGER(bytes) \
    INTEGER(allocation_count) TEXT(words) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(device_kind) TEXT(heap) \
    INTEGER(heap_id)
#define NM_ASKED_STACKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(has_allocated) FLAG(has_live) FLAG(has_leaked) \
    INTEGER(stack_id) INTEGER(rank) TEXT(site)
NM_QUESTION_OF_TEXTS(asked_stacks, NM_ASKED_STACKS_SQL, NM_ASKED_STACKS_COLUMNS, NM_ASKED_STACKS_PARAMETERS)

#endif
