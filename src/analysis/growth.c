/* SPDX-License-Identifier: Apache-2.0
 *
 * What tells a leak from what is merely held: how much of each stack was live at the end of each step, what graphs hold left
 * out (replay/graph.c). A stack's value is told when it has changed, so that a step costs what changed in it. Long runs tell
 * fewer and fewer steps: nm_step_is_sampled.
 */
#include "analysis/passes.h"

#include "replay/lookup.h"
#include "replay/pass.h"

typedef struct site_room {
    int64_t told_bytes, told_count; /* live at the end of the last step that was told */
    bool is_touched;                /* since that step: is in the heap's list */
    const nm_site *next_touched;
} site_room;

typedef struct heap_room {
    const nm_site *first_touched;
} heap_room;

static void touch(const nm_run *run, const nm_heap *heap, const nm_site *site)
{
    site_room *room = nm_site_room(run, site);
    heap_room *list = nm_heap_room(run, heap);

    if (room->is_touched || site == heap->baseline_site)
        return;
    room->is_touched = true;
    room->next_touched = list->first_touched;
    list->first_touched = site;
}

static int64_t shown(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static nm_status end_step_of(const nm_run *run, const nm_heap *heap, nm_error *err)
{
    heap_room *list = nm_heap_room(run, heap);
    nm_status status = NM_OK;

    while (list->first_touched != NULL && status == NM_OK) {
        const nm_site *site = list->first_touched;
        site_room *room = nm_site_room(run, site);
        int64_t live_bytes = shown(nm_site_own_bytes(site));
        int64_t live_count = shown(nm_site_own_count(site));
        nm_step_site_row row = {.heap_id = heap->id,
                                .stack_id = site->stack_id,
                                .generation = (int64_t)heap->process->step_count,
                                .changed_bytes = live_bytes - room->told_bytes,
                                .changed_count = live_count - room->told_count};

        list->first_touched = room->next_touched;
        room->is_touched = false;
        if (row.changed_bytes == 0 && row.changed_count == 0)
            continue;
        room->told_bytes = live_bytes;
        room->told_count = live_count;
        status = nm_give_step_site(&run->replay->sink, &row, err);
    }
    return status;
}

static nm_status end_step(const nm_run *run, const nm_process *process, bool is_last, nm_error *err)
{
    nm_status status = NM_OK;

    if (!is_last && !nm_step_is_sampled(process->step_count))
        return NM_OK;
    for (const nm_heap *heap = process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process)
        status = end_step_of(run, heap, err);
    return status;
}

static nm_status take_site(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)err;
    touch(run, change->heap, change->site);
    return NM_OK;
}

static nm_status take_step_end(nm_run *run, const nm_change *change, nm_error *err)
{
    return end_step(run, change->process, change->is_last, err);
}

const nm_pass nm_growth_pass = {
    .name = "growth",
    .gives = {[NM_ROW_STEP_SITE] = true},
    .wants = {[NM_CHANGE_SITE] = take_site, [NM_CHANGE_STEP_ENDED] = take_step_end},
    .room = {[NM_OWNER_SITE] = sizeof(site_room), [NM_OWNER_HEAP] = sizeof(heap_room)},
};
