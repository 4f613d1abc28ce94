/* SPDX-License-Identifier: Apache-2.0
 *
 * The least that each stack held, minute by minute.
 */
#ifndef NM_REPLAY_FLOORS_H
#define NM_REPLAY_FLOORS_H

#include "replay/state.h"

/* What of it is live and held by no graph; it was `before_bytes`. */
void nm_floors_change(nm_heap *heap, nm_site *site, uint64_t before_bytes);
nm_status nm_floors_pass(nm_replay *replay, nm_process *process, int64_t now_ns, nm_error *err); /* time goes on */
nm_status nm_floors_finish(nm_replay *replay, nm_error *err);

#endif
