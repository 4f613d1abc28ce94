/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of sums, which come when all others have: values in the order of the columns. What they are is declared in sums/.
 */
#include "base/number.h"
#include "store/loader_values.h"

/* The id if it is known: that it is not was counted with the rows that the sum is of. */
static uint64_t id_of_sum(const nm_id_set *ids, uint64_t id)
{
    return nm_id_set_has(ids, id) ? id : 0;
}

nm_status nm_loader_take_operation_sum(void *context, const nm_operation_sum_row *sum, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_OPERATION_SUM];

    nm_insert_id(insert, id_of_sum(&loader->definitions.processes.ids, sum->process_id));
    nm_insert_int(insert, (int64_t)sum->kind);
    nm_insert_bytes(insert, nm_definitions_text(&loader->definitions, sum->name));
    nm_insert_int(insert, (int64_t)sum->run_count);
    nm_insert_int(insert, sum->timed_count > 0 ? (int64_t)sum->duration_ns : NM_NULL);
    nm_insert_int(insert, (int64_t)sum->error_count);
    nm_insert_int(insert, (int64_t)sum->workspace_count);
    nm_insert_int(insert, (int64_t)sum->requested_bytes);
    nm_insert_int(insert, (int64_t)sum->max_requested_bytes);
    nm_insert_id(insert, sum->max_block_bytes);
    nm_insert_int(insert, (int64_t)sum->reused_count);
    nm_insert_id(insert, id_of_sum(&loader->definitions.heaps.ids, sum->heap_id));
    nm_insert_int(insert, (int64_t)sum->block_bytes);
    nm_insert_int(insert, (int64_t)sum->block_requested_bytes);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_operation_memory_sum(void *context, const nm_operation_memory_sum_row *sum, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_OPERATION_MEMORY_SUM];

    nm_insert_id(insert, id_of_sum(&loader->definitions.heaps.ids, sum->heap_id));
    nm_insert_int(insert, sum->has_operation ? (int64_t)sum->kind : NM_NULL);
    nm_insert_bytes(insert, nm_definitions_text(&loader->definitions, sum->name));
    nm_insert_int(insert, (int64_t)sum->allocation_count);
    nm_insert_int(insert, (int64_t)sum->allocated_bytes);
    nm_insert_int(insert, (int64_t)sum->max_bytes);
    nm_insert_int(insert, (int64_t)sum->outstanding_count);
    nm_insert_int(insert, (int64_t)sum->outstanding_bytes);
    nm_insert_int(insert, (int64_t)sum->thread_count);
    nm_insert_int(insert, (int64_t)sum->workspace_count);
    nm_insert_int(insert, (int64_t)sum->queue_count);
    nm_insert_int(insert, (int64_t)sum->ended_count);
    nm_insert_int(insert,
                  (int64_t)(sum->allocated_bytes > sum->held_bytes ? sum->allocated_bytes - sum->held_bytes : 0));
    nm_insert_int(insert, (int64_t)sum->rise_count);
    nm_insert_int(insert, (int64_t)sum->rise_bytes);
    nm_insert_int(insert, sum->rise_count == 0 ? NM_NULL : (int64_t)sum->max_rise_bytes);
    nm_insert_int(insert, sum->max_rise_seq);
    nm_insert_int(insert, (int64_t)sum->doubtful_count);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_stream_call_sum(void *context, const nm_stream_call_sum_row *sum, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_STREAM_CALL_SUM];

    nm_insert_id(insert, id_of_sum(&loader->definitions.processes.ids, sum->process_id));
    nm_insert_id(insert, id_of_sum(&loader->definitions.devices.ids, sum->device_id));
    nm_insert_int(insert, (int64_t)sum->kind);
    nm_insert_stream(insert, sum->has_stream != 0, sum->stream);
    nm_insert_int(insert, (int64_t)sum->call_count);
    nm_insert_id(insert, sum->cost_ns);
    nm_insert_int(insert, (int64_t)sum->error_count);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_copy_sum(void *context, const nm_copy_sum_row *sum, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_COPY_SUM];
    bool is_repeated = sum->repeated_count > 0;

    nm_insert_id(insert, id_of_sum(&loader->definitions.processes.ids, sum->process_id));
    nm_insert_id(insert, id_of_sum(&loader->definitions.devices.ids, sum->device_id));
    nm_insert_int(insert, (int64_t)sum->kind);
    nm_insert_int(insert, (int64_t)sum->is_async);
    nm_insert_stream(insert, sum->has_stream != 0, sum->stream);
    nm_insert_id(insert, id_of_sum(&loader->definitions.stacks.ids, sum->stack_id));
    nm_insert_int(insert, (int64_t)sum->copy_count);
    nm_insert_int(insert, (int64_t)sum->failed_count);
    nm_insert_int(insert, (int64_t)sum->size_bytes);
    nm_insert_id(insert, sum->cost_ns);
    nm_insert_int(insert, (int64_t)sum->timed_bytes);
    nm_insert_int(insert, (int64_t)sum->timed_ns);
    nm_insert_int(insert, (int64_t)sum->host_count);
    nm_insert_int(insert, (int64_t)sum->host_bytes);
    nm_insert_int(insert, (int64_t)sum->registered_count);
    nm_insert_int(insert, (int64_t)sum->registered_bytes);
    nm_insert_int(insert, (int64_t)sum->repeated_count);
    nm_insert_int(insert, (int64_t)sum->repeated_bytes);
    nm_insert_int(insert, (int64_t)sum->longest_count);
    nm_insert_int(insert, is_repeated ? (int64_t)sum->longest_address : NM_NULL);
    nm_insert_int(insert, is_repeated ? (int64_t)sum->longest_bytes : NM_NULL);
    nm_insert_int(insert, is_repeated ? sum->longest_seq : NM_NULL);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_allocation_kind_sum(void *context, const nm_allocation_kind_sum_row *sum, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_ALLOCATION_KIND_SUM];

    nm_insert_id(insert, nm_loader_heap(loader, sum->heap_id));
    nm_insert_int(insert, (int64_t)sum->is_mapped);
    nm_insert_int(insert, nm_policy_or_null(sum->policy));
    nm_insert_int(insert, (int64_t)sum->allocation_count);
    nm_insert_int(insert, (int64_t)sum->allocated_bytes);
    nm_insert_int(insert, (int64_t)sum->live_count);
    nm_insert_int(insert, (int64_t)sum->live_bytes);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_workspace_hold_sum(void *context, const nm_workspace_hold_sum_row *sum, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_WORKSPACE_HOLD_SUM];

    nm_insert_id(insert, nm_loader_heap(loader, sum->heap_id));
    nm_insert_stream(insert, sum->has_stream != 0, sum->stream);
    nm_insert_int(insert, (int64_t)sum->block_count);
    nm_insert_int(insert, (int64_t)sum->use_count);
    nm_insert_int(insert, (int64_t)sum->reuse_count);
    nm_insert_real(insert, (double)sum->used_byte_ns / 1e9);
    nm_insert_real(insert, (double)sum->between_byte_ns / 1e9);
    nm_insert_real(insert, (double)sum->after_byte_ns / 1e9);
    nm_insert_real(insert, (double)sum->at_end_byte_ns / 1e9);
    nm_insert_int(insert, (int64_t)sum->max_between_ns);
    nm_insert_int(insert, (int64_t)sum->idle_count_at_end);
    nm_insert_int(insert, (int64_t)sum->idle_bytes_at_end);
    nm_insert_int(insert, (int64_t)sum->untimed_count);
    return nm_insert_end(insert, err);
}

static bool has_steps(const nm_loader *loader, uint64_t heap_id)
{
    const nm_definition *heap = nm_definition_find(&loader->definitions.heaps, heap_id);

    return heap != NULL && nm_id_set_has(&loader->stepping_processes, heap->heap.process_id);
}

nm_status nm_loader_take_miss_sum(void *context, const nm_miss_sum_row *sum, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_POOL_MISS_SUM];
    bool is_cold = sum->is_early && has_steps(loader, sum->heap_id);

    nm_insert_id(insert, nm_loader_heap(loader, sum->heap_id));
    nm_insert_id(insert, nm_loader_stack(loader, sum->stack_id));
    nm_insert_id(insert, is_cold ? NM_MISS_COLD : sum->cause);
    nm_insert_int(insert, (int64_t)sum->miss_count);
    nm_insert_int(insert, (int64_t)sum->missed_bytes);
    nm_insert_int(insert, (int64_t)sum->pending_miss_count);
    nm_insert_int(insert, (int64_t)sum->driver_count);
    nm_insert_int(insert, (int64_t)sum->driver_cost_ns);
    nm_insert_int(insert, sum->last_seq);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_pending_sum(void *context, const nm_pending_sum_row *sum, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_PENDING_SUM];

    nm_insert_id(insert, nm_loader_heap(loader, sum->heap_id));
    nm_insert_id(insert, nm_loader_stack(loader, sum->stack_id));
    nm_insert_stream(insert, sum->has_stream != 0, sum->stream);
    nm_insert_int(insert, (int64_t)sum->pending_count);
    nm_insert_int(insert, (int64_t)sum->pending_bytes);
    nm_insert_int(insert, (int64_t)nm_byte_ms(sum->pending_byte_ns));
    nm_insert_int(insert, sum->max_wait_ns);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_cost_histogram(void *context, const nm_cost_histogram_row *sum, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_COST_HISTOGRAM];

    nm_insert_id(insert, nm_loader_heap(loader, sum->heap_id));
    nm_insert_int(insert, (int64_t)sum->octave);
    nm_insert_int(insert, (int64_t)sum->min_ns);
    nm_insert_int(insert, (int64_t)sum->max_ns);
    nm_insert_int(insert, (int64_t)sum->call_count);
    nm_insert_int(insert, (int64_t)sum->cost_ns);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_slowest_call(void *context, const nm_slowest_call_row *call, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_SLOWEST_CALL];

    nm_insert_id(insert, nm_loader_heap(loader, call->heap_id));
    nm_insert_int(insert, (int64_t)call->place);
    nm_insert_int(insert, (int64_t)call->cost_ns);
    nm_insert_int(insert, call->seq);
    nm_insert_int(insert, call->ns);
    nm_insert_int(insert, (int64_t)call->size_bytes);
    nm_insert_id(insert, nm_loader_stack(loader, call->stack_id));
    nm_insert_id(insert, nm_loader_thread(loader, call->thread_id));
    nm_insert_int(insert, (int64_t)call->is_segment);
    return nm_insert_end(insert, err);
}

/* ---- Rows that are summed, and not written ----------------------------------------------------------------------- */

nm_status nm_loader_take_pending(void *context, const nm_pending_row *row, nm_error *err)
{
    (void)context, (void)row, (void)err;
    return NM_OK;
}

nm_status nm_loader_take_operation_rise(void *context, const nm_operation_rise_row *row, nm_error *err)
{
    (void)context, (void)row, (void)err;
    return NM_OK;
}

nm_status nm_loader_take_workspace_span(void *context, const nm_workspace_span_row *row, nm_error *err)
{
    (void)context, (void)row, (void)err;
    return NM_OK;
}
