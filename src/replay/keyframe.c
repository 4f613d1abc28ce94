/* SPDX-License-Identifier: Apache-2.0
 *
 * The replay's state as events, and back: a recording that is kept in parts begins each with them (npumem-record --keep),
 * so that whoever reads from there knows what is live, and what was summed up so far. Order matters: memory first, ranges
 * before the blocks in them; then the sums of heaps, which hold against what the memory has added up to; then those of
 * sites, at the peak that the heap has got by then; then steps, and pauses.
 */
#include "replay/keyframe.h"

#include "replay/doubt.h"
#include "replay/lookup.h"
#include "replay/pairing.h"
#include "replay/places.h"
#include "replay/program.h"
#include "replay/totals.h"
#include "replay/usage.h"

/* ---- Out --------------------------------------------------------------------------------------------------------- */

static uint64_t flags_of(const nm_replay *replay, const nm_live *live)
{
    const nm_live_row *row = &live->row;
    uint64_t flags = (row->has_stream ? NM_FLAG_STREAM : 0) | (live->is_baseline ? NM_FLAG_BASELINE : 0) |
                     (row->is_exported ? NM_FLAG_EXPORTED : 0) | (row->is_segment ? NM_FLAG_SEGMENT : 0) |
                     (live->is_unseen ? NM_FLAG_PAUSED : 0);

    if (nm_doubt_of_live(replay, live))
        flags |= NM_FLAG_LATE;
    if (nm_live_more_of(live)->free_requested_seq != NM_NO_SEQ)
        flags |= NM_FLAG_PENDING;
    if (live->heap->level == NM_LEVEL_DRIVER)
        return flags | (live->is_touched ? NM_FLAG_HIT : 0);
    return flags | (row->is_miss == 1 ? NM_FLAG_MISS : row->is_miss == 0 ? NM_FLAG_HIT : 0);
}

static nm_status put_live(const nm_keyframe_out *out, const nm_live *live, uint64_t more_flags, nm_error *err)
{
    const nm_heap *owner = nm_live_owner(live);
    const nm_live_row *row = &live->row;
    nm_event event = {
        .kind = NM_EVENT_KEYFRAME,
        .time_ns = row->alloc_ns,
        .flags = flags_of(live->heap->replay, live) | more_flags,
        .thread_id = row->thread_id,
        .heap_id = live->heap->id,
        .address = nm_live_address(live),
        .requested_bytes = row->requested_bytes,
        .block_bytes = row->block_bytes,
        .stack_id = nm_live_stack(live),
        .stream = row->stream,
        .policy = row->policy,
        .cost_ns = row->cost_ns,
        .number = live->birth_seq,
        .detail = live->is_mapped ? NM_EVENT_MAP : NM_EVENT_ALLOC,
        .generation = row->step_count,
        .pool_id = owner == NULL ? 0 : owner->id,
    };

    return nm_keyframe_write(out, &event, err);
}

static nm_status put_space(const nm_keyframe_out *out, const nm_tree *space, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_tree_node *node = nm_tree_first(space); node != NULL && status == NM_OK; node = nm_tree_next(node))
        status = put_live(out, NM_TREE_ITEM(node, nm_live, node), 0, err);
    return status;
}

static nm_status put_live_set(const nm_replay *replay, const nm_keyframe_out *out, nm_error *err)
{
    nm_status status = NM_OK;

    /* What was replaced while its free may still come; what replaced it follows. */
    for (const nm_replaced *one = replay->first_replaced; one != NULL && status == NM_OK; one = one->next)
        if (one->old != NULL && one->place != NULL && nm_place_live_of(one->place, one->old->heap) != NULL)
            status = put_live(out, one->old, NM_FLAG_IDLE, err);
    for (const nm_process *process = replay->first_process; process != NULL; process = process->next) {
        if (status == NM_OK)
            status = put_space(out, &process->host_ranges, err);
        if (status == NM_OK)
            status = put_space(out, &process->registered_ranges, err);
        for (const nm_arena *arena = process->arenas; arena != NULL && status == NM_OK; arena = arena->next)
            status = put_space(out, &arena->ranges, err);
    }
    for (const nm_heap *heap = replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        status = put_space(out, &heap->blocks, err);
    return status;
}

static nm_status put_reserved(const nm_keyframe_out *out, const nm_heap *heap, nm_error *err)
{
    nm_event segments = nm_keyframe_figure(heap, NM_HEAP_SEGMENTS);
    nm_event stated = nm_keyframe_figure(heap, NM_HEAP_STATED);
    nm_status status = NM_OK;

    segments.peak_bytes = heap->total.peak_reserved_bytes;
    segments.number = heap->total.peak_reserved_seq;
    segments.live_bytes = heap->total.reserved_at_peak_bytes;
    segments.count = heap->has_unknown_block;
    segments.ended_count = heap->has_foreign_block;
    stated.peak_bytes = heap->peak_stated_reserved_bytes;
    stated.number = heap->peak_stated_reserved_seq;
    stated.live_bytes = heap->stated_at_peak_bytes;
    stated.block_bytes = heap->stated_reserved_bytes;
    if (heap->has_segments || heap->has_unknown_block || heap->has_foreign_block) {
        segments.flags = heap->has_segments ? NM_FLAG_SEGMENT : 0;
        status = nm_keyframe_write(out, &segments, err);
    }
    return heap->has_stated && status == NM_OK ? nm_keyframe_write(out, &stated, err) : status;
}

static nm_status put_heap(const nm_keyframe_out *out, const nm_heap *heap, nm_error *err)
{
    const nm_heap_total_row *total = &heap->total;
    nm_event event = nm_keyframe_figure(heap, NM_HEAP_SUMS);
    nm_status status;

    event.count = total->allocation_count;
    event.ended_count = total->free_count;
    event.block_bytes = total->allocated_bytes;
    event.free_bytes = total->freed_bytes;
    event.peak_bytes = total->peak_bytes;
    event.live_count = total->peak_live_count;
    event.number = total->peak_seq;
    event.time_ns = total->peak_ns;
    event.size_bytes = total->baseline_bytes;
    event.miss_count = total->baseline_count;
    status = nm_keyframe_write(out, &event, err);
    if (status == NM_OK)
        status = nm_runs_save(heap->replay, heap, out, err);
    return status == NM_OK && nm_is_pool(heap) ? put_reserved(out, heap, err) : status;
}

static nm_status put_device(const nm_keyframe_out *out, const nm_device_group *group, nm_error *err)
{
    nm_event event = {
        .kind = NM_EVENT_HEAP_TOTAL,
        .detail = NM_HEAP_DEVICE,
        .device_id = group->peak.device_id,
        .peak_bytes = group->peak.peak_bytes,
        .number = group->peak.peak_seq,
        .time_ns = group->peak.peak_ns,
    };

    return group->peak.peak_bytes == 0 ? NM_OK : nm_keyframe_write(out, &event, err);
}

static nm_status put_site(const nm_keyframe_out *out, const nm_heap *heap, const nm_site *site, bool is_baseline,
                          nm_error *err)
{
    bool is_at_peak = site->epoch != heap->peak_epoch; /* it has not changed since */
    nm_event event = {
        .kind = NM_EVENT_SITE_TOTAL,
        .time_ns = NM_NO_TIME,
        .flags = is_baseline ? NM_FLAG_BASELINE : 0,
        .heap_id = heap->id,
        .stack_id = site->stack_id,
        .count = site->allocation_count,
        .ended_count = site->free_count,
        .block_bytes = site->allocated_bytes,
        .free_bytes = site->freed_bytes,
        .peak_bytes = is_at_peak ? site->live_bytes : site->at_peak_bytes,
        .live_count = is_at_peak ? site->live_count : site->at_peak_count,
    };

    return is_baseline && event.live_count == 0 && site->live_count == 0 ? NM_OK : nm_keyframe_write(out, &event, err);
}

static nm_status put_totals(const nm_replay *replay, const nm_keyframe_out *out, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        status = put_heap(out, heap, err);
    for (const nm_device_group *group = replay->first_group; group != NULL && status == NM_OK; group = group->next)
        status = put_device(out, group, err);
    for (const nm_heap *heap = replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next) {
        status = put_site(out, heap, heap->baseline_site, true, err);
        for (const nm_site *site = heap->sites; site != NULL && status == NM_OK; site = site->next)
            status = put_site(out, heap, site, false, err);
    }
    return status;
}

static nm_status put_step(const nm_keyframe_out *out, const nm_process *process, nm_error *err)
{
    nm_event event = {
        .kind = NM_EVENT_STEP_TOTAL,
        .flags = NM_FLAG_PENDING | (process->step.step_id == 0 ? NM_FLAG_IDLE : 0),
        .process_id = process->id,
        .device_id = process->step.device_id,
        .number = process->step.number,
        .generation = process->step_count,
        .first_seq = process->step.begin_seq,
        .time_ns = process->step.begin_ns,
    };

    return process->step_count == 0 ? NM_OK : nm_keyframe_write(out, &event, err);
}

static nm_status put_open_step(const nm_keyframe_out *out, const nm_heap *heap, nm_error *err)
{
    nm_step_total_row row = nm_totals_since(heap);
    nm_event event = {
        .kind = NM_EVENT_STEP_TOTAL,
        .time_ns = NM_NO_TIME,
        .flags = NM_FLAG_PENDING,
        .heap_id = heap->id,
        .count = row.allocation_count,
        .ended_count = row.free_count,
        .block_bytes = row.allocated_bytes,
        .free_bytes = row.freed_bytes,
        .miss_count = row.miss_count,
        .peak_bytes = row.peak_bytes,
        .total_bytes = row.peak_reserved_bytes,
    };

    return nm_keyframe_write(out, &event, err);
}

static nm_status put_pause(const nm_keyframe_out *out, const nm_process *process, nm_error *err)
{
    nm_event event = {
        .kind = NM_EVENT_PAUSE,
        .flags = NM_FLAG_REPEAT,
        .number = (int64_t)process->id,
        .detail = process->pause.is_memory_told ? NM_PAUSE_BEGIN_MEMORY : NM_PAUSE_BEGIN,
        .time_ns = process->pause.begin_ns,
    };

    return process->has_pause ? nm_keyframe_write(out, &event, err) : NM_OK;
}

nm_status nm_replay_keyframe(const nm_replay *replay, nm_keyframe_put *put, void *context, nm_error *err)
{
    nm_keyframe_out out = {put, context};
    nm_status status = put_live_set(replay, &out, err);

    if (status == NM_OK)
        status = put_totals(replay, &out, err);
    if (status == NM_OK)
        status = nm_runs_save(replay, NULL, &out, err);
    for (const nm_process *process = replay->first_process; process != NULL && status == NM_OK; process = process->next)
        status = put_step(&out, process, err);
    for (const nm_heap *heap = replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        status = put_open_step(&out, heap, err);
    for (const nm_process *process = replay->first_process; process != NULL && status == NM_OK; process = process->next)
        status = put_pause(&out, process, err);
    return status;
}

/* ---- In ---------------------------------------------------------------------------------------------------------- */

static void take_heap_sums(nm_heap *heap, const nm_event *event)
{
    nm_heap_total_row *total = &heap->total;

    heap->has_kept_total = true;
    heap->miss_count = 0; /* comes size by size */
    total->allocation_count = nm_keyframe_sum(event->count);
    total->free_count = nm_keyframe_sum(event->ended_count);
    total->allocated_bytes = nm_keyframe_sum(event->block_bytes);
    total->freed_bytes = nm_keyframe_sum(event->free_bytes);
    total->baseline_bytes = nm_keyframe_sum(event->size_bytes);
    total->baseline_count = nm_keyframe_sum(event->miss_count);
    total->peak_bytes = nm_keyframe_sum(event->peak_bytes);
    total->peak_live_count = nm_keyframe_sum(event->live_count);
    total->peak_seq = event->number;
    total->peak_ns = event->time_ns;
    heap->is_peak_kept = true;
    heap->peak_epoch = ++heap->epoch; /* what the sites had at the peak comes with their sums */
}

static void take_reserved(nm_heap *heap, const nm_event *event)
{
    if (event->detail == NM_HEAP_SEGMENTS) {
        heap->has_segments = (event->flags & NM_FLAG_SEGMENT) != 0;
        heap->has_unknown_block = event->count != 0;
        heap->has_foreign_block = event->ended_count != 0;
        heap->total.peak_reserved_bytes = nm_keyframe_sum(event->peak_bytes);
        heap->total.peak_reserved_seq = event->number;
        heap->total.reserved_at_peak_bytes = nm_keyframe_sum(event->live_bytes);
    } else {
        heap->has_stated = true;
        heap->stated_reserved_bytes = nm_keyframe_sum(event->block_bytes);
        heap->peak_stated_reserved_bytes = nm_keyframe_sum(event->peak_bytes);
        heap->peak_stated_reserved_seq = event->number;
        heap->stated_at_peak_bytes = nm_keyframe_sum(event->live_bytes);
    }
    heap->is_reserve_kept = true;
    heap->most_reserved_bytes =
        nm_pool_is_stated(heap) ? heap->peak_stated_reserved_bytes : heap->total.peak_reserved_bytes;
}

static void take_device_peak(nm_replay *replay, const nm_event *event)
{
    const nm_device *device = nm_replay_device(replay, event->device_id);

    if (device == NULL)
        return;
    device->group->peak.peak_bytes = nm_keyframe_sum(event->peak_bytes);
    device->group->peak.peak_seq = event->number;
    device->group->peak.peak_ns = event->time_ns;
    device->group->is_peak_kept = true;
}

static void take_heap_total(nm_replay *replay, const nm_context *context)
{
    nm_heap *heap = context->heap;

    if (context->event->detail == NM_HEAP_DEVICE)
        take_device_peak(replay, context->event);
    else if (heap == NULL)
        return;
    else if (context->event->detail == NM_HEAP_SUMS)
        take_heap_sums(heap, context->event);
    else if (context->event->detail < NM_HEAP_SEGMENTS)
        nm_sum_add(&heap->miss_count, nm_keyframe_sum(context->event->miss_count)); /* of one size */
    else if (context->event->detail <= NM_HEAP_STATED)
        take_reserved(heap, context->event);
    if (heap != NULL)
        nm_usage_touch(heap);
}

static nm_status take_site(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_site *site = NULL;
    nm_status status = NM_OK;

    if (context->heap == NULL)
        return NM_OK;
    if (event->flags & NM_FLAG_BASELINE)
        site = context->heap->baseline_site;
    else
        status = nm_usage_site_of(replay, context->heap, context->stack_id, &site, err);
    if (status != NM_OK)
        return status;
    /* Several stacks become one where the damaged ones among them are not known. */
    nm_sum_add(&site->allocation_count, event->count);
    nm_sum_add(&site->free_count, event->ended_count);
    nm_sum_add(&site->allocated_bytes, event->block_bytes);
    nm_sum_add(&site->freed_bytes, event->free_bytes);
    if (site->epoch != context->heap->peak_epoch)
        site->at_peak_bytes = site->at_peak_count = site->at_peak_older_bytes = 0;
    nm_sum_add(&site->at_peak_bytes, event->peak_bytes);
    nm_sum_add(&site->at_peak_count, event->live_count);
    site->epoch = context->heap->peak_epoch;
    return NM_OK;
}

static int64_t limit_generation(uint64_t generation)
{
    return generation > INT32_MAX ? INT32_MAX : (int64_t)generation;
}

static void take_open_step(nm_replay *replay, const nm_event *event)
{
    nm_process *process = nm_replay_process(replay, event->process_id);

    if (process == NULL)
        return;
    process->step_count = (uint64_t)limit_generation(event->generation);
    process->step = (nm_step_row){
        .step_id = event->flags & NM_FLAG_IDLE ? 0 : ++replay->step_count,
        .process_id = process->id,
        .device_id = nm_replay_device(replay, event->device_id) == NULL ? 0 : event->device_id,
        .number = event->number,
        .begin_seq = event->first_seq,
        .begin_ns = event->time_ns,
        .generation = (int64_t)process->step_count,
        .source = NM_STEP_MARKED,
    };
}

static void take_open_sums(nm_heap *heap, const nm_event *event)
{
    const nm_heap_total_row *total = &heap->total;

    heap->step_base = (nm_step_base){
        .allocation_count = nm_subtract_saturated(total->allocation_count, event->count),
        .free_count = nm_subtract_saturated(total->free_count, event->ended_count),
        .allocated_bytes = nm_subtract_saturated(total->allocated_bytes, event->block_bytes),
        .freed_bytes = nm_subtract_saturated(total->freed_bytes, event->free_bytes),
        .miss_count = nm_subtract_saturated(heap->miss_count, event->miss_count),
        .peak_bytes = nm_keyframe_sum(event->peak_bytes),
        .peak_reserved_bytes = total->reserved_bytes,
        .peak_stated_bytes = heap->stated_reserved_bytes,
        .is_left_unknown = true,
    };
    if (nm_pool_is_stated(heap))
        heap->step_base.peak_stated_bytes = nm_keyframe_sum(event->total_bytes);
    else if (nm_is_pool(heap))
        heap->step_base.peak_reserved_bytes = nm_keyframe_sum(event->total_bytes);
}

static nm_status take_step(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_step_total_row row = {
        .process_id = context->process == NULL ? 0 : context->process->id,
        .heap_id = context->heap == NULL ? 0 : context->heap->id,
        .number = event->number,
        .generation = limit_generation(event->generation),
        .last_generation = limit_generation(event->detail),
        .begin_seq = event->first_seq,
        .end_seq = event->last_seq,
        .begin_ns = event->time_ns,
        .end_ns = event->until_ns,
        .allocation_count = nm_keyframe_sum(event->count),
        .free_count = nm_keyframe_sum(event->ended_count),
        .allocated_bytes = nm_keyframe_sum(event->block_bytes),
        .freed_bytes = nm_keyframe_sum(event->free_bytes),
        .miss_count = nm_keyframe_sum(event->miss_count),
        .peak_bytes = nm_keyframe_sum(event->peak_bytes),
        .live_bytes = nm_keyframe_sum(event->live_bytes),
        .live_count = nm_keyframe_sum(event->live_count),
        .left_count = NM_UNKNOWN_NUMBER,
        .left_bytes = NM_UNKNOWN_NUMBER,
        .peak_reserved_bytes = nm_keyframe_sum(event->total_bytes),
        .driver_call_count = nm_keyframe_sum(event->size_bytes),
    };

    if (context->heap == NULL) {
        take_open_step(replay, event);
        return NM_OK;
    }
    if (event->flags & NM_FLAG_PENDING) {
        take_open_sums(context->heap, event);
        return NM_OK;
    }
    return nm_give_step_total(&replay->sink, &row, err);
}

static nm_status take_keyframe(nm_replay *replay, const nm_context *context, nm_error *err)
{
    switch (context->event->detail) {
    case NM_KEYFRAME_BEGIN:
        replay->has_keyframe = true;
        return NM_OK;
    case NM_KEYFRAME_END:
        replay->has_whole_keyframe = replay->has_keyframe;
        return NM_OK;
    case NM_EVENT_ALLOC:
    case NM_EVENT_MAP:
        return nm_pairing_restore(replay, context, err);
    default:
        return NM_OK;
    }
}

static nm_status take(nm_replay *replay, const nm_context *context, nm_error *err)
{
    switch (context->event->kind) {
    case NM_EVENT_KEYFRAME:
        return take_keyframe(replay, context, err);
    case NM_EVENT_HEAP_TOTAL:
        take_heap_total(replay, context);
        return NM_OK;
    case NM_EVENT_SITE_TOTAL:
        return take_site(replay, context, err);
    case NM_EVENT_STEP_TOTAL:
        return take_step(replay, context, err);
    case NM_EVENT_PROCESS_END:
        return nm_program_process_end(replay, context, err);
    case NM_EVENT_NOTE:
        return nm_program_note(replay, context, err);
    case NM_EVENT_PAUSE:
        return nm_program_pause(replay, context, err);
    case NM_EVENT_LOSS:
        return nm_doubt_lose(replay, context->process, context->seq, context->event->until_ns, err);
    default:
        return NM_OK;
    }
}

nm_status nm_keyframe_take(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_status status = take(replay, context, err);

    return status == NM_OK ? nm_runs_restore(replay, context, err) : status;
}

void nm_keyframe_wants(const nm_pass *const *passes, bool wants[NM_ROW_KINDS])
{
    for (const nm_pass *const *pass = passes; *pass != NULL; pass++)
        for (int kind = 0; kind < NM_ROW_KINDS && (*pass)->save != NULL; kind++)
            wants[kind] |= (*pass)->gives[kind];
}
