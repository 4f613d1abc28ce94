/* SPDX-License-Identifier: Apache-2.0
 *
 * What a source itself lists of its pools at the end.
 */
#ifndef NM_REPLAY_LISTED_H
#define NM_REPLAY_LISTED_H

#include "replay/state.h"

nm_status nm_listed_take(nm_replay *replay, const nm_context *context, nm_error *err); /* STATE_SEGMENT, STATE_BLOCK */

#endif
