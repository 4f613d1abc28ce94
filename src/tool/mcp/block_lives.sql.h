/* SPDX-License-Identifier: Apache-2.0. Made of block_lives.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_BLOCK_LIVES_SQL_H
#define NM_TOOL_MCP_BLOCK_LIVES_SQL_H

#include "store/question.h"

#define NM_BLOCK_LIVES_SQL \
    "SELECT allocation_id, address, rank, pid, device, heap, level, size_bytes, requested_bytes, alloc_seq, " \
    "alloc_ns, step, free_seq, free_ns, lifetime_ns, ended, thread, free_thread, operation, stream, site, " \
    "free_site, category, stack_id FROM allocation_detail WHERE allocation_id IN ( SELECT a.allocation_id FROM " \
    "allocation AS a WHERE a.allocation_id = :allocation_id UNION ALL SELECT a.allocation_id FROM allocation AS a " \
    "WHERE :allocation_id IS NULL AND a.address = :address_number ) AND (:rank IS NULL OR rank = :rank) ORDER BY " \
    "allocation_id;"
#define NM_BLOCK_LIVES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(allocation_id) INTEGER(address) INTEGER(rank) \
    INTEGER(pid) INTEGER(device) TEXT(heap) TEXT(level) INTEGER(size_bytes) INTEGER(requested_bytes) \
    INTEGER(alloc_seq) INTEGER(alloc_ns) INTEGER(step) INTEGER(free_seq) INTEGER(free_ns) INTEGER(lifetime_ns) \
    TEXT(ended) TEXT(thread) TEXT(free_thread) TEXT(operation) INTEGER(stream) TEXT(site) TEXT(free_site) \
    TEXT(category) INTEGER(stack_id)
#define NM_BLOCK_LIVES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(allocation_id) INTEGER(address_number) \
    INTEGER(rank)
NM_QUESTION_OF_TEXTS(block_lives, NM_BLOCK_LIVES_SQL, NM_BLOCK_LIVES_COLUMNS, NM_BLOCK_LIVES_PARAMETERS)

#endif
