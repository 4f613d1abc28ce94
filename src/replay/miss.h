/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a pool had to grow.
 */
#ifndef NM_REPLAY_MISS_H
#define NM_REPLAY_MISS_H

#include "replay/ledger.h"

bool nm_miss_is_history_known(const nm_heap *pool); /* all that the pool ever did until now has been told */

/* The block is a miss: its row, and the causes that its sums have. */
nm_status nm_miss_take(nm_live *block, const nm_touch *touch, nm_error *err);

#endif
