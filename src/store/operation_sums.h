/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums by the name of an operation, taken while the rows come, so that no view has to walk all operations or all
 * allocations. Memory grows with distinct names.
 */
#ifndef NM_STORE_OPERATION_SUMS_H
#define NM_STORE_OPERATION_SUMS_H

#include "base/map.h"
#include "rows/rows.h"

/* Of a process, a kind and a name: table operation_sum. */
typedef struct nm_run_sum {
    uint64_t process_id;
    nm_range_kind kind;
    uint32_t name; /* as nm_definitions_number gives it */
    uint64_t run_count, duration_ns, error_count;
    bool has_duration;
    uint64_t workspace_count, requested_bytes, max_requested_bytes, max_block_bytes, reused_count;
    uint64_t block_bytes, block_requested_bytes; /* of the workspaces whose block is known */
    uint64_t heap_id;                            /* of the blocks; 0: none yet */
    bool has_many_heaps;
} nm_run_sum;

/* Of a heap, a kind and a name: table operation_memory_sum. */
typedef struct nm_memory_sum {
    uint64_t heap_id;
    bool has_operation; /* false: of the allocations without one */
    nm_range_kind kind;
    uint32_t name;
    uint64_t allocation_count, allocated_bytes, max_bytes, outstanding_count, outstanding_bytes;
    uint64_t source_counts[NM_SOURCE_QUEUE + 1]; /* by nm_operation_source */
    uint64_t ended_count, held_bytes;            /* the latter: still there at the end, segments too */
    uint64_t rise_count, rise_bytes, max_rise_bytes, doubtful_count;
    int64_t max_rise_seq;
} nm_memory_sum;

typedef struct nm_operation_sums { /* a zeroed one is empty */
    struct {
        nm_run_sum *items; /* owned */
        size_t count, capacity;
    } runs;
    struct {
        nm_memory_sum *items; /* owned */
        size_t count, capacity;
    } memory;
    nm_map run_of, memory_of; /* index into items */
} nm_operation_sums;

/* `name` is that of the row's operation, as nm_definitions_number gives it. */
nm_status nm_operation_sums_run(nm_operation_sums *sums, const nm_operation_row *row, uint32_t name, nm_error *err);
nm_status nm_operation_sums_workspace(nm_operation_sums *sums, const nm_workspace_row *row, uint32_t name,
                                      nm_error *err);
nm_status nm_operation_sums_allocation(nm_operation_sums *sums, const nm_allocation_row *row, uint32_t name,
                                       nm_error *err);
nm_status nm_operation_sums_rise(nm_operation_sums *sums, const nm_operation_rise_row *row, uint32_t name,
                                 nm_error *err);
bool nm_memory_sum_is_empty(const nm_memory_sum *sum); /* says nothing: it gets no row */
void nm_operation_sums_free(nm_operation_sums *sums);

#endif
