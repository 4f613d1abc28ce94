/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver's memory of a pool cost, and how often the pool missed after its peak: without steps the only line that
 * can be drawn between warming up and working.
 */
#include "replay/effort.h"

#include "replay/lookup.h"

static uint64_t sum_of(const nm_heap *heap, bool is_miss)
{
    uint64_t sum = 0;

    for (int bucket = 0; bucket < 3; bucket++)
        sum += is_miss ? heap->hits[bucket].miss_count : heap->hits[bucket].allocation_count;
    return sum;
}

static void add_segment(nm_pool_effort_row *effort, const nm_live *range)
{
    effort->segment_count++;
    effort->segment_cost_count += range->row.cost_ns != 0;
    nm_sum_add(&effort->segment_cost_ns, range->row.cost_ns);
    effort->mapped_count += range->is_mapped;
}

void nm_effort_segment(const nm_live *range)
{
    if (range->is_baseline || range->is_kept || range->is_unseen || range->owner == NULL)
        return;
    add_segment(&range->owner->effort, range);
    add_segment(&range->heap->effort, range);
}

void nm_effort_peak(nm_heap *pool)
{
    pool->requests_by_peak = sum_of(pool, false);
    pool->misses_by_peak = sum_of(pool, true);
}

nm_status nm_effort_write(nm_replay *replay, const nm_heap *heap, nm_error *err)
{
    nm_pool_effort_row row = heap->effort;

    if (!replay->sink.wants[NM_ROW_POOL_EFFORT] || (!nm_is_pool(heap) && heap->level != NM_LEVEL_DRIVER))
        return NM_OK;
    row.heap_id = heap->id;
    row.has_after_peak = nm_is_pool(heap) && !heap->is_peak_kept;
    row.after_peak_count = nm_subtract_saturated(sum_of(heap, false), heap->requests_by_peak);
    row.after_peak_miss_count = nm_subtract_saturated(sum_of(heap, true), heap->misses_by_peak);
    return nm_give_pool_effort(&replay->sink, &row, err);
}
