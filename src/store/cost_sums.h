/* SPDX-License-Identifier: Apache-2.0
 *
 * What allocation calls cost, by heap, taken while the rows come: tables cost_histogram and slowest_call. A cost is known
 * to one part in NM_COST_PARTS. Memory grows with heaps and with distinct rows of the histogram.
 */
#ifndef NM_STORE_COST_SUMS_H
#define NM_STORE_COST_SUMS_H

#include "base/map.h"
#include "rows/rows.h"

#define NM_COST_PARTS        32 /* rows of a power of two */
#define NM_SLOWEST_CALLS_MAX 20 /* of a heap */

typedef struct nm_cost_bucket {
    uint64_t heap_id;
    int octave;
    uint64_t min_ns, max_ns;
    uint64_t call_count, cost_ns;
} nm_cost_bucket;

typedef struct nm_slow_call {
    uint64_t cost_ns, allocation_id, size_bytes, stack_id, thread_id;
    int64_t seq, ns;
    bool is_segment;
} nm_slow_call;

typedef struct nm_heap_cost { /* of one heap */
    uint64_t heap_id;
    uint64_t call_count, cost_ns;
    nm_slow_call *slowest; /* owned; dearest first */
    size_t slowest_count, slowest_capacity;
} nm_heap_cost;

typedef struct nm_cost_sums { /* a zeroed one is empty */
    struct {
        nm_heap_cost *items; /* owned */
        size_t count, capacity;
    } heaps;
    struct {
        nm_cost_bucket *items; /* owned */
        size_t count, capacity;
    } buckets;
    size_t recent;    /* index into heaps of the last one */
    nm_map heap_of;   /* heap_id -> index into heaps */
    nm_map bucket_of; /* (heap_id, smallest cost) -> index into buckets */
} nm_cost_sums;

/* A row whose cost is known. */
nm_status nm_cost_sums_allocation(nm_cost_sums *sums, const nm_allocation_row *row, nm_error *err);
nm_heap_cost nm_cost_sums_of(const nm_cost_sums *sums, uint64_t heap_id); /* zeroed where there is none */
void nm_cost_sums_free(nm_cost_sums *sums);

#endif
