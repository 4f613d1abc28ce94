/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program says of itself: operations, steps, marks, failures, calls about streams, its end.
 */
#ifndef NM_REPLAY_PROGRAM_H
#define NM_REPLAY_PROGRAM_H

#include "replay/state.h"

nm_status nm_program_range_begin(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_range_end(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_step(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_infer_step(nm_replay *replay, const nm_context *context, nm_error *err); /* before the event */
nm_status nm_program_process_end(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_mark(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_failure(nm_replay *replay, const nm_context *context, nm_error *err); /* for want of memory */
nm_status nm_program_stream_call(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_pause(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_note(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_finish(nm_replay *replay, nm_error *err); /* writes what is still open */
void nm_program_discard(nm_replay *replay);

#endif
