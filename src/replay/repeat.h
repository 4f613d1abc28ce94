/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of what was copied before.
 */
#ifndef NM_REPLAY_REPEAT_H
#define NM_REPLAY_REPEAT_H

#include "replay/state.h"

/* A copy: sets row->repeat_count. */
nm_status nm_repeat_copy(nm_replay *replay, const nm_context *context, nm_copy_row *row, nm_error *err);

/* The bytes [from, to) have changed, or are gone. */
void nm_repeat_written(nm_replay *replay, nm_process *process, uint64_t from, uint64_t to);
void nm_repeat_forget(nm_replay *replay, nm_process *process); /* writes to its memory may have been missed */
void nm_repeat_forget_all(nm_replay *replay);

#endif
