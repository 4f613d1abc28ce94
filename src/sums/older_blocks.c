/* SPDX-License-Identifier: Apache-2.0
 *
 * What was there before the recording began, of each stack that is known of it, and what of that lives at the end.
 */
#include "sums/declared.h"

#define FROM(field) NM_CELL(nm_allocation_row, field)
#define TO(field)   NM_CELL(nm_older_blocks_row, field)

enum { LIVES = 1 };

/* What a keyframe brought has no place in the order either, but a time. What may have been freed where events were lost, or
 * is in a private pool, as leaks are not, does not count as live. */
static uint32_t classify(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_allocation_row *row = told;
    nm_older_blocks_row *sum = key;

    (void)definitions;
    if (row->alloc_seq != NM_NO_SEQ || row->alloc_ns != NM_NO_TIME || row->stack_id == 0 || row->is_segment)
        return NM_SUM_SKIP;
    sum->heap_id = row->heap_id;
    sum->stack_id = row->stack_id;
    return row->end_kind == NM_END_NONE && !row->is_doubtful && row->private_pool == 0 ? LIVES : 0;
}

static const nm_sum_measure measures[] = {
    {NM_SUMMED_COUNT, .to = TO(block_count)},
    {NM_SUMMED_SUM, .from = FROM(size_bytes), .to = TO(block_bytes)},
    {NM_SUMMED_COUNT, LIVES, .to = TO(live_count)},
    {NM_SUMMED_SUM, LIVES, .from = FROM(size_bytes), .to = TO(live_bytes)},
};
NM_SUM_TAKEN(measures)

static const nm_sum_feed feeds[] = {{NM_ROW_ALLOCATION, classify, NM_SUM_MEASURES(measures)}};

const nm_sum nm_sum_of_older_blocks = {.name = "z_older_blocks",
                                       .gives = NM_ROW_OLDER_BLOCKS,
                                       .row_bytes = sizeof(nm_older_blocks_row),
                                       .key_bytes = TO(block_count),
                                       NM_FEEDS(feeds)};
