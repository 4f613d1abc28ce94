/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stream_sums.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/number.h"

static nm_status find_sum(nm_stream_sums *sums, const nm_stream_call_row *row, nm_stream_sum **out, nm_error *err)
{
    uint64_t place = 0, index = 0;
    nm_status status = nm_map_number(&sums->place_of, (nm_key){row->process_id, row->device_id}, &place, err);
    nm_key key = {place << 8 | (uint64_t)row->kind << 1 | row->has_stream, row->has_stream ? row->stream : 0};

    if (status == NM_OK)
        status = nm_map_number(&sums->index_of, key, &index, err);
    if (status == NM_OK && index == sums->count) {
        status = nm_array_grow(&sums->items, &sums->capacity, index + 1, sizeof *sums->items, err);
        if (status == NM_OK)
            sums->items[sums->count++] = (nm_stream_sum){.process_id = row->process_id,
                                                         .device_id = row->device_id,
                                                         .kind = row->kind,
                                                         .has_stream = row->has_stream,
                                                         .stream = row->stream};
    }
    if (status == NM_OK)
        *out = &sums->items[index];
    return status;
}

nm_status nm_stream_sums_call(nm_stream_sums *sums, const nm_stream_call_row *row, nm_error *err)
{
    nm_stream_sum *sum = NULL;
    nm_status status = find_sum(sums, row, &sum, err);

    if (status != NM_OK)
        return status;
    sum->call_count++;
    sum->error_count += row->error_code != 0 && row->error_code != NM_UNKNOWN_NUMBER;
    nm_sum_add(&sum->cost_ns, row->cost_ns);
    return NM_OK;
}

void nm_stream_sums_free(nm_stream_sums *sums)
{
    free(sums->items);
    nm_map_free(&sums->place_of);
    nm_map_free(&sums->index_of);
    *sums = (nm_stream_sums){0};
}
