/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over allocations by heap and kind of memory, taken while the rows come: table allocation_kind_sum. Memory grows with
 * distinct kinds.
 */
#ifndef NM_STORE_KIND_SUMS_H
#define NM_STORE_KIND_SUMS_H

#include "base/map.h"
#include "rows/rows.h"

typedef struct nm_kind_sum { /* of a heap, a policy, and whether it is mapped */
    uint64_t heap_id;
    bool is_mapped;
    uint64_t policy; /* or NM_POLICY_UNKNOWN */
    uint64_t allocation_count, allocated_bytes;
    uint64_t live_count, live_bytes; /* at the end */
} nm_kind_sum;

typedef struct nm_kind_sums { /* a zeroed one is empty */
    nm_kind_sum *items;       /* owned */
    size_t count, capacity;
    nm_map index_of; /* (heap and is_mapped, policy) -> index into items */
} nm_kind_sums;

nm_status nm_kind_sums_allocation(nm_kind_sums *sums, const nm_allocation_row *row, nm_error *err);
void nm_kind_sums_free(nm_kind_sums *sums);

#endif
