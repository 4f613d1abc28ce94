/* SPDX-License-Identifier: Apache-2.0 */
#include "store/kind_sums.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/number.h"

static nm_status find_sum(nm_kind_sums *sums, const nm_allocation_row *row, nm_kind_sum **out, nm_error *err)
{
    nm_key key = {row->heap_id << 1 | row->is_mapped, row->policy};
    uint64_t index = 0;
    nm_status status = nm_map_number(&sums->index_of, key, &index, err);

    if (status == NM_OK && index == sums->count) {
        status = nm_array_grow(&sums->items, &sums->capacity, index + 1, sizeof *sums->items, err);
        if (status == NM_OK)
            sums->items[sums->count++] =
                (nm_kind_sum){.heap_id = row->heap_id, .is_mapped = row->is_mapped, .policy = row->policy};
    }
    if (status == NM_OK)
        *out = &sums->items[index];
    return status;
}

/* What is left of a cut mapping is no allocation of its own. */
nm_status nm_kind_sums_allocation(nm_kind_sums *sums, const nm_allocation_row *row, nm_error *err)
{
    nm_kind_sum *sum = NULL;
    nm_status status = find_sum(sums, row, &sum, err);

    if (status != NM_OK)
        return status;
    if (row->alloc_seq != NM_NO_SEQ && row->split_from_id == 0) {
        sum->allocation_count++;
        nm_sum_add(&sum->allocated_bytes, row->size_bytes);
    }
    if (row->end_kind == NM_END_NONE) {
        sum->live_count++;
        nm_sum_add(&sum->live_bytes, row->size_bytes);
    }
    return NM_OK;
}

void nm_kind_sums_free(nm_kind_sums *sums)
{
    free(sums->items);
    nm_map_free(&sums->index_of);
    *sums = (nm_kind_sums){0};
}
