/* SPDX-License-Identifier: Apache-2.0
 *
 * Who freed what is no more.
 */
#ifndef NM_REPLAY_FREED_H
#define NM_REPLAY_FREED_H

#include "replay/state.h"

nm_status nm_freed_note(nm_replay *replay, const nm_live *live, const nm_context *context, nm_error *err); /* it ends */

/* The last end of device memory that held the address, in *out until the next call; NULL: none that is remembered.
 * Anywhere: a block's before that of the driver's memory around it. */
nm_status nm_freed_find(nm_replay *replay, const nm_process *process, nm_freed_where where, uint64_t address,
                        const nm_freed **out, nm_error *err);
void nm_freed_forget_all(nm_replay *replay);

#endif
