/* SPDX-License-Identifier: Apache-2.0
 *
 * Failures that belong together.
 */
#ifndef NM_REPLAY_CHAIN_H
#define NM_REPLAY_CHAIN_H

#include "replay/state.h"

/* Did the runtime say that it lacks memory, or streams, events and the like? */
bool nm_chain_is_lack(const nm_event *event);

/* An allocation, or a call about streams, failed at the moment `moment_id`. Call it before anything else of the event takes
 * effect. */
nm_status nm_chain_failure(nm_replay *replay, const nm_context *context, const nm_failure_row *failure,
                           uint64_t moment_id, nm_error *err);

/* Any other event, before it takes effect: does it go on with what has failed, serve it or leave it? Only needed while
 * replay->open_chain_count is not 0. */
nm_status nm_chain_event(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_chain_finish(nm_replay *replay, nm_error *err); /* writes what is open */
void nm_chain_discard(nm_replay *replay);

#endif
