/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads freed that others had allocated, by heap: pools that keep a cache for each thread never see these blocks come back.
 */
#include "sums/declared.h"

#define FROM(field) NM_CELL(nm_allocation_row, field)
#define TO(field)   NM_CELL(nm_freed_by_thread_row, field)

/* What is left of a cut mapping is no allocation of its own. */
static uint32_t classify(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_allocation_row *row = told;
    nm_freed_by_thread_row *sum = key;

    (void)definitions;
    if (row->end_kind != NM_END_FREED || row->split_from_id != 0 || row->thread_id == 0 || row->free_thread_id == 0 ||
        row->thread_id == row->free_thread_id)
        return NM_SUM_SKIP;
    sum->heap_id = row->heap_id;
    sum->thread_id = row->thread_id;
    sum->free_thread_id = row->free_thread_id;
    return 0;
}

static const nm_sum_measure measures[] = {
    {NM_SUMMED_COUNT, .to = TO(freed_count)},
    {NM_SUMMED_SUM, .from = FROM(size_bytes), .to = TO(freed_bytes)},
};
NM_SUM_TAKEN(measures)

static const nm_sum_feed feeds[] = {{NM_ROW_ALLOCATION, classify, NM_SUM_MEASURES(measures)}};

const nm_sum nm_sum_of_freed_by_thread = {.name = "z_freed_by_thread",
                                          .gives = NM_ROW_FREED_BY_THREAD,
                                          .row_bytes = sizeof(nm_freed_by_thread_row),
                                          .key_bytes = TO(freed_count),
                                          NM_FEEDS(feeds)};
