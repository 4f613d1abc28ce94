/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of the sink that is about how pools are cut up: values in the order of the columns in 062_fragmentation.sql.
 */
#include "store/loader_values.h"

nm_status nm_loader_take_pool_part(void *context, const nm_pool_part_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_POOL_PART];

    nm_insert_id(insert, row->part_id);
    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_int(insert, row->is_rest ? NM_NULL : (int64_t)row->kind);
    nm_insert_stream(insert, row->has_stream, row->stream);
    nm_insert_id(insert, row->private_pool);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_part_sample(void *context, const nm_part_sample_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_PART_SAMPLE];
    const nm_part_figures *figures = &row->figures;

    nm_insert_id(insert, row->moment_id);
    nm_insert_id(insert, row->part_id);
    nm_insert_int(insert, (int64_t)figures->reserved_bytes);
    nm_insert_int(insert, (int64_t)figures->free_bytes);
    nm_insert_int(insert, (int64_t)figures->largest_free_bytes);
    nm_insert_int(insert, (int64_t)figures->stuck_bytes);
    nm_insert_int(insert, (int64_t)figures->gap_count);
    nm_insert_int(insert, figures->waste_bytes);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_gap(void *context, const nm_gap_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_GAP];

    nm_insert_id(insert, row->moment_id);
    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_id(insert, row->part_id);
    nm_insert_int(insert, (int64_t)row->class_bytes);
    nm_insert_int(insert, (int64_t)row->gap_count);
    nm_insert_int(insert, (int64_t)row->free_bytes);
    nm_insert_int(insert, (int64_t)row->largest_bytes);
    return nm_insert_end(insert, err);
}

static void insert_figures(nm_insert *insert, const nm_fragment_usage_row *row)
{
    const nm_part_figures *figures = &row->figures;

    nm_insert_int(insert, (int64_t)figures->reserved_bytes);
    nm_insert_int(insert, (int64_t)figures->free_bytes);
    nm_insert_int(insert, row->is_stated ? NM_NULL : (int64_t)figures->largest_free_bytes);
    nm_insert_int(insert, row->is_stated ? NM_NULL : (int64_t)figures->stuck_bytes);
    nm_insert_int(insert, row->is_stated ? NM_NULL : (int64_t)figures->gap_count);
    nm_insert_int(insert, figures->waste_bytes);
}

nm_status nm_loader_take_fragment_usage(void *context, const nm_fragment_usage_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_FRAGMENTATION_USAGE];

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_id(insert, row->part_id);
    nm_insert_int(insert, row->first_seq);
    nm_insert_int(insert, row->last_seq);
    nm_insert_int(insert, row->last_ns);
    insert_figures(insert, row);
    nm_insert_int(insert, (int64_t)row->max_reserved_bytes);
    nm_insert_int(insert, (int64_t)row->max_occupied_bytes);
    nm_insert_int(insert, (int64_t)row->max_free_bytes);
    nm_insert_int(insert, row->max_free_seq);
    nm_insert_int(insert, row->max_free_ns);
    nm_insert_int(insert, row->is_stated ? NM_NULL : (int64_t)row->min_largest_free_bytes);
    nm_insert_int(insert, row->is_stated ? NM_NULL : (int64_t)row->max_gap_count);
    nm_insert_int(insert, row->is_stated ? NM_NULL : (int64_t)row->max_stuck_bytes);
    nm_insert_int(insert, row->is_stated ? NM_NULL : row->max_stuck_seq);
    nm_insert_int(insert, row->is_stated ? NM_NULL : row->max_stuck_ns);
    nm_insert_int(insert, row->max_waste_bytes);
    nm_insert_int(insert, row->is_estimate);
    nm_insert_int(insert, row->is_doubtful);
    nm_insert_int(insert, row->is_partial);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_blocker(void *context, const nm_blocker_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_BLOCKER_SAMPLE];
    nm_status status = nm_loader_name_allocation(loader, row->worst_allocation_id, err);

    nm_insert_id(insert, row->moment_id);
    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_id(insert, nm_loader_stack(loader, row->stack_id));
    nm_insert_int(insert, row->is_baseline);
    nm_insert_int(insert, row->is_rest);
    nm_insert_int(insert, (int64_t)row->block_count);
    nm_insert_int(insert, (int64_t)row->block_bytes);
    nm_insert_int(insert, row->is_rest ? NM_NULL : (int64_t)row->segment_count);
    nm_insert_int(insert, (int64_t)row->hostage_bytes);
    nm_insert_int(insert, (int64_t)row->sole_segment_count);
    nm_insert_int(insert, (int64_t)row->sole_hostage_bytes);
    nm_insert_int(insert, row->oldest_seq);
    nm_insert_int(insert, row->oldest_ns);
    nm_insert_id(insert, row->worst_allocation_id);
    nm_insert_int(insert, row->is_rest ? NM_NULL : (int64_t)row->worst_address);
    nm_insert_int(insert, row->is_rest ? NM_NULL : (int64_t)row->worst_block_bytes);
    nm_insert_int(insert, row->is_rest ? NM_NULL : (int64_t)row->worst_hostage_bytes);
    return status == NM_OK ? nm_insert_end(insert, err) : status;
}
