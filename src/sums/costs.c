/* SPDX-License-Identifier: Apache-2.0
 *
 * What allocation calls cost, by heap: how many cost how much, each cost known to one part in 32.
 */
#include "sums/declared.h"

#include "base/number.h"
#include "sums/sums.h"

#define PART_BITS   5 /* 32 rows of a power of two */

#define FROM(field) NM_CELL(nm_allocation_row, field)
#define TO(field)   NM_CELL(nm_cost_histogram_row, field)

static uint32_t classify_by_cost(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_allocation_row *row = told;
    nm_cost_histogram_row *sum = key;
    uint64_t cost_ns = row->cost_ns < NM_SUM_MAX ? row->cost_ns : NM_SUM_MAX;
    int octave = nm_log2(cost_ns);
    int shift = octave < PART_BITS ? 0 : octave - PART_BITS;

    (void)definitions;
    if (row->cost_ns == 0)
        return NM_SUM_SKIP;
    sum->heap_id = row->heap_id;
    sum->octave = (uint64_t)octave;
    sum->min_ns = cost_ns >> shift << shift;
    sum->max_ns = sum->min_ns + (UINT64_C(1) << shift) - 1;
    return 0;
}

static const nm_sum_measure histogram_measures[] = {
    {NM_SUMMED_COUNT, .to = TO(call_count)},
    {NM_SUMMED_SUM, .from = FROM(cost_ns), .to = TO(cost_ns)},
};
NM_SUM_TAKEN(histogram_measures)

static const nm_sum_feed histogram_feeds[] = {
    {NM_ROW_ALLOCATION, classify_by_cost, NM_SUM_MEASURES(histogram_measures)}};

const nm_sum nm_sum_of_costs = {.name = "z_cost_histogram",
                                .gives = NM_ROW_COST_HISTOGRAM,
                                .row_bytes = sizeof(nm_cost_histogram_row),
                                .key_bytes = TO(call_count),
                                NM_FEEDS(histogram_feeds)};
