/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments of a pool that lend to each other.
 */
#ifndef NM_REPLAY_SUB_POOL_H
#define NM_REPLAY_SUB_POOL_H

#include "replay/state.h"

/* Does free memory at the end of `left` go on in `right`? Only mapped ranges of one part grow together. NULL: nothing. */
bool nm_sub_pool_is_joined(const nm_live *left, const nm_live *right);

/* The pool's part of such segments, made where it is missing; the key's other fields do not count. */
nm_status nm_sub_pool_find(nm_replay *replay, nm_heap *pool, const nm_pool_part_row *key, nm_sub_pool **out,
                           nm_error *err);
nm_segment_kind nm_sub_pool_kind(uint64_t segment_bytes, bool is_mapped);

/* The segment becomes its owner's: finds its part. */
nm_status nm_sub_pool_enter(nm_live *range, nm_error *err);

/* Before it enters: the event that made it tells whose block is the first in it (source/claims.h), and thus the part. */
nm_status nm_sub_pool_claim(nm_live *range, const nm_event *event, nm_error *err);

/* The first block in a segment tells which private pool it is of, and which stream where the segment does not say that, and
 * so for all that its free memory goes on in. */
nm_status nm_sub_pool_settle(nm_live *range, const nm_live *block, nm_error *err);

/* nm_gaps_give and nm_gaps_take for a segment's part, with the sums of its pool. */
nm_status nm_sub_pool_give(nm_live *range, uint64_t from, uint64_t to, uint64_t *given_bytes, nm_error *err);
nm_status nm_sub_pool_take(nm_sub_pool *part, uint64_t from, uint64_t to, uint64_t *taken_bytes, nm_error *err);
void nm_sub_pool_reserve(const nm_live *range, uint64_t more_bytes, uint64_t less_bytes); /* a segment with its part */
void nm_sub_pool_stick(nm_sub_pool *part, uint64_t more_bytes, uint64_t less_bytes);      /* stuck bytes */

/* A block comes or goes: what it was given beyond what was asked for. */
void nm_sub_pool_add_waste(nm_live *block, nm_sub_pool *part); /* NULL: it is in no segment */
void nm_sub_pool_subtract_waste(nm_live *block);
int64_t nm_sub_pool_block_waste(uint64_t requested_bytes, uint64_t block_bytes);

nm_sub_pool_figures nm_sub_pool_figures_of(const nm_sub_pool *part);
uint64_t nm_sub_pool_largest(const nm_heap *pool); /* of the free ranges of all its parts */
nm_status nm_sub_pools_write(const nm_replay *replay, const nm_heap *pool, nm_error *err); /* the parts themselves */
void nm_parts_settle(nm_heap *pool); /* what has changed in them is told */
void nm_parts_free(nm_heap *pool);

#endif
