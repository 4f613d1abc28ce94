/* SPDX-License-Identifier: Apache-2.0. Made of asked_stacks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_STACK_ASKED_STACKS_SQL_H
#define NM_TOOL_STACK_ASKED_STACKS_SQL_H

#include "store/question.h"

#define NM_ASKED_STACKS_SQL \
    "SELECT stack_id, bytes, allocation_count, words, host, rank, pid, device, (SELECT upper(max(kind)) FROM " \
    "device) AS device_kind, coalesce(heap, level) AS heap, heap AS heap_name, level, what, verdict, " \
    "out_of_memory_id, heap_id, NULL AS source FROM ( SELECT host, rank, pid, device, heap, level, stack_id, what, " \
    "verdict, out_of_memory_id, CASE WHEN verdict IS NULL THEN what ELSE 'leaked (' || verdict || ')' END AS " \
    "words, bytes, allocation_count, heap_id FROM stack_sum WHERE CASE WHEN what IN ('allocated', " \
    "'from before the recording') THEN :has_allocated WHEN what IN ('live at the peak', " \
    "'live at the peak, from before the recording') THEN :has_live WHEN what = 'leaked' THEN :has_leaked WHEN what " \
    "= 'live when the pool held most' THEN :has_reserve ELSE 0 END UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, " \
    "NULL, stack_id, NULL, NULL, NULL, 'no sum is kept of it', NULL, NULL, NULL FROM stack WHERE stack_id = " \
    ":stack_id AND NOT EXISTS (SELECT 1 FROM z_stack_sum WHERE stack_id = :stack_id) AND NOT EXISTS (SELECT 1 FROM " \
    "z_peak_stack WHERE stack_id = :stack_id) AND NOT EXISTS (SELECT 1 FROM z_older_blocks WHERE stack_id = " \
    ":stack_id) ) WHERE heap_id IS NULL OR ( (:rank IS NULL OR rank IS :rank) AND (:stack_id IS NULL OR stack_id = " \
    ":stack_id) AND ( :site IS NULL OR stack_id IN ( SELECT s.stack_id FROM stack AS s JOIN frame AS f ON " \
    "f.frame_id = s.site_frame_id WHERE instr(f.label, :site) > 0 ) ) ) ORDER BY CASE WHEN :stack_id IS NULL THEN " \
    "bytes END DESC, heap_id, CASE WHEN :stack_id IS NULL THEN stack_id ELSE words END;"
#define NM_ASKED_STACKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) INTEGER(bytes) \
    INTEGER(allocation_count) TEXT(words) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(device_kind) \
    TEXT(heap) TEXT(heap_name) TEXT(level) TEXT(what) TEXT(verdict) INTEGER(out_of_memory_id) INTEGER(heap_id) \
    TEXT(source)
#define NM_ASKED_STACKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(has_allocated) FLAG(has_live) FLAG(has_leaked) \
    FLAG(has_reserve) INTEGER(stack_id) INTEGER(rank) TEXT(site)
NM_QUESTION_OF_TEXTS(asked_stacks, NM_ASKED_STACKS_SQL, NM_ASKED_STACKS_COLUMNS, NM_ASKED_STACKS_PARAMETERS)

#endif
