/* SPDX-License-Identifier: Apache-2.0
 *
 * What a replay is at: read by whoever looks on while a recording runs. Changes nothing.
 */
#include "replay/replay.h"

#include "replay/lookup.h"
#include "replay/state.h"

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
            .allocation_count = heap->total.allocation_count,
            .free_count = heap->total.free_count,
            .allocated_bytes = heap->total.allocated_bytes,
        };

        visit(context, &now);
    }
}

static void visit_space(const nm_tree *space, nm_live_visit *visit, void *context)
{
    for (const nm_tree_node *node = nm_tree_first(space); node != NULL; node = nm_tree_next(node)) {
        const nm_live *live = (const nm_live *)node;

        visit(context, &(nm_live_now){.row = &live->row,
                                      .is_mapped = live->is_mapped,
                                      .is_baseline = live->is_baseline,
                                      .is_pool = nm_is_pool(live->heap),
                                      .is_first_pools = live->owner != NULL && live->owner == live->heap->arena->pool});
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
