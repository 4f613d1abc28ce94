/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks, failures, peaks and the end.
 */
#ifndef NM_REPLAY_MOMENTS_H
#define NM_REPLAY_MOMENTS_H

#include "replay/state.h"

nm_status nm_moments_mark(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_moments_failure(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_moments_sample(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_moments_module(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_moments_state(nm_replay *replay, const nm_context *context,
                           nm_error *err);                     /* STATE_SEGMENT, STATE_BLOCK */
nm_status nm_moments_finish(nm_replay *replay, nm_error *err); /* peaks and the end */

#endif
