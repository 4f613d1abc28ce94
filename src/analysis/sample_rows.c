/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of moments: states of heaps that have changed since they were given last, and devices. A device says how much
 * of it is free only when it is asked. What it said belongs to every moment from which on (or up to which) no memory of it
 * came or went; so peaks stay open, and rows of marks wait, until the next change.
 */
#include "analysis/sample_rows.h"

#include "analysis/moments.h"
#include "analysis/sample_tally.h"
#include "base/buffer.h"

#define OPEN_MOMENTS_MAX 4096

static const nm_run *moments_of(const nm_run *run)
{
    return run->needs[0]; /* nm_samples_pass needs no other */
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

void nm_sample_fill(nm_heap_sample_row *row, const nm_heap *heap, int64_t since_seq)
{
    row->heap_id = heap->id;
    row->since_seq = since_seq;
    row->live_bytes = nm_sample_limit(heap->total.live_bytes);
    row->live_count = heap->live_count;
    row->page_bytes = nm_sample_limit(heap->page_bytes);
    row->mapped_bytes = nm_sample_limit(heap->mapped_bytes);
    row->segment_bytes = nm_sample_limit(heap->segment_bytes);
    row->reserved_bytes = nm_sample_limit(nm_pool_reserved_bytes(heap));
    row->pending_bytes = nm_sample_limit(heap->pending_bytes);
    row->free_bytes =
        nm_is_pool(heap) && heap->has_segments ? (int64_t)nm_sample_limit(heap->free_bytes) : NM_UNKNOWN_NUMBER;
    row->fresh_bytes = nm_is_pool(heap) ? nm_sample_limit(heap->fresh_bytes) : 0;
    row->is_stated = nm_pool_is_stated(heap);
    row->is_at_least = nm_pool_is_unseen(heap) && heap->total.live_bytes > 0;
}

static nm_status write_state(const nm_run *run, const nm_heap_state *state, nm_error *err)
{
    return nm_give_heap_sample(&run->replay->sink, &state->row, err);
}

static nm_status write_device(const nm_run *run, const nm_device_sample_row *row, nm_error *err)
{
    return nm_give_device_sample(&run->replay->sink, row, err);
}

nm_status nm_sample_write_dirty(const nm_run *run, nm_sample_scope *scope, nm_error *err)
{
    nm_status status = NM_OK;

    while (scope->first_dirty != NULL && status == NM_OK) {
        nm_sample_heap *room = nm_sample_heap_of(run, scope->first_dirty);

        scope->first_dirty = room->next_dirty;
        room->is_dirty = false;
        status = write_state(run, &scope->states[room->slot - 1], err);
    }
    return status;
}

static nm_device_sample_row device_row(const nm_device *device, uint64_t moment_id, int64_t recorded_bytes,
                                       const nm_device_figures *figures, bool is_stale, int64_t at_seq)
{
    return (nm_device_sample_row){
        .moment_id = moment_id,
        .device_id = device->id,
        .hardware_id = device->group->peak.device_id,
        .recorded_bytes = recorded_bytes,
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

static nm_status write_open(const nm_run *run, nm_sample_hardware *hardware, int64_t until_seq, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < hardware->open.count && status == NM_OK; i++) {
        nm_device_sample_row *row = &hardware->open.items[i];

        if (until_seq > row->until_seq)
            row->until_seq = until_seq;
        status = write_device(run, row, err);
    }
    hardware->open.count = 0;
    return status;
}

void nm_sample_open_peak(nm_sample_hardware *hardware, nm_peak_states *peak)
{
    if (peak->is_open)
        return;
    peak->is_open = true;
    peak->previous_open = NULL;
    peak->next_open = hardware->first_open;
    if (hardware->first_open != NULL)
        hardware->first_open->previous_open = peak;
    hardware->first_open = peak;
}

void nm_sample_close_peak(nm_sample_hardware *hardware, nm_peak_states *peak, int64_t until_seq)
{
    if (!peak->is_open)
        return;
    if (peak->previous_open != NULL)
        peak->previous_open->next_open = peak->next_open;
    else
        hardware->first_open = peak->next_open;
    if (peak->next_open != NULL)
        peak->next_open->previous_open = peak->previous_open;
    peak->is_open = false;
    if (until_seq > peak->until_seq)
        peak->until_seq = until_seq;
}

nm_status nm_sample_close_all(const nm_run *run, nm_sample_hardware *hardware, int64_t until_seq, nm_error *err)
{
    while (hardware->first_open != NULL)
        nm_sample_close_peak(hardware, hardware->first_open, until_seq);
    return write_open(run, hardware, until_seq, err);
}

static bool is_before(const nm_device_figures *figures, nm_event_time time)
{
    return figures->is_known && time.is_known && figures->seq < time.seq;
}

bool nm_sample_is_stale(const nm_sample_hardware *hardware)
{
    return is_before(&hardware->figures, hardware->changed) || is_before(&hardware->figures, hardware->gone);
}

/* The hardware says how much of it is free. */
static void take_figures(const nm_run *run, nm_sample_hardware *hardware, const nm_device_figures *figures)
{
    nm_device_figures *last = &hardware->figures;
    bool is_lesser = last->is_known && last->kind == NM_MEMORY_HBM && figures->kind == NM_MEMORY_DDR;

    if (figures->total_bytes == 0 || (figures->kind != NM_MEMORY_HBM && figures->kind != NM_MEMORY_DDR) || is_lesser)
        return;
    *last = *figures;
    last->is_known = true;
    last->free_bytes = nm_sample_limit(figures->free_bytes);
    last->total_bytes = nm_sample_limit(figures->total_bytes);
    last->recorded_bytes = nm_tally_all(run, &hardware->scope);
    for (nm_peak_states *peak = hardware->first_open; peak != NULL; peak = peak->next_open)
        if (!peak->figures.is_known || peak->is_stale) {
            peak->figures = *last;
            peak->is_stale = false;
        }
    for (size_t i = 0; i < hardware->open.count; i++) {
        nm_device_sample_row *row = &hardware->open.items[i];

        if (row->has_sample && !row->is_stale)
            continue;
        row->has_sample = true;
        row->is_stale = false;
        row->free_bytes = last->free_bytes;
        row->total_bytes = last->total_bytes;
        row->sample_seq = last->seq;
        row->sample_ns = last->ns;
        row->sample_recorded_bytes = last->recorded_bytes;
    }
}

static nm_device_figures figures_in(const nm_context *context, uint64_t kind)
{
    return (nm_device_figures){
        .kind = kind,
        .free_bytes = context->event->free_bytes,
        .total_bytes = context->event->total_bytes,
        .seq = context->seq,
        .ns = context->event->time_ns,
    };
}

void nm_sample_reading(const nm_run *run, const nm_context *context)
{
    const nm_device *device = nm_replay_device(run->replay, context->event->device_id);
    nm_device_figures figures = figures_in(context, context->event->detail);

    if (context->event->kind == NM_EVENT_MEMORY_SAMPLE && device != NULL)
        take_figures(run, nm_sample_hardware_of(run, device->group), &figures);
}

void nm_sample_failure(const nm_run *run, const nm_context *context)
{
    nm_sample_hardware *hardware;
    nm_device_figures figures;

    if (context->heap == NULL || context->heap->device == NULL)
        return;
    hardware = nm_sample_hardware_of(run, context->heap->device->group);
    figures = figures_in(context, hardware->figures.kind);
    take_figures(run, hardware, &figures);
}

/* ---- Marks and failures -------------------------------------------------------------------------------------------- */

static nm_status add_open(const nm_run *run, nm_sample_hardware *hardware, const nm_device_sample_row *row,
                          nm_error *err)
{
    nm_status status = NM_OK;

    if (hardware->open.count == OPEN_MOMENTS_MAX)
        status = write_open(run, hardware, nm_sample_position(run), err);
    if (status == NM_OK)
        status =
            nm_array_grow(&hardware->open.items, &hardware->open.capacity, hardware->open.count + 1, sizeof *row, err);
    if (status == NM_OK)
        hardware->open.items[hardware->open.count++] = *row;
    return status;
}

static nm_status sample_hardware(const nm_run *run, nm_sample_hardware *hardware, uint64_t moment_id, nm_error *err)
{
    const nm_sample_scope *scope = &hardware->scope;
    uint64_t number = nm_tally_begin(run);
    nm_status status = nm_sample_write_dirty(run, &hardware->scope, err);

    hardware->moment_id = moment_id;
    for (size_t i = 0; i < scope->count; i++)
        nm_tally_add(run, &scope->states[i], number);
    for (size_t i = 0; i < scope->count && status == NM_OK; i++) {
        const nm_device *device = scope->states[i].heap->device;
        nm_device_sample_row row;
        int64_t bytes;

        if (!nm_tally_take(run, device, number, &bytes))
            continue;
        row = device_row(device, moment_id, bytes, &hardware->figures, nm_sample_is_stale(hardware),
                         nm_sample_position(run));
        status = add_open(run, hardware, &row, err);
    }
    return status;
}

static nm_status sample_process(const nm_run *run, const nm_process *process, uint64_t moment_id, nm_error *err)
{
    nm_status status = nm_sample_write_dirty(run, nm_sample_scope_of_process(run, process), err);

    for (const nm_arena *arena = process->arenas; arena != NULL && status == NM_OK; arena = arena->next) {
        const nm_device *device = nm_replay_device(run->replay, arena->device_id);
        nm_sample_hardware *hardware = device == NULL ? NULL : nm_sample_hardware_of(run, device->group);

        if (hardware != NULL && hardware->moment_id != moment_id)
            status = sample_hardware(run, hardware, moment_id, err);
    }
    return status;
}

nm_status nm_sample_now(const nm_run *run, const nm_process *process, nm_error *err)
{
    uint64_t moment_id = nm_moments_last(moments_of(run));
    nm_status status = NM_OK;

    if (process != NULL)
        return sample_process(run, process, moment_id, err);
    for (process = run->replay->first_process; process != NULL && status == NM_OK; process = process->next)
        status = sample_process(run, process, moment_id, err);
    return status;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static nm_status sample_peak(const nm_run *run, uint64_t moment_id, const nm_peak_states *peak, nm_error *err)
{
    uint64_t number = nm_tally_begin(run);
    nm_status status = NM_OK;

    for (size_t i = 0; i < peak->count && status == NM_OK; i++) {
        status = write_state(run, &peak->states[i], err);
        if (peak->is_whole && peak->states[i].heap->device != NULL)
            nm_tally_add(run, &peak->states[i], number);
    }
    for (size_t i = 0; i < peak->count && peak->is_whole && status == NM_OK; i++) {
        const nm_device *device = peak->states[i].heap->device;
        nm_device_sample_row row;
        int64_t bytes;

        if (device == NULL || !nm_tally_take(run, device, number, &bytes))
            continue;
        row = device_row(device, moment_id, bytes, &peak->figures, peak->is_stale, peak->at_seq);
        row.until_seq = peak->until_seq;
        status = write_device(run, &row, err);
    }
    return status;
}

/* Did the process still hold its memory when the device was asked last? */
static bool is_part_of_end(const nm_run *run, const nm_device *device)
{
    const nm_sample_process *process = nm_process_room(run, device->process);
    const nm_device_figures *figures = &nm_sample_hardware_of(run, device->group)->figures;

    return !process->has_ended || !figures->is_known || process->end_seq > figures->seq;
}

static nm_status sample_devices_at_end(const nm_run *run, nm_error *err)
{
    uint64_t number = nm_tally_begin(run);
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next) {
        nm_heap_state state = {.heap = heap};

        nm_sample_fill(&state.row, heap, nm_sample_position(run));
        if (heap->device != NULL && nm_sample_heap_of(run, heap)->has_state)
            nm_tally_add(run, &state, number);
    }
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next) {
        const nm_device *device = heap->device;
        const nm_sample_hardware *hardware;
        nm_device_sample_row row;
        int64_t bytes;

        if (device == NULL || !nm_sample_heap_of(run, heap)->has_state || !is_part_of_end(run, device) ||
            !nm_tally_take(run, device, number, &bytes))
            continue;
        hardware = nm_sample_hardware_of(run, device->group);
        row = device_row(device, nm_moments_end(moments_of(run)), bytes, &hardware->figures,
                         is_before(&hardware->figures, hardware->changed), nm_sample_position(run));
        status = write_device(run, &row, err);
    }
    return status;
}

static nm_status sample_end(const nm_run *run, nm_error *err)
{
    const nm_replay *replay = run->replay;
    nm_status status = NM_OK;

    for (const nm_process *process = replay->first_process; process != NULL && status == NM_OK; process = process->next)
        status = nm_sample_write_dirty(run, nm_sample_scope_of_process(run, process), err);
    for (const nm_device_group *group = replay->first_group; group != NULL && status == NM_OK; group = group->next)
        status = nm_sample_write_dirty(run, &nm_sample_hardware_of(run, group)->scope, err);
    return status == NM_OK ? sample_devices_at_end(run, err) : status;
}

/* Peaks of heaps, the end, peaks of hardware and reserves of pools, in the order of their moments. */
nm_status nm_sample_end(const nm_run *run, nm_error *err)
{
    const nm_run *moments = moments_of(run);
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        if (nm_moments_peak_of(moments, heap) != 0)
            status = sample_peak(run, nm_moments_peak_of(moments, heap), &nm_sample_heap_of(run, heap)->at_peak, err);
    if (status == NM_OK)
        status = sample_end(run, err);
    for (const nm_device_group *group = run->replay->first_group; group != NULL && status == NM_OK; group = group->next)
        if (nm_moments_hardware_peak_of(moments, group) != 0)
            status = sample_peak(run, nm_moments_hardware_peak_of(moments, group),
                                 &nm_sample_hardware_of(run, group)->at_peak, err);
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        if (nm_moments_reserve_of(moments, heap) != 0)
            status =
                sample_peak(run, nm_moments_reserve_of(moments, heap), &nm_sample_heap_of(run, heap)->at_reserve, err);
    return status;
}
