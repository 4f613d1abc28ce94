/* SPDX-License-Identifier: Apache-2.0
 *
 * What was given up, and is not reusable yet.
 */
#ifndef NM_ANALYSIS_POOL_PENDING_H
#define NM_ANALYSIS_POOL_PENDING_H

#include "analysis/pool_ledger_state.h"

/* The program has given the block up, at the event. */
nm_status nm_pending_request(const nm_run *run, nm_ledger *ledger, const nm_change *change, nm_error *err);

/* It was so when the stream began. */
nm_status nm_pending_arrive(const nm_run *run, nm_ledger *ledger, const nm_live *block, nm_error *err);

/* An event of the pool, about the block: what was given up before and is another one is pending. */
nm_status nm_pending_settle(const nm_run *run, nm_ledger *ledger, const nm_live *block, nm_error *err);

/* The block, which is pending, ends. */
nm_status nm_pending_end(const nm_run *run, nm_ledger *ledger, const nm_live *block, int64_t ns, nm_error *err);
bool nm_pending_is_enough(const nm_run *run, const nm_ledger *ledger, const nm_live *request);
nm_status nm_pending_finish(const nm_run *run, nm_ledger *ledger, nm_error *err); /* the stream ends */
void nm_pending_free(nm_ledger *ledger);

/* The largest block of the pool that was given up and is not reusable yet, of those that there are; it looks at *look_count
 * more. For passes that need the ledger. */
uint64_t nm_pending_largest(const nm_run *run, const nm_heap *pool, uint64_t *look_count);

#endif
