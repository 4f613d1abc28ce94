/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments of pools, and which blocks are misses.
 */
#ifndef NM_REPLAY_POOL_H
#define NM_REPLAY_POOL_H

#include "replay/state.h"

/* A driver range appears: if it is a segment from birth, its pool takes it; else `claimant`, whose block will be the first in
 * it (NULL: none, or it is not known yet), or a pool that it lies at the end of. */
nm_status nm_pool_range_appears(nm_live *range, nm_heap *claimant, const nm_context *context, nm_error *err);

/* Of the request that the pool serves, in pieces that it maps: the free range that the last of them ends, which it needs all of. 0:
 * it has mapped none. Unit: bytes. */
uint64_t nm_pool_found_bytes(const nm_heap *pool);

/* What a block finds in the driver's memory when it comes. */
typedef struct nm_touch {
    int8_t is_miss;        /* NM_NO_MISS: no driver memory is known under it */
    uint64_t driver_count; /* ranges that it is the first in */
    uint64_t driver_cost_ns;
} nm_touch;

/* A new block: the segments under it, and whether it is a miss; in *touch, which is zeroed, what it found. */
nm_status nm_pool_block_appears(nm_live *block, uint64_t flags, int64_t seq, nm_touch *touch, nm_error *err);

/* A block that a keyframe brings: its segments say themselves whose they are, and its flags whether it was a miss. */
nm_status nm_pool_block_returns(nm_live *block, uint64_t flags, nm_error *err);

/* Takes its bytes out of the gaps while it is in heap->space, or gives them back. Before nm_usage_add takes a peak. */
nm_status nm_pool_block_covers(nm_live *block, nm_error *err);
nm_status nm_pool_block_ends(nm_live *block, nm_error *err);

/* A segment becomes the pool's (again), or is lost to it. No effect on what is no segment. */
nm_status nm_pool_attach(nm_live *range, bool is_first, int64_t seq, nm_error *err);
nm_status nm_pool_detach(nm_live *range, nm_error *err);

/* A range loses [from, to): `left` and `right` (NULL: nothing is left there) go on for it, owner and all. */
nm_status nm_pool_cut(nm_live *range, uint64_t from, uint64_t to, nm_live *left, nm_live *right, nm_error *err);

/* The pool is the first of its arena: it takes the segments from birth that are there already. */
nm_status nm_pool_adopt(nm_heap *pool, nm_error *err);
void nm_pool_reserved(const nm_context *context);                     /* RESERVED */
void nm_pool_figures(const nm_heap *pool, nm_fragmentation_row *out); /* as of now; the caller sets moment_id */

#endif
