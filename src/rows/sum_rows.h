/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that are sums over other rows: src/sums/ makes them, the replay gives none. All fields have 64 bits (times of bytes
 * 128), the key first, so that a declaration can name them. A `name` is a number of nm_definitions.strings: a string of the
 * stream may be defined anew before the sum is given.
 */
#ifndef NM_ROWS_SUM_ROWS_H
#define NM_ROWS_SUM_ROWS_H

#include <stdint.h>

typedef struct nm_allocation_kind_sum_row {
    uint64_t heap_id, is_mapped, policy; /* the latter or NM_POLICY_UNKNOWN */
    uint64_t allocation_count, allocated_bytes;
    uint64_t live_count, live_bytes; /* at the end */
} nm_allocation_kind_sum_row;

typedef struct nm_copy_sum_row {
    uint64_t process_id, device_id, kind, is_async, has_stream, stream, stack_id;
    uint64_t copy_count, failed_count, size_bytes;
    uint64_t cost_ns; /* 0: not known of any */
    uint64_t timed_bytes, timed_ns;
    uint64_t host_count, host_bytes, registered_count, registered_bytes;
    uint64_t repeated_count, repeated_bytes;
    uint64_t longest_count, longest_address, longest_bytes; /* of the source that was repeated most */
    int64_t longest_seq;
} nm_copy_sum_row;

typedef struct nm_stream_call_sum_row {
    uint64_t process_id, device_id, kind, has_stream, stream;
    uint64_t call_count, error_count;
    uint64_t cost_ns; /* 0: not known of any */
} nm_stream_call_sum_row;

typedef struct nm_operation_sum_row {
    uint64_t process_id, kind, name;
    uint64_t run_count, error_count;
    uint64_t timed_count, duration_ns; /* of the runs with both times */
    uint64_t workspace_count, requested_bytes, max_requested_bytes, max_block_bytes, reused_count;
    uint64_t block_bytes, block_requested_bytes; /* of the workspaces whose block is known */
    uint64_t heap_id;                            /* of the blocks; 0: none is known, NM_SUM_SEVERAL: not of one */
} nm_operation_sum_row;

typedef struct nm_operation_memory_sum_row {
    uint64_t heap_id;
    uint64_t has_operation; /* 0: of the allocations without one */
    uint64_t kind, name;
    uint64_t allocation_count, allocated_bytes, max_bytes;
    uint64_t outstanding_count, outstanding_bytes;
    uint64_t thread_count, workspace_count, queue_count; /* by nm_operation_source */
    uint64_t ended_count, held_bytes;                    /* the latter: still there at the end, segments too */
    uint64_t rise_count, rise_bytes, max_rise_bytes, doubtful_count;
    int64_t max_rise_seq; /* NM_NO_SEQ: of none */
} nm_operation_memory_sum_row;

typedef struct nm_workspace_hold_sum_row {
    uint64_t heap_id, has_stream, stream;
    uint64_t block_count, use_count, reuse_count, untimed_count;
    uint64_t max_between_ns;
    uint64_t idle_count_at_end, idle_bytes_at_end;
    unsigned __int128 used_byte_ns, between_byte_ns, after_byte_ns, at_end_byte_ns; /* by nm_hold_span */
} nm_workspace_hold_sum_row;

typedef struct nm_miss_sum_row {
    uint64_t heap_id, stack_id, cause;
    uint64_t is_early; /* before the first step: cold, if there turn out to be steps */
    uint64_t miss_count, missed_bytes, pending_miss_count;
    uint64_t driver_count, driver_cost_ns;
    int64_t last_seq;
} nm_miss_sum_row;

typedef struct nm_pending_sum_row {
    uint64_t heap_id, stack_id, has_stream, stream;
    uint64_t pending_count, pending_bytes;
    int64_t max_wait_ns; /* NM_NO_TIME: no time is known */
    unsigned __int128 pending_byte_ns;
} nm_pending_sum_row;

/* Calls of a heap that cost from min_ns to max_ns: a cost is known to one part in 32. */
typedef struct nm_cost_histogram_row {
    uint64_t heap_id, octave, min_ns, max_ns;
    uint64_t call_count, cost_ns;
} nm_cost_histogram_row;

typedef struct nm_heap_cost_row { /* of all calls of a heap whose cost is known */
    uint64_t heap_id;
    uint64_t call_count, cost_ns;
} nm_heap_cost_row;

typedef struct nm_slowest_call_row {
    uint64_t heap_id;
    uint64_t place; /* 1: the dearest of the heap */
    uint64_t cost_ns, allocation_id, size_bytes, stack_id, thread_id;
    int64_t seq, ns;
    uint64_t is_segment;
} nm_slowest_call_row;

#endif
