/* SPDX-License-Identifier: Apache-2.0
 *
 * Begins and ends allocations.
 */
#ifndef NM_REPLAY_PAIRING_H
#define NM_REPLAY_PAIRING_H

#include "replay/state.h"

nm_status nm_pairing_alloc(nm_replay *replay, const nm_context *context, nm_error *err); /* ALLOC and MAP */
nm_status nm_pairing_free(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_pairing_free_requested(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_pairing_free_failed(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_pairing_unmap(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_pairing_reset(nm_replay *replay, const nm_context *context, nm_error *err);
void nm_pairing_export(nm_replay *replay, const nm_context *context);

/* What was live where the stream begins: a KEYFRAME that stands for an ALLOC or MAP. */
nm_status nm_pairing_restore(nm_replay *replay, const nm_context *context, nm_error *err);

/* The thread's last free stands: writes its row. */
nm_status nm_pairing_confirm(nm_replay *replay, nm_thread *thread, nm_error *err);

/* Gives up waiting for late frees of what was replaced more than NM_LATE_FREE_NS before `now_ns`. */
nm_status nm_pairing_expire(nm_replay *replay, int64_t now_ns, nm_error *err);
nm_status nm_pairing_finish(nm_replay *replay, nm_error *err); /* writes what is live */
void nm_pairing_discard(nm_replay *replay);                    /* frees what a failed replay left behind */

#endif
