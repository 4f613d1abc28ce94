/* SPDX-License-Identifier: Apache-2.0
 *
 * What heaps and devices held at each moment. Every heap has its present state in its scope's array; a peak copies that
 * array, a mark gives those states to the sink that have changed since they were given last. A state stands for all the
 * time from its event to the heap's next change, so that a moment finds it without a row of its own.
 *
 * A device says how much of it is free only when it is asked. What it said belongs to every moment from which on (or up to
 * which) no memory of it came or went; so peaks stay open, and rows of marks wait, until the next change.
 */
#include "replay/sample.h"

#include <stdlib.h>
#include <string.h>

#include "replay/lookup.h"

/* The place in the order of events that has been reached; -1: before the first. */
static int64_t position(const nm_replay *replay)
{
    return replay->has_events ? replay->last_seq : -1;
}

static nm_scope *scope_of(nm_heap *heap)
{
    return heap->device == NULL ? &heap->process->scope : &heap->device->group->scope;
}

static uint64_t limit(uint64_t bytes)
{
    return bytes < NM_SIZE_BYTES_MAX ? bytes : NM_SIZE_BYTES_MAX; /* so that no sum of rows overflows soon */
}

static nm_heap_sample_row row_of(const nm_heap *heap, int64_t since_seq)
{
    return (nm_heap_sample_row){
        .heap_id = heap->id,
        .since_seq = since_seq,
        .live_bytes = limit(heap->total.live_bytes),
        .live_count = heap->live_count,
        .page_bytes = limit(heap->page_bytes),
        .mapped_bytes = limit(heap->mapped_bytes),
        .segment_bytes = limit(heap->segment_bytes),
        .reserved_bytes = limit(nm_pool_reserved_bytes(heap)),
        .is_stated = nm_pool_is_stated(heap),
        .is_at_least = nm_pool_is_unseen(heap) && heap->total.live_bytes > 0,
    };
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static nm_status write_state(nm_replay *replay, const nm_heap_state *state, nm_error *err)
{
    return nm_give_heap_sample(&replay->sink, &state->row, err);
}

static nm_status write_device(nm_replay *replay, const nm_device_sample_row *row, nm_error *err)
{
    return nm_give_device_sample(&replay->sink, row, err);
}

static nm_status write_dirty(nm_replay *replay, nm_scope *scope, nm_error *err)
{
    nm_status status = NM_OK;

    while (scope->first_dirty != NULL && status == NM_OK) {
        nm_heap *heap = scope->first_dirty;

        scope->first_dirty = heap->next_dirty;
        heap->is_dirty = false;
        status = write_state(replay, &scope->states[heap->slot - 1], err);
    }
    return status;
}

/* ---- What a process takes of a device ---------------------------------------------------------------------------- */

static void tally_driver(nm_device_tally *tally, const nm_heap_state *state)
{
    const nm_heap_sample_row *row = &state->row;
    uint64_t own_bytes = nm_subtract_saturated(row->live_bytes, row->segment_bytes);
    bool is_program = state->heap->module_id == 0 || state->heap->module_id == NM_MODULE_APP;
    uint64_t *sum = is_program ? &tally->program_bytes : &tally->module_bytes;

    nm_sum_add(sum, own_bytes);
    nm_sum_add(&tally->mapped_bytes, row->mapped_bytes);
    tally->rounding_bytes += (int64_t)row->page_bytes - (int64_t)row->live_bytes;
}

static void tally_state(const nm_heap_state *state, uint64_t pass_id)
{
    const nm_heap_sample_row *row = &state->row;
    nm_device_tally *tally = &state->heap->device->tally;

    if (tally->pass_id != pass_id)
        *tally = (nm_device_tally){.pass_id = pass_id};
    if (state->heap->level == NM_LEVEL_DRIVER) {
        tally_driver(tally, state);
    } else if (state->heap->level == NM_LEVEL_PHYSICAL) {
        nm_sum_add(&tally->physical_bytes, row->live_bytes);
        tally->rounding_bytes += (int64_t)row->page_bytes - (int64_t)row->live_bytes;
    } else if (nm_is_pool(state->heap)) {
        nm_sum_add(&tally->pool_bytes, row->reserved_bytes);
        if (row->is_stated)
            nm_sum_add(&tally->stated_bytes, row->reserved_bytes);
    }
}

/* Stays where no sum of such overflows soon. */
static int64_t add_limited(int64_t a, int64_t b)
{
    const int64_t most = INT64_MAX / 4;
    int64_t sum = (a > most ? most : a) + (b > most ? most : b);

    return sum > most ? most : sum;
}

/* Mapped memory is physical memory, and what a pool states is likely to be memory that the driver gave to the program:
 * each is counted once. */
static int64_t tally_sum(const nm_device_tally *tally)
{
    uint64_t sum = nm_add_saturated(tally->pool_bytes, tally->module_bytes);

    nm_sum_add(&sum, nm_subtract_saturated(tally->program_bytes, tally->stated_bytes));
    nm_sum_add(&sum, nm_subtract_saturated(tally->physical_bytes, tally->mapped_bytes));
    return add_limited((int64_t)sum, tally->rounding_bytes);
}

static nm_device_sample_row device_row(nm_device *device, uint64_t moment_id, const nm_device_figures *figures,
                                       bool is_stale, int64_t at_seq)
{
    device->tally.is_written = true;
    return (nm_device_sample_row){
        .moment_id = moment_id,
        .device_id = device->id,
        .hardware_id = device->group->peak.device_id,
        .recorded_bytes = tally_sum(&device->tally),
        .has_sample = figures->is_known,
        .free_bytes = figures->free_bytes,
        .total_bytes = figures->total_bytes,
        .sample_seq = figures->is_known ? figures->seq : NM_NO_SEQ,
        .sample_ns = figures->is_known ? figures->ns : NM_NO_TIME,
        .sample_recorded_bytes = figures->recorded_bytes,
        .is_stale = is_stale,
        .at_seq = at_seq,
        .until_seq = at_seq,
    };
}

/* ---- Open moments ------------------------------------------------------------------------------------------------ */

static nm_status write_open(nm_replay *replay, nm_device_group *group, int64_t until_seq, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < group->open.count && status == NM_OK; i++) {
        nm_device_sample_row *row = &group->open.items[i];

        if (until_seq > row->until_seq)
            row->until_seq = until_seq;
        status = write_device(replay, row, err);
    }
    group->open.count = 0;
    return status;
}

static void close_peak(nm_device_group *group, nm_peak_states *peak, int64_t until_seq)
{
    if (!peak->is_open)
        return;
    if (peak->previous_open != NULL)
        peak->previous_open->next_open = peak->next_open;
    else
        group->first_open = peak->next_open;
    if (peak->next_open != NULL)
        peak->next_open->previous_open = peak->previous_open;
    peak->is_open = false;
    if (until_seq > peak->until_seq)
        peak->until_seq = until_seq;
}

/* Memory of the hardware came or went: what it says from now on does not belong to earlier moments. */
static nm_status close_all(nm_replay *replay, nm_device_group *group, int64_t until_seq, nm_error *err)
{
    while (group->first_open != NULL)
        close_peak(group, group->first_open, until_seq);
    return write_open(replay, group, until_seq, err);
}

static bool is_stale_now(const nm_device_group *group)
{
    return group->figures.is_known && (group->figures.seq < group->changed_seq || group->figures.seq < group->gone_seq);
}

int64_t nm_sample_recorded(const nm_replay *replay, const nm_device *device)
{
    const nm_scope *scope = &device->group->scope;
    uint64_t pass_id = ++replay->scratch->tally_count;

    for (size_t i = 0; i < scope->count; i++)
        if (scope->states[i].heap->device == device)
            tally_state(&scope->states[i], pass_id);
    return device->tally.pass_id == pass_id ? tally_sum(&device->tally) : 0;
}

uint64_t nm_sample_modules(const nm_replay *replay, const nm_device *device)
{
    return device->tally.pass_id == replay->scratch->tally_count ? device->tally.module_bytes : 0;
}

static int64_t recorded_of_all(nm_replay *replay, const nm_scope *scope)
{
    uint64_t pass_id = ++replay->scratch->tally_count;
    int64_t sum = 0;

    for (size_t i = 0; i < scope->count; i++)
        tally_state(&scope->states[i], pass_id);
    for (size_t i = 0; i < scope->count; i++) {
        nm_device_tally *tally = &scope->states[i].heap->device->tally;

        if (!tally->is_written)
            sum = add_limited(sum, tally_sum(tally));
        tally->is_written = true;
    }
    return sum;
}

void nm_sample_device(nm_replay *replay, nm_device_group *group, const nm_device_figures *figures)
{
    bool is_lesser = group->figures.is_known && group->figures.kind == NM_MEMORY_HBM && figures->kind == NM_MEMORY_DDR;

    if (figures->total_bytes == 0 || (figures->kind != NM_MEMORY_HBM && figures->kind != NM_MEMORY_DDR) || is_lesser)
        return;
    group->figures = *figures;
    group->figures.is_known = true;
    group->figures.free_bytes = limit(figures->free_bytes);
    group->figures.total_bytes = limit(figures->total_bytes);
    group->figures.recorded_bytes = recorded_of_all(replay, &group->scope);
    for (nm_peak_states *peak = group->first_open; peak != NULL; peak = peak->next_open)
        if (!peak->figures.is_known || peak->is_stale) {
            peak->figures = group->figures;
            peak->is_stale = false;
        }
    for (size_t i = 0; i < group->open.count; i++) {
        nm_device_sample_row *row = &group->open.items[i];

        if (row->has_sample && !row->is_stale)
            continue;
        row->has_sample = true;
        row->is_stale = false;
        row->free_bytes = group->figures.free_bytes;
        row->total_bytes = group->figures.total_bytes;
        row->sample_seq = group->figures.seq;
        row->sample_ns = group->figures.ns;
        row->sample_recorded_bytes = group->figures.recorded_bytes;
    }
}

/* ---- States ------------------------------------------------------------------------------------------------------ */

static void add_unsettled(nm_heap *heap)
{
    if (heap->is_unsettled)
        return;
    heap->is_unsettled = true;
    heap->next_unsettled = heap->replay->first_unsettled;
    heap->replay->first_unsettled = heap;
}

/* An ended process that still changes had not ended: what it held is there again. */
static void revive(nm_process *process)
{
    process->end_seq = NM_NO_SEQ;
    for (nm_heap *heap = process->heaps; heap != NULL; heap = heap->next_of_process)
        if (heap->has_state)
            add_unsettled(heap);
}

void nm_sample_touch(nm_heap *heap)
{
    if (heap->process->end_seq != NM_NO_SEQ)
        revive(heap->process);
    add_unsettled(heap);
}

static void note_change(nm_replay *replay, nm_device_group *group)
{
    if (group->has_changed)
        return;
    group->has_changed = true;
    group->next_changed = replay->first_changed_group;
    replay->first_changed_group = group;
}

/* Is it memory of the device itself, and not a part or a second view of such? */
static bool is_of_device(const nm_heap *heap)
{
    return heap->device != NULL &&
           (heap->level == NM_LEVEL_DRIVER || heap->level == NM_LEVEL_PHYSICAL || nm_pool_is_unseen(heap));
}

static nm_status settle_heap(nm_replay *replay, nm_heap *heap, nm_error *err)
{
    nm_scope *scope = scope_of(heap);
    nm_heap_sample_row row = row_of(heap, position(replay));
    nm_heap_sample_row *old;
    nm_status status = NM_OK;

    if (heap->slot == 0) {
        status = nm_array_grow(&scope->states, &scope->capacity, scope->count + 1, sizeof *scope->states, err);
        if (status != NM_OK)
            return status;
        scope->states[scope->count] = (nm_heap_state){.heap = heap};
        heap->slot = ++scope->count;
        heap->has_state = true;
    }
    old = &scope->states[heap->slot - 1].row;
    if (is_of_device(heap) && (old->live_bytes != row.live_bytes || old->page_bytes != row.page_bytes ||
                               old->mapped_bytes != row.mapped_bytes))
        note_change(replay, heap->device->group);
    *old = row;
    if (!heap->is_dirty) {
        heap->is_dirty = true;
        heap->next_dirty = scope->first_dirty;
        scope->first_dirty = heap;
    }
    return NM_OK;
}

/* Of more heaps than a peak keeps it keeps one: that of slot `own`, or none (0). */
static nm_status copy_states(nm_peak_states *peak, const nm_scope *scope, size_t own, nm_error *err)
{
    nm_status status;

    peak->is_whole = scope->count <= NM_PEAK_HEAPS_MAX;
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

static nm_status keep_peak(nm_replay *replay, nm_peak_states *peak, const nm_scope *scope, size_t own,
                           nm_device_group *group, nm_error *err)
{
    nm_status status = copy_states(peak, scope, own, err);

    if (group == NULL || status != NM_OK)
        return status;
    peak->figures = group->figures;
    peak->is_stale = is_stale_now(group);
    peak->at_seq = position(replay);
    peak->until_seq = position(replay);
    if (peak->is_open)
        return NM_OK;
    peak->is_open = true;
    peak->previous_open = NULL;
    peak->next_open = group->first_open;
    if (group->first_open != NULL)
        group->first_open->previous_open = peak;
    group->first_open = peak;
    return NM_OK;
}

static nm_status keep_peaks(nm_replay *replay, nm_heap *heap, nm_error *err)
{
    nm_device_group *group = heap->device == NULL ? NULL : heap->device->group;
    nm_status status = NM_OK;

    if (heap->has_peaked)
        status = keep_peak(replay, &heap->at_peak_states, scope_of(heap), heap->slot, group, err);
    heap->has_peaked = false;
    if (group != NULL && group->has_peaked && status == NM_OK) {
        group->has_peaked = false;
        status = keep_peak(replay, &group->at_peak, &group->scope, 0, group, err);
    }
    return status;
}

nm_status nm_sample_settle(nm_replay *replay, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_heap *heap = replay->first_unsettled; heap != NULL && status == NM_OK; heap = heap->next_unsettled)
        status = settle_heap(replay, heap, err);
    while (replay->first_changed_group != NULL) {
        nm_device_group *group = replay->first_changed_group;

        replay->first_changed_group = group->next_changed;
        group->has_changed = false;
        group->changed_seq = position(replay);
        if (status == NM_OK)
            status = close_all(replay, group, position(replay) - 1, err);
    }
    while (replay->first_unsettled != NULL) {
        nm_heap *heap = replay->first_unsettled;

        replay->first_unsettled = heap->next_unsettled;
        heap->is_unsettled = false;
        if (status == NM_OK && replay->has_events)
            status = keep_peaks(replay, heap, err);
    }
    return status;
}

nm_status nm_sample_begin(nm_replay *replay, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_heap *heap = replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        status = keep_peaks(replay, heap, err);
    return status;
}

/* Takes the heap's state out of its scope; the last one moves to its place. */
static void drop_state(nm_heap *heap)
{
    nm_scope *scope = scope_of(heap);
    nm_heap **link = &scope->first_dirty;

    if (heap->slot == 0)
        return;
    while (heap->is_dirty && *link != heap)
        link = &(*link)->next_dirty;
    if (heap->is_dirty)
        *link = heap->next_dirty;
    heap->is_dirty = false;
    scope->states[heap->slot - 1] = scope->states[--scope->count];
    scope->states[heap->slot - 1].heap->slot = heap->slot;
    heap->slot = 0;
}

/* ---- Moments ----------------------------------------------------------------------------------------------------- */

static nm_status add_open(nm_replay *replay, nm_device_group *group, const nm_device_sample_row *row, nm_error *err)
{
    nm_status status = NM_OK;

    if (group->open.count == NM_OPEN_MOMENTS_MAX)
        status = write_open(replay, group, position(replay), err);
    if (status == NM_OK)
        status = nm_array_grow(&group->open.items, &group->open.capacity, group->open.count + 1, sizeof *row, err);
    if (status == NM_OK)
        group->open.items[group->open.count++] = *row;
    return status;
}

static nm_status sample_group(nm_replay *replay, nm_device_group *group, uint64_t moment_id, nm_error *err)
{
    const nm_scope *scope = &group->scope;
    uint64_t pass_id = ++replay->scratch->tally_count;
    nm_status status = write_dirty(replay, &group->scope, err);

    group->moment_id = moment_id;
    for (size_t i = 0; i < scope->count; i++)
        tally_state(&scope->states[i], pass_id);
    for (size_t i = 0; i < scope->count && status == NM_OK; i++) {
        nm_device *device = scope->states[i].heap->device;
        nm_device_sample_row row;

        if (device->tally.is_written)
            continue;
        row = device_row(device, moment_id, &group->figures, is_stale_now(group), position(replay));
        status = add_open(replay, group, &row, err);
    }
    return status;
}

static nm_status sample_process(nm_replay *replay, nm_process *process, uint64_t moment_id, nm_error *err)
{
    nm_status status = write_dirty(replay, &process->scope, err);

    for (const nm_arena *arena = process->arenas; arena != NULL && status == NM_OK; arena = arena->next) {
        nm_device *device = nm_replay_device(replay, arena->device_id);

        if (device != NULL && device->group->moment_id != moment_id)
            status = sample_group(replay, device->group, moment_id, err);
    }
    return status;
}

nm_status nm_sample_now(nm_replay *replay, uint64_t moment_id, nm_process *process, nm_error *err)
{
    nm_status status = NM_OK;

    if (process != NULL)
        return sample_process(replay, process, moment_id, err);
    for (process = replay->first_process; process != NULL && status == NM_OK; process = process->next)
        status = sample_process(replay, process, moment_id, err);
    return status;
}

nm_status nm_sample_peak(nm_replay *replay, uint64_t moment_id, const nm_peak_states *peak, nm_error *err)
{
    uint64_t pass_id = ++replay->scratch->tally_count;
    nm_status status = NM_OK;

    for (size_t i = 0; i < peak->count && status == NM_OK; i++) {
        status = write_state(replay, &peak->states[i], err);
        if (peak->is_whole && peak->states[i].heap->device != NULL)
            tally_state(&peak->states[i], pass_id);
    }
    for (size_t i = 0; i < peak->count && peak->is_whole && status == NM_OK; i++) {
        nm_device *device = peak->states[i].heap->device;
        nm_device_sample_row row;

        if (device == NULL || device->tally.is_written)
            continue;
        row = device_row(device, moment_id, &peak->figures, peak->is_stale, peak->at_seq);
        row.until_seq = peak->until_seq;
        status = write_device(replay, &row, err);
    }
    return status;
}

nm_status nm_sample_close(nm_replay *replay, nm_error *err)
{
    nm_status status = nm_sample_settle(replay, err);

    if (status == NM_OK && !replay->has_events)
        status = nm_sample_begin(replay, err);
    for (nm_device_group *group = replay->first_group; group != NULL && status == NM_OK; group = group->next)
        status = close_all(replay, group, position(replay), err);
    return status;
}

/* Did the process still hold its memory when the device was asked last? */
static bool is_part_of_end(const nm_device *device)
{
    int64_t end_seq = device->process->end_seq;
    const nm_device_figures *figures = &device->group->figures;

    return end_seq == NM_NO_SEQ || !figures->is_known || end_seq > figures->seq;
}

nm_status nm_sample_end(nm_replay *replay, uint64_t moment_id, nm_error *err)
{
    uint64_t pass_id = ++replay->scratch->tally_count;
    nm_status status = NM_OK;

    for (nm_process *process = replay->first_process; process != NULL && status == NM_OK; process = process->next)
        status = write_dirty(replay, &process->scope, err);
    for (nm_device_group *group = replay->first_group; group != NULL && status == NM_OK; group = group->next)
        status = write_dirty(replay, &group->scope, err);
    for (nm_heap *heap = replay->first_heap; heap != NULL; heap = heap->next)
        if (heap->device != NULL && heap->has_state)
            tally_state(&(nm_heap_state){.heap = heap, .row = row_of(heap, position(replay))}, pass_id);
    for (nm_heap *heap = replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next) {
        const nm_device_group *group = heap->device == NULL ? NULL : heap->device->group;
        nm_device_sample_row row;

        if (group == NULL || !heap->has_state || heap->device->tally.is_written || !is_part_of_end(heap->device))
            continue;
        row = device_row(heap->device, moment_id, &group->figures,
                         group->figures.is_known && group->figures.seq < group->changed_seq, position(replay));
        status = write_device(replay, &row, err);
    }
    return status;
}

/* ---- Ends and moves ---------------------------------------------------------------------------------------------- */

nm_status nm_sample_process_end(nm_replay *replay, nm_process *process, nm_error *err)
{
    nm_status status = NM_OK;

    process->end_seq = position(replay);
    for (nm_heap *heap = process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process) {
        status = write_dirty(replay, scope_of(heap), err);
        if (status == NM_OK && is_of_device(heap) && heap->total.live_bytes > 0) {
            heap->device->group->gone_seq = position(replay);
            status = close_all(replay, heap->device->group, position(replay) - 1, err);
        }
        drop_state(heap);
    }
    return status;
}

static nm_status leave_group(nm_replay *replay, nm_heap *heap, nm_error *err)
{
    nm_status status = write_dirty(replay, scope_of(heap), err);

    if (status != NM_OK)
        return status;
    close_peak(heap->device->group, &heap->at_peak_states, position(replay));
    if (heap->slot != 0)
        nm_sample_touch(heap);
    drop_state(heap);
    return NM_OK;
}

nm_status nm_sample_regroup(nm_replay *replay, nm_device *device, nm_device_group *group, nm_error *err)
{
    nm_device_group *old = device->group;
    nm_status status = old == NULL ? NM_OK : nm_sample_settle(replay, err);

    for (nm_heap *heap = old == NULL ? NULL : replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        if (heap->device == device)
            status = leave_group(replay, heap, err);
    device->group = group;
    if (old != NULL && !group->figures.is_known)
        group->figures = old->figures;
    if (old != NULL && old->peak.device_id == 0 && old->at_peak.count > 0 && group->at_peak.count == 0) {
        close_peak(old, &old->at_peak, position(replay));
        group->at_peak = old->at_peak;
        old->at_peak = (nm_peak_states){0};
    }
    return status == NM_OK ? nm_sample_settle(replay, err) : status;
}
