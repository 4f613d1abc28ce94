/* SPDX-License-Identifier: Apache-2.0
 *
 * What segments cost.
 */
#ifndef NM_REPLAY_EFFORT_H
#define NM_REPLAY_EFFORT_H

#include "replay/state.h"

void nm_effort_segment(const nm_live *range); /* it has become its owner's */
void nm_effort_peak(nm_heap *pool);           /* its live bytes are more than ever */
nm_status nm_effort_write(nm_replay *replay, const nm_heap *heap, nm_error *err);

#endif
