/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies, and their misuse.
 */
#ifndef NM_REPLAY_COPY_H
#define NM_REPLAY_COPY_H

#include "replay/state.h"

nm_status nm_copy_take(nm_replay *replay, const nm_context *context, nm_error *err); /* its row, and its misuse */

#endif
