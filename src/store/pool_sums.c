/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pool_sums.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/number.h"

static nm_status find_miss(nm_pool_sums *sums, const nm_miss_row *row, nm_miss_sum **out, nm_error *err)
{
    uint64_t place = 0, index = 0;
    nm_status status = nm_map_number(&sums->place_of, (nm_key){row->heap_id, row->stack_id}, &place, err);
    nm_key key = {place, (uint64_t)row->cause << 1 | row->is_early};

    if (status == NM_OK)
        status = nm_map_number(&sums->miss_of, key, &index, err);
    if (status == NM_OK && index == sums->misses.count) {
        status = nm_array_grow(&sums->misses.items, &sums->misses.capacity, index + 1, sizeof **out, err);
        if (status == NM_OK)
            sums->misses.items[sums->misses.count++] = (nm_miss_sum){
                .heap_id = row->heap_id, .stack_id = row->stack_id, .cause = row->cause, .is_early = row->is_early};
    }
    if (status == NM_OK)
        *out = &sums->misses.items[index];
    return status;
}

nm_status nm_pool_sums_miss(nm_pool_sums *sums, const nm_miss_row *row, nm_error *err)
{
    nm_miss_sum *sum = NULL;
    nm_status status = find_miss(sums, row, &sum, err);

    if (status != NM_OK)
        return status;
    sum->miss_count++;
    nm_sum_add(&sum->missed_bytes, row->size_bytes);
    sum->pending_miss_count += row->is_pending_enough;
    nm_sum_add(&sum->driver_count, row->driver_count);
    nm_sum_add(&sum->driver_cost_ns, row->driver_cost_ns);
    sum->last_seq = row->seq;
    return NM_OK;
}

static nm_status find_pending(nm_pool_sums *sums, const nm_pending_row *row, nm_pending_sum **out, nm_error *err)
{
    uint64_t place = 0, index = 0;
    nm_status status = nm_map_number(&sums->place_of, (nm_key){row->heap_id, row->stack_id}, &place, err);
    nm_key key = {place << 1 | row->has_stream, row->has_stream ? row->stream : 0};

    if (status == NM_OK)
        status = nm_map_number(&sums->pending_of, key, &index, err);
    if (status == NM_OK && index == sums->pending.count) {
        status = nm_array_grow(&sums->pending.items, &sums->pending.capacity, index + 1, sizeof **out, err);
        if (status == NM_OK)
            sums->pending.items[sums->pending.count++] = (nm_pending_sum){.heap_id = row->heap_id,
                                                                          .stack_id = row->stack_id,
                                                                          .has_stream = row->has_stream,
                                                                          .stream = row->stream,
                                                                          .max_wait_ns = NM_NO_TIME};
    }
    if (status == NM_OK)
        *out = &sums->pending.items[index];
    return status;
}

nm_status nm_pool_sums_pending(nm_pool_sums *sums, const nm_pending_row *row, nm_error *err)
{
    nm_pending_sum *sum = NULL;
    nm_status status = find_pending(sums, row, &sum, err);

    if (status != NM_OK)
        return status;
    sum->pending_count++;
    nm_sum_add(&sum->pending_bytes, row->size_bytes);
    if (row->wait_ns == NM_NO_TIME)
        return NM_OK;
    sum->pending_byte_ns += (unsigned __int128)row->size_bytes * (uint64_t)row->wait_ns;
    if (row->wait_ns > sum->max_wait_ns)
        sum->max_wait_ns = row->wait_ns;
    return NM_OK;
}

void nm_pool_sums_free(nm_pool_sums *sums)
{
    free(sums->misses.items);
    free(sums->pending.items);
    nm_map_free(&sums->place_of);
    nm_map_free(&sums->miss_of);
    nm_map_free(&sums->pending_of);
    *sums = (nm_pool_sums){0};
}
