/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a pool had to grow.
 */
#ifndef NM_ANALYSIS_POOL_MISS_H
#define NM_ANALYSIS_POOL_MISS_H

#include "analysis/pool_ledger_state.h"

bool nm_miss_is_history_known(const nm_heap *pool); /* all that the pool ever did until now has been told */

/* The block is a miss: its row, and the causes that its sums have. The change is its birth. */
nm_status nm_miss_take(const nm_run *run, nm_ledger *ledger, const nm_change *change, nm_error *err);

#endif
