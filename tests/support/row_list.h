/* SPDX-License-Identifier: Apache-2.0
 *
 * A sink that keeps every row, so that a test can look at them after a replay.
 */
#ifndef NM_TESTS_ROW_LIST_H
#define NM_TESTS_ROW_LIST_H

#include <stddef.h>

#include "rows/rows.h"

#define NM_ROWS_OF(type)                                                                                               \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        size_t count, capacity;                                                                                        \
    }

typedef struct nm_row_list {
    NM_ROWS_OF(nm_process_end_row) process_ends;
    NM_ROWS_OF(nm_allocation_row) allocations;
    NM_ROWS_OF(nm_failure_row) failures;
    NM_ROWS_OF(nm_out_of_memory_row) chains;
    NM_ROWS_OF(nm_out_of_memory_stack_row) chain_stacks;
    NM_ROWS_OF(nm_copy_row) copies;
    NM_ROWS_OF(nm_operation_row) operations;
    NM_ROWS_OF(nm_workspace_row) workspaces;
    NM_ROWS_OF(nm_stream_call_row) stream_calls;
    NM_ROWS_OF(nm_note_row) notes;
    NM_ROWS_OF(nm_step_row) steps;
    NM_ROWS_OF(nm_moment_row) moments;
    NM_ROWS_OF(nm_usage_row) usages;
    NM_ROWS_OF(nm_fragmentation_row) fragmentations;
    NM_ROWS_OF(nm_pool_part_row) parts;
    NM_ROWS_OF(nm_part_sample_row) part_samples;
    NM_ROWS_OF(nm_gap_row) gaps;
    NM_ROWS_OF(nm_fragment_usage_row) fragment_usages;
    NM_ROWS_OF(nm_blocker_row) blockers;
    NM_ROWS_OF(nm_memory_sample_row) samples;
    NM_ROWS_OF(nm_module_sample_row) module_samples;
    NM_ROWS_OF(nm_heap_sample_row) heap_samples;
    NM_ROWS_OF(nm_device_sample_row) device_samples;
    NM_ROWS_OF(nm_anomaly_row) anomalies;
    NM_ROWS_OF(nm_heap_total_row) totals;
    NM_ROWS_OF(nm_peak_stack_row) peak_stacks;
    NM_ROWS_OF(nm_hit_row) hits;
    NM_ROWS_OF(nm_miss_row) misses;
    NM_ROWS_OF(nm_pending_row) pendings;
    NM_ROWS_OF(nm_pool_group_row) groups;
    NM_ROWS_OF(nm_pool_class_row) classes;
    NM_ROWS_OF(nm_pool_step_row) pool_steps;
    NM_ROWS_OF(nm_pool_reuse_row) reuses;
    NM_ROWS_OF(nm_pool_sum_row) pool_sums;
    NM_ROWS_OF(nm_device_peak_row) device_peaks;
    size_t definition_count;
} nm_row_list;

nm_sink nm_row_list_sink(nm_row_list *list); /* the list, zeroed at first, outlives the sink */
void nm_row_list_free(nm_row_list *list);    /* leaves it empty and usable */

/* Replays a text trace (text_trace.h) into the list, with nm_replay_finish. */
nm_status nm_row_list_replay(nm_row_list *list, const char *text, nm_error *err);

/* The one row there is; NULL when it is missing. */
const nm_allocation_row *nm_row_list_allocation(const nm_row_list *list, uint64_t allocation_id);
const nm_heap_total_row *nm_row_list_total(const nm_row_list *list, uint64_t heap_id);
const nm_hit_row *nm_row_list_hit(const nm_row_list *list, uint64_t heap_id, int bucket);
/* The figures of a heap at the n-th moment (from 0) of a kind. */
const nm_fragmentation_row *nm_row_list_figures(const nm_row_list *list, nm_moment_kind kind, size_t n,
                                                uint64_t heap_id);
const nm_peak_stack_row *nm_row_list_peak_stack(const nm_row_list *list, uint64_t heap_id, uint64_t stack_id,
                                                bool is_baseline);

#endif
