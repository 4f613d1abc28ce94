/* SPDX-License-Identifier: Apache-2.0 */
#include "store/loader_pool.h"

#include "base/number.h"
#include "store/loader_values.h"

#define EARLY       "16" /* added to the cause of a miss of which only the end tells whether it is cold */
#define EARLY_CAUSE 16

static int64_t *fill_miss(nm_loader *loader, const nm_miss_row *row, int64_t *value)
{
    *value++ = row->seq;
    *value++ = nm_id_or_null(nm_loader_heap(loader, row->heap_id));
    *value++ = row->ns;
    *value++ = row->generation;
    *value++ = nm_id_or_null(nm_loader_thread(loader, row->thread_id));
    *value++ = nm_id_or_null(nm_loader_stack(loader, row->stack_id));
    *value++ = row->has_stream ? (int64_t)row->stream : NM_NULL;
    *value++ = nm_id_or_null(row->private_pool);
    *value++ = row->is_large;
    *value++ = (int64_t)row->size_bytes;
    *value++ = row->is_early ? EARLY_CAUSE + (int64_t)row->cause : nm_id_or_null(row->cause);
    *value++ = row->is_pending_enough;
    *value++ = (int64_t)row->driver_count;
    *value++ = nm_id_or_null(row->driver_cost_ns);
    *value++ = row->is_held_known ? (int64_t)row->held_bytes : NM_NULL;
    *value++ = row->is_held_known ? (int64_t)row->most_held_bytes : NM_NULL;
    return value;
}

nm_status nm_loader_take_miss(void *context, const nm_miss_row *row, nm_error *err)
{
    nm_loader *loader = context;
    int64_t *values = NULL;
    nm_status status = nm_bulk_next(loader->misses, &values, err);

    if (status == NM_OK)
        nm_bulk_end(loader->misses, values, fill_miss(loader, row, values));
    loader->has_early_misses |= row->is_early;
    return status;
}

nm_status nm_loader_take_pool_group(void *context, const nm_pool_group_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_POOL_GROUP];

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_id(insert, row->private_pool);
    nm_insert_stream(insert, row->has_stream, row->stream);
    nm_insert_int(insert, row->is_large);
    nm_insert_int(insert, (int64_t)row->allocation_count);
    nm_insert_int(insert, (int64_t)row->miss_count);
    nm_insert_int(insert, (int64_t)row->allocated_bytes);
    nm_insert_int(insert, (int64_t)row->missed_bytes);
    nm_insert_int(insert, row->last_miss_seq);
    nm_insert_int(insert, row->last_miss_ns);
    nm_insert_int(insert, (int64_t)row->peak_live_bytes);
    nm_insert_int(insert, (int64_t)row->held_bytes);
    nm_insert_int(insert, (int64_t)row->peak_held_bytes);
    nm_insert_int(insert, (int64_t)row->pending_count);
    nm_insert_int(insert, (int64_t)row->pending_bytes);
    nm_insert_int(insert, (int64_t)row->pending_byte_ms);
    nm_insert_int(insert, (int64_t)row->max_pending_bytes);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_pool_class(void *context, const nm_pool_class_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_POOL_CLASS];

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_int(insert, row->is_large);
    nm_insert_int(insert, row->size_class);
    nm_insert_int(insert, (int64_t)row->allocation_count);
    nm_insert_int(insert, (int64_t)row->miss_count);
    nm_insert_int(insert, (int64_t)row->allocated_bytes);
    nm_insert_int(insert, (int64_t)row->missed_bytes);
    nm_insert_int(insert, row->last_miss_seq);
    nm_insert_int(insert, row->last_miss_ns);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_pool_step(void *context, const nm_pool_step_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_POOL_STEP];

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_int(insert, row->generation);
    nm_insert_int(insert, (int64_t)row->allocation_count);
    nm_insert_int(insert, (int64_t)row->miss_count);
    nm_insert_int(insert, (int64_t)row->allocated_bytes);
    nm_insert_int(insert, (int64_t)row->missed_bytes);
    nm_insert_int(insert, (int64_t)row->driver_count);
    nm_insert_int(insert, (int64_t)row->driver_cost_ns);
    nm_insert_int(insert, (int64_t)row->released_count);
    nm_insert_int(insert, (int64_t)row->released_bytes);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_pool_reuse(void *context, const nm_pool_reuse_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_POOL_REUSE];

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_int(insert, row->kind == NM_REUSE_ADDRESS);
    nm_insert_int(insert, row->measure == NM_REUSE_BYTES);
    nm_insert_int(insert, row->distance_class);
    nm_insert_int(insert, (int64_t)row->request_count);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_take_pool_sum(void *context, const nm_pool_sum_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_POOL_SUM];

    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_int(insert, (int64_t)row->driver_count);
    nm_insert_int(insert, (int64_t)row->driver_cost_count);
    nm_insert_int(insert, (int64_t)row->driver_cost_ns);
    nm_insert_int(insert, (int64_t)row->flush_count);
    nm_insert_int(insert, (int64_t)row->released_count);
    nm_insert_int(insert, (int64_t)row->released_bytes);
    nm_insert_int(insert, (int64_t)row->retry_count);
    nm_insert_int(insert, (int64_t)row->failed_retry_count);
    nm_insert_int(insert, (int64_t)row->pending_count);
    nm_insert_int(insert, (int64_t)row->pending_bytes);
    nm_insert_int(insert, (int64_t)row->pending_byte_ms);
    nm_insert_int(insert, (int64_t)row->max_pending_bytes);
    nm_insert_int(insert, (int64_t)row->pending_miss_count);
    nm_insert_int(insert, row->max_pending_seq);
    nm_insert_int(insert, row->max_pending_ns);
    nm_insert_int(insert, (int64_t)row->max_wait_ns);
    nm_insert_int(insert, (int64_t)row->untracked_count);
    nm_insert_int(insert, row->is_partial);
    nm_insert_int(insert, row->is_estimate);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_settle_misses(nm_loader *loader, nm_error *err)
{
    static const char sql[] = "UPDATE pool_miss SET cause = CASE WHEN heap_id IN"
                              " (SELECT heap.heap_id FROM heap JOIN step ON step.process_id = heap.process_id)"
                              " THEN 1 ELSE nullif(cause - " EARLY ", 0) END WHERE cause >= " EARLY;

    return loader->has_early_misses ? nm_db_exec(loader->db, sql, err) : NM_OK;
}
