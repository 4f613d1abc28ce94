/* SPDX-License-Identifier: Apache-2.0
 *
 * Which block an operator works in.
 */
#ifndef NM_REPLAY_WORKSPACE_H
#define NM_REPLAY_WORKSPACE_H

#include "replay/state.h"

void nm_workspace_own(const nm_replay *replay, nm_live *live, const nm_thread *thread); /* a new one, by its thread */

/* An operator begins: its row, and the operation of the block that it works in. */
nm_status nm_workspace_use(nm_replay *replay, const nm_context *context, nm_operation *operation, nm_error *err);

#endif
