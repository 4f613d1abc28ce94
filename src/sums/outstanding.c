/* SPDX-License-Identifier: Apache-2.0
 *
 * What is still there at the end, by all that verdicts ask of it.
 */
#include "sums/outstanding.h"

#include "sums/measures.h"

#define FROM(field) NM_CELL(nm_allocation_row, field)
#define TO(field)   NM_CELL(nm_outstanding_row, field)

static uint64_t known(const nm_id_set *ids, uint64_t id)
{
    return nm_id_set_has(ids, id) ? id : 0;
}

static uint32_t classify(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_allocation_row *row = told;
    nm_outstanding_row *sum = key;

    if (!nm_allocation_is_kept(row) || row->generation == NM_UNKNOWN_NUMBER || row->is_segment)
        return NM_SUM_SKIP;
    sum->heap_id = known(&definitions->heaps.ids, row->heap_id);
    sum->stack_id = known(&definitions->stacks.ids, row->stack_id);
    sum->generation = row->generation;
    sum->size_bytes = row->size_bytes;
    sum->is_doubtful = row->is_doubtful;
    sum->is_private = row->private_pool != 0;
    sum->graph_id = row->graph_id;
    sum->free_seq = row->free_seq;
    return 0;
}

static const nm_sum_measure measures[] = {
    {NM_SUMMED_COUNT, .to = TO(allocation_count)},
    {NM_SUMMED_MIN_SIGNED, .from = FROM(alloc_seq), .to = TO(first_seq)},
    {NM_SUMMED_MAX_SIGNED, .from = FROM(alloc_seq), .to = TO(last_seq)},
    {NM_SUMMED_MIN_SIGNED, .from = FROM(alloc_ns), .to = TO(first_ns)},
};
NM_SUM_TAKEN(measures)

static const nm_sum_feed feeds[] = {{NM_ROW_ALLOCATION, classify, NM_SUM_MEASURES(measures)}};

const nm_sum nm_sum_of_outstanding = {.name = "z_outstanding_sum",
                                      .gives = NM_ROW_OUTSTANDING,
                                      .row_bytes = sizeof(nm_outstanding_row),
                                      .key_bytes = TO(allocation_count),
                                      NM_FEEDS(feeds)};
