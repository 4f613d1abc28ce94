/* SPDX-License-Identifier: Apache-2.0
 *
 * What is kept of a live allocation beside where it is: the little that few of them have, and its row in the end.
 */
#ifndef NM_REPLAY_LIVE_H
#define NM_REPLAY_LIVE_H

#include "replay/state.h"

/* live->more is there, as it was, or with nothing in it. NM_ERR_MEMORY. */
nm_status nm_live_make_more(nm_replay *replay, nm_live *live, nm_error *err);

/* Frees what lies nowhere any more; NULL is fine. */
void nm_live_drop(nm_replay *replay, nm_live *live);

#endif
