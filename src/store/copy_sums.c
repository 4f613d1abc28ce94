/* SPDX-License-Identifier: Apache-2.0 */
#include "store/copy_sums.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/number.h"

static uint64_t device_of(const nm_copy_row *row)
{
    return row->target_device_id != 0 ? row->target_device_id : row->source_device_id;
}

static bool is_of(const nm_copy_sum *sum, const nm_copy_row *row)
{
    return sum->stack_id == row->stack_id && sum->kind == row->kind && sum->process_id == row->process_id &&
           sum->device_id == device_of(row) && sum->is_async == row->is_async && sum->has_stream == row->has_stream &&
           (!row->has_stream || sum->stream == row->stream);
}

static nm_status add_sum(nm_copy_sums *sums, const nm_copy_row *row, nm_error *err)
{
    nm_status status = nm_array_grow(&sums->items, &sums->capacity, sums->count + 1, sizeof *sums->items, err);

    if (status == NM_OK)
        sums->items[sums->count++] = (nm_copy_sum){.process_id = row->process_id,
                                                   .device_id = device_of(row),
                                                   .stack_id = row->stack_id,
                                                   .kind = row->kind,
                                                   .is_async = row->is_async,
                                                   .has_stream = row->has_stream,
                                                   .stream = row->stream};
    return status;
}

static nm_status find_sum(nm_copy_sums *sums, const nm_copy_row *row, nm_copy_sum **out, nm_error *err)
{
    uint64_t place = 0, stream = 0, index = sums->recent;
    nm_status status = NM_OK;

    if (sums->count == 0 || !is_of(&sums->items[index], row)) {
        status = nm_map_number(&sums->place_of, (nm_key){row->process_id, device_of(row)}, &place, err);
        if (status == NM_OK)
            status = nm_map_number(&sums->stream_of,
                                   (nm_key){place << 34 | (uint64_t)(uint32_t)row->kind << 2 |
                                                (uint64_t)row->is_async << 1 | (uint64_t)row->has_stream,
                                            row->has_stream ? row->stream : 0},
                                   &stream, err);
        if (status == NM_OK)
            status = nm_map_number(&sums->index_of, (nm_key){stream, row->stack_id}, &index, err);
        if (status == NM_OK && index == sums->count)
            status = add_sum(sums, row, err);
    }
    if (status != NM_OK)
        return status;
    sums->recent = index;
    *out = &sums->items[index];
    return NM_OK;
}

static void add_repeat(nm_copy_sum *sum, const nm_copy_row *row)
{
    if (row->repeat_count == 0)
        return;
    sum->repeated_count++;
    nm_sum_add(&sum->repeated_bytes, row->size_bytes);
    if (row->repeat_count <= sum->longest_count)
        return;
    sum->longest_count = row->repeat_count;
    sum->longest_address = row->source_address;
    sum->longest_bytes = row->size_bytes;
    sum->longest_seq = row->seq;
}

static void add_moved(nm_copy_sum *sum, const nm_copy_row *row)
{
    nm_sum_add(&sum->size_bytes, row->size_bytes);
    if (!row->is_async && row->cost_ns != 0) {
        nm_sum_add(&sum->timed_bytes, row->size_bytes);
        nm_sum_add(&sum->timed_ns, row->cost_ns);
    }
    if (row->is_registered != NM_UNKNOWN_NUMBER) {
        sum->host_count++;
        nm_sum_add(&sum->host_bytes, row->size_bytes);
    }
    if (row->is_registered == 1) {
        sum->registered_count++;
        nm_sum_add(&sum->registered_bytes, row->size_bytes);
    }
    add_repeat(sum, row);
}

nm_status nm_copy_sums_copy(nm_copy_sums *sums, const nm_copy_row *row, nm_error *err)
{
    nm_copy_sum *sum = NULL;
    nm_status status = find_sum(sums, row, &sum, err);

    if (status != NM_OK)
        return status;
    sum->copy_count++;
    nm_sum_add(&sum->cost_ns, row->cost_ns);
    if (row->error_code != 0)
        sum->failed_count++;
    else
        add_moved(sum, row);
    return NM_OK;
}

void nm_copy_sums_free(nm_copy_sums *sums)
{
    free(sums->items);
    nm_map_free(&sums->place_of);
    nm_map_free(&sums->stream_of);
    nm_map_free(&sums->index_of);
    *sums = (nm_copy_sums){0};
}
