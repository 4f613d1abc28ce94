/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains of failed allocations and what pools cost, values in the order of the columns of schema/064_out_of_memory.sql
 * and 065_health.sql.
 */
#include "store/loader_values.h"

static const char *outcome_name(nm_out_of_memory_outcome outcome)
{
    static const char *const names[] = {
        [NM_OUTCOME_UNKNOWN] = "unknown",
        [NM_OUTCOME_RECOVERED] = "recovered",
        [NM_OUTCOME_FATAL] = "fatal",
        [NM_OUTCOME_OPEN] = "open",
    };

    return names[outcome];
}

static void insert_place(nm_loader *loader, nm_insert *insert, const nm_out_of_memory_row *row)
{
    nm_insert_id(insert, row->out_of_memory_id);
    nm_insert_id(insert, nm_loader_process(loader, row->process_id));
    nm_insert_id(insert, nm_loader_device(loader, row->device_id));
    nm_insert_id(insert, nm_loader_thread(loader, row->thread_id));
    nm_insert_id(insert, row->operation_id);
    nm_insert_id(insert, nm_loader_stack(loader, row->stack_id));
    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_id(insert, nm_loader_heap(loader, row->pool_heap_id));
    nm_insert_id(insert, row->moment_id);
}

nm_status nm_loader_take_out_of_memory(void *context, const nm_out_of_memory_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_OUT_OF_MEMORY_CHAIN];
    nm_status status = nm_loader_name_operation(loader, row->operation_id, err);

    insert_place(loader, insert, row);
    nm_insert_text(insert, outcome_name(row->outcome));
    nm_insert_id(insert, row->stream_call);
    nm_insert_int(insert, (int64_t)row->failure_count);
    nm_insert_int(insert, (int64_t)row->driver_failure_count);
    nm_insert_int(insert, row->first_seq);
    nm_insert_int(insert, row->last_seq);
    nm_insert_int(insert, row->first_ns);
    nm_insert_int(insert, row->last_ns);
    nm_insert_int(insert, row->error_code);
    nm_insert_id(insert, row->tried_bytes);
    nm_insert_id(insert, row->at_least_tried_bytes);
    nm_insert_int(insert, (int64_t)row->released_bytes);
    nm_insert_int(insert, (int64_t)row->allocated_bytes);
    nm_insert_int(insert, (int64_t)row->active_bytes);
    nm_insert_int(insert, (int64_t)row->reserved_bytes);
    nm_insert_int(insert, (int64_t)row->own_bytes);
    nm_insert_int(insert, (int64_t)row->module_bytes);
    nm_insert_int(insert, (int64_t)row->max_pending_bytes);
    nm_insert_int(insert, (int64_t)row->pool_live_count);
    nm_insert_int(insert, row->has_segments);
    nm_insert_int(insert, (int64_t)row->stream_count);
    nm_insert_int(insert, (int64_t)row->event_count);
    nm_insert_int(insert, row->is_partial);
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}

nm_status nm_loader_take_out_of_memory_stack(void *context, const nm_out_of_memory_stack_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_OUT_OF_MEMORY_STACK];

    nm_insert_id(insert, row->out_of_memory_id);
    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_id(insert, nm_loader_stack(loader, row->stack_id));
    nm_insert_int(insert, row->is_baseline);
    nm_insert_int(insert, row->is_rest);
    nm_insert_int(insert, (int64_t)row->live_count);
    nm_insert_int(insert, (int64_t)row->live_bytes);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_pool_effort(void *context, const nm_pool_effort_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_POOL_EFFORT];

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_int(insert, (int64_t)row->segment_count);
    nm_insert_int(insert, (int64_t)row->segment_cost_count);
    nm_insert_int(insert, (int64_t)row->segment_cost_ns);
    nm_insert_int(insert, (int64_t)row->mapped_count);
    nm_insert_int(insert, row->has_after_peak ? (int64_t)row->after_peak_count : NM_NULL);
    nm_insert_int(insert, row->has_after_peak ? (int64_t)row->after_peak_miss_count : NM_NULL);
    return nm_insert_end(insert, err);
}
