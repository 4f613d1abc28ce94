/* SPDX-License-Identifier: Apache-2.0 */
#include "store/operation_rows.h"

#include "store/loader_values.h"

nm_status nm_loader_take_operation_rise(void *context, const nm_operation_rise_row *row, nm_error *err)
{
    nm_loader *loader = context;

    return nm_operation_sums_rise(&loader->operation_sums, row, nm_loader_number(loader, row->name), err);
}

nm_status nm_loader_take_step_operation(void *context, const nm_step_operation_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_OPERATION_STEP_SUM];

    nm_insert_id(insert, nm_loader_process(loader, row->process_id));
    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_int(insert, row->generation);
    nm_insert_int(insert, row->number);
    nm_insert_int(insert, row->is_rest ? NM_NULL : (int64_t)row->kind);
    nm_insert_bytes(insert, nm_loader_text(loader, row->is_rest ? 0 : row->name));
    nm_insert_int(insert, (int64_t)row->name_count);
    nm_insert_int(insert, (int64_t)row->allocation_count);
    nm_insert_int(insert, (int64_t)row->allocated_bytes);
    nm_insert_int(insert, (int64_t)row->freed_count);
    nm_insert_int(insert, (int64_t)row->freed_bytes);
    nm_insert_int(insert, (int64_t)row->run_count);
    nm_insert_int(insert, row->run_count == 0 ? NM_NULL : (int64_t)row->max_rise_bytes);
    nm_insert_int(insert, (int64_t)row->doubtful_count);
    nm_insert_int(insert, (int64_t)row->workspace_count);
    nm_insert_int(insert, (int64_t)row->workspace_bytes);
    nm_insert_id(insert, row->workspace_block_bytes);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_workspace_span(void *context, const nm_workspace_span_row *row, nm_error *err)
{
    nm_loader *loader = context;

    return nm_hold_sums_span(&loader->hold_sums, row, err);
}

static nm_status write_hold(nm_loader *loader, const nm_hold_sum *sum, nm_error *err)
{
    nm_insert *insert = &loader->inserts[NM_TABLE_WORKSPACE_HOLD_SUM];

    nm_insert_id(insert, nm_loader_heap(loader, sum->heap_id));
    nm_insert_stream(insert, sum->has_stream, sum->stream);
    nm_insert_int(insert, (int64_t)sum->block_count);
    nm_insert_int(insert, (int64_t)sum->use_count);
    nm_insert_int(insert, (int64_t)sum->reuse_count);
    for (int span = NM_HOLD_USED; span <= NM_HOLD_AT_END; span++)
        nm_insert_real(insert, (double)sum->byte_ns[span] / 1e9);
    nm_insert_int(insert, (int64_t)sum->max_between_ns);
    nm_insert_int(insert, (int64_t)sum->idle_count_at_end);
    nm_insert_int(insert, (int64_t)sum->idle_bytes_at_end);
    nm_insert_int(insert, (int64_t)sum->untimed_count);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_write_holds(nm_loader *loader, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t index = 0; status == NM_OK && index < loader->hold_sums.count; index++)
        status = write_hold(loader, &loader->hold_sums.items[index], err);
    return status;
}
