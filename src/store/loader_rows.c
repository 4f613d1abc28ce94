/* SPDX-License-Identifier: Apache-2.0
 *
 * The sink: one function a row, values in the order of the table's columns in schema/.
 */
#include <math.h>

#include "store/growth_rows.h"
#include "store/loader_pool.h"
#include "store/operation_rows.h"

#include <string.h>

static nm_insert *begin(nm_loader *loader, nm_loader_table table)
{
    return &loader->inserts[table];
}

static uint64_t known_heap(nm_loader *loader, uint64_t id)
{
    return nm_loader_known(loader, &loader->definitions.heaps.ids, id);
}

static uint64_t known_thread(nm_loader *loader, uint64_t id)
{
    return nm_loader_known(loader, &loader->definitions.threads.ids, id);
}

static uint64_t known_stack(nm_loader *loader, uint64_t id)
{
    return nm_loader_known(loader, &loader->definitions.stacks.ids, id);
}

static uint64_t known_process(nm_loader *loader, uint64_t id)
{
    return nm_loader_known(loader, &loader->definitions.processes.ids, id);
}

static uint64_t known_device(nm_loader *loader, uint64_t id)
{
    return nm_loader_known(loader, &loader->definitions.devices.ids, id);
}

static nm_status name_operation(nm_loader *loader, uint64_t operation_id, nm_error *err)
{
    return operation_id == 0 ? NM_OK : nm_id_set_add(&loader->named_operations, operation_id, err);
}

static nm_status name_allocation(nm_loader *loader, uint64_t allocation_id, nm_error *err)
{
    return allocation_id == 0 ? NM_OK : nm_id_set_add(&loader->named_allocations, allocation_id, err);
}

/* The number of a string in the definitions of the loader. */
static uint32_t number_of(const nm_loader *loader, uint64_t string)
{
    return nm_definitions_number(&loader->definitions, string);
}

static nm_bytes text_of(const nm_loader *loader, uint64_t string)
{
    return nm_definitions_text(&loader->definitions, number_of(loader, string));
}

static bool is_level(const nm_loader *loader, uint64_t heap_id, nm_heap_level level)
{
    const nm_definition *heap = nm_definition_find(&loader->definitions.heaps, heap_id);

    return heap != NULL && heap->heap.level == (uint64_t)level;
}

static bool is_of_device(const nm_loader *loader, uint64_t heap_id)
{
    const nm_definition *heap = nm_definition_find(&loader->definitions.heaps, heap_id);

    return heap != NULL && heap->heap.device_id != 0;
}

static int64_t id_or_null(uint64_t id)
{
    return id == 0 ? NM_NULL : (int64_t)id;
}

static const char *basis_name(nm_size_basis basis)
{
    return basis == NM_BASIS_REQUESTED ? "requested" : basis == NM_BASIS_BLOCK ? "block" : NULL;
}

static const char *source_name(nm_reserved_source source)
{
    return source == NM_RESERVED_SEGMENTS ? "segments" : source == NM_RESERVED_STATED ? "stated" : NULL;
}

static nm_status take_definition(void *context, const nm_definition *row, nm_error *err)
{
    nm_loader *loader = context;

    return nm_definitions_add(&loader->definitions, row, err);
}

static nm_status take_process_end(void *context, const nm_process_end_row *row, nm_error *err)
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

/* Which stacks allocate from which heap, and for whom: for store/wrapper.c and store/role.c. */
static nm_status note_stack(nm_loader *loader, const nm_allocation_row *row, nm_error *err)
{
    bool is_operator = row->operation_id != 0 && row->operation_kind == NM_RANGE_OPERATOR;
    nm_stack_use use = {.operator_name = is_operator ? number_of(loader, row->operation_name) : 0,
                        .thread_id = row->thread_id};

    if (row->stack_id == 0)
        return NM_OK;
    return nm_stack_uses_add(&loader->stack_uses, (nm_key){row->heap_id, row->stack_id}, &use, err);
}

/* The same of a stack that only sums are left of (npumem-record --keep): it counts among its heap's, for nobody in
 * particular. */
static nm_status note_summed_stack(nm_loader *loader, const nm_site_total_row *row, nm_error *err)
{
    nm_key key = {row->heap_id, row->stack_id};
    nm_stack_use use = {.operator_name = NM_ROLE_MIXED, .thread_id = NM_ROLE_MIXED};

    if (row->stack_id == 0 || nm_map_get(&loader->stack_uses.by_stack, key) != NULL)
        return NM_OK;
    return nm_stack_uses_add(&loader->stack_uses, key, &use, err);
}

static bool has_policy(const nm_loader *loader, uint64_t heap_id)
{
    return is_level(loader, heap_id, NM_LEVEL_DRIVER) || is_level(loader, heap_id, NM_LEVEL_PHYSICAL) ||
           is_level(loader, heap_id, NM_LEVEL_REGISTERED);
}

static int64_t policy_or_null(uint64_t policy)
{
    return policy == NM_POLICY_UNKNOWN ? NM_NULL : (int64_t)policy;
}

static void fill_allocation(nm_loader *loader, const nm_allocation_row *row, int64_t *value)
{
    *value++ = (int64_t)row->allocation_id;
    *value++ = id_or_null(known_heap(loader, row->heap_id));
    *value++ = id_or_null(row->segment_id);
    *value++ = id_or_null(known_thread(loader, row->thread_id));
    *value++ = id_or_null(row->operation_id);
    *value++ = id_or_null(known_stack(loader, row->stack_id));
    *value++ = row->has_stream ? (int64_t)row->stream : NM_NULL;
    *value++ = has_policy(loader, row->heap_id) ? policy_or_null(row->policy) : NM_NULL;
    *value++ = (int64_t)row->address;
    *value++ = (int64_t)row->size_bytes;
    *value++ = id_or_null(row->requested_bytes);
    *value++ = id_or_null(row->block_bytes);
    *value++ = row->alloc_seq;
    *value++ = row->alloc_ns;
    *value++ = id_or_null(row->cost_ns);
    *value++ = row->free_requested_seq;
    *value++ = row->free_seq;
    *value++ = row->free_ns;
    *value++ = id_or_null(known_thread(loader, row->free_thread_id));
    *value++ = id_or_null(known_stack(loader, row->free_stack_id));
    *value++ = (int64_t)row->end_kind;
    *value++ = (int64_t)row->live_bytes;
    *value++ = row->is_miss;
    *value++ = id_or_null(row->split_from_id);
    *value++ = row->is_segment;
    *value++ = row->is_doubtful;
    *value++ = row->end_kind == NM_END_NONE ? row->generation : NM_NULL;
    *value++ = id_or_null(row->private_pool);
    *value++ = row->operation_source == NM_SOURCE_NONE ? NM_NULL : (int64_t)row->operation_source;
    *value++ = row->is_exported;
    *value = row->is_mapped;
}

/* What is outstanding is summed up from its rows: store/left_out.c takes them away again where there are to be none. */
static nm_detail_verdict judge(const nm_loader *loader, const nm_allocation_row *row)
{
    if (loader->detail == NM_DETAIL_LIVE)
        return nm_detail_judge(&loader->detail_rows, row);
    return loader->detail == NM_DETAIL_ALL || row->end_kind == NM_END_NONE ? NM_DETAIL_WRITE : NM_DETAIL_DROP;
}

/* The row as values: into the table, among those that wait, or nowhere; unknown references are counted in any case. */
static nm_status place_allocation(nm_loader *loader, const nm_allocation_row *row, nm_error *err)
{
    int64_t dropped[NM_DETAIL_COLUMNS_MAX], *values = dropped;
    nm_detail_verdict verdict = judge(loader, row);
    nm_status status = NM_OK;

    if (verdict == NM_DETAIL_WRITE)
        status = nm_bulk_next(loader->allocations, &values, err);
    else if (verdict == NM_DETAIL_WAIT)
        status = nm_detail_wait(&loader->detail_rows, row, &values, err);
    if (status == NM_OK && verdict != NM_DETAIL_DROP && loader->detail != NM_DETAIL_ALL)
        status = nm_detail_need_segment(&loader->detail_rows, row->segment_id, err);
    if (status == NM_OK)
        fill_allocation(loader, row, values);
    return status;
}

static void note_last(uint64_t *last, uint64_t id)
{
    if (id > *last)
        *last = id;
}

nm_status nm_loader_write_waiting(nm_loader *loader, nm_error *err)
{
    const nm_detail_rows *rows = &loader->detail_rows;
    nm_status status = NM_OK;

    for (size_t i = 0; i < rows->count; i++)
        for (size_t j = 0; j < rows->heaps[i].count && status == NM_OK; j++) {
            const nm_waiting_row *row = &rows->heaps[i].items[j];
            const nm_definition *heap = nm_definition_find(&loader->definitions.heaps, row->heap_id);
            int64_t *values = NULL;

            if (!nm_detail_is_live(rows, row, heap == NULL ? 0 : heap->heap.device_id))
                continue;
            status = nm_bulk_next(loader->allocations, &values, err);
            if (status == NM_OK)
                memcpy(values, row->values, (size_t)loader->allocation_columns * sizeof *values);
        }
    return status;
}

static nm_status take_allocation(void *context, const nm_allocation_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_status status = nm_id_set_add(&loader->allocation_ids, row->allocation_id, err);

    note_last(&loader->last.allocation_id, row->allocation_id);
    loader->last.allocation_count++;
    if (status == NM_OK)
        status = name_allocation(loader, row->segment_id, err);
    if (status == NM_OK)
        status = name_allocation(loader, row->split_from_id, err);
    if (status == NM_OK)
        status = name_operation(loader, row->operation_id, err);
    if (status == NM_OK && row->cost_ns != 0)
        status = nm_cost_sums_allocation(&loader->cost_sums, row, err);
    if (status == NM_OK)
        status = note_stack(loader, row, err);
    if (status == NM_OK && has_policy(loader, row->heap_id))
        status = nm_kind_sums_allocation(&loader->kind_sums, row, err);
    if (status == NM_OK)
        status =
            nm_operation_sums_allocation(&loader->operation_sums, row, number_of(loader, row->operation_name), err);
    return status == NM_OK ? place_allocation(loader, row, err) : status;
}

/* Where the next row of a large table goes that only the whole detail has. */
static nm_status next_row(const nm_loader *loader, nm_bulk *bulk, int64_t *dropped, int64_t **values, nm_error *err)
{
    *values = dropped;
    return loader->detail == NM_DETAIL_ALL ? nm_bulk_next(bulk, values, err) : NM_OK;
}

static nm_status take_failure(void *context, const nm_failure_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_FAILURE);
    bool is_device_known = row->device_free_bytes != 0 || row->device_total_bytes != 0;
    nm_status status = name_operation(loader, row->operation_id, err);

    nm_insert_id(insert, row->failure_id);
    nm_insert_id(insert, known_heap(loader, row->heap_id));
    nm_insert_id(insert, known_thread(loader, row->thread_id));
    nm_insert_id(insert, row->operation_id);
    nm_insert_id(insert, known_stack(loader, row->stack_id));
    nm_insert_stream(insert, row->has_stream, row->stream);
    nm_insert_int(insert, row->seq);
    nm_insert_int(insert, row->ns);
    nm_insert_int(insert, (int64_t)row->requested_bytes);
    nm_insert_int(insert, row->error_code);
    nm_insert_int(insert, is_device_known ? (int64_t)row->device_free_bytes : NM_NULL);
    nm_insert_id(insert, row->device_total_bytes);
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}

static void fill_copy(nm_loader *loader, const nm_copy_row *row, int64_t *value)
{
    bool is_memset = row->kind == NM_COPY_MEMSET;

    *value++ = (int64_t)row->copy_id;
    *value++ = id_or_null(known_process(loader, row->process_id));
    *value++ = id_or_null(known_thread(loader, row->thread_id));
    *value++ = id_or_null(row->operation_id);
    *value++ = id_or_null(known_stack(loader, row->stack_id));
    *value++ = (int64_t)row->kind;
    *value++ = row->has_stream ? (int64_t)row->stream : NM_NULL;
    *value++ = row->is_async;
    *value++ = row->seq;
    *value++ = row->ns;
    *value++ = id_or_null(row->cost_ns);
    *value++ = (int64_t)row->size_bytes;
    *value++ = id_or_null(row->limit_bytes);
    *value++ = is_memset ? NM_NULL : (int64_t)row->source_address;
    *value++ = (int64_t)row->target_address;
    *value++ = id_or_null(known_device(loader, row->source_device_id));
    *value++ = id_or_null(known_device(loader, row->target_device_id));
    *value++ = row->error_code;
    *value = row->is_registered == NM_UNKNOWN_NUMBER ? NM_NULL : row->is_registered;
}

static nm_status take_copy(void *context, const nm_copy_row *row, nm_error *err)
{
    nm_loader *loader = context;
    int64_t dropped[NM_DETAIL_COLUMNS_MAX], *values = NULL;
    nm_status status = name_operation(loader, row->operation_id, err);

    note_last(&loader->last.copy_id, row->copy_id);
    if (status == NM_OK)
        status = nm_copy_sums_copy(&loader->copy_sums, row, err);
    if (status == NM_OK)
        status = next_row(loader, loader->copies, dropped, &values, err);
    if (status == NM_OK)
        fill_copy(loader, row, values);
    return status;
}

static nm_status take_operation(void *context, const nm_operation_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_OPERATION);
    nm_status status = nm_id_set_add(&loader->operation_ids, row->operation_id, err);

    note_last(&loader->last.operation_id, row->operation_id);
    if (status == NM_OK)
        status = name_operation(loader, row->parent_id, err);
    if (status == NM_OK)
        status = nm_operation_sums_run(&loader->operation_sums, row, number_of(loader, row->name), err);
    nm_insert_id(insert, row->operation_id);
    nm_insert_id(insert, known_process(loader, row->process_id));
    nm_insert_id(insert, known_thread(loader, row->thread_id));
    nm_insert_int(insert, (int64_t)row->kind);
    nm_insert_bytes(insert, text_of(loader, row->name));
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

static void fill_workspace(nm_loader *loader, const nm_workspace_row *row, int64_t *value)
{
    *value++ = (int64_t)row->workspace_id;
    *value++ = id_or_null(row->operation_id);
    *value++ = id_or_null(row->allocation_id);
    *value++ = id_or_null(known_thread(loader, row->thread_id));
    *value++ = row->has_stream ? (int64_t)row->stream : NM_NULL;
    *value++ = row->seq;
    *value++ = row->ns;
    *value++ = id_or_null(row->address);
    *value++ = (int64_t)row->requested_bytes;
    *value++ = id_or_null(row->block_bytes);
    *value = row->is_reused;
}

static nm_status take_workspace(void *context, const nm_workspace_row *row, nm_error *err)
{
    nm_loader *loader = context;
    int64_t dropped[NM_DETAIL_COLUMNS_MAX], *values = NULL;
    nm_status status = name_operation(loader, row->operation_id, err);

    note_last(&loader->last.workspace_id, row->workspace_id);
    if (status == NM_OK)
        status = name_allocation(loader, row->allocation_id, err);
    if (status == NM_OK)
        status = nm_operation_sums_workspace(&loader->operation_sums, row, number_of(loader, row->operation_name), err);
    if (status == NM_OK)
        status = next_row(loader, loader->workspaces, dropped, &values, err);
    if (status == NM_OK)
        fill_workspace(loader, row, values);
    return status;
}

static void fill_stream_call(nm_loader *loader, const nm_stream_call_row *row, int64_t *value)
{
    *value++ = (int64_t)row->stream_call_id;
    *value++ = id_or_null(known_process(loader, row->process_id));
    *value++ = id_or_null(known_thread(loader, row->thread_id));
    *value++ = id_or_null(row->operation_id);
    *value++ = id_or_null(known_stack(loader, row->stack_id));
    *value++ = id_or_null(known_device(loader, row->device_id));
    *value++ = (int64_t)row->kind;
    *value++ = row->has_stream ? (int64_t)row->stream : NM_NULL;
    *value++ = id_or_null(row->event);
    *value++ = row->seq;
    *value++ = row->ns;
    *value++ = id_or_null(row->cost_ns);
    *value = row->error_code;
}

static nm_status take_stream_call(void *context, const nm_stream_call_row *row, nm_error *err)
{
    nm_loader *loader = context;
    int64_t dropped[NM_DETAIL_COLUMNS_MAX], *values = NULL;
    nm_status status = name_operation(loader, row->operation_id, err);

    note_last(&loader->last.stream_call_id, row->stream_call_id);
    if (status == NM_OK)
        status = nm_stream_sums_call(&loader->stream_sums, row, err);
    if (status == NM_OK)
        status = next_row(loader, loader->stream_calls, dropped, &values, err);
    if (status == NM_OK)
        fill_stream_call(loader, row, values);
    return status;
}

static nm_status take_note(void *context, const nm_note_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_NOTE);

    nm_insert_id(insert, row->note_id);
    nm_insert_id(insert, known_process(loader, row->process_id));
    nm_insert_id(insert, known_thread(loader, row->thread_id));
    nm_insert_int(insert, row->seq);
    nm_insert_int(insert, row->ns);
    nm_insert_int(insert, (int64_t)row->kind);
    nm_insert_bytes(insert, text_of(loader, row->text));
    nm_insert_id(insert, row->count);
    nm_insert_id(insert, NM_INPUT_ID);
    return nm_insert_end(insert, err);
}

static nm_status take_pause(void *context, const nm_pause_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_PAUSE);

    nm_insert_id(insert, known_process(loader, row->process_id));
    nm_insert_int(insert, row->begin_seq);
    nm_insert_int(insert, row->begin_ns);
    nm_insert_int(insert, row->end_seq);
    nm_insert_int(insert, row->end_ns);
    nm_insert_int(insert, row->is_memory_told);
    nm_insert_int(insert, row->end_seq == NM_NO_SEQ ? NM_UNKNOWN_NUMBER : row->is_end_known);
    return nm_insert_end(insert, err);
}

static nm_status take_step(void *context, const nm_step_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_STEP);
    nm_status status = nm_id_set_add(&loader->stepping_processes, row->process_id, err);

    nm_insert_id(insert, row->step_id);
    nm_insert_id(insert, known_process(loader, row->process_id));
    nm_insert_id(insert, known_device(loader, row->device_id));
    nm_insert_int(insert, row->number);
    nm_insert_int(insert, row->begin_seq);
    nm_insert_int(insert, row->end_seq);
    nm_insert_int(insert, row->begin_ns);
    nm_insert_int(insert, row->end_ns);
    nm_insert_int(insert, row->generation);
    nm_insert_text(insert, row->source == NM_STEP_INFERRED ? "inferred" : "marked");
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}

static nm_status take_baseline(void *context, const nm_baseline_row *row, nm_error *err)
{
    (void)err;
    ((nm_loader *)context)->baseline = *row;
    return NM_OK;
}

static nm_status take_step_total(void *context, const nm_step_total_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_STEP_SUM);

    nm_insert_id(insert, known_heap(loader, row->heap_id));
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
    return nm_insert_end(insert, err);
}

static nm_status take_step_anchor(void *context, const nm_step_anchor_row *row, nm_error *err)
{
    static const char *const kinds[] = {[NM_ANCHOR_NONE] = "none",
                                        [NM_ANCHOR_MARKED] = "marked",
                                        [NM_ANCHOR_SITE] = "site",
                                        [NM_ANCHOR_RANGE] = "range",
                                        [NM_ANCHOR_OPTIMIZER] = "optimizer"};
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_STEP_ANCHOR);

    nm_insert_id(insert, known_process(loader, row->process_id));
    nm_insert_text(insert, kinds[row->kind]);
    nm_insert_int(insert, row->is_given);
    nm_insert_id(insert, known_stack(loader, row->stack_id));
    nm_insert_bytes(insert, text_of(loader, row->name));
    nm_insert_int(insert, (int64_t)row->step_count);
    nm_insert_int(insert, row->recur_count == 0 ? NM_NULL : (int64_t)row->recur_count);
    nm_insert_real(insert, row->regular_ratio < 0 ? NAN : row->regular_ratio);
    nm_insert_int(insert, row->allocation_count);
    nm_insert_text(insert, row->reason);
    return nm_insert_end(insert, err);
}

static nm_status take_site_total(void *context, const nm_site_total_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_STACK_SUM);

    nm_insert_id(insert, known_heap(loader, row->heap_id));
    nm_insert_id(insert, known_stack(loader, row->stack_id));
    nm_insert_int(insert, (int64_t)row->allocation_count);
    nm_insert_int(insert, (int64_t)row->free_count);
    nm_insert_int(insert, (int64_t)row->allocated_bytes);
    nm_insert_int(insert, (int64_t)row->freed_bytes);
    nm_insert_int(insert, (int64_t)row->in_step_bytes);
    nm_status status = nm_insert_end(insert, err);
    return status == NM_OK ? note_summed_stack(loader, row, err) : status;
}

static nm_status take_moment(void *context, const nm_moment_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_MOMENT);
    nm_status status = nm_detail_moment(&loader->detail_rows, row, err);

    nm_insert_id(insert, row->moment_id);
    nm_insert_int(insert, (int64_t)row->kind);
    nm_insert_bytes(insert, text_of(loader, row->name));
    nm_insert_id(insert, known_process(loader, row->process_id));
    nm_insert_id(insert, known_heap(loader, row->heap_id));
    nm_insert_id(insert, row->failure_id);
    nm_insert_int(insert, row->seq);
    nm_insert_int(insert, row->ns);
    nm_insert_id(insert, known_device(loader, row->device_id));
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}

/* Reserved bytes are a pool's: of another heap they are unknown, and not 0. */
static int64_t reserved_or_null(const nm_loader *loader, uint64_t heap_id, uint64_t bytes)
{
    return bytes != 0 || is_level(loader, heap_id, NM_LEVEL_POOL) ? (int64_t)bytes : NM_NULL;
}

static nm_status take_usage(void *context, const nm_usage_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_USAGE);

    nm_insert_id(insert, known_heap(loader, row->heap_id));
    nm_insert_int(insert, row->first_seq);
    nm_insert_int(insert, row->last_seq);
    nm_insert_int(insert, row->max_seq);
    nm_insert_int(insert, row->max_ns);
    nm_insert_int(insert, (int64_t)row->max_live_bytes);
    nm_insert_int(insert, (int64_t)row->live_bytes);
    nm_insert_int(insert, (int64_t)row->live_count);
    nm_insert_int(insert, reserved_or_null(loader, row->heap_id, row->reserved_bytes));
    nm_insert_int(insert, row->last_ns);
    return nm_insert_end(insert, err);
}

static nm_status take_fragmentation(void *context, const nm_fragmentation_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_FRAGMENTATION_SAMPLE);

    nm_insert_id(insert, row->moment_id);
    nm_insert_id(insert, known_heap(loader, row->heap_id));
    nm_insert_int(insert, (int64_t)row->reserved_bytes);
    nm_insert_int(insert, (int64_t)row->occupied_bytes);
    nm_insert_int(insert, (int64_t)row->free_bytes);
    nm_insert_int(insert, row->is_stated ? NM_NULL : (int64_t)row->largest_free_bytes);
    nm_insert_int(insert, row->is_stated ? NM_NULL : (int64_t)row->stuck_bytes);
    nm_insert_int(insert, row->is_stated ? NM_NULL : (int64_t)row->gap_count);
    nm_insert_text(insert, basis_name(row->size_basis));
    nm_insert_int(insert, row->is_estimate);
    nm_insert_int(insert, row->has_stated ? (int64_t)row->stated_reserved_bytes : NM_NULL);
    nm_insert_int(insert, row->waste_bytes);
    nm_insert_int(insert, row->is_doubtful);
    nm_insert_int(insert, row->is_partial);
    nm_insert_int(insert, row->has_detail);
    return nm_insert_end(insert, err);
}

static nm_status take_memory_sample(void *context, const nm_memory_sample_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_MEMORY_SAMPLE);

    nm_insert_int(insert, row->ns);
    nm_insert_id(insert, known_process(loader, row->process_id));
    nm_insert_id(insert, known_device(loader, row->device_id));
    nm_insert_int(insert, (int64_t)row->kind);
    nm_insert_int(insert, (int64_t)row->used_bytes);
    nm_insert_int(insert, (int64_t)row->total_bytes);
    nm_insert_int(insert, row->seq);
    return nm_insert_end(insert, err);
}

static nm_status take_module_sample(void *context, const nm_module_sample_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_MODULE_SAMPLE);

    nm_insert_int(insert, row->ns);
    nm_insert_int(insert, row->seq);
    nm_insert_id(insert, known_process(loader, row->process_id));
    nm_insert_id(insert, known_device(loader, row->device_id));
    nm_insert_bytes(
        insert, nm_definitions_text(&loader->definitions, nm_definitions_number(&loader->definitions, row->module)));
    nm_insert_int(insert, (int64_t)row->used_bytes);
    nm_insert_int(insert, (int64_t)row->peak_bytes);
    nm_insert_int(insert, row->recorded_bytes);
    return nm_insert_end(insert, err);
}

static nm_status take_heap_sample(void *context, const nm_heap_sample_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_HEAP_SAMPLE);

    nm_insert_id(insert, row->heap_id);
    nm_insert_int(insert, row->since_seq);
    nm_insert_int(insert, (int64_t)row->live_bytes);
    nm_insert_int(insert, (int64_t)row->live_count);
    nm_insert_int(insert, (int64_t)row->page_bytes);
    nm_insert_int(insert, (int64_t)row->mapped_bytes);
    nm_insert_int(insert, (int64_t)row->segment_bytes);
    nm_insert_int(insert, (int64_t)row->reserved_bytes);
    nm_insert_int(insert, row->is_stated);
    return nm_insert_end(insert, err);
}

static nm_status take_device_sample(void *context, const nm_device_sample_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_DEVICE_SAMPLE);
    nm_status status = nm_detail_device(&loader->detail_rows, row, err);

    nm_insert_id(insert, row->moment_id);
    nm_insert_id(insert, row->device_id);
    nm_insert_id(insert, row->hardware_id);
    nm_insert_int(insert, row->recorded_bytes);
    nm_insert_int(insert, row->has_sample ? (int64_t)row->free_bytes : NM_NULL);
    nm_insert_int(insert, row->has_sample ? (int64_t)row->total_bytes : NM_NULL);
    nm_insert_int(insert, row->sample_seq);
    nm_insert_int(insert, row->sample_ns);
    nm_insert_int(insert, row->is_stale);
    nm_insert_int(insert, row->until_seq);
    nm_insert_int(insert, row->has_sample ? row->sample_recorded_bytes : NM_NULL);
    nm_insert_int(insert, row->at_seq);
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}

static nm_status take_anomaly(void *context, const nm_anomaly_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_ANOMALY);
    nm_status status = name_allocation(loader, row->allocation_id, err);

    nm_insert_id(insert, row->anomaly_id);
    nm_insert_int(insert, (int64_t)row->kind);
    nm_insert_id(insert, known_process(loader, row->process_id));
    nm_insert_id(insert, known_thread(loader, row->thread_id));
    nm_insert_int(insert, row->seq);
    nm_insert_int(insert, row->ns);
    nm_insert_id(insert, known_heap(loader, row->heap_id));
    nm_insert_id(insert, row->address);
    nm_insert_id(insert, row->size_bytes);
    nm_insert_id(insert, row->allocation_id);
    nm_insert_id(insert, row->copy_id);
    nm_insert_id(insert, known_stack(loader, row->stack_id));
    nm_insert_id(insert, known_stack(loader, row->other_stack_id));
    nm_insert_text(insert, row->detail);
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}

static nm_status take_heap_total(void *context, const nm_heap_total_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_HEAP_SUM);
    nm_status status = nm_detail_heap_peak(&loader->detail_rows, row->heap_id, row->peak_seq, err);
    nm_heap_cost cost = nm_cost_sums_of(&loader->cost_sums, row->heap_id);

    nm_insert_id(insert, known_heap(loader, row->heap_id));
    nm_insert_int(insert, (int64_t)row->allocation_count);
    nm_insert_int(insert, (int64_t)row->free_count);
    nm_insert_int(insert, (int64_t)row->allocated_bytes);
    nm_insert_int(insert, (int64_t)row->freed_bytes);
    nm_insert_int(insert, (int64_t)row->outstanding_count);
    nm_insert_int(insert, (int64_t)row->outstanding_bytes);
    nm_insert_int(insert, (int64_t)row->baseline_count);
    nm_insert_int(insert, (int64_t)row->baseline_bytes);
    nm_insert_int(insert, (int64_t)row->live_bytes);
    nm_insert_int(insert, (int64_t)row->peak_bytes);
    nm_insert_int(insert, (int64_t)row->peak_live_count);
    nm_insert_int(insert, row->peak_seq);
    nm_insert_int(insert, row->peak_ns);
    nm_insert_int(insert, reserved_or_null(loader, row->heap_id, row->reserved_at_peak_bytes));
    nm_insert_int(insert, reserved_or_null(loader, row->heap_id, row->peak_reserved_bytes));
    nm_insert_int(insert, reserved_or_null(loader, row->heap_id, row->reserved_bytes));
    nm_insert_int(insert, row->peak_reserved_bytes == 0 ? NM_NULL : row->peak_reserved_seq);
    nm_insert_int(insert, (int64_t)cost.call_count);
    nm_insert_int(insert, (int64_t)cost.cost_ns);
    nm_insert_text(insert, source_name(row->reserved_source));
    nm_insert_int(insert, row->has_stated ? (int64_t)row->stated_reserved_bytes : NM_NULL);
    nm_insert_int(insert, row->has_stated ? (int64_t)row->peak_stated_reserved_bytes : NM_NULL);
    nm_insert_int(insert, !row->is_partial);
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}

static nm_status take_peak_stack(void *context, const nm_peak_stack_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_PEAK_STACK);

    nm_insert_id(insert, known_heap(loader, row->heap_id));
    nm_insert_id(insert, known_stack(loader, row->stack_id));
    nm_insert_int(insert, row->is_baseline);
    nm_insert_int(insert, (int64_t)row->live_count);
    nm_insert_int(insert, (int64_t)row->live_bytes);
    return nm_insert_end(insert, err);
}

static nm_status take_hit(void *context, const nm_hit_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_POOL_HIT);

    nm_insert_id(insert, known_heap(loader, row->heap_id));
    nm_insert_int(insert, row->bucket);
    nm_insert_int(insert, (int64_t)row->allocation_count);
    nm_insert_int(insert, (int64_t)row->miss_count);
    nm_insert_int(insert, row->miss_count == 0 ? NM_NULL : row->last_miss_seq);
    nm_insert_int(insert, row->miss_count == 0 ? NM_NULL : row->last_miss_ns);
    return nm_insert_end(insert, err);
}

static nm_status take_device_peak(void *context, const nm_device_peak_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = begin(loader, NM_TABLE_DEVICE_SUM);

    nm_insert_id(insert, known_device(loader, row->device_id));
    nm_insert_int(insert, (int64_t)row->peak_bytes);
    nm_insert_int(insert, row->peak_seq);
    nm_insert_int(insert, row->peak_ns);
    return nm_insert_end(insert, err);
}

/* ---- Sums over large tables, at the end -------------------------------------------------------------------------- */

/* The id if it is known: that it is not was counted with the rows that the sum is of. */
static uint64_t id_of_sum(const nm_id_set *ids, uint64_t id)
{
    return nm_id_set_has(ids, id) ? id : 0;
}

static nm_status write_run_sum(nm_loader *loader, const nm_run_sum *sum, nm_error *err)
{
    nm_insert *insert = begin(loader, NM_TABLE_OPERATION_SUM);

    nm_insert_id(insert, id_of_sum(&loader->definitions.processes.ids, sum->process_id));
    nm_insert_int(insert, (int64_t)sum->kind);
    nm_insert_bytes(insert, nm_definitions_text(&loader->definitions, sum->name));
    nm_insert_int(insert, (int64_t)sum->run_count);
    nm_insert_int(insert, sum->has_duration ? (int64_t)sum->duration_ns : NM_NULL);
    nm_insert_int(insert, (int64_t)sum->error_count);
    nm_insert_int(insert, (int64_t)sum->workspace_count);
    nm_insert_int(insert, (int64_t)sum->requested_bytes);
    nm_insert_int(insert, (int64_t)sum->max_requested_bytes);
    nm_insert_id(insert, sum->max_block_bytes);
    nm_insert_int(insert, (int64_t)sum->reused_count);
    nm_insert_id(insert, sum->has_many_heaps ? 0 : id_of_sum(&loader->definitions.heaps.ids, sum->heap_id));
    nm_insert_int(insert, (int64_t)sum->block_bytes);
    nm_insert_int(insert, (int64_t)sum->block_requested_bytes);
    return nm_insert_end(insert, err);
}

static nm_status write_memory_sum(nm_loader *loader, const nm_memory_sum *sum, nm_error *err)
{
    nm_insert *insert = begin(loader, NM_TABLE_OPERATION_MEMORY_SUM);

    nm_insert_id(insert, id_of_sum(&loader->definitions.heaps.ids, sum->heap_id));
    nm_insert_int(insert, sum->has_operation ? (int64_t)sum->kind : NM_NULL);
    nm_insert_bytes(insert, nm_definitions_text(&loader->definitions, sum->name));
    nm_insert_int(insert, (int64_t)sum->allocation_count);
    nm_insert_int(insert, (int64_t)sum->allocated_bytes);
    nm_insert_int(insert, (int64_t)sum->max_bytes);
    nm_insert_int(insert, (int64_t)sum->outstanding_count);
    nm_insert_int(insert, (int64_t)sum->outstanding_bytes);
    nm_insert_int(insert, (int64_t)sum->source_counts[NM_SOURCE_THREAD]);
    nm_insert_int(insert, (int64_t)sum->source_counts[NM_SOURCE_WORKSPACE]);
    nm_insert_int(insert, (int64_t)sum->source_counts[NM_SOURCE_QUEUE]);
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

static nm_status write_stream_sum(nm_loader *loader, const nm_stream_sum *sum, nm_error *err)
{
    nm_insert *insert = begin(loader, NM_TABLE_STREAM_CALL_SUM);

    nm_insert_id(insert, id_of_sum(&loader->definitions.processes.ids, sum->process_id));
    nm_insert_id(insert, id_of_sum(&loader->definitions.devices.ids, sum->device_id));
    nm_insert_int(insert, (int64_t)sum->kind);
    nm_insert_stream(insert, sum->has_stream, sum->stream);
    nm_insert_int(insert, (int64_t)sum->call_count);
    nm_insert_id(insert, sum->cost_ns);
    nm_insert_int(insert, (int64_t)sum->error_count);
    return nm_insert_end(insert, err);
}

static nm_status write_copy_sum(nm_loader *loader, const nm_copy_sum *sum, nm_error *err)
{
    nm_insert *insert = begin(loader, NM_TABLE_COPY_SUM);
    bool is_repeated = sum->repeated_count > 0;

    nm_insert_id(insert, id_of_sum(&loader->definitions.processes.ids, sum->process_id));
    nm_insert_id(insert, id_of_sum(&loader->definitions.devices.ids, sum->device_id));
    nm_insert_int(insert, (int64_t)sum->kind);
    nm_insert_int(insert, sum->is_async);
    nm_insert_stream(insert, sum->has_stream, sum->stream);
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

static nm_status write_kind_sum(nm_loader *loader, const nm_kind_sum *sum, nm_error *err)
{
    nm_insert *insert = begin(loader, NM_TABLE_ALLOCATION_KIND_SUM);

    nm_insert_id(insert, known_heap(loader, sum->heap_id));
    nm_insert_int(insert, sum->is_mapped);
    nm_insert_int(insert, policy_or_null(sum->policy));
    nm_insert_int(insert, (int64_t)sum->allocation_count);
    nm_insert_int(insert, (int64_t)sum->allocated_bytes);
    nm_insert_int(insert, (int64_t)sum->live_count);
    nm_insert_int(insert, (int64_t)sum->live_bytes);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_write_sums(nm_loader *loader, nm_error *err)
{
    const nm_operation_sums *sums = &loader->operation_sums;
    nm_status status = NM_OK;

    for (size_t index = 0; status == NM_OK && index < loader->kind_sums.count; index++)
        status = write_kind_sum(loader, &loader->kind_sums.items[index], err);
    for (size_t index = 0; status == NM_OK && index < sums->runs.count; index++)
        status = write_run_sum(loader, &sums->runs.items[index], err);
    for (size_t index = 0; status == NM_OK && index < sums->memory.count; index++)
        if (!nm_memory_sum_is_empty(&sums->memory.items[index]))
            status = write_memory_sum(loader, &sums->memory.items[index], err);
    if (status == NM_OK)
        status = nm_loader_write_holds(loader, err);
    for (size_t index = 0; status == NM_OK && index < loader->stream_sums.count; index++)
        status = write_stream_sum(loader, &loader->stream_sums.items[index], err);
    for (size_t index = 0; status == NM_OK && index < loader->copy_sums.count; index++)
        status = write_copy_sum(loader, &loader->copy_sums.items[index], err);
    return status;
}

const nm_sink nm_loader_sink = {
    .definition = take_definition,
    .process_end = take_process_end,
    .allocation = take_allocation,
    .failure = take_failure,
    .pool_effort = nm_loader_take_pool_effort,
    .out_of_memory = nm_loader_take_out_of_memory,
    .out_of_memory_stack = nm_loader_take_out_of_memory_stack,
    .copy = take_copy,
    .operation = take_operation,
    .workspace = take_workspace,
    .operation_rise = nm_loader_take_operation_rise,
    .step_operation = nm_loader_take_step_operation,
    .workspace_span = nm_loader_take_workspace_span,
    .stream_call = take_stream_call,
    .note = take_note,
    .pause = take_pause,
    .step = take_step,
    .baseline = take_baseline,
    .step_total = take_step_total,
    .step_anchor = take_step_anchor,
    .site_total = take_site_total,
    .step_site = nm_loader_take_step_site,
    .lifetime = nm_loader_take_lifetime,
    .moment = take_moment,
    .usage = take_usage,
    .fragmentation = take_fragmentation,
    .pool_part = nm_loader_take_part,
    .part_sample = nm_loader_take_part_sample,
    .gap = nm_loader_take_gap,
    .fragment_usage = nm_loader_take_fragment_usage,
    .blocker = nm_loader_take_blocker,
    .memory_sample = take_memory_sample,
    .module_sample = take_module_sample,
    .heap_sample = take_heap_sample,
    .device_sample = take_device_sample,
    .anomaly = take_anomaly,
    .heap_total = take_heap_total,
    .peak_stack = take_peak_stack,
    .hit = take_hit,
    .miss = nm_loader_take_miss,
    .pending = nm_loader_take_pending,
    .pool_group = nm_loader_take_pool_group,
    .pool_class = nm_loader_take_pool_class,
    .pool_step = nm_loader_take_pool_step,
    .pool_reuse = nm_loader_take_pool_reuse,
    .pool_sum = nm_loader_take_pool_sum,
    .device_peak = take_device_peak,
};
