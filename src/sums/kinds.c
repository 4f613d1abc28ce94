/* SPDX-License-Identifier: Apache-2.0
 *
 * How much was allocated of each kind of memory, by heap: of the heaps whose allocations say a kind.
 */
#include "sums/declared.h"

#define FROM(field) NM_CELL(nm_allocation_row, field)
#define TO(field)   NM_CELL(nm_allocation_kind_sum_row, field)

enum { ALLOCATED = 1, LIVE = 2 };

static bool has_policy(const nm_definitions *definitions, uint64_t heap_id)
{
    const nm_definition *heap = nm_definition_find(&definitions->heaps, heap_id);
    uint64_t level = heap == NULL ? 0 : heap->heap.level;

    return level == NM_LEVEL_DRIVER || level == NM_LEVEL_PHYSICAL || level == NM_LEVEL_REGISTERED;
}

/* What is left of a cut mapping is no allocation of its own. */
static uint32_t classify(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_allocation_row *row = told;
    nm_allocation_kind_sum_row *sum = key;

    sum->heap_id = row->heap_id;
    sum->is_mapped = row->is_mapped;
    sum->policy = row->policy;
    if (!has_policy(definitions, row->heap_id))
        return NM_SUM_SKIP;
    return (row->alloc_seq != NM_NO_SEQ && row->split_from_id == 0 ? ALLOCATED : 0) |
           (row->end_kind == NM_END_NONE ? LIVE : 0);
}

static const nm_sum_measure measures[] = {
    {NM_SUMMED_COUNT, ALLOCATED, .to = TO(allocation_count)},
    {NM_SUMMED_SUM, ALLOCATED, .from = FROM(size_bytes), .to = TO(allocated_bytes)},
    {NM_SUMMED_COUNT, LIVE, .to = TO(live_count)},
    {NM_SUMMED_SUM, LIVE, .from = FROM(size_bytes), .to = TO(live_bytes)},
};

static const nm_sum_feed feeds[] = {{NM_ROW_ALLOCATION, classify, NM_SUM_MEASURES(measures)}};

const nm_sum nm_sum_of_kinds = {.name = "z_allocation_kind_sum",
                                .gives = NM_ROW_ALLOCATION_KIND_SUM,
                                .row_bytes = sizeof(nm_allocation_kind_sum_row),
                                .key_bytes = TO(allocation_count),
                                NM_FEEDS(feeds)};
