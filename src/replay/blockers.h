/* SPDX-License-Identifier: Apache-2.0
 *
 * Which blocks keep segments from being empty.
 */
#ifndef NM_REPLAY_BLOCKERS_H
#define NM_REPLAY_BLOCKERS_H

#include "replay/state.h"

/* Which blocks hold which free bytes, split over the blocks of each segment: `limit` stacks have a row. Both lists in order
 * of address, the blocks apart from each other. */
nm_status nm_blockers_write(nm_replay *replay, uint64_t moment_id, const nm_heap *pool,
                            const nm_segments_then *segments, const nm_blocks_then *blocks, size_t limit,
                            nm_error *err);

/* The first of the blocks that ends behind `from`. */
size_t nm_blockers_first(const nm_blocks_then *blocks, uint64_t from);

#endif
