/* SPDX-License-Identifier: Apache-2.0 */
#include "store/copy_sums.h"

#include <stdlib.h>

#include "base/buffer.h"

static uint64_t flags_of(const nm_copy_row *row)
{
    uint64_t registered = row->is_registered == NM_UNKNOWN_NUMBER ? 2 : row->is_registered != 0;

    return (uint64_t)row->is_async << 2 | registered;
}

/* *number: of the row's process and device. */
static nm_status find_place(nm_copy_sums *sums, uint64_t process_id, uint64_t device_id, uint64_t *number,
                            nm_error *err)
{
    nm_key key = {process_id, device_id};
    const uint64_t *known = nm_map_get(&sums->place_of, key);

    *number = known == NULL ? sums->place_of.count : *known;
    return known == NULL ? nm_map_put(&sums->place_of, key, *number, err) : NM_OK;
}

static nm_status find_sum(nm_copy_sums *sums, const nm_copy_row *row, nm_copy_sum **out, nm_error *err)
{
    uint64_t device_id = row->target_device_id != 0 ? row->target_device_id : row->source_device_id;
    uint64_t place = 0;
    nm_status status = find_place(sums, row->process_id, device_id, &place, err);
    nm_key key = {place << 3 | flags_of(row), (uint64_t)row->kind};
    const uint64_t *known = nm_map_get(&sums->index_of, key);
    uint64_t index = known == NULL ? sums->count : *known;

    if (status == NM_OK && known == NULL) {
        status = nm_array_grow(&sums->items, &sums->capacity, index + 1, sizeof *sums->items, err);
        if (status == NM_OK)
            status = nm_map_put(&sums->index_of, key, index, err);
        if (status == NM_OK)
            sums->items[sums->count++] = (nm_copy_sum){.process_id = row->process_id,
                                                       .device_id = device_id,
                                                       .kind = row->kind,
                                                       .is_async = row->is_async,
                                                       .is_registered = row->is_registered};
    }
    if (status == NM_OK)
        *out = &sums->items[index];
    return status;
}

static uint64_t add_limited(uint64_t a, uint64_t b)
{
    const uint64_t most = (uint64_t)INT64_MAX;

    return a > most || b > most - a ? most : a + b;
}

nm_status nm_copy_sums_copy(nm_copy_sums *sums, const nm_copy_row *row, nm_error *err)
{
    nm_copy_sum *sum = NULL;
    nm_status status = find_sum(sums, row, &sum, err);

    if (status != NM_OK)
        return status;
    sum->copy_count++;
    if (row->error_code == 0)
        sum->size_bytes = add_limited(sum->size_bytes, row->size_bytes);
    else
        sum->failed_count++;
    sum->has_cost |= row->cost_ns != 0;
    sum->cost_ns = add_limited(sum->cost_ns, row->cost_ns);
    return NM_OK;
}

void nm_copy_sums_free(nm_copy_sums *sums)
{
    free(sums->items);
    nm_map_free(&sums->place_of);
    nm_map_free(&sums->index_of);
    *sums = (nm_copy_sums){0};
}
