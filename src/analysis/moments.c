/* SPDX-License-Identifier: Apache-2.0
 *
 * Points at which the state of the pools is described: every mark, every failed allocation, each heap's peak, when each pool
 * held most, and the end. The figures are always at hand (replay/pool.c), so a moment costs one row a pool; what else was there then, samples.c
 * says, and how free memory was cut up, fragments.c. They need this pass, which gives the moments their numbers.
 */
#include "analysis/moments.h"

#include "analysis/passes.h"
#include "base/number.h"
#include "replay/lookup.h"
#include "replay/pool.h"
#include "replay/sub_pool.h"

#define FIGURES_ALLOWED  (UINT64_C(1) << 18) /* rows of heaps at moments, */
#define FIGURES_AN_EVENT 8                   /* and so many more for each event */
#define DETAIL_ALLOWED   (UINT64_C(1) << 20) /* segments and blocks, beside one an event; half of it for failures alone */
#define DETAIL_COUNT     1000                /* moments of a pool; half of it for failures alone */

typedef struct replay_room {
    uint64_t moment_count, failure_count;
    uint64_t figures_spent; /* heaps that moments have been asked about */
    uint64_t detail_spent;  /* segments and blocks that they may have looked at one by one */
    uint64_t end_id;
} replay_room;

typedef struct process_room {
    uint64_t figured_id; /* the last moment that has figures of its pools */
} process_room;

typedef struct hardware_room {
    uint64_t peak_id;
} hardware_room;

typedef struct heap_room {
    uint64_t peak_id;
    uint64_t detailed_id;         /* the last moment that may look at all of it */
    uint64_t detail_count;        /* how many may */
    nm_fragmentation_row at_peak; /* pools */
    nm_fragmentation_row at_reserve;
    int64_t reserve_ns;
    uint64_t reserve_id;
    bool is_listed; /* the source's own list of the end says: */
    uint64_t reserved_bytes, occupied_bytes, free_bytes, largest_free_bytes, stuck_bytes, gap_count;
    uint64_t waste_bytes, unknown_waste_count;
} heap_room;

uint64_t nm_moments_last(const nm_run *run)
{
    return ((const replay_room *)nm_replay_room(run))->moment_count;
}

bool nm_moments_has_figures(const nm_run *run, const nm_process *process)
{
    return ((const process_room *)nm_process_room(run, process))->figured_id == nm_moments_last(run);
}

bool nm_moments_has_detail(const nm_run *run, const nm_heap *pool)
{
    return ((const heap_room *)nm_heap_room(run, pool))->detailed_id == nm_moments_last(run);
}

uint64_t nm_moments_peak_of(const nm_run *run, const nm_heap *heap)
{
    return ((const heap_room *)nm_heap_room(run, heap))->peak_id;
}

uint64_t nm_moments_hardware_peak_of(const nm_run *run, const nm_device_group *hardware)
{
    return ((const hardware_room *)nm_hardware_room(run, hardware))->peak_id;
}

uint64_t nm_moments_reserve_of(const nm_run *run, const nm_heap *heap)
{
    return ((const heap_room *)nm_heap_room(run, heap))->reserve_id;
}

uint64_t nm_moments_end(const nm_run *run)
{
    return ((const replay_room *)nm_replay_room(run))->end_id;
}

static nm_status write_moment(const nm_run *run, nm_moment_row *row, nm_error *err)
{
    row->moment_id = ++((replay_room *)nm_replay_room(run))->moment_count;
    return nm_give_moment(&run->replay->sink, row, err);
}

static nm_status write_figures(const nm_run *run, uint64_t moment_id, const nm_fragmentation_row *figures,
                               nm_error *err)
{
    nm_fragmentation_row row = *figures;

    row.moment_id = moment_id;
    return nm_give_fragmentation(&run->replay->sink, &row, err);
}

/* ---- Marks and failures ------------------------------------------------------------------------------------------ */

/* Thousands of heaps and thousands of marks would be millions of rows from a few kilobytes. */
static bool afford_figures(const nm_run *run, const nm_process *process)
{
    replay_room *room = nm_replay_room(run);
    uint64_t allowed = FIGURES_ALLOWED + FIGURES_AN_EVENT * run->replay->next_seq;

    if (room->figures_spent > allowed || process->heap_count > allowed - room->figures_spent)
        return false;
    room->figures_spent += process->heap_count;
    return true;
}

/* To look at all of the pool costs as much as there is: that is kept in proportion to the events. */
static bool afford_detail(const nm_run *run, const nm_heap *pool, bool is_failure)
{
    replay_room *all = nm_replay_room(run);
    heap_room *room = nm_heap_room(run, pool);
    uint64_t cost = pool->arena->ranges.count + pool->blocks.count;
    uint64_t allowed = run->replay->next_seq + (is_failure ? DETAIL_ALLOWED : DETAIL_ALLOWED / 2);

    if (room->detail_count >= (is_failure ? DETAIL_COUNT : DETAIL_COUNT / 2) || all->detail_spent > allowed ||
        cost > allowed - all->detail_spent)
        return false;
    all->detail_spent += cost;
    room->detail_count++;
    return true;
}

/* The pools of a process as they are now. */
static nm_status write_pools_of(const nm_run *run, const nm_moment_row *moment, const nm_process *process,
                                nm_error *err)
{
    nm_status status = NM_OK;

    if (!afford_figures(run, process))
        return NM_OK;
    ((process_room *)nm_process_room(run, process))->figured_id = moment->moment_id;
    for (const nm_heap *heap = process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process) {
        nm_fragmentation_row figures;

        if (!nm_is_pool(heap))
            continue;
        nm_pool_figures(heap, &figures);
        figures.has_detail = afford_detail(run, heap, moment->kind == NM_MOMENT_FAILURE);
        if (figures.has_detail)
            ((heap_room *)nm_heap_room(run, heap))->detailed_id = moment->moment_id;
        status = write_figures(run, moment->moment_id, &figures, err);
    }
    return status;
}

/* A moment of one process, or of all where it is not known. */
static nm_status write_now(const nm_run *run, nm_moment_row *row, const nm_process *process, nm_error *err)
{
    nm_status status = write_moment(run, row, err);

    if (process != NULL)
        return status == NM_OK ? write_pools_of(run, row, process, err) : status;
    for (process = run->replay->first_process; process != NULL && status == NM_OK; process = process->next)
        status = write_pools_of(run, row, process, err);
    return status;
}

static nm_status take_mark(const nm_run *run, const nm_context *context, nm_error *err)
{
    nm_moment_row row = {
        .kind = NM_MOMENT_MARK,
        .name = context->event->name_id,
        .process_id = context->process == NULL ? 0 : context->process->id,
        .seq = context->seq,
        .ns = context->event->time_ns,
    };

    return write_now(run, &row, context->process, err);
}

/* Of an allocation, or of a call about streams: that one asks for no bytes of a heap. */
static nm_status take_failure(const nm_run *run, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_failure_row failure = {
        .failure_id = ++((replay_room *)nm_replay_room(run))->failure_count,
        .heap_id = context->heap == NULL ? 0 : context->heap->id,
        .thread_id = context->thread == NULL ? 0 : context->thread->id,
        .operation_id = nm_replay_operation(run->replay, context->thread),
        .stack_id = context->stack_id,
        .has_stream = (event->flags & NM_FLAG_STREAM) != 0,
        .stream = event->stream,
        .seq = context->seq,
        .ns = event->time_ns,
        .requested_bytes = event->requested_bytes,
        .error_code = event->error_code,
        .has_device_free =
            (event->flags & NM_FLAG_FREE_KNOWN) != 0 || event->free_bytes != 0 || event->total_bytes != 0,
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
    nm_status status = nm_give_failure(&run->replay->sink, &failure, err);

    return status == NM_OK ? write_now(run, &row, context->process, err) : status;
}

/* ---- The state at the end, as the source lists it ---------------------------------------------------------------- */

static void list_segment(heap_room *room, const nm_event *event)
{
    nm_sum_add(&room->reserved_bytes, event->block_bytes);
    if (event->size_bytes > 0)
        nm_sum_add(&room->stuck_bytes, nm_subtract_saturated(event->block_bytes, event->size_bytes));
}

static void list_block(heap_room *room, const nm_event *event)
{
    int64_t waste_bytes = nm_sub_pool_block_waste(event->requested_bytes, event->block_bytes);

    if (event->flags & NM_FLAG_IDLE) {
        nm_sum_add(&room->free_bytes, event->block_bytes);
        room->gap_count++;
        if (event->block_bytes > room->largest_free_bytes)
            room->largest_free_bytes = event->block_bytes;
        return;
    }
    nm_sum_add(&room->occupied_bytes, event->block_bytes);
    if (waste_bytes == NM_UNKNOWN_NUMBER)
        room->unknown_waste_count++;
    else
        nm_sum_add(&room->waste_bytes, (uint64_t)waste_bytes);
}

static void list(heap_room *room, const nm_event *event)
{
    room->is_listed = true;
    if (event->kind == NM_EVENT_STATE_SEGMENT)
        list_segment(room, event);
    else
        list_block(room, event);
}

static void end_figures(const nm_run *run, const nm_heap *pool, nm_fragmentation_row *out)
{
    const heap_room *room = nm_heap_room(run, pool);

    nm_pool_figures(pool, out);
    out->has_detail = true;
    if (!room->is_listed)
        return;
    *out = (nm_fragmentation_row){
        .heap_id = pool->id,
        .reserved_bytes = room->reserved_bytes,
        .occupied_bytes = room->occupied_bytes,
        .free_bytes = room->free_bytes,
        .largest_free_bytes = room->largest_free_bytes,
        .stuck_bytes = room->stuck_bytes,
        .gap_count = room->gap_count,
        .size_basis = NM_BASIS_BLOCK,
        .has_stated = pool->has_stated,
        .stated_reserved_bytes = pool->stated_reserved_bytes,
        .waste_bytes = nm_sub_pool_waste(room->waste_bytes, room->unknown_waste_count),
        .has_detail = true,
    };
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static nm_status write_peak(const nm_run *run, const nm_heap *heap, nm_error *err)
{
    heap_room *room = nm_heap_room(run, heap);
    nm_moment_row row = {
        .kind = NM_MOMENT_PEAK,
        .process_id = heap->process->id,
        .heap_id = heap->id,
        .seq = heap->total.peak_seq,
        .ns = heap->total.peak_ns,
    };
    nm_status status;

    if (heap->total.peak_bytes == 0 || heap->is_peak_kept) /* what was there then is not known any more */
        return NM_OK;
    status = write_moment(run, &row, err);
    room->peak_id = row.moment_id;
    room->at_peak.has_detail = true;
    return status == NM_OK && nm_is_pool(heap) ? write_figures(run, row.moment_id, &room->at_peak, err) : status;
}

static nm_status write_hardware_peak(const nm_run *run, const nm_device_group *hardware, nm_error *err)
{
    nm_moment_row row = {
        .kind = NM_MOMENT_DEVICE_PEAK,
        .device_id = hardware->peak.device_id,
        .seq = hardware->peak.peak_seq,
        .ns = hardware->peak.peak_ns,
    };
    nm_status status;

    if (hardware->peak.peak_bytes == 0 || hardware->peak.device_id == 0 || hardware->is_peak_kept)
        return NM_OK;
    status = write_moment(run, &row, err);
    ((hardware_room *)nm_hardware_room(run, hardware))->peak_id = row.moment_id;
    return status;
}

static void note_reserve(const nm_run *run, const nm_heap *pool, const nm_context *context)
{
    heap_room *room = nm_heap_room(run, pool);

    nm_pool_figures(pool, &room->at_reserve);
    room->reserve_ns = context->seq == NM_NO_SEQ ? NM_NO_TIME : context->event->time_ns;
}

/* Where a pool held as much at its peak, that is the moment: more was live then. */
static nm_status write_reserve(const nm_run *run, const nm_heap *pool, nm_error *err)
{
    heap_room *room = nm_heap_room(run, pool);
    nm_moment_row row = {
        .kind = NM_MOMENT_RESERVE,
        .process_id = pool->process->id,
        .heap_id = pool->id,
        .seq = pool->reserve_seq,
        .ns = room->reserve_ns,
    };
    uint64_t at_peak_bytes = nm_pool_is_stated(pool) ? pool->stated_at_peak_bytes : pool->total.reserved_at_peak_bytes;
    nm_status status;

    if (pool->reserve_epoch == 0 || pool->is_reserve_kept || at_peak_bytes >= pool->most_reserved_bytes)
        return NM_OK;
    status = write_moment(run, &row, err);
    room->reserve_id = row.moment_id;
    room->at_reserve.has_detail = true;
    return status == NM_OK ? write_figures(run, row.moment_id, &room->at_reserve, err) : status;
}

static nm_status end(const nm_run *run, nm_error *err)
{
    const nm_replay *replay = run->replay;
    nm_moment_row row = {.kind = NM_MOMENT_END, .seq = replay->last_seq, .ns = replay->last_ns};
    nm_status status = NM_OK;

    for (const nm_heap *heap = replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        status = write_peak(run, heap, err);
    if (status == NM_OK)
        status = write_moment(run, &row, err);
    ((replay_room *)nm_replay_room(run))->end_id = row.moment_id;
    for (const nm_heap *heap = replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next) {
        nm_fragmentation_row figures;

        if (!nm_is_pool(heap))
            continue;
        end_figures(run, heap, &figures);
        status = write_figures(run, row.moment_id, &figures, err);
    }
    for (const nm_device_group *group = replay->first_group; group != NULL && status == NM_OK; group = group->next)
        status = write_hardware_peak(run, group, err);
    for (const nm_heap *heap = replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        if (nm_is_pool(heap))
            status = write_reserve(run, heap, err);
    return status;
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    switch (change->kind) {
    case NM_CHANGE_PEAKED:
        if (nm_is_pool(change->heap))
            nm_pool_figures(change->heap, &((heap_room *)nm_heap_room(run, change->heap))->at_peak);
        return NM_OK;
    case NM_CHANGE_RESERVED:
        note_reserve(run, change->heap, change->context);
        return NM_OK;
    case NM_CHANGE_MARKED:
        return take_mark(run, change->context, err);
    case NM_CHANGE_FAILED:
        return take_failure(run, change->context, err);
    case NM_CHANGE_LISTED:
        list(nm_heap_room(run, change->heap), change->context->event);
        return NM_OK;
    default:
        return end(run, err);
    }
}

const nm_pass nm_moments_pass = {
    .name = "moments",
    .gives = {[NM_ROW_MOMENT] = true, [NM_ROW_FAILURE] = true, [NM_ROW_FRAGMENTATION] = true},
    .wants = {[NM_CHANGE_PEAKED] = change,
              [NM_CHANGE_RESERVED] = change,
              [NM_CHANGE_MARKED] = change,
              [NM_CHANGE_FAILED] = change,
              [NM_CHANGE_LISTED] = change,
              [NM_CHANGE_END] = change},
    .room = {[NM_OWNER_REPLAY] = sizeof(replay_room),
             [NM_OWNER_PROCESS] = sizeof(process_room),
             [NM_OWNER_HARDWARE] = sizeof(hardware_room),
             [NM_OWNER_HEAP] = sizeof(heap_room)},
};
