/* SPDX-License-Identifier: Apache-2.0
 *
 * The sums that are declared, by the file in which they stand.
 */
#ifndef NM_SUMS_DECLARED_H
#define NM_SUMS_DECLARED_H

#include "sums/table.h"

extern const nm_sum nm_sum_of_kinds;        /* kinds.c: allocation_kind_sum */
extern const nm_sum nm_sum_of_runs;         /* operations.c: operation_sum */
extern const nm_sum nm_sum_of_memory;       /* operations.c: operation_memory_sum */
extern const nm_sum nm_sum_of_holds;        /* holds.c: workspace_hold_sum */
extern const nm_sum nm_sum_of_stream_calls; /* stream_calls.c: stream_call_sum */
extern const nm_sum nm_sum_of_copies;       /* copies.c: copy_sum */
extern const nm_sum nm_sum_of_misses;       /* pools.c: pool_miss_sum */
extern const nm_sum nm_sum_of_pending;      /* pools.c: pending_sum */
extern const nm_sum nm_sum_of_costs;        /* costs.c: cost_histogram */

#endif
