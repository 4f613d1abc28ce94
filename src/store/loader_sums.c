/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over large tables, written when all rows have come.
 */
#include "store/loader_values.h"

/* The id if it is known: that it is not was counted with the rows that the sum is of. */
static uint64_t id_of_sum(const nm_id_set *ids, uint64_t id)
{
    return nm_id_set_has(ids, id) ? id : 0;
}

static nm_status write_run_sum(nm_loader *loader, const nm_run_sum *sum, nm_error *err)
{
    nm_insert *insert = &loader->tables[NM_TABLE_OPERATION_SUM];

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
    nm_insert *insert = &loader->tables[NM_TABLE_OPERATION_MEMORY_SUM];

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
    nm_insert *insert = &loader->tables[NM_TABLE_STREAM_CALL_SUM];

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
    nm_insert *insert = &loader->tables[NM_TABLE_COPY_SUM];
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
    nm_insert *insert = &loader->tables[NM_TABLE_ALLOCATION_KIND_SUM];

    nm_insert_id(insert, nm_loader_heap(loader, sum->heap_id));
    nm_insert_int(insert, sum->is_mapped);
    nm_insert_int(insert, nm_policy_or_null(sum->policy));
    nm_insert_int(insert, (int64_t)sum->allocation_count);
    nm_insert_int(insert, (int64_t)sum->allocated_bytes);
    nm_insert_int(insert, (int64_t)sum->live_count);
    nm_insert_int(insert, (int64_t)sum->live_bytes);
    return nm_insert_end(insert, err);
}

static nm_status write_hold(nm_loader *loader, const nm_hold_sum *sum, nm_error *err)
{
    nm_insert *insert = &loader->tables[NM_TABLE_WORKSPACE_HOLD_SUM];

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
    for (size_t index = 0; status == NM_OK && index < loader->hold_sums.count; index++)
        status = write_hold(loader, &loader->hold_sums.items[index], err);
    for (size_t index = 0; status == NM_OK && index < loader->stream_sums.count; index++)
        status = write_stream_sum(loader, &loader->stream_sums.items[index], err);
    for (size_t index = 0; status == NM_OK && index < loader->copy_sums.count; index++)
        status = write_copy_sum(loader, &loader->copy_sums.items[index], err);
    return status;
}
