/* SPDX-License-Identifier: Apache-2.0
 *
 * How long the block of a workspace is held idle.
 */
#ifndef NM_REPLAY_HOLD_H
#define NM_REPLAY_HOLD_H

#include "replay/state.h"

nm_status nm_hold_use(nm_replay *replay, nm_live *live, nm_operation *operation, nm_error *err); /* it works in it */
nm_status nm_hold_leave(nm_replay *replay, nm_operation *operation, nm_error *err);              /* it ends */

/* The block ends, or (is_freed = false) all that is known of it. */
nm_status nm_hold_end(nm_replay *replay, nm_live *live, bool is_freed, int64_t ns, nm_error *err);
nm_status nm_hold_process_end(nm_replay *replay, nm_process *process, int64_t ns, nm_error *err);
void nm_hold_discard(nm_process *process); /* its lives may be gone already */

#endif
