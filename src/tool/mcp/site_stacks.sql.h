/* SPDX-License-Identifier: Apache-2.0. Made of site_stacks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_SITE_STACKS_SQL_H
#define NM_TOOL_MCP_SITE_STACKS_SQL_H

#include "store/question.h"

#define NM_SITE_STACKS_SQL \
    "SELECT s.stack_id AS stack_id, f.label AS site, sum(q.allocated_bytes) AS allocated_bytes, " \
    "sum(q.allocation_count) AS allocation_count, sum(q.older_bytes) AS older_bytes FROM stack AS s JOIN frame AS " \
    "f ON f.frame_id = s.site_frame_id JOIN ( SELECT heap_id, stack_id, allocated_bytes, allocation_count, 0 AS " \
    "older_bytes FROM z_stack_sum UNION ALL SELECT heap_id, stack_id, 0, 0, block_bytes FROM z_older_blocks ) AS q " \
    "ON q.stack_id = s.stack_id WHERE instr(f.label, :site) > 0 AND (:rank IS NULL OR q.heap_id IN (SELECT " \
    "p.heap_id FROM z_heap_place AS p WHERE p.rank = :rank)) GROUP BY s.stack_id ORDER BY sum(q.allocated_bytes) + " \
    "sum(q.older_bytes) DESC, s.stack_id LIMIT :most_count;"
#define NM_SITE_STACKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) TEXT(site) INTEGER(allocated_bytes) \
    INTEGER(allocation_count) INTEGER(older_bytes)
#define NM_SITE_STACKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(site) INTEGER(rank) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(site_stacks, NM_SITE_STACKS_SQL, NM_SITE_STACKS_COLUMNS, NM_SITE_STACKS_PARAMETERS)

#endif
