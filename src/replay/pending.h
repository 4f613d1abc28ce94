/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks that are given up and not reusable yet.
 */
#ifndef NM_REPLAY_PENDING_H
#define NM_REPLAY_PENDING_H

#include "replay/ledger.h"

/* The program has given the block up, at the event. */
nm_status nm_pending_request(nm_live *block, int64_t seq, int64_t ns, nm_error *err);
nm_status nm_pending_arrive(nm_live *block, nm_error *err); /* it was so when the stream began */

/* An event of the pool, about the block: what was given up before and is another one is pending. */
nm_status nm_pending_settle(nm_ledger *ledger, const nm_live *block, nm_error *err);
nm_status nm_pending_end(nm_live *block, int64_t ns, nm_error *err); /* it is pending */
bool nm_pending_is_enough(const nm_live *request);
nm_status nm_pending_finish(nm_replay *replay, nm_heap *pool, nm_error *err); /* the stream ends */
void nm_pending_free(nm_ledger *ledger);

#endif
