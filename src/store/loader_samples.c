/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of the sink that takes how much there was at a moment, or between two.
 */
#include "store/loader_values.h"

static const char *basis_name(nm_size_basis basis)
{
    return basis == NM_BASIS_REQUESTED ? "requested" : basis == NM_BASIS_BLOCK ? "block" : NULL;
}

nm_status nm_loader_take_usage(void *context, const nm_usage_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_USAGE];

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_int(insert, row->first_seq);
    nm_insert_int(insert, row->last_seq);
    nm_insert_int(insert, row->max_seq);
    nm_insert_int(insert, row->max_ns);
    nm_insert_int(insert, (int64_t)row->max_live_bytes);
    nm_insert_int(insert, (int64_t)row->live_bytes);
    nm_insert_int(insert, (int64_t)row->live_count);
    nm_insert_int(insert, nm_reserved_or_null(loader, row->heap_id, row->reserved_bytes));
    nm_insert_int(insert, row->last_ns);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_fragmentation(void *context, const nm_fragmentation_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_FRAGMENTATION_SAMPLE];

    nm_insert_id(insert, row->moment_id);
    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
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
    nm_insert_int(insert, row->is_rounding_known ? (int64_t)row->rounding.min_bytes : 0);
    nm_insert_int(insert, row->is_rounding_known ? (int64_t)row->rounding.max_bytes : NM_NULL);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_pool_growth(void *context, const nm_pool_growth_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_POOL_GROWTH];

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_id(insert, row->part_id);
    nm_insert_int(insert, row->seq);
    nm_insert_int(insert, row->ns);
    nm_insert_int(insert, (int64_t)row->size_bytes);
    nm_insert_int(insert, (int64_t)row->reserved_bytes);
    nm_insert_int(insert, (int64_t)row->part_reserved_bytes);
    nm_insert_int(insert, (int64_t)row->free_bytes);
    nm_insert_int(insert, (int64_t)row->rounding.min_bytes);
    nm_insert_int(insert, (int64_t)row->rounding.max_bytes);
    nm_insert_int(insert, row->is_doubtful);
    nm_insert_int(insert, row->is_partial);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_memory_sample(void *context, const nm_memory_sample_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_MEMORY_SAMPLE];

    nm_insert_int(insert, row->ns);
    nm_insert_id(insert, nm_loader_process(loader, row->process_id));
    nm_insert_id(insert, nm_loader_device(loader, row->device_id));
    nm_insert_int(insert, (int64_t)row->kind);
    nm_insert_int(insert, (int64_t)row->used_bytes);
    nm_insert_int(insert, (int64_t)row->total_bytes);
    nm_insert_int(insert, row->seq);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_module_sample(void *context, const nm_module_sample_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_MODULE_SAMPLE];

    nm_insert_int(insert, row->ns);
    nm_insert_int(insert, row->seq);
    nm_insert_id(insert, nm_loader_process(loader, row->process_id));
    nm_insert_id(insert, nm_loader_device(loader, row->device_id));
    nm_insert_bytes(insert, nm_loader_text(loader, row->module));
    nm_insert_int(insert, (int64_t)row->used_bytes);
    nm_insert_int(insert, (int64_t)row->peak_bytes);
    nm_insert_int(insert, row->recorded_bytes);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_heap_sample(void *context, const nm_heap_sample_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_HEAP_SAMPLE];

    nm_insert_id(insert, row->heap_id);
    nm_insert_int(insert, row->since_seq);
    nm_insert_int(insert, (int64_t)row->live_bytes);
    nm_insert_int(insert, (int64_t)row->live_count);
    nm_insert_int(insert, (int64_t)row->page_bytes);
    nm_insert_int(insert, (int64_t)row->mapped_bytes);
    nm_insert_int(insert, (int64_t)row->segment_bytes);
    nm_insert_int(insert, (int64_t)row->reserved_bytes);
    nm_insert_int(insert, row->is_stated);
    nm_insert_int(insert, row->is_at_least);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_device_sample(void *context, const nm_device_sample_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_DEVICE_SAMPLE];
    nm_status status = nm_retention_device(&loader->retained, row, err);

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
