/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams that a process forgets to destroy.
 */
#ifndef NM_REPLAY_STREAMS_H
#define NM_REPLAY_STREAMS_H

#include "replay/state.h"

nm_status nm_streams_call(nm_replay *replay, const nm_context *context, nm_error *err); /* creates or destroys one */

/* The streams of the device (0: of all) may be gone, or their end will not be told. */
void nm_streams_forget(nm_replay *replay, nm_process *process, uint64_t device_id);
nm_status nm_streams_exit(nm_replay *replay, nm_process *process, const nm_context *context, nm_error *err);
void nm_streams_discard(nm_replay *replay);

#endif
