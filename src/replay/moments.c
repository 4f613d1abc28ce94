/* SPDX-License-Identifier: Apache-2.0
 *
 * Points at which the state of the pools is described: every mark, every failed allocation, each heap's peak and the
 * end. The figures are always at hand (pool.c), so a moment costs one row a pool; what else was there then, sample.c
 * says, and how free memory was cut up, fragments.c.
 */
#include "replay/moments.h"

#include "replay/fragments.h"
#include "replay/lookup.h"
#include "replay/pass.h"
#include "replay/pool.h"
#include "replay/sample.h"

#define FIGURES_ALLOWED  (UINT64_C(1) << 18) /* rows of heaps at moments, */
#define FIGURES_AN_EVENT 8                   /* and so many more for each event */

static nm_status write_moment(nm_replay *replay, nm_moment_row *row, nm_error *err)
{
    row->moment_id = ++replay->moment_count;
    return nm_give_moment(&replay->sink, row, err);
}

static nm_status write_figures(nm_replay *replay, uint64_t moment_id, const nm_fragmentation_row *figures,
                               nm_error *err)
{
    nm_fragmentation_row row = *figures;

    row.moment_id = moment_id;
    return nm_give_fragmentation(&replay->sink, &row, err);
}

/* Thousands of heaps and thousands of marks would be millions of rows from a few kilobytes. */
static bool afford_figures(nm_replay *replay, const nm_process *process)
{
    uint64_t allowed = FIGURES_ALLOWED + FIGURES_AN_EVENT * replay->next_seq;

    if (replay->figures_spent > allowed || process->heap_count > allowed - replay->figures_spent)
        return false;
    replay->figures_spent += process->heap_count;
    return true;
}

/* The pools of a process as they are now. */
static nm_status write_pools_of(nm_replay *replay, const nm_moment_row *moment, const nm_process *process,
                                nm_error *err)
{
    nm_status status = NM_OK;

    if (!afford_figures(replay, process))
        return NM_OK;
    for (nm_heap *heap = process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process) {
        nm_fragmentation_row figures;

        if (!nm_is_pool(heap))
            continue;
        nm_pool_figures(heap, &figures);
        figures.has_detail = nm_fragments_afford(replay, heap, moment->kind == NM_MOMENT_FAILURE);
        status = write_figures(replay, moment->moment_id, &figures, err);
        if (status == NM_OK)
            status =
                nm_fragments_now(replay, moment->moment_id, heap, figures.has_detail ? NM_BLOCKERS_AT_MARKS : 0, err);
    }
    return status;
}

/* A moment of one process, or of all where it is not known. */
static nm_status write_now(nm_replay *replay, nm_moment_row *row, nm_process *process, nm_error *err)
{
    nm_status status = write_moment(replay, row, err);

    if (status == NM_OK)
        status = nm_sample_now(replay, row->moment_id, process, err);
    if (process != NULL)
        return status == NM_OK ? write_pools_of(replay, row, process, err) : status;
    for (process = replay->first_process; process != NULL && status == NM_OK; process = process->next)
        status = write_pools_of(replay, row, process, err);
    return status;
}

static void note_moment(nm_replay *replay, const nm_context *context)
{
    *(context->process == NULL ? &replay->moment_seq : &context->process->moment_seq) = context->seq;
}

nm_status nm_moments_mark(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_moment_row row = {
        .kind = NM_MOMENT_MARK,
        .name = context->event->name_id,
        .process_id = context->process == NULL ? 0 : context->process->id,
        .seq = context->seq,
        .ns = context->event->time_ns,
    };

    note_moment(replay, context);
    return write_now(replay, &row, context->process, err);
}

static void take_figures(nm_replay *replay, const nm_device *device, const nm_context *context, uint64_t kind)
{
    nm_device_figures figures = {
        .kind = kind,
        .free_bytes = context->event->free_bytes,
        .total_bytes = context->event->total_bytes,
        .seq = context->seq,
        .ns = context->event->time_ns,
    };

    nm_sample_device(replay, device->group, &figures);
}

/* Of an allocation, or of a call about streams: that one asks for no bytes of a heap. */
nm_status nm_moments_failure(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_failure_row failure = {
        .failure_id = ++replay->failure_count,
        .heap_id = context->heap == NULL ? 0 : context->heap->id,
        .thread_id = context->thread == NULL ? 0 : context->thread->id,
        .operation_id = nm_replay_operation(replay, context->thread),
        .stack_id = context->stack_id,
        .has_stream = (event->flags & NM_FLAG_STREAM) != 0,
        .stream = event->stream,
        .seq = context->seq,
        .ns = event->time_ns,
        .requested_bytes = event->requested_bytes,
        .error_code = event->error_code,
        .device_free_bytes = event->free_bytes,
        .device_total_bytes = event->total_bytes,
    };
    nm_moment_row row = {
        .kind = NM_MOMENT_FAILURE,
        .process_id = context->process == NULL ? 0 : context->process->id,
        .heap_id = failure.heap_id,
        .failure_id = failure.failure_id,
        .seq = context->seq,
        .ns = event->time_ns,
    };
    nm_status status = nm_give_failure(&replay->sink, &failure, err);

    note_moment(replay, context);
    if (context->heap != NULL)
        context->heap->arena->failure_count++;
    if (context->heap != NULL && context->heap->device != NULL)
        take_figures(replay, context->heap->device, context, context->heap->device->group->figures.kind);
    if (status == NM_OK)
        status = write_now(replay, &row, context->process, err);
    return status;
}

nm_status nm_moments_sample(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    const nm_device *device = nm_replay_device(replay, event->device_id);
    const nm_process *named = event->number <= 0 ? NULL : nm_replay_process(replay, (uint64_t)event->number);
    const nm_process *process = named != NULL              ? named
                                : context->process != NULL ? context->process
                                : device == NULL           ? NULL
                                                           : device->process;
    nm_memory_sample_row row = {
        .ns = event->time_ns,
        .seq = context->seq,
        .process_id = process == NULL ? 0 : process->id,
        .device_id = device == NULL ? 0 : device->id,
        .kind = event->detail,
        .used_bytes = event->detail >= NM_MEMORY_HOST_RESIDENT
                          ? event->size_bytes
                          : nm_subtract_saturated(event->total_bytes, event->free_bytes),
        .total_bytes = event->total_bytes,
    };

    if (device != NULL)
        take_figures(replay, device, context, event->detail);
    return nm_give_memory_sample(&replay->sink, &row, err);
}

nm_status nm_moments_module(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    const nm_device *device = nm_replay_device(replay, event->device_id);
    const nm_process *process = context->process != NULL ? context->process : device == NULL ? NULL : device->process;
    nm_module_sample_row row = {
        .ns = event->time_ns,
        .seq = context->seq,
        .process_id = process == NULL ? 0 : process->id,
        .device_id = device == NULL ? 0 : device->id,
        .module = event->name_id,
        .used_bytes = event->size_bytes < NM_SIZE_BYTES_MAX ? event->size_bytes : NM_SIZE_BYTES_MAX,
        .peak_bytes = event->total_bytes < NM_SIZE_BYTES_MAX ? event->total_bytes : NM_SIZE_BYTES_MAX,
        .recorded_bytes = device == NULL ? 0 : nm_sample_recorded(replay, device),
    };

    return nm_give_module_sample(&replay->sink, &row, err);
}

/* ---- The state at the end, as the source lists it ---------------------------------------------------------------- */

static void add_state_segment(nm_pool_state *state, const nm_event *event)
{
    uint64_t free_bytes = nm_subtract_saturated(event->block_bytes, event->size_bytes);

    nm_sum_add(&state->reserved_bytes, event->block_bytes);
    if (event->size_bytes > 0)
        nm_sum_add(&state->stuck_bytes, free_bytes);
}

static void add_state_block(nm_pool_state *state, const nm_event *event)
{
    if (!(event->flags & NM_FLAG_IDLE)) {
        nm_sum_add(&state->occupied_bytes, event->block_bytes);
        return;
    }
    nm_sum_add(&state->free_bytes, event->block_bytes);
    state->gap_count++;
    if (event->block_bytes > state->largest_free_bytes)
        state->largest_free_bytes = event->block_bytes;
}

nm_status nm_moments_state(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_heap *heap = context->heap;

    if (heap != NULL && !nm_is_pool(heap)) /* segments may be listed under the driver's heap */
        heap = heap->arena->pool;
    if (heap == NULL)
        return NM_OK;
    heap->state.is_known = true;
    if (context->event->kind == NM_EVENT_STATE_SEGMENT)
        add_state_segment(&heap->state, context->event);
    else
        add_state_block(&heap->state, context->event);
    nm_status status = nm_fragments_state(replay, heap, context->event, err);
    return status == NM_OK ? NM_TELL(replay, NM_CHANGE_LISTED, err, .context = context, .heap = heap) : status;
}

/* Of the blocks that the source lists, what they were given beyond what was asked for. */
static int64_t waste_in(const nm_pool_state *state)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < state->blocks.count; i++) {
        if (state->blocks.items[i].waste_bytes == NM_UNKNOWN_NUMBER)
            return NM_UNKNOWN_NUMBER;
        nm_sum_add(&bytes, (uint64_t)state->blocks.items[i].waste_bytes);
    }
    return (int64_t)bytes;
}

static void end_figures(const nm_heap *heap, nm_fragmentation_row *out)
{
    const nm_pool_state *state = &heap->state;

    nm_pool_figures(heap, out);
    out->has_detail = true;
    if (!state->is_known)
        return;
    *out = (nm_fragmentation_row){
        .heap_id = heap->id,
        .reserved_bytes = state->reserved_bytes,
        .occupied_bytes = state->occupied_bytes,
        .free_bytes = state->free_bytes,
        .largest_free_bytes = state->largest_free_bytes,
        .stuck_bytes = state->stuck_bytes,
        .gap_count = state->gap_count,
        .size_basis = NM_BASIS_BLOCK,
        .has_stated = heap->has_stated,
        .stated_reserved_bytes = heap->stated_reserved_bytes,
        .waste_bytes = waste_in(state),
        .has_detail = true,
    };
}

static nm_status write_peak(nm_replay *replay, const nm_heap *heap, nm_error *err)
{
    nm_moment_row row = {
        .kind = NM_MOMENT_PEAK,
        .process_id = heap->process->id,
        .heap_id = heap->id,
        .seq = heap->total.peak_seq,
        .ns = heap->total.peak_ns,
    };
    nm_fragmentation_row figures = heap->at_peak;
    nm_status status;

    figures.has_detail = true;
    if (heap->total.peak_bytes == 0 || heap->is_peak_kept) /* what was there then is not known any more */
        return NM_OK;
    status = write_moment(replay, &row, err);
    if (status == NM_OK && nm_is_pool(heap))
        status = write_figures(replay, row.moment_id, &figures, err);
    if (status == NM_OK && nm_is_pool(heap))
        status = nm_fragments_peak(replay, row.moment_id, heap, err);
    return status == NM_OK ? nm_sample_peak(replay, row.moment_id, &heap->at_peak_states, err) : status;
}

static nm_status write_device_peak(nm_replay *replay, const nm_device_group *group, nm_error *err)
{
    nm_moment_row row = {
        .kind = NM_MOMENT_DEVICE_PEAK,
        .device_id = group->peak.device_id,
        .seq = group->peak.peak_seq,
        .ns = group->peak.peak_ns,
    };
    nm_status status;

    if (group->peak.peak_bytes == 0 || group->peak.device_id == 0 || group->is_peak_kept)
        return NM_OK;
    status = write_moment(replay, &row, err);
    return status == NM_OK ? nm_sample_peak(replay, row.moment_id, &group->at_peak, err) : status;
}

nm_status nm_moments_finish(nm_replay *replay, nm_error *err)
{
    nm_moment_row end = {.kind = NM_MOMENT_END, .seq = replay->last_seq, .ns = replay->last_ns};
    nm_status status = nm_sample_close(replay, err);

    for (const nm_heap *heap = replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        status = write_peak(replay, heap, err);
    if (status == NM_OK)
        status = write_moment(replay, &end, err);
    if (status == NM_OK)
        status = nm_sample_end(replay, end.moment_id, err);
    for (const nm_heap *heap = replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next) {
        nm_fragmentation_row figures;

        if (!nm_is_pool(heap))
            continue;
        end_figures(heap, &figures);
        status = write_figures(replay, end.moment_id, &figures, err);
        if (status == NM_OK)
            status = nm_fragments_end(replay, end.moment_id, heap, err);
    }
    for (const nm_device_group *group = replay->first_group; group != NULL && status == NM_OK; group = group->next)
        status = write_device_peak(replay, group, err);
    return status;
}
