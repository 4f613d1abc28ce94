/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments and blocks of a pool as they were at a moment, and which blocks keep the segments from being empty. Of
 * fragments.c.
 */
#ifndef NM_ANALYSIS_BLOCKERS_H
#define NM_ANALYSIS_BLOCKERS_H

#include "replay/state.h"

typedef struct nm_segment_then {
    uint64_t from, to; /* first address, and the one behind the last */
    const nm_sub_pool *part;
    const nm_heap *driver;
    uint64_t stream;
    bool has_stream, is_mapped;
} nm_segment_then;

typedef struct nm_block_then {
    uint64_t from, to;
    uint64_t allocation_id, stack_id;
    int64_t alloc_seq, alloc_ns;
    int64_t waste_bytes;     /* NM_UNKNOWN_NUMBER: one of its two sizes is not known */
    const nm_sub_pool *part; /* that it counts for; NULL: none */
    bool is_baseline, is_covering;
} nm_block_then;

typedef struct nm_segments_then {
    nm_segment_then *items;
    size_t count, capacity;
} nm_segments_then;

typedef struct nm_blocks_then {
    nm_block_then *items;
    size_t count, capacity;
} nm_blocks_then;

/* Which blocks hold which free bytes, split over the blocks of each segment: `limit` stacks have a row. Both lists in order
 * of address, the blocks apart from each other. */
nm_status nm_blockers_write(const nm_sink *sink, uint64_t moment_id, const nm_heap *pool,
                            const nm_segments_then *segments, const nm_blocks_then *blocks, size_t limit,
                            nm_error *err);

/* The first of the blocks that ends behind `from`. */
size_t nm_blockers_first(const nm_blocks_then *blocks, uint64_t from);

#endif
