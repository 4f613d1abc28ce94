/* SPDX-License-Identifier: Apache-2.0
 *
 * How large allocations are and how long they live, both in powers of two, by heap.
 */
#include "base/number.h"
#include "sums/declared.h"

#define FROM(field) NM_CELL(nm_allocation_row, field)
#define TO(field)   NM_CELL(nm_size_lifetime_sum_row, field)

enum { MISS = 1 };

/* Of the distance between two times or places; NM_UNKNOWN_NUMBER where it is not known, or runs backwards. */
static int64_t count_life_bits(int64_t begin, int64_t end)
{
    return begin == NM_NO_TIME || end == NM_NO_TIME || end < begin ? NM_UNKNOWN_NUMBER
                                                                   : nm_bits_of((uint64_t)end - (uint64_t)begin);
}

static uint32_t classify(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_allocation_row *row = told;
    nm_size_lifetime_sum_row *sum = key;
    bool has_ended = row->end_kind != NM_END_NONE;

    (void)definitions;
    if (row->alloc_seq == NM_NO_SEQ)
        return NM_SUM_SKIP;
    sum->heap_id = row->heap_id;
    sum->is_remainder = row->split_from_id != 0;
    sum->size_bits = (uint64_t)nm_bits_of(row->size_bytes);
    sum->life_seq_bits = has_ended ? count_life_bits(row->alloc_seq, row->free_seq) : NM_UNKNOWN_NUMBER;
    sum->life_ns_bits = has_ended ? count_life_bits(row->alloc_ns, row->free_ns) : NM_UNKNOWN_NUMBER;
    return row->is_miss == 1 ? MISS : 0;
}

static const nm_sum_measure measures[] = {
    {NM_SUMMED_COUNT, .to = TO(allocation_count)},
    {NM_SUMMED_SUM, .from = FROM(size_bytes), .to = TO(size_bytes)},
    {NM_SUMMED_COUNT, MISS, .to = TO(miss_count)},
};

static const nm_sum_feed feeds[] = {{NM_ROW_ALLOCATION, classify, NM_SUM_MEASURES(measures)}};

const nm_sum nm_sum_of_size_lifetime_sum = {.name = "z_size_lifetime_sum",
                                            .gives = NM_ROW_SIZE_LIFETIME_SUM,
                                            .row_bytes = sizeof(nm_size_lifetime_sum_row),
                                            .key_bytes = TO(allocation_count),
                                            NM_FEEDS(feeds)};
