/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over misses and over pending blocks of pools, by stack, taken while the rows come: tables pool_miss_sum and
 * pending_sum. Memory grows with distinct pairs of a stack and a cause or a stream.
 */
#ifndef NM_STORE_POOL_SUMS_H
#define NM_STORE_POOL_SUMS_H

#include "base/map.h"
#include "rows/rows.h"

typedef struct nm_miss_sum {
    uint64_t heap_id, stack_id;
    nm_miss_cause cause;
    bool is_early; /* before the first step: cold, if there turn out to be steps */
    uint64_t miss_count, missed_bytes, pending_miss_count;
    uint64_t driver_count, driver_cost_ns;
    int64_t last_seq;
} nm_miss_sum;

typedef struct nm_pending_sum {
    uint64_t heap_id, stack_id;
    bool has_stream;
    uint64_t stream;
    uint64_t pending_count, pending_bytes;
    unsigned __int128 pending_byte_ns;
    int64_t max_wait_ns; /* NM_NO_TIME: no time is known */
} nm_pending_sum;

typedef struct nm_pool_sums { /* a zeroed one is empty */
    struct {
        nm_miss_sum *items; /* owned */
        size_t count, capacity;
    } misses;
    struct {
        nm_pending_sum *items; /* owned */
        size_t count, capacity;
    } pending;
    nm_map place_of;   /* (heap_id, stack_id) -> a number */
    nm_map miss_of;    /* (that number, cause) -> index into misses */
    nm_map pending_of; /* (that number, stream) -> index into pending */
} nm_pool_sums;

nm_status nm_pool_sums_miss(nm_pool_sums *sums, const nm_miss_row *row, nm_error *err);
nm_status nm_pool_sums_pending(nm_pool_sums *sums, const nm_pending_row *row, nm_error *err);
void nm_pool_sums_free(nm_pool_sums *sums);

#endif
