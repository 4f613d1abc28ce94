/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a replay as events, and back.
 */
#ifndef NM_REPLAY_KEYFRAME_H
#define NM_REPLAY_KEYFRAME_H

#include "replay/state.h"

nm_status nm_keyframe_take(nm_replay *replay, const nm_context *context, nm_error *err); /* events that repeat */

#endif
