/* SPDX-License-Identifier: Apache-2.0
 *
 * What each thread allocated of each heap for each stream, and what became of it.
 */
#include "sums/declared.h"

#define FROM(field) NM_CELL(nm_allocation_row, field)
#define TO(field)   NM_CELL(nm_thread_stream_sum_row, field)

enum { PENDING = 1, OUTSTANDING = 2 };

/* Neither the baseline nor what is left of a cut mapping was allocated by anyone. */
static uint32_t classify(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_allocation_row *row = told;
    nm_thread_stream_sum_row *sum = key;

    (void)definitions;
    if (row->alloc_seq == NM_NO_SEQ || row->split_from_id != 0)
        return NM_SUM_SKIP;
    sum->heap_id = row->heap_id;
    sum->thread_id = row->thread_id;
    sum->has_stream = row->has_stream;
    sum->stream = row->has_stream ? row->stream : 0;
    sum->is_segment = row->is_segment;
    return (row->free_requested_seq != NM_NO_SEQ ? PENDING : 0) | (row->end_kind == NM_END_NONE ? OUTSTANDING : 0);
}

static const nm_sum_measure measures[] = {
    {NM_SUMMED_COUNT, .to = TO(allocation_count)},
    {NM_SUMMED_SUM, .from = FROM(size_bytes), .to = TO(allocated_bytes)},
    {NM_SUMMED_COUNT, PENDING, .to = TO(pending_count)},
    {NM_SUMMED_COUNT, OUTSTANDING, .to = TO(outstanding_count)},
    {NM_SUMMED_SUM, OUTSTANDING, .from = FROM(size_bytes), .to = TO(outstanding_bytes)},
};
NM_SUM_TAKEN(measures)

static const nm_sum_feed feeds[] = {{NM_ROW_ALLOCATION, classify, NM_SUM_MEASURES(measures)}};

const nm_sum nm_sum_of_thread_stream_sum = {.name = "z_thread_stream_sum",
                                            .gives = NM_ROW_THREAD_STREAM_SUM,
                                            .row_bytes = sizeof(nm_thread_stream_sum_row),
                                            .key_bytes = TO(allocation_count),
                                            NM_FEEDS(feeds)};
