/* SPDX-License-Identifier: Apache-2.0
 *
 * How far heaps rise in an operation.
 */
#ifndef NM_REPLAY_RISE_H
#define NM_REPLAY_RISE_H

#include "replay/state.h"

/* The event that is being taken makes the heap so much larger, or smaller. */
nm_status nm_rise_change(nm_replay *replay, nm_heap *heap, int64_t bytes, nm_error *err);
nm_status nm_rise_end(nm_replay *replay, nm_operation *operation, nm_error *err); /* before it is unlinked */
void nm_rise_free(nm_operation *operation);

#endif
