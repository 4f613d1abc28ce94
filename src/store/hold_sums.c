/* SPDX-License-Identifier: Apache-2.0 */
#include "store/hold_sums.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/number.h"

static nm_status find_sum(nm_hold_sums *sums, const nm_workspace_span_row *row, nm_hold_sum **out, nm_error *err)
{
    uint64_t heap = 0, index = 0;
    nm_status status = nm_map_number(&sums->place_of, (nm_key){row->has_stream, row->heap_id}, &heap, err);

    if (status == NM_OK)
        status = nm_map_number(&sums->index_of, (nm_key){heap, row->has_stream ? row->stream : 0}, &index, err);
    if (status == NM_OK && index == sums->count) {
        status = nm_array_grow(&sums->items, &sums->capacity, index + 1, sizeof *sums->items, err);
        if (status == NM_OK)
            sums->items[sums->count++] =
                (nm_hold_sum){.heap_id = row->heap_id, .has_stream = row->has_stream, .stream = row->stream};
    }
    if (status == NM_OK)
        *out = &sums->items[index];
    return status;
}

static void add_time(nm_hold_sum *sum, const nm_workspace_span_row *row)
{
    uint64_t ns = (uint64_t)row->ns;
    unsigned __int128 *byte_ns = &sum->byte_ns[row->span];
    unsigned __int128 more = (unsigned __int128)row->size_bytes * ns;

    *byte_ns = more > ~(unsigned __int128)0 - *byte_ns ? ~(unsigned __int128)0 : *byte_ns + more;
    if (row->span == NM_HOLD_BETWEEN && ns > sum->max_between_ns)
        sum->max_between_ns = ns;
}

nm_status nm_hold_sums_span(nm_hold_sums *sums, const nm_workspace_span_row *row, nm_error *err)
{
    nm_hold_sum *sum = NULL;
    nm_status status = find_sum(sums, row, &sum, err);

    if (status != NM_OK)
        return status;
    sum->block_count += row->is_last;
    sum->use_count += row->use_count;
    sum->reuse_count += row->span == NM_HOLD_BETWEEN;
    sum->untimed_count += row->ns == NM_NO_TIME;
    if (row->ns != NM_NO_TIME)
        add_time(sum, row);
    if (row->span == NM_HOLD_AT_END) {
        sum->idle_count_at_end++;
        nm_sum_add(&sum->idle_bytes_at_end, row->size_bytes);
    }
    return NM_OK;
}

void nm_hold_sums_free(nm_hold_sums *sums)
{
    free(sums->items);
    nm_map_free(&sums->place_of);
    nm_map_free(&sums->index_of);
    *sums = (nm_hold_sums){0};
}
