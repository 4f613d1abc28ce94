/* SPDX-License-Identifier: Apache-2.0
 *
 * How a pool is cut up all the time.
 */
#ifndef NM_REPLAY_FRAGMENT_LINE_H
#define NM_REPLAY_FRAGMENT_LINE_H

#include "replay/state.h"

/* The timelines of the pool and of its parts that have changed take their state over. */
nm_status nm_fragment_line_take(nm_heap *pool, int64_t seq, int64_t ns, nm_error *err);
nm_status nm_fragment_line_write(const nm_replay *replay, const nm_heap *pool, nm_error *err);
void nm_fragment_line_free(nm_fragment_line *line);

#endif
