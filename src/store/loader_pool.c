/* SPDX-License-Identifier: Apache-2.0 */
#include "store/loader_pool.h"

#include "base/number.h"
#include "store/loader_values.h"

static bool has_steps(const nm_loader *loader, uint64_t heap_id)
{
    const nm_definition *heap = nm_definition_find(&loader->definitions.heaps, heap_id);

    return heap != NULL && nm_id_set_has(&loader->stepping_processes, heap->heap.process_id);
}

static nm_status write_miss_sum(nm_loader *loader, const nm_miss_sum *sum, nm_error *err)
{
    nm_insert *insert = &loader->tables[NM_TABLE_POOL_MISS_SUM];
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
    nm_insert *insert = &loader->tables[NM_TABLE_PENDING_SUM];

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
    nm_insert *insert = &loader->tables[NM_TABLE_COST_HISTOGRAM];

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
    nm_insert *insert = &loader->tables[NM_TABLE_SLOWEST_CALL];

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
    nm_status status = NM_OK;

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
    static const char sql[] =
        "UPDATE pool_miss SET cause = CASE WHEN heap_id IN"
        " (SELECT heap.heap_id FROM heap JOIN step ON step.process_id = heap.process_id)"
        " THEN 1 ELSE nullif(cause - " NM_EARLY_CAUSE_TEXT ", 0) END WHERE cause >= " NM_EARLY_CAUSE_TEXT;

    return loader->has_early_misses ? nm_db_exec(loader->db, sql, err) : NM_OK;
}
