/* SPDX-License-Identifier: Apache-2.0
 *
 * What a replay is at: read by whoever looks on while a recording runs. Changes nothing.
 */
#include "replay/replay.h"

#include "base/number.h"
#include "replay/lookup.h"
#include "replay/state.h"
#include "replay/sub_pool.h"

/* What came just now is new, and nothing else. */
static void take_fresh(uint64_t out[NM_GAUGE_PARTS], nm_gauge_part from, uint64_t *fresh_bytes)
{
    uint64_t taken_bytes = out[from] < *fresh_bytes ? out[from] : *fresh_bytes;

    out[from] -= taken_bytes;
    *fresh_bytes -= taken_bytes;
    out[NM_GAUGE_NEW] += taken_bytes;
}

static void part_segments(const nm_heap *pool, uint64_t out[NM_GAUGE_PARTS])
{
    uint64_t free_bytes = 0, fresh_bytes = pool->fresh_bytes;

    for (const nm_sub_pool *part = pool->parts; part != NULL; part = part->next) {
        nm_sub_pool_figures figures = nm_sub_pool_figures_of(part);

        if (part->row.private_pool != 0) {
            nm_sum_add(&out[NM_GAUGE_PRIVATE], figures.reserved_bytes);
            continue;
        }
        nm_sum_add(&free_bytes, figures.free_bytes);
        nm_sum_add(&out[NM_GAUGE_EMPTY], nm_subtract_saturated(figures.free_bytes, figures.stuck_bytes));
        nm_sum_add(&out[!part->row.is_rest && part->row.kind == NM_SEGMENT_SMALL ? NM_GAUGE_SMALL : NM_GAUGE_PINNED],
                   figures.stuck_bytes);
    }
    take_fresh(out, NM_GAUGE_EMPTY, &fresh_bytes);
    take_fresh(out, NM_GAUGE_PINNED, &fresh_bytes);
    out[NM_GAUGE_USED] =
        nm_subtract_saturated(pool->total.reserved_bytes, nm_add_saturated(free_bytes, out[NM_GAUGE_PRIVATE]));
    out[NM_GAUGE_PENDING] = pool->pending_bytes < out[NM_GAUGE_USED] ? pool->pending_bytes : out[NM_GAUGE_USED];
    out[NM_GAUGE_USED] -= out[NM_GAUGE_PENDING];
}

void nm_replay_each_heap(const nm_replay *replay, nm_heap_visit *visit, void *context)
{
    for (const nm_heap *heap = replay->first_heap; heap != NULL; heap = heap->next) {
        nm_heap_gauge now = {
            .heap_id = heap->id,
            .process_id = heap->process->id,
            .device_id = heap->device == NULL ? 0 : heap->device->id,
            .level = heap->level,
            .live_bytes = heap->total.live_bytes,
            .live_count = heap->live_count,
            .peak_bytes = heap->total.peak_bytes,
            .reserved_bytes = heap->total.reserved_bytes,
            .segment_bytes = heap->segment_bytes,
            .allocation_count = heap->total.allocation_count,
            .free_count = heap->total.free_count,
            .allocated_bytes = heap->total.allocated_bytes,
        };

        part_segments(heap, now.part_bytes);
        visit(context, &now);
    }
}

static bool is_first_pools(const nm_live *live)
{
    const nm_heap *owner = nm_live_owner(live);

    return owner != NULL && owner == live->heap->arena->pool;
}

static void visit_space(const nm_tree *space, nm_live_visit *visit, void *context)
{
    for (const nm_tree_node *node = nm_tree_first(space); node != NULL; node = nm_tree_next(node)) {
        const nm_live *live = (const nm_live *)node;

        visit(context, &(nm_live_now){.live = live,
                                      .allocation_id = live->row.allocation_id,
                                      .is_mapped = live->is_mapped,
                                      .is_baseline = live->is_baseline,
                                      .is_pool = nm_is_pool(live->heap),
                                      .is_first_pools = is_first_pools(live)});
    }
}

static void visit_process(const nm_process *process, nm_live_visit *visit, void *context)
{
    visit_space(&process->host_ranges, visit, context);
    visit_space(&process->registered_ranges, visit, context);
    for (const nm_arena *arena = process->arenas; arena != NULL; arena = arena->next)
        visit_space(&arena->ranges, visit, context);
    for (const nm_heap *heap = process->heaps; heap != NULL; heap = heap->next_of_process)
        visit_space(&heap->blocks, visit, context);
}

void nm_replay_each_live(const nm_replay *replay, nm_live_visit *visit, void *context)
{
    for (const nm_process *process = replay->first_process; process != NULL; process = process->next)
        visit_process(process, visit, context);
}

void nm_replay_each_live_of(const nm_replay *replay, uint64_t process_id, nm_live_visit *visit, void *context)
{
    const nm_process *process = nm_replay_process(replay, process_id);

    if (process != NULL)
        visit_process(process, visit, context);
}
