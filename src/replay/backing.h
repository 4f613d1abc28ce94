/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical memory under mappings.
 */
#ifndef NM_REPLAY_BACKING_H
#define NM_REPLAY_BACKING_H

#include "replay/state.h"

/* At the end: physical memory under mappings is marked as segments are. */
nm_status nm_backing_mark(const nm_replay *replay, nm_error *err);

#endif
