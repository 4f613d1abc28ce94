/* SPDX-License-Identifier: Apache-2.0
 *
 * What heaps and devices held at each moment. Every heap has its present state in its scope's array; a peak copies that
 * array, a mark gives those states to the sink that have changed since they were given last. A state stands for all the
 * time from its event to the heap's next change, so that a moment finds it without a row of its own.
 */
#include "analysis/passes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/sample_rows.h"
#include "base/buffer.h"

#define PEAK_HEAPS_MAX 512 /* heaps of one scope that a peak keeps */

/* ---- States ------------------------------------------------------------------------------------------------------ */

static void add_unsettled(const nm_run *run, const nm_heap *heap)
{
    nm_sample_all *all = nm_replay_room(run);
    nm_sample_heap *room = nm_sample_heap_of(run, heap);

    if (room->is_unsettled)
        return;
    room->is_unsettled = true;
    room->next_unsettled = all->first_unsettled;
    all->first_unsettled = heap;
}

/* An ended process that still changes had not ended: what it held is there again. */
static void revive(const nm_run *run, const nm_process *process)
{
    nm_sample_process *room = nm_process_room(run, process);

    room->has_ended = false;
    for (const nm_heap *heap = process->heaps; heap != NULL; heap = heap->next_of_process)
        if (nm_sample_heap_of(run, heap)->has_state)
            add_unsettled(run, heap);
}

static void touch(const nm_run *run, const nm_heap *heap)
{
    if (((const nm_sample_process *)nm_process_room(run, heap->process))->has_ended)
        revive(run, heap->process);
    add_unsettled(run, heap);
}

/* What the event has touched so far, and is not known to be. */
static void take_touched(const nm_run *run)
{
    for (const nm_heap *heap = run->replay->first_touched; heap != NULL; heap = heap->next_touched)
        if (!nm_sample_heap_of(run, heap)->is_unsettled)
            touch(run, heap);
}

static void note_change(const nm_run *run, const nm_device_group *group)
{
    nm_sample_all *all = nm_replay_room(run);
    nm_sample_hardware *hardware = nm_sample_hardware_of(run, group);

    if (hardware->has_changed)
        return;
    hardware->has_changed = true;
    hardware->next_changed = all->first_changed;
    all->first_changed = group;
}

/* Is it memory of the device itself, and not a part or a second view of such? */
static bool is_of_device(const nm_heap *heap)
{
    return heap->device != NULL &&
           (heap->level == NM_LEVEL_DRIVER || heap->level == NM_LEVEL_PHYSICAL || nm_pool_is_unseen(heap));
}

static nm_status settle_heap(const nm_run *run, const nm_heap *heap, nm_error *err)
{
    nm_sample_scope *scope = nm_sample_scope_of(run, heap);
    nm_sample_heap *room = nm_sample_heap_of(run, heap);
    nm_heap_sample_row *row;
    nm_status status = NM_OK;

    if (room->slot == 0) {
        status = nm_array_grow(&scope->states, &scope->capacity, scope->count + 1, sizeof *scope->states, err);
        if (status != NM_OK)
            return status;
        scope->states[scope->count] = (nm_heap_state){.heap = heap};
        room->slot = ++scope->count;
        room->has_state = true;
    }
    row = &scope->states[room->slot - 1].row;
    if (is_of_device(heap) && (row->live_bytes != nm_sample_limit(heap->total.live_bytes) ||
                               row->page_bytes != nm_sample_limit(heap->page_bytes) ||
                               row->mapped_bytes != nm_sample_limit(heap->mapped_bytes)))
        note_change(run, heap->device->group);
    nm_sample_fill(row, heap, nm_sample_position(run));
    if (!room->is_dirty) {
        room->is_dirty = true;
        room->next_dirty = scope->first_dirty;
        scope->first_dirty = heap;
    }
    return NM_OK;
}

/* Of more heaps than a peak keeps it keeps one: that of slot `own`, or none (0). */
static nm_status copy_states(nm_peak_states *peak, const nm_sample_scope *scope, size_t own, nm_error *err)
{
    nm_status status;

    peak->is_whole = scope->count <= PEAK_HEAPS_MAX;
    peak->count = peak->is_whole ? scope->count : own != 0;
    status = nm_array_grow(&peak->states, &peak->capacity, peak->count, sizeof *peak->states, err);
    if (status != NM_OK)
        peak->count = 0;
    else if (peak->is_whole)
        memcpy(peak->states, scope->states, peak->count * sizeof *peak->states);
    else if (own != 0)
        peak->states[0] = scope->states[own - 1];
    return status;
}

static nm_status keep_peak(nm_peak_states *peak, const nm_sample_scope *scope, size_t own, nm_sample_hardware *hardware,
                           int64_t at_seq, nm_error *err)
{
    nm_status status = copy_states(peak, scope, own, err);

    if (hardware == NULL || status != NM_OK)
        return status;
    peak->figures = hardware->figures;
    peak->is_stale = nm_sample_is_stale(hardware);
    peak->at_seq = at_seq;
    peak->until_seq = at_seq;
    nm_sample_open_peak(hardware, peak);
    return NM_OK;
}

/* The heap's peak and largest reserve, and its hardware's peak, where they came since they were kept last. */
static nm_status keep_peaks(const nm_run *run, const nm_heap *heap, nm_error *err)
{
    const nm_device_group *group = heap->device == NULL ? NULL : heap->device->group;
    nm_sample_hardware *hardware = group == NULL ? NULL : nm_sample_hardware_of(run, group);
    nm_sample_heap *room = nm_sample_heap_of(run, heap);
    nm_status status = NM_OK;

    if (heap->peak_epoch > room->kept_epoch && !heap->is_peak_kept)
        status = keep_peak(&room->at_peak, nm_sample_scope_of(run, heap), room->slot, hardware, nm_sample_position(run),
                           err);
    if (heap->reserve_epoch > room->kept_epoch && status == NM_OK)
        status = keep_peak(&room->at_reserve, nm_sample_scope_of(run, heap), room->slot, hardware,
                           nm_sample_position(run), err);
    room->kept_epoch = heap->epoch;
    if (hardware != NULL && hardware->kept_epoch != group->peak_epoch && status == NM_OK) {
        hardware->kept_epoch = group->peak_epoch;
        if (!group->is_peak_kept)
            status = keep_peak(&hardware->at_peak, &hardware->scope, 0, hardware, nm_sample_position(run), err);
    }
    return status;
}

static nm_status close_changed(const nm_run *run, nm_error *err)
{
    nm_sample_all *all = nm_replay_room(run);
    nm_status status = NM_OK;

    while (all->first_changed != NULL) {
        nm_sample_hardware *hardware = nm_sample_hardware_of(run, all->first_changed);

        all->first_changed = hardware->next_changed;
        hardware->has_changed = false;
        hardware->changed = (nm_event_time){true, nm_sample_position(run)};
        if (status == NM_OK)
            status = nm_sample_close_all(run, hardware, nm_sample_position(run) - 1, err);
    }
    return status;
}

/* Has the heap a peak, or its hardware, that was not kept? */
static bool has_new_peak(const nm_run *run, const nm_heap *heap)
{
    const nm_device_group *group = heap->device == NULL ? NULL : heap->device->group;

    return heap->epoch != nm_sample_heap_of(run, heap)->kept_epoch ||
           (group != NULL && nm_sample_hardware_of(run, group)->kept_epoch != group->peak_epoch);
}

/* The event has touched this heap alone, as nearly all do. */
static nm_status settle_alone(const nm_run *run, const nm_heap *heap, nm_error *err)
{
    const nm_sample_all *all = nm_replay_room(run);
    nm_status status = settle_heap(run, heap, err);

    if (status == NM_OK && all->first_changed != NULL)
        status = close_changed(run, err);
    return status == NM_OK && run->replay->has_events && has_new_peak(run, heap) ? keep_peaks(run, heap, err) : status;
}

/* All that the event has touched is as it leaves it: the states are taken over. */
static nm_status settle(const nm_run *run, nm_error *err)
{
    nm_sample_all *all = nm_replay_room(run);
    nm_status status = NM_OK;

    for (const nm_heap *heap = all->first_unsettled; heap != NULL && status == NM_OK;
         heap = nm_sample_heap_of(run, heap)->next_unsettled)
        status = settle_heap(run, heap, err);
    if (status == NM_OK)
        status = close_changed(run, err);
    while (all->first_unsettled != NULL) {
        const nm_heap *heap = all->first_unsettled;
        nm_sample_heap *room = nm_sample_heap_of(run, heap);

        all->first_unsettled = room->next_unsettled;
        room->is_unsettled = false;
        if (status == NM_OK && run->replay->has_events)
            status = keep_peaks(run, heap, err);
    }
    return status;
}

/* What the baseline made is one moment, however many peaks it passed through. */
static nm_status keep_all_peaks(const nm_run *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        status = keep_peaks(run, heap, err);
    return status;
}

/* Takes the heap's state out of its scope; the last one moves to its place. */
static void drop_state(const nm_run *run, nm_sample_scope *scope, const nm_heap *heap)
{
    nm_sample_heap *room = nm_sample_heap_of(run, heap);
    const nm_heap **link = &scope->first_dirty;

    if (room->slot == 0)
        return;
    while (room->is_dirty && *link != heap)
        link = &nm_sample_heap_of(run, *link)->next_dirty;
    if (room->is_dirty)
        *link = room->next_dirty;
    room->is_dirty = false;
    scope->states[room->slot - 1] = scope->states[--scope->count];
    nm_sample_heap_of(run, scope->states[room->slot - 1].heap)->slot = room->slot;
    room->slot = 0;
}

/* ---- Ends and moves ---------------------------------------------------------------------------------------------- */

/* Its memory is gone with it. */
static nm_status end_process(const nm_run *run, const nm_process *process, nm_error *err)
{
    nm_sample_process *room = nm_process_room(run, process);
    nm_status status = NM_OK;

    take_touched(run); /* what the event touched before was of a process that goes on */
    room->has_ended = true;
    room->end_seq = nm_sample_position(run);
    for (const nm_heap *heap = process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process) {
        status = nm_sample_write_dirty(run, nm_sample_scope_of(run, heap), err);
        if (status == NM_OK && is_of_device(heap) && heap->total.live_bytes > 0) {
            nm_sample_hardware *hardware = nm_sample_hardware_of(run, heap->device->group);

            hardware->gone = (nm_event_time){true, nm_sample_position(run)};
            status = nm_sample_close_all(run, hardware, nm_sample_position(run) - 1, err);
        }
        drop_state(run, nm_sample_scope_of(run, heap), heap);
    }
    return status;
}

static nm_status leave_hardware(const nm_run *run, nm_sample_hardware *old, const nm_heap *heap, nm_error *err)
{
    nm_sample_heap *room = nm_sample_heap_of(run, heap);
    nm_status status = nm_sample_write_dirty(run, &old->scope, err);

    if (status != NM_OK)
        return status;
    nm_sample_close_peak(old, &room->at_peak, nm_sample_position(run));
    nm_sample_close_peak(old, &room->at_reserve, nm_sample_position(run));
    if (room->slot != 0)
        touch(run, heap);
    drop_state(run, &old->scope, heap);
    return NM_OK;
}

static nm_status move_device(const nm_run *run, const nm_device *device, const nm_device_group *from, nm_error *err)
{
    nm_sample_hardware *old = nm_sample_hardware_of(run, from);
    nm_sample_hardware *hardware = nm_sample_hardware_of(run, device->group);
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        if (heap->device == device)
            status = leave_hardware(run, old, heap, err);
    if (!hardware->figures.is_known)
        hardware->figures = old->figures;
    if (from->peak.device_id == 0 && old->at_peak.count > 0 && hardware->at_peak.count == 0) { /* it was left by all */
        nm_sample_close_peak(old, &old->at_peak, nm_sample_position(run));
        hardware->at_peak = old->at_peak;
        old->at_peak = (nm_peak_states){0};
    }
    return status == NM_OK ? settle(run, err) : status;
}

/* No event comes any more. */
static nm_status close_open(const nm_run *run, nm_error *err)
{
    nm_status status = run->replay->has_events ? NM_OK : keep_all_peaks(run, err);

    for (const nm_device_group *group = run->replay->first_group; group != NULL && status == NM_OK; group = group->next)
        status = nm_sample_close_all(run, nm_sample_hardware_of(run, group), nm_sample_position(run), err);
    return status;
}

/* ---- The pass ------------------------------------------------------------------------------------------------------ */

static nm_status take_done(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_sample_all *all = nm_replay_room(run);
    const nm_heap *first = run->replay->first_touched;

    (void)change;
    if (all->first_unsettled == NULL && first->next_touched == NULL &&
        !((const nm_sample_process *)nm_process_room(run, first->process))->has_ended)
        return settle_alone(run, first, err);
    take_touched(run);
    return settle(run, err);
}

static nm_status take_begin(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)change;
    return keep_all_peaks(run, err);
}

static nm_status take_move(nm_run *run, const nm_change *change, nm_error *err)
{
    return move_device(run, change->device, change->hardware, err);
}

static nm_status take_mark(nm_run *run, const nm_change *change, nm_error *err)
{
    return nm_sample_now(run, change->context->process, err);
}

static nm_status take_failure(nm_run *run, const nm_change *change, nm_error *err)
{
    nm_sample_failure(run, change->context);
    return nm_sample_now(run, change->context->process, err);
}

static nm_status take_reading(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)err;
    nm_sample_reading(run, change->context);
    return NM_OK;
}

static nm_status take_process_end(nm_run *run, const nm_change *change, nm_error *err)
{
    bool goes_on = change->context->event->detail == NM_PROCESS_RUNNING;

    return goes_on ? NM_OK : end_process(run, change->process, err);
}

static nm_status take_end(nm_run *run, const nm_change *change, nm_error *err)
{
    nm_status status = close_open(run, err);

    (void)change;
    return status == NM_OK ? nm_sample_end(run, err) : status;
}

static void release(nm_run *run)
{
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next) {
        free(nm_sample_heap_of(run, heap)->at_peak.states);
        free(nm_sample_heap_of(run, heap)->at_reserve.states);
    }
    for (const nm_device_group *group = run->replay->first_group; group != NULL; group = group->next) {
        nm_sample_hardware *hardware = nm_sample_hardware_of(run, group);

        free(hardware->scope.states);
        free(hardware->at_peak.states);
        free(hardware->open.items);
    }
    for (const nm_process *process = run->replay->first_process; process != NULL; process = process->next)
        free(nm_sample_scope_of_process(run, process)->states);
}

static const nm_pass *const needs[] = {&nm_moments_pass, NULL};

const nm_pass nm_samples_pass = {
    .name = "samples",
    .gives = {[NM_ROW_HEAP_SAMPLE] = true, [NM_ROW_DEVICE_SAMPLE] = true},
    .needs = needs,
    .wants = {[NM_CHANGE_BEGUN] = take_begin,
              [NM_CHANGE_DONE] = take_done,
              [NM_CHANGE_DEVICE_MOVED] = take_move,
              [NM_CHANGE_MARKED] = take_mark,
              [NM_CHANGE_FAILED] = take_failure,
              [NM_CHANGE_SAMPLED] = take_reading,
              [NM_CHANGE_PROCESS_ENDED] = take_process_end,
              [NM_CHANGE_END] = take_end},
    .room = {[NM_OWNER_REPLAY] = sizeof(nm_sample_all),
             [NM_OWNER_PROCESS] = sizeof(nm_sample_process),
             [NM_OWNER_DEVICE] = sizeof(nm_device_tally),
             [NM_OWNER_HARDWARE] = sizeof(nm_sample_hardware),
             [NM_OWNER_HEAP] = sizeof(nm_sample_heap)},
    .release = release,
};
