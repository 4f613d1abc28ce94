/* SPDX-License-Identifier: Apache-2.0
 *
 * What each stack held at least, minute by minute, in a process without steps: a server. Traffic comes and goes; what a leak
 * adds does not go, so that the least of a stretch of time rises. What graphs hold is left out (replay/graph.c). A stack's
 * floor is told when it has changed. Long runs tell fewer and fewer windows, as growth.c does with steps; then the least
 * since the last one that was told counts.
 */
#include "analysis/passes.h"

#include "replay/lookup.h"
#include "replay/pass.h"

#define WINDOW_NS INT64_C(60000000000)

typedef struct site_room {
    uint64_t floor_bytes, told_floor_bytes; /* least of this window, and of the last one that was told */
    bool is_in_window;                      /* is in the heap's list */
    const nm_site *next;
} site_room;

typedef struct heap_room {
    const nm_site *first;
} heap_room;

typedef struct process_room {
    bool is_watched; /* is among the watched_count */
    bool has_window; /* something happened at a known time, */
    int64_t window;  /* in this one */
} process_room;

typedef struct replay_room {
    size_t watched_count; /* processes that have shown no step */
} replay_room;

static void take_site(const nm_run *run, const nm_heap *heap, const nm_site *site, uint64_t before_bytes)
{
    site_room *room = nm_site_room(run, site);
    heap_room *list = nm_heap_room(run, heap);
    uint64_t bytes = nm_site_own_bytes(site);

    if (site == heap->baseline_site)
        return;
    if (!room->is_in_window) {
        room->is_in_window = true;
        room->floor_bytes = before_bytes;
        room->next = list->first;
        list->first = site;
    }
    if (bytes < room->floor_bytes)
        room->floor_bytes = bytes;
}

/* A site stays in the list while its floor may be another in the next window without an event. */
static nm_status end_window_of(const nm_run *run, const nm_heap *heap, int64_t window, nm_error *err)
{
    const nm_site **link = &((heap_room *)nm_heap_room(run, heap))->first;
    nm_status status = NM_OK;

    while (*link != NULL && status == NM_OK) {
        const nm_site *site = *link;
        site_room *room = nm_site_room(run, site);
        nm_site_floor_row row = {heap->id, site->stack_id, window, room->floor_bytes};

        if (room->floor_bytes != room->told_floor_bytes)
            status = nm_give_site_floor(&run->replay->sink, &row, err);
        room->told_floor_bytes = room->floor_bytes;
        room->floor_bytes = nm_site_own_bytes(site);
        if (room->floor_bytes == room->told_floor_bytes) {
            room->is_in_window = false;
            *link = room->next;
        } else {
            link = &room->next;
        }
    }
    return status;
}

static nm_status end_window(const nm_run *run, const nm_process *process, int64_t window, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process)
        status = end_window_of(run, heap, window, err);
    return status;
}

/* Time goes on. */
static nm_status pass_time(const nm_run *run, const nm_process *process, int64_t now_ns, nm_error *err)
{
    process_room *room = nm_process_room(run, process);
    int64_t window = now_ns / WINDOW_NS;
    nm_status status = NM_OK;

    if (process->step_count > 0 || now_ns < 0 || window <= room->window)
        return NM_OK;
    if (room->window > 0 || room->has_window) {
        if (nm_step_is_sampled((uint64_t)room->window))
            status = end_window(run, process, room->window, err);
        if (status == NM_OK && window > room->window + 1) /* nothing happened in those between */
            status = end_window(run, process, room->window + 1, err);
    }
    room->has_window = true;
    room->window = window;
    return status;
}

static nm_status end_all(const nm_run *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_process *process = run->replay->first_process; process != NULL && status == NM_OK;
         process = process->next) {
        const process_room *room = nm_process_room(run, process);

        if (room->has_window && process->step_count == 0)
            status = end_window(run, process, room->window, err);
    }
    return status;
}

/* Most processes show a step soon, and are nobody to watch from then on. */
static void watch(nm_run *run, const nm_process *process, bool is_watched)
{
    process_room *room = nm_process_room(run, process);
    replay_room *all = nm_replay_room(run);

    if (room->is_watched == is_watched)
        return;
    room->is_watched = is_watched;
    all->watched_count = is_watched ? all->watched_count + 1 : all->watched_count - 1;
    nm_run_hear(run, NM_CHANGE_SITE, all->watched_count > 0);
    nm_run_hear(run, NM_CHANGE_EVENT, all->watched_count > 0);
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    switch (change->kind) {
    case NM_CHANGE_DEFINED:
        if (change->definition->kind == NM_DEFINE_PROCESS && change->definition->id != 0)
            watch(run, nm_replay_process(run->replay, change->definition->id), true);
        return NM_OK;
    case NM_CHANGE_STEP_ENDED: /* of the last one it is not known whether it was one */
        if (!change->is_last)
            watch(run, change->process, false);
        return NM_OK;
    case NM_CHANGE_SITE:
        take_site(run, change->heap, change->site, change->before_bytes);
        return NM_OK;
    case NM_CHANGE_EVENT:
        return change->context->process == NULL || change->context->event->time_ns == NM_NO_TIME
                   ? NM_OK
                   : pass_time(run, change->context->process, change->context->event->time_ns, err);
    default:
        return end_all(run, err);
    }
}

const nm_pass nm_floors_pass = {
    .name = "floors",
    .gives = {[NM_ROW_SITE_FLOOR] = true},
    .wants = {[NM_CHANGE_DEFINED] = change,
              [NM_CHANGE_STEP_ENDED] = change,
              [NM_CHANGE_SITE] = change,
              [NM_CHANGE_EVENT] = change,
              [NM_CHANGE_END] = change},
    .at_times = {[NM_CHANGE_SITE] = true, [NM_CHANGE_EVENT] = true}, /* while a process is watched */
    .room = {[NM_OWNER_REPLAY] = sizeof(replay_room),
             [NM_OWNER_SITE] = sizeof(site_room),
             [NM_OWNER_HEAP] = sizeof(heap_room),
             [NM_OWNER_PROCESS] = sizeof(process_room)},
};
