/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over copies, taken while the rows come: table copy_sum. Memory grows with processes and devices.
 */
#ifndef NM_STORE_COPY_SUMS_H
#define NM_STORE_COPY_SUMS_H

#include "base/map.h"
#include "replay/rows.h"

typedef struct nm_copy_sum { /* of a process, a device, a kind, is_async and is_registered */
    uint64_t process_id, device_id;
    nm_copy_kind kind;
    bool is_async;
    int64_t is_registered; /* 1, 0 or NM_UNKNOWN_NUMBER */
    uint64_t copy_count, size_bytes, cost_ns, failed_count;
    bool has_cost;
} nm_copy_sum;

typedef struct nm_copy_sums { /* a zeroed one is empty */
    nm_copy_sum *items;       /* owned */
    size_t count, capacity;
    nm_map place_of; /* (process, device) -> number of the pair, from 0 */
    nm_map index_of; /* (that number and flags, kind) -> index into items */
} nm_copy_sums;

nm_status nm_copy_sums_copy(nm_copy_sums *sums, const nm_copy_row *row, nm_error *err);
void nm_copy_sums_free(nm_copy_sums *sums);

#endif
