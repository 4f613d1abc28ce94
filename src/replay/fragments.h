/* SPDX-License-Identifier: Apache-2.0
 *
 * How a pool is cut up at a moment.
 */
#ifndef NM_REPLAY_FRAGMENTS_H
#define NM_REPLAY_FRAGMENTS_H

#include "replay/state.h"

/* Parts, gaps and blockers of a pool at a moment. At the present one so many stacks have rows of their own; 0: neither
 * gaps nor blockers. */
nm_status nm_fragments_now(nm_replay *replay, uint64_t moment_id, const nm_heap *pool, size_t blocker_limit,
                           nm_error *err);
nm_status nm_fragments_peak(nm_replay *replay, uint64_t moment_id, const nm_heap *pool, nm_error *err);
nm_status nm_fragments_end(nm_replay *replay, uint64_t moment_id, const nm_heap *pool, nm_error *err);

/* May a present moment look at all of the pool? It takes so much of what all moments together may look at. */
bool nm_fragments_afford(nm_replay *replay, nm_heap *pool, bool is_failure);

/* The segment, or the block, ends or is cut: it may have been there at the pool's peak. Before it is changed. */
nm_status nm_fragments_lose_segment(const nm_live *range, nm_error *err);
nm_status nm_fragments_lose_block(const nm_live *block, nm_error *err);

/* The source lists a segment or a block of the pool, at the end. */
nm_status nm_fragments_state(nm_replay *replay, nm_heap *pool, const nm_event *event, nm_error *err);
void nm_fragments_free(nm_heap *pool);

#endif
