/* SPDX-License-Identifier: Apache-2.0 */
#include "store/outstanding_sums.h"

#include <stdlib.h>

#include "base/buffer.h"

#define GENERATION_BITS 32 /* a step more has lasted longer than any program will */

/* *number: of the row's heap and stack. */
static nm_status find_place(nm_outstanding_sums *sums, const nm_allocation_row *row, uint64_t *number, nm_error *err)
{
    nm_key key = {row->heap_id, row->stack_id};
    const uint64_t *known = nm_map_get(&sums->place_of, key);

    *number = known == NULL ? sums->place_of.count : *known;
    return known == NULL ? nm_map_put(&sums->place_of, key, *number, err) : NM_OK;
}

static nm_status find_sum(nm_outstanding_sums *sums, const nm_allocation_row *row, nm_outstanding_sum **out,
                          nm_error *err)
{
    uint64_t place = 0;
    nm_status status = find_place(sums, row, &place, err);
    nm_key key = {place << GENERATION_BITS | ((uint64_t)row->generation & UINT32_MAX),
                  row->size_bytes << 1 | row->is_doubtful};
    const uint64_t *known = nm_map_get(&sums->index_of, key);
    uint64_t index = known == NULL ? sums->count : *known;

    if (status == NM_OK && known == NULL) {
        status = nm_array_grow(&sums->items, &sums->capacity, index + 1, sizeof *sums->items, err);
        if (status == NM_OK)
            status = nm_map_put(&sums->index_of, key, index, err);
        if (status == NM_OK)
            sums->items[sums->count++] = (nm_outstanding_sum){.heap_id = row->heap_id,
                                                              .stack_id = row->stack_id,
                                                              .size_bytes = row->size_bytes,
                                                              .generation = row->generation,
                                                              .is_doubtful = row->is_doubtful,
                                                              .first_seq = NM_NO_SEQ,
                                                              .last_seq = NM_NO_SEQ};
    }
    if (status == NM_OK)
        *out = &sums->items[index];
    return status;
}

nm_status nm_outstanding_sums_allocation(nm_outstanding_sums *sums, const nm_allocation_row *row, nm_error *err)
{
    nm_outstanding_sum *sum = NULL;
    nm_status status;

    if (row->end_kind != NM_END_NONE || row->is_segment || row->generation == NM_UNKNOWN_NUMBER)
        return NM_OK;
    status = find_sum(sums, row, &sum, err);
    if (status != NM_OK)
        return status;
    sum->allocation_count++;
    if (row->alloc_seq == NM_NO_SEQ)
        return NM_OK;
    if (sum->first_seq == NM_NO_SEQ || row->alloc_seq < sum->first_seq)
        sum->first_seq = row->alloc_seq;
    if (row->alloc_seq > sum->last_seq)
        sum->last_seq = row->alloc_seq;
    return NM_OK;
}

void nm_outstanding_sums_free(nm_outstanding_sums *sums)
{
    free(sums->items);
    nm_map_free(&sums->place_of);
    nm_map_free(&sums->index_of);
    *sums = (nm_outstanding_sums){0};
}
