/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a pool is cut up for sure.
 */
#ifndef NM_REPLAY_ROUNDING_H
#define NM_REPLAY_ROUNDING_H

#include "replay/state.h"

/* How far a block of which only the requested size is known reaches behind its end. is_new: it was cut just now, from what is
 * free behind it. */
nm_rounding nm_rounding_of(const nm_live *range, const nm_live *block, bool is_new);
bool nm_rounding_is_known(const nm_heap *pool); /* of all its blocks */

bool nm_rounding_is_small(uint64_t bytes); /* is a block of that size cut to its rounded size? */
const nm_live *nm_rounding_last_under(const nm_live *range,
                                      const nm_live *block); /* the last segment that it lies in */

#endif
