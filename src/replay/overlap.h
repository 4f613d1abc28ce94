/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that lies over other memory.
 */
#ifndef NM_REPLAY_OVERLAP_H
#define NM_REPLAY_OVERLAP_H

#include "replay/state.h"

nm_status nm_overlap_check(nm_replay *replay, const nm_live *live, const nm_context *context, nm_error *err); /* new */
void nm_overlap_freed(nm_replay *replay, const nm_live *live); /* one with is_overlapped, whose row says so */
nm_status nm_overlap_expire(nm_replay *replay, int64_t now_ns, nm_error *err);
void nm_overlap_discard(nm_replay *replay);

#endif
