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
    nm_status status = nm_pool_sums_miss(&loader->pool_sums, row, err);

    if (status == NM_OK)
        status = nm_bulk_next(loader->misses, &values, err);
    if (status == NM_OK)
        nm_bulk_end(loader->misses, values, fill_miss(loader, row, values));
    loader->has_early_misses |= row->is_early;
    return status;
}

nm_status nm_loader_take_pending(void *context, const nm_pending_row *row, nm_error *err)
{
    return nm_pool_sums_pending(&((nm_loader *)context)->pool_sums, row, err);
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

/* ---- Sums, at the end -------------------------------------------------------------------------------------------- */

static bool has_steps(const nm_loader *loader, uint64_t heap_id)
{
    const nm_definition *heap = nm_definition_find(&loader->definitions.heaps, heap_id);

    return heap != NULL && nm_id_set_has(&loader->stepping_processes, heap->heap.process_id);
}

static nm_status write_miss_sum(nm_loader *loader, const nm_miss_sum *sum, nm_error *err)
{
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

static nm_status write_pending_sum(nm_loader *loader, const nm_pending_sum *sum, nm_error *err)
{
    nm_insert *insert = &loader->inserts[NM_TABLE_PENDING_SUM];

    nm_insert_id(insert, nm_loader_heap(loader, sum->heap_id));
    nm_insert_id(insert, nm_loader_stack(loader, sum->stack_id));
    nm_insert_stream(insert, sum->has_stream, sum->stream);
    nm_insert_int(insert, (int64_t)sum->pending_count);
    nm_insert_int(insert, (int64_t)sum->pending_bytes);
    nm_insert_int(insert, (int64_t)nm_byte_ms(sum->pending_byte_ns));
    nm_insert_int(insert, sum->max_wait_ns);
    return nm_insert_end(insert, err);
}

static nm_status write_cost_bucket(nm_loader *loader, const nm_cost_bucket *bucket, nm_error *err)
{
    nm_insert *insert = &loader->inserts[NM_TABLE_COST_HISTOGRAM];

    nm_insert_id(insert, nm_loader_heap(loader, bucket->heap_id));
    nm_insert_int(insert, bucket->octave);
    nm_insert_int(insert, (int64_t)bucket->min_ns);
    nm_insert_int(insert, (int64_t)bucket->max_ns);
    nm_insert_int(insert, (int64_t)bucket->call_count);
    nm_insert_int(insert, (int64_t)bucket->cost_ns);
    return nm_insert_end(insert, err);
}

static nm_status write_slow_call(nm_loader *loader, uint64_t heap_id, const nm_slow_call *call, size_t place,
                                 nm_error *err)
{
    nm_insert *insert = &loader->inserts[NM_TABLE_SLOWEST_CALL];

    nm_insert_id(insert, nm_loader_heap(loader, heap_id));
    nm_insert_int(insert, (int64_t)place);
    nm_insert_int(insert, (int64_t)call->cost_ns);
    nm_insert_int(insert, call->seq);
    nm_insert_int(insert, call->ns);
    nm_insert_int(insert, (int64_t)call->size_bytes);
    nm_insert_id(insert, nm_loader_stack(loader, call->stack_id));
    nm_insert_id(insert, nm_loader_thread(loader, call->thread_id));
    nm_insert_int(insert, call->is_segment);
    return nm_insert_end(insert, err);
}

nm_status nm_loader_write_pool_sums(nm_loader *loader, nm_error *err)
{
    const nm_pool_sums *sums = &loader->pool_sums;
    const nm_cost_sums *costs = &loader->cost_sums;
    nm_status status = nm_bulk_flush(loader->misses, err);

    for (size_t index = 0; status == NM_OK && index < sums->misses.count; index++)
        status = write_miss_sum(loader, &sums->misses.items[index], err);
    for (size_t index = 0; status == NM_OK && index < sums->pending.count; index++)
        status = write_pending_sum(loader, &sums->pending.items[index], err);
    for (size_t index = 0; status == NM_OK && index < costs->buckets.count; index++)
        status = write_cost_bucket(loader, &costs->buckets.items[index], err);
    for (size_t index = 0; status == NM_OK && index < costs->heaps.count; index++) {
        const nm_heap_cost *heap = &costs->heaps.items[index];

        for (size_t place = 0; status == NM_OK && place < heap->slowest_count; place++)
            status = write_slow_call(loader, heap->heap_id, &heap->slowest[place], place + 1, err);
    }
    return status;
}

nm_status nm_loader_settle_misses(nm_loader *loader, nm_error *err)
{
    static const char sql[] = "UPDATE pool_miss SET cause = CASE WHEN heap_id IN"
                              " (SELECT heap.heap_id FROM heap JOIN step ON step.process_id = heap.process_id)"
                              " THEN 1 ELSE nullif(cause - " EARLY ", 0) END WHERE cause >= " EARLY;

    return loader->has_early_misses ? nm_db_exec(loader->db, sql, err) : NM_OK;
}
