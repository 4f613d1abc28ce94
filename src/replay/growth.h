/* SPDX-License-Identifier: Apache-2.0
 *
 * What of each stack lives on from step to step.
 */
#ifndef NM_REPLAY_GROWTH_H
#define NM_REPLAY_GROWTH_H

#include "replay/state.h"

void nm_growth_touch(nm_heap *heap, nm_site *site); /* what of it is live changes */
nm_status nm_growth_end_step(nm_replay *replay, nm_heap *heap, bool is_last, nm_error *err);
nm_status nm_growth_freed(const nm_live *live, nm_error *err); /* its end stands */
bool nm_growth_is_sampled(uint64_t generation);                /* is that step told of long runs, too? */
nm_status nm_growth_write_lifetimes(nm_replay *replay, const nm_heap *heap, const nm_site *site, nm_error *err);

#endif
