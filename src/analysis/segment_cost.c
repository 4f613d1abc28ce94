/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver's memory of a pool cost, and how often the pool missed after its peak: without steps the only line that
 * can be drawn between warming up and working.
 */
#include "analysis/passes.h"

#include "analysis/hits.h"
#include "base/number.h"
#include "replay/lookup.h"
#include "replay/pass.h"

enum { NEED_HITS };

typedef struct heap_room {
    nm_pool_effort_row row; /* pools, and driver memory */
    uint64_t requests_by_peak, misses_by_peak;
} heap_room;

static void add_segment(heap_room *room, const nm_live *range)
{
    room->row.segment_count++;
    room->row.segment_cost_count += range->row.cost_ns != 0;
    nm_sum_add(&room->row.segment_cost_ns, range->row.cost_ns);
    room->row.mapped_count += range->is_mapped;
}

static void take_segment(const nm_run *run, const nm_live *range)
{
    if (range->is_baseline || range->is_kept || range->is_unseen)
        return;
    add_segment(nm_heap_room(run, range->owner), range);
    add_segment(nm_heap_room(run, range->heap), range);
}

static void take_peak(const nm_run *run, const nm_heap *heap)
{
    heap_room *room = nm_heap_room(run, heap);

    room->requests_by_peak = nm_hits_request_count(run->needs[NEED_HITS], heap);
    room->misses_by_peak = heap->miss_count;
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)err;
    if (change->kind == NM_CHANGE_PEAKED)
        take_peak(run, change->heap);
    else if (change->is_first)
        take_segment(run, change->live);
    return NM_OK;
}

static nm_status write_heap(const nm_run *run, const nm_heap *heap, nm_error *err)
{
    const heap_room *room = nm_heap_room(run, heap);
    nm_pool_effort_row row = room->row;

    if (!nm_is_pool(heap) && heap->level != NM_LEVEL_DRIVER)
        return NM_OK;
    row.heap_id = heap->id;
    row.has_after_peak = nm_is_pool(heap) && !heap->is_peak_kept;
    row.after_peak_count =
        nm_subtract_saturated(nm_hits_request_count(run->needs[NEED_HITS], heap), room->requests_by_peak);
    row.after_peak_miss_count = nm_subtract_saturated(heap->miss_count, room->misses_by_peak);
    return nm_give_pool_effort(&run->replay->sink, &row, err);
}

static nm_status finish(nm_run *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        status = write_heap(run, heap, err);
    return status;
}

static const nm_pass *const needs[] = {[NEED_HITS] = &nm_hits_pass, NULL};

const nm_pass nm_segment_cost_pass = {
    .name = "segment cost",
    .gives = {[NM_ROW_POOL_EFFORT] = true},
    .needs = needs,
    .wants = {[NM_CHANGE_SEGMENT_IN] = change, [NM_CHANGE_PEAKED] = change},
    .room = {[NM_OWNER_HEAP] = sizeof(heap_room)},
    .finish = finish,
};
