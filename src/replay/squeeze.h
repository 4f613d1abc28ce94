/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a pool is cut up for sure.
 */
#ifndef NM_REPLAY_SQUEEZE_H
#define NM_REPLAY_SQUEEZE_H

#include "replay/state.h"

/* How far a block of which only the requested size is known reaches behind its end. is_new: it was cut just now, from what is
 * free behind it. */
nm_rounding nm_squeeze_rounding(const nm_live *range, const nm_live *block, bool is_new);
bool nm_squeeze_is_known(const nm_heap *pool); /* of all its blocks */

/* A new block, which may be a miss: range is the first one under it. After it has taken its bytes out of the gaps. */
void nm_squeeze_miss(const nm_live *range, const nm_live *block);
nm_status nm_squeeze_write(const nm_replay *replay, const nm_heap *pool, nm_error *err);

#endif
