/* SPDX-License-Identifier: Apache-2.0. Made of block_lives.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_BLOCK_LIVES_SQL_H
#define NM_TOOL_MCP_BLOCK_LIVES_SQL_H

#include "store/question.h"

#define NM_BLOCK_LIVES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(allocation_id) INTEGER(address) INTEGER(rank) \
    INTEGER(pid) INTEGER(device) TEXT(heap) TEXT(level) INTEGER(size_bytes) INTEGER(requested_bytes) \
    INTEGER(alloc_seq) INTEGER(alloc_ns) INTEGER(step) INTEGER(free_seq) INTEGER(free_ns) INTEGER(lifetime_ns) \
    TEXT(ended) TEXT(thread) TEXT(free_thread) TEXT(operation) INTEGER(stream) TEXT(site) TEXT(free_site) \
    TEXT(category) INTEGER(stack_id)
#define NM_BLOCK_LIVES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(allocation_id) INTEGER(address_number) \
    INTEGER(rank)
NM_QUESTION_OF_TEXTS(block_lives, NM_BLOCK_LIVES_COLUMNS, NM_BLOCK_LIVES_PARAMETERS)

#endif
