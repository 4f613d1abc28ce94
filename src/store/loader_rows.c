/* SPDX-License-Identifier: Apache-2.0
 *
 * The sink: one function a row, values in the order of the table's columns in schema/. Groups of rows have files of their
 * own: loader_allocations.c, loader_samples.c, loader_fragments.c, loader_pool.c, and those named _rows.c.
 */
#include <assert.h>
#include <math.h>

#include "store/growth_rows.h"
#include "store/loader_pool.h"
#include "store/loader_values.h"

static bool is_of_device(const nm_loader *loader, uint64_t heap_id)
{
    const nm_definition *heap = nm_definition_find(&loader->definitions.heaps, heap_id);

    return heap != NULL && heap->heap.device_id != 0;
}

static const char *source_name(nm_reserved_source source)
{
    return source == NM_RESERVED_SEGMENTS ? "segments" : source == NM_RESERVED_STATED ? "stated" : NULL;
}

nm_status nm_loader_take_definition(void *context, const nm_definition *row, nm_error *err)
{
    nm_loader *loader = context;

    return nm_definitions_add(&loader->definitions, row, err);
}

nm_status nm_loader_take_process_end(void *context, const nm_process_end_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_status status = nm_array_grow(&loader->process_ends.items, &loader->process_ends.capacity,
                                     loader->process_ends.count + 1, sizeof *row, err);

    if (status == NM_OK)
        status = nm_map_put(&loader->process_end_of, (nm_key){0, row->process_id}, loader->process_ends.count, err);
    if (status == NM_OK)
        loader->process_ends.items[loader->process_ends.count++] = *row;
    return status;
}

/* Where the next row of a large table goes that only the whole detail has. */
static nm_status next_row(const nm_loader *loader, nm_bulk *bulk, int64_t *dropped, int64_t **values, nm_error *err)
{
    *values = dropped;
    return loader->retention == NM_RETENTION_ALL ? nm_bulk_next(bulk, values, err) : NM_OK;
}

nm_status nm_loader_take_failure(void *context, const nm_failure_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_FAILURE];
    bool is_device_known = row->device_free_bytes != 0 || row->device_total_bytes != 0;
    nm_status status = nm_loader_name_operation(loader, row->operation_id, err);

    nm_insert_id(insert, row->failure_id);
    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_id(insert, nm_loader_thread(loader, row->thread_id));
    nm_insert_id(insert, row->operation_id);
    nm_insert_id(insert, nm_loader_stack(loader, row->stack_id));
    nm_insert_stream(insert, row->has_stream, row->stream);
    nm_insert_int(insert, row->seq);
    nm_insert_int(insert, row->ns);
    nm_insert_int(insert, (int64_t)row->requested_bytes);
    nm_insert_int(insert, row->error_code);
    nm_insert_int(insert, is_device_known ? (int64_t)row->device_free_bytes : NM_NULL);
    nm_insert_id(insert, row->device_total_bytes);
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}

static int64_t *fill_copy(nm_loader *loader, const nm_copy_row *row, int64_t *value)
{
    bool is_memset = row->kind == NM_COPY_MEMSET;

    *value++ = (int64_t)row->copy_id;
    *value++ = nm_id_or_null(nm_loader_process(loader, row->process_id));
    *value++ = nm_id_or_null(nm_loader_thread(loader, row->thread_id));
    *value++ = nm_id_or_null(row->operation_id);
    *value++ = nm_id_or_null(nm_loader_stack(loader, row->stack_id));
    *value++ = (int64_t)row->kind;
    *value++ = row->has_stream ? (int64_t)row->stream : NM_NULL;
    *value++ = row->is_async;
    *value++ = row->seq;
    *value++ = row->ns;
    *value++ = nm_id_or_null(row->cost_ns);
    *value++ = (int64_t)row->size_bytes;
    *value++ = nm_id_or_null(row->limit_bytes);
    *value++ = is_memset ? NM_NULL : (int64_t)row->source_address;
    *value++ = (int64_t)row->target_address;
    *value++ = nm_id_or_null(nm_loader_device(loader, row->source_device_id));
    *value++ = nm_id_or_null(nm_loader_device(loader, row->target_device_id));
    *value++ = row->error_code;
    *value++ = row->is_registered == NM_UNKNOWN_NUMBER ? NM_NULL : row->is_registered;
    return value;
}

nm_status nm_loader_take_copy(void *context, const nm_copy_row *row, nm_error *err)
{
    nm_loader *loader = context;
    int64_t dropped[NM_RETENTION_COLUMNS_MAX], *values = NULL;
    nm_status status = nm_loader_name_operation(loader, row->operation_id, err);

    nm_loader_note_last(&loader->last.copy_id, row->copy_id);
    if (status == NM_OK)
        status = next_row(loader, loader->copies, dropped, &values, err);
    if (status == NM_OK)
        nm_bulk_end(loader->copies, values, fill_copy(loader, row, values));
    return status;
}

nm_status nm_loader_take_operation(void *context, const nm_operation_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_OPERATION];
    nm_status status = nm_id_set_add(&loader->operation_ids, row->operation_id, err);

    nm_loader_note_last(&loader->last.operation_id, row->operation_id);
    if (status == NM_OK)
        status = nm_loader_name_operation(loader, row->parent_id, err);
    nm_insert_id(insert, row->operation_id);
    nm_insert_id(insert, nm_loader_process(loader, row->process_id));
    nm_insert_id(insert, nm_loader_thread(loader, row->thread_id));
    nm_insert_int(insert, (int64_t)row->kind);
    nm_insert_bytes(insert, nm_loader_text(loader, row->name));
    nm_insert_stream(insert, row->has_stream, row->stream);
    nm_insert_int(insert, row->begin_seq);
    nm_insert_int(insert, row->end_seq);
    nm_insert_int(insert, row->begin_ns);
    nm_insert_int(insert, row->end_ns);
    nm_insert_id(insert, row->parent_id);
    nm_insert_id(insert, row->model_id);
    nm_insert_int(insert, row->error_code);
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}

static int64_t *fill_workspace(nm_loader *loader, const nm_workspace_row *row, int64_t *value)
{
    *value++ = (int64_t)row->workspace_id;
    *value++ = nm_id_or_null(row->operation_id);
    *value++ = nm_id_or_null(row->allocation_id);
    *value++ = nm_id_or_null(nm_loader_thread(loader, row->thread_id));
    *value++ = row->has_stream ? (int64_t)row->stream : NM_NULL;
    *value++ = row->seq;
    *value++ = row->ns;
    *value++ = nm_id_or_null(row->address);
    *value++ = (int64_t)row->requested_bytes;
    *value++ = nm_id_or_null(row->block_bytes);
    *value++ = row->is_reused;
    return value;
}

nm_status nm_loader_take_workspace(void *context, const nm_workspace_row *row, nm_error *err)
{
    nm_loader *loader = context;
    int64_t dropped[NM_RETENTION_COLUMNS_MAX], *values = NULL;
    nm_status status = nm_loader_name_operation(loader, row->operation_id, err);

    nm_loader_note_last(&loader->last.workspace_id, row->workspace_id);
    if (status == NM_OK)
        status = nm_loader_name_allocation(loader, row->allocation_id, err);
    if (status == NM_OK)
        status = next_row(loader, loader->workspaces, dropped, &values, err);
    if (status == NM_OK)
        nm_bulk_end(loader->workspaces, values, fill_workspace(loader, row, values));
    return status;
}

static int64_t *fill_stream_call(nm_loader *loader, const nm_stream_call_row *row, int64_t *value)
{
    *value++ = (int64_t)row->stream_call_id;
    *value++ = nm_id_or_null(nm_loader_process(loader, row->process_id));
    *value++ = nm_id_or_null(nm_loader_thread(loader, row->thread_id));
    *value++ = nm_id_or_null(row->operation_id);
    *value++ = nm_id_or_null(nm_loader_stack(loader, row->stack_id));
    *value++ = nm_id_or_null(nm_loader_device(loader, row->device_id));
    *value++ = (int64_t)row->kind;
    *value++ = row->has_stream ? (int64_t)row->stream : NM_NULL;
    *value++ = nm_id_or_null(row->event);
    *value++ = row->seq;
    *value++ = row->ns;
    *value++ = nm_id_or_null(row->cost_ns);
    *value++ = row->error_code;
    return value;
}

nm_status nm_loader_take_stream_call(void *context, const nm_stream_call_row *row, nm_error *err)
{
    nm_loader *loader = context;
    int64_t dropped[NM_RETENTION_COLUMNS_MAX], *values = NULL;
    nm_status status = nm_loader_name_operation(loader, row->operation_id, err);

    nm_loader_note_last(&loader->last.stream_call_id, row->stream_call_id);
    if (status == NM_OK)
        status = next_row(loader, loader->stream_calls, dropped, &values, err);
    if (status == NM_OK)
        nm_bulk_end(loader->stream_calls, values, fill_stream_call(loader, row, values));
    return status;
}

nm_status nm_loader_take_note(void *context, const nm_note_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_NOTE];

    nm_insert_id(insert, row->note_id);
    nm_insert_id(insert, nm_loader_process(loader, row->process_id));
    nm_insert_id(insert, nm_loader_thread(loader, row->thread_id));
    nm_insert_int(insert, row->seq);
    nm_insert_int(insert, row->ns);
    nm_insert_int(insert, (int64_t)row->kind);
    nm_insert_bytes(insert, nm_loader_text(loader, row->text));
    nm_insert_id(insert, row->count);
    nm_insert_id(insert, NM_INPUT_ID);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_pause(void *context, const nm_pause_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_PAUSE];

    nm_insert_id(insert, nm_loader_process(loader, row->process_id));
    nm_insert_int(insert, row->begin_seq);
    nm_insert_int(insert, row->begin_ns);
    nm_insert_int(insert, row->end_seq);
    nm_insert_int(insert, row->end_ns);
    nm_insert_int(insert, row->is_memory_told);
    nm_insert_int(insert, row->end_seq == NM_NO_SEQ ? NM_UNKNOWN_NUMBER : row->is_end_known);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_graph(void *context, const nm_graph_row *row, nm_error *err)
{
    static const char *const ends[] = {[NM_GRAPH_LIVES] = "lives",
                                       [NM_GRAPH_DESTROYED] = "destroyed",
                                       [NM_GRAPH_RESET] = "reset",
                                       [NM_GRAPH_FAILED] = "failed"};
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_GRAPH];

    nm_insert_id(insert, row->graph_id);
    nm_insert_id(insert, nm_loader_process(loader, row->process_id));
    nm_insert_id(insert, nm_loader_device(loader, row->device_id));
    nm_insert_id(insert, nm_loader_thread(loader, row->thread_id));
    nm_insert_id(insert, nm_loader_stack(loader, row->stack_id));
    nm_insert_int(insert, (int64_t)row->stream);
    nm_insert_int(insert, row->begin_seq);
    nm_insert_int(insert, row->begin_ns);
    nm_insert_int(insert, row->end_seq);
    nm_insert_int(insert, row->end_ns);
    nm_insert_text(insert, ends[row->end_kind]);
    nm_insert_int(insert, row->destroyed_seq);
    nm_insert_int(insert, row->destroyed_ns);
    nm_insert_int(insert, (int64_t)row->execute_count);
    nm_insert_int(insert, row->last_execute_seq);
    nm_insert_int(insert, (int64_t)row->driver_bytes);
    nm_insert_int(insert, (int64_t)row->block_bytes);
    nm_insert_int(insert, (int64_t)row->host_bytes);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_step(void *context, const nm_step_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_STEP];
    nm_status status = nm_id_set_add(&loader->stepping_processes, row->process_id, err);

    nm_insert_id(insert, row->step_id);
    nm_insert_id(insert, nm_loader_process(loader, row->process_id));
    nm_insert_id(insert, nm_loader_device(loader, row->device_id));
    nm_insert_int(insert, row->number);
    nm_insert_int(insert, row->begin_seq);
    nm_insert_int(insert, row->end_seq);
    nm_insert_int(insert, row->begin_ns);
    nm_insert_int(insert, row->end_ns);
    nm_insert_int(insert, row->generation);
    nm_insert_text(insert, row->source == NM_STEP_INFERRED ? "inferred" : "marked");
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}

nm_status nm_loader_take_baseline(void *context, const nm_baseline_row *row, nm_error *err)
{
    (void)err;
    ((nm_loader *)context)->baseline = *row;
    return NM_OK;
}

nm_status nm_loader_take_step_total(void *context, const nm_step_total_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_STEP_SUM];

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_int(insert, row->number);
    nm_insert_int(insert, row->generation);
    nm_insert_int(insert, row->last_generation);
    nm_insert_int(insert, row->begin_seq);
    nm_insert_int(insert, row->end_seq);
    nm_insert_int(insert, row->begin_ns);
    nm_insert_int(insert, row->end_ns);
    nm_insert_int(insert, (int64_t)row->allocation_count);
    nm_insert_int(insert, (int64_t)row->free_count);
    nm_insert_int(insert, (int64_t)row->allocated_bytes);
    nm_insert_int(insert, (int64_t)row->freed_bytes);
    nm_insert_int(insert, (int64_t)row->miss_count);
    nm_insert_int(insert, (int64_t)row->peak_bytes);
    nm_insert_int(insert, (int64_t)row->live_bytes);
    nm_insert_int(insert, (int64_t)row->live_count);
    nm_insert_int(insert, row->peak_reserved_bytes == 0 ? NM_NULL : (int64_t)row->peak_reserved_bytes);
    nm_insert_int(insert, is_of_device(loader, row->heap_id) ? (int64_t)row->driver_call_count : NM_NULL);
    nm_insert_int(insert, (int64_t)row->graph_bytes);
    nm_insert_int(insert, (int64_t)row->graph_reserved_bytes);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_step_anchor(void *context, const nm_step_anchor_row *row, nm_error *err)
{
    static const char *const kinds[] = {
        [NM_ANCHOR_NONE] = "none",   [NM_ANCHOR_MARKED] = "marked",       [NM_ANCHOR_SITE] = "site",
        [NM_ANCHOR_RANGE] = "range", [NM_ANCHOR_OPTIMIZER] = "optimizer", [NM_ANCHOR_GRAPH] = "graph"};
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_STEP_ANCHOR];

    nm_insert_id(insert, nm_loader_process(loader, row->process_id));
    nm_insert_text(insert, kinds[row->kind]);
    nm_insert_int(insert, row->is_given);
    nm_insert_id(insert, nm_loader_stack(loader, row->stack_id));
    nm_insert_bytes(insert, nm_loader_text(loader, row->name));
    nm_insert_int(insert, (int64_t)row->step_count);
    nm_insert_int(insert, row->recur_count == 0 ? NM_NULL : (int64_t)row->recur_count);
    nm_insert_real(insert, row->regular_ratio < 0 ? NAN : row->regular_ratio);
    nm_insert_int(insert, row->allocation_count);
    nm_insert_text(insert, row->reason);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_site_total(void *context, const nm_site_total_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_STACK_SUM];

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_id(insert, nm_loader_stack(loader, row->stack_id));
    nm_insert_int(insert, (int64_t)row->allocation_count);
    nm_insert_int(insert, (int64_t)row->free_count);
    nm_insert_int(insert, (int64_t)row->allocated_bytes);
    nm_insert_int(insert, (int64_t)row->freed_bytes);
    nm_insert_int(insert, (int64_t)row->in_step_bytes);
    nm_status status = nm_insert_end(insert, err);
    return status == NM_OK ? nm_loader_note_summed_stack(loader, row, err) : status;
}

nm_status nm_loader_take_moment(void *context, const nm_moment_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_MOMENT];
    nm_status status = nm_retention_moment(&loader->retained, row, err);

    nm_insert_id(insert, row->moment_id);
    nm_insert_int(insert, (int64_t)row->kind);
    nm_insert_bytes(insert, nm_loader_text(loader, row->name));
    nm_insert_id(insert, nm_loader_process(loader, row->process_id));
    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_id(insert, row->failure_id);
    nm_insert_int(insert, row->seq);
    nm_insert_int(insert, row->ns);
    nm_insert_id(insert, nm_loader_device(loader, row->device_id));
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}

nm_status nm_loader_take_anomaly(void *context, const nm_anomaly_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_ANOMALY];
    nm_status status = nm_loader_name_allocation(loader, row->allocation_id, err);

    nm_insert_id(insert, row->anomaly_id);
    nm_insert_int(insert, (int64_t)row->kind);
    nm_insert_id(insert, nm_loader_process(loader, row->process_id));
    nm_insert_id(insert, nm_loader_thread(loader, row->thread_id));
    nm_insert_int(insert, row->seq);
    nm_insert_int(insert, row->ns);
    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_id(insert, row->address);
    nm_insert_id(insert, row->size_bytes);
    nm_insert_id(insert, row->allocation_id);
    nm_insert_id(insert, row->copy_id);
    nm_insert_id(insert, nm_loader_stack(loader, row->stack_id));
    nm_insert_id(insert, nm_loader_stack(loader, row->other_stack_id));
    nm_insert_text(insert, row->detail);
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}

nm_status nm_loader_take_heap_total(void *context, const nm_heap_total_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_HEAP_SUM];
    nm_status status = nm_retention_heap_peak(&loader->retained, row->heap_id, row->peak_seq, err);
    nm_heap_cost_row cost = nm_sums_heap_cost(loader->sums, row->heap_id);

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_int(insert, (int64_t)row->allocation_count);
    nm_insert_int(insert, (int64_t)row->free_count);
    nm_insert_int(insert, (int64_t)row->allocated_bytes);
    nm_insert_int(insert, (int64_t)row->freed_bytes);
    nm_insert_int(insert, (int64_t)row->outstanding_count);
    nm_insert_int(insert, (int64_t)row->outstanding_bytes);
    nm_insert_int(insert, row->last_alloc_seq);
    nm_insert_int(insert, (int64_t)row->baseline_count);
    nm_insert_int(insert, (int64_t)row->baseline_bytes);
    nm_insert_int(insert, (int64_t)row->live_bytes);
    nm_insert_int(insert, (int64_t)row->peak_bytes);
    nm_insert_int(insert, (int64_t)row->peak_live_count);
    nm_insert_int(insert, row->peak_seq);
    nm_insert_int(insert, row->peak_ns);
    nm_insert_int(insert, nm_reserved_or_null(loader, row->heap_id, row->reserved_at_peak_bytes));
    nm_insert_int(insert, nm_reserved_or_null(loader, row->heap_id, row->peak_reserved_bytes));
    nm_insert_int(insert, nm_reserved_or_null(loader, row->heap_id, row->reserved_bytes));
    nm_insert_int(insert, row->peak_reserved_bytes == 0 ? NM_NULL : row->peak_reserved_seq);
    nm_insert_int(insert, (int64_t)cost.call_count);
    nm_insert_int(insert, (int64_t)cost.cost_ns);
    nm_insert_text(insert, source_name(row->reserved_source));
    nm_insert_int(insert, row->has_stated ? (int64_t)row->stated_reserved_bytes : NM_NULL);
    nm_insert_int(insert, row->has_stated ? (int64_t)row->peak_stated_reserved_bytes : NM_NULL);
    nm_insert_int(insert, !row->is_partial);
    nm_insert_int(insert, (int64_t)row->released_count);
    nm_insert_int(insert, (int64_t)row->released_bytes);
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}

nm_status nm_loader_take_peak_stack(void *context, const nm_peak_stack_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_PEAK_STACK];

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_id(insert, nm_loader_stack(loader, row->stack_id));
    nm_insert_int(insert, row->is_baseline);
    nm_insert_int(insert, (int64_t)row->live_count);
    nm_insert_int(insert, (int64_t)row->live_bytes);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_hit(void *context, const nm_hit_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_POOL_HIT];

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_int(insert, row->bucket);
    nm_insert_int(insert, (int64_t)row->allocation_count);
    nm_insert_int(insert, (int64_t)row->miss_count);
    nm_insert_int(insert, row->miss_count == 0 ? NM_NULL : row->last_miss_seq);
    nm_insert_int(insert, row->miss_count == 0 ? NM_NULL : row->last_miss_ns);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_device_peak(void *context, const nm_device_peak_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_DEVICE_SUM];

    nm_insert_id(insert, nm_loader_device(loader, row->device_id));
    nm_insert_int(insert, (int64_t)row->peak_bytes);
    nm_insert_int(insert, row->peak_seq);
    nm_insert_int(insert, row->peak_ns);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take(void *context, nm_row_kind kind, const void *row, nm_error *err)
{
    nm_status status = nm_sums_row(((nm_loader *)context)->sums, kind, row, err);

    if (status != NM_OK)
        return status;
    switch (kind) {
#define ROW(name, NAME)                                                                                                \
    case NM_ROW_##NAME:                                                                                                \
        return nm_loader_take_##name(context, row, err);
#include "rows/rows.def"
#undef ROW
    case NM_ROW_KINDS:
        break;
    }
    assert(!"a kind of row");
    return NM_OK;
}
