/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies, and misuse. Where the stream has holes, or an event's place in it is not certain, what looks like misuse may
 * be none, so nothing is said. The one exception is a copy larger than its own stated room: that needs no history.
 */
#include "replay/state.h"

nm_status nm_anomaly_write(nm_replay *replay, nm_anomaly_row *row, nm_error *err)
{
    row->anomaly_id = ++replay->anomaly_count;
    return replay->sink.anomaly == NULL ? NM_OK : replay->sink.anomaly(replay->sink.context, row, err);
}

static nm_anomaly_row row_for(nm_anomaly_kind kind, const nm_context *context)
{
    return (nm_anomaly_row){
        .kind = kind,
        .process_id = context->process == NULL ? 0 : context->process->id,
        .thread_id = context->thread == NULL ? 0 : context->thread->id,
        .seq = context->seq,
        .ns = context->event->time_ns,
        .heap_id = context->heap == NULL ? 0 : context->heap->id,
        .address = context->event->address,
        .stack_id = context->stack_id,
    };
}

static bool is_in_doubt(const nm_replay *replay, const nm_context *context)
{
    return (context->event->flags & NM_FLAG_LATE) != 0 || nm_replay_is_doubtful(replay, context->process);
}

/* ---- Frees ------------------------------------------------------------------------------------------------------- */

/* Is what ended at the place last what this free would have meant? */
static bool was_freed(nm_replay *replay, const nm_context *context, const nm_place *place)
{
    const nm_heap *heap;

    if (place == NULL || place->freed_allocation_id == 0)
        return false;
    if (context->heap != NULL)
        return place->freed_heap_id == context->heap->id;
    heap = nm_replay_heap(replay, place->freed_heap_id);
    return heap != NULL && nm_pairing_misfit(heap->level, context->event->detail) < NM_MISFIT_NEVER;
}

/* Has the process memory that nobody has seen it allocate? */
static bool has_unseen_memory(const nm_process *process)
{
    return process != NULL && (process->is_late || process->is_paused || process->has_unknown_pause);
}

nm_status nm_anomaly_free(nm_replay *replay, const nm_context *context, const nm_place *place, nm_error *err)
{
    nm_anomaly_row row = row_for(NM_ANOMALY_FREE_UNKNOWN, context);

    if (is_in_doubt(replay, context) || (context->event->flags & NM_FLAG_DRIVER) != 0)
        return NM_OK;
    if (was_freed(replay, context, place)) {
        row.kind = NM_ANOMALY_DOUBLE_FREE;
        row.heap_id = place->freed_heap_id;
        row.allocation_id = place->freed_allocation_id;
        row.other_stack_id = place->freed_stack_id;
    } else if (has_unseen_memory(context->process)) {
        replay->unseen_free_count++;
        return NM_OK;
    } else if (context->event->detail == NM_FREE_REGISTERED) {
        row.kind = NM_ANOMALY_UNREGISTER_UNKNOWN;
    }
    return nm_anomaly_write(replay, &row, err);
}

nm_status nm_anomaly_wrong_free(nm_replay *replay, const nm_context *context, const nm_live *live, nm_error *err)
{
    nm_anomaly_row row = row_for(NM_ANOMALY_WRONG_FREE, context);
    bool is_host = live->heap->level == NM_LEVEL_PINNED || live->heap->level == NM_LEVEL_HOST ||
                   live->heap->level == NM_LEVEL_REGISTERED;
    bool is_wrong = (context->event->detail == NM_FREE_DEVICE && is_host) ||
                    (context->event->detail == NM_FREE_HOST && live->heap->level == NM_LEVEL_DRIVER);

    if (!is_wrong || is_in_doubt(replay, context))
        return NM_OK;
    row.heap_id = live->heap->id;
    row.size_bytes = live->row.size_bytes;
    row.allocation_id = live->row.allocation_id;
    row.other_stack_id = live->row.stack_id;
    row.detail = is_host ? "host memory freed as device memory" : "device memory freed as host memory";
    return nm_anomaly_write(replay, &row, err);
}

nm_status nm_anomaly_unmap(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_anomaly_row row = row_for(NM_ANOMALY_UNMAP_UNKNOWN, context);

    if (is_in_doubt(replay, context) || (context->event->flags & NM_FLAG_DRIVER) != 0)
        return NM_OK;
    if (has_unseen_memory(context->process)) {
        replay->unseen_free_count++;
        return NM_OK;
    }
    row.size_bytes = context->event->block_bytes;
    return nm_anomaly_write(replay, &row, err);
}

nm_status nm_anomaly_overlap(nm_replay *replay, const nm_replaced *replaced, nm_error *err)
{
    const nm_live *old = replaced->old;
    nm_anomaly_row row = {
        .kind = NM_ANOMALY_OVERLAP,
        .process_id = old->heap->process->id,
        .thread_id = replaced->new_thread_id,
        .seq = replaced->seq,
        .ns = replaced->ns,
        .heap_id = old->heap->id,
        .address = old->row.address,
        .size_bytes = old->row.size_bytes,
        .allocation_id = replaced->new_allocation_id,
        .stack_id = replaced->new_stack_id,
        .other_stack_id = old->row.stack_id,
    };

    if (replaced->is_late || old->is_late || nm_replay_is_doubtful(replay, old->heap->process))
        return NM_OK;
    return nm_anomaly_write(replay, &row, err);
}

nm_status nm_anomaly_zero_size(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_anomaly_row row = row_for(NM_ANOMALY_ZERO_SIZE, context);
    bool is_told =
        context->heap != NULL && (context->heap->level == NM_LEVEL_DRIVER || context->heap->level == NM_LEVEL_PINNED);

    /* Pools and modules may not say what was asked of them, and what is left unsaid is 0, too. */
    if (!is_told || context->heap->module_id != 0 || event->requested_bytes != 0 || event->block_bytes != 0 ||
        event->kind == NM_EVENT_MAP || is_in_doubt(replay, context) ||
        (event->flags & (NM_FLAG_BASELINE | NM_FLAG_PAUSED | NM_FLAG_TOTAL | NM_FLAG_SEGMENT | NM_FLAG_DRIVER)) != 0)
        return NM_OK;
    row.detail = event->kind == NM_EVENT_ALLOC_FAILED ? "the request was refused" : NULL;
    return nm_anomaly_write(replay, &row, err);
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

/* The part of a range that the program asked for; the rest is padding, and not its own. */
static uint64_t usable_end(const nm_live *live)
{
    uint64_t bytes = live->row.requested_bytes != 0 ? live->row.requested_bytes : live->row.block_bytes;

    return live->row.address + bytes < live->row.address ? UINT64_MAX : live->row.address + bytes;
}

/* The live memory of `space` that holds `address`, and *end behind what of it and of its joined neighbours is usable. */
static const nm_live *find_holder(const nm_tree *space, uint64_t address, uint64_t *end)
{
    const nm_tree_node *node = nm_tree_holding(space, address);
    const nm_live *live = node == NULL ? NULL : NM_TREE_ITEM(node, nm_live, node);

    if (live == NULL)
        return NULL;
    *end = usable_end(live);
    while (node != NULL && NM_TREE_ITEM(node, nm_live, node)->is_mapped) {
        const nm_tree_node *next = nm_tree_next(node);

        if (next == NULL || next->key != node->value || !NM_TREE_ITEM(next, nm_live, node)->is_mapped)
            break;
        *end = usable_end(NM_TREE_ITEM(next, nm_live, node));
        node = next;
    }
    return live;
}

/* What holds the address in any of the process's memory; of several, what reaches farthest, since the copy may mean it.
 * Registered memory is none: it is the program's own, which may go on behind what it registered. */
static const nm_live *find_memory(const nm_process *process, uint64_t address, uint64_t *end)
{
    const nm_live *best = find_holder(&process->host_ranges, address, end);

    for (const nm_arena *arena = process->arenas; arena != NULL; arena = arena->next) {
        uint64_t other_end;
        const nm_live *other = find_holder(&arena->ranges, address, &other_end);

        if (other != NULL && (best == NULL || other_end > *end)) {
            best = other;
            *end = other_end;
        }
    }
    return best;
}

/* Is the address the begin of device memory that ended and is in no live allocation now? `holder` is the driver's or
 * host's memory around it. Host memory may have been handed out again by an allocator that is not recorded; and the handle
 * of physical memory is no address of the device. */
static nm_status check_freed(nm_replay *replay, const nm_context *context, uint64_t address, const nm_live *holder,
                             nm_anomaly_row *row, nm_error *err)
{
    const nm_place *place = nm_place_find(replay, context->process->id, address);
    const nm_heap *heap;

    if (place == NULL || place->live != NULL || place->freed_allocation_id == 0)
        return NM_OK;
    heap = nm_replay_heap(replay, place->freed_heap_id);
    if (heap == NULL || heap->device == NULL || heap->level == NM_LEVEL_PHYSICAL || heap->level == NM_LEVEL_IMPORTED)
        return NM_OK;
    if (nm_is_pool(heap) ? nm_tree_holding(&heap->blocks, address) != NULL : holder != NULL)
        return NM_OK;
    row->kind = NM_ANOMALY_USE_AFTER_FREE;
    row->heap_id = place->freed_heap_id;
    row->allocation_id = place->freed_allocation_id;
    row->other_stack_id = place->freed_stack_id;
    return nm_anomaly_write(replay, row, err);
}

/* Is this side of the copy on a device, whatever its address? */
static bool is_device_side(uint64_t kind, bool is_target)
{
    switch (kind) {
    case NM_COPY_HOST_TO_DEVICE:
    case NM_COPY_HOST_TO_BUFFER_TO_DEVICE:
        return is_target;
    case NM_COPY_DEVICE_TO_HOST:
        return !is_target;
    case NM_COPY_DEVICE_TO_DEVICE:
    case NM_COPY_INNER_DEVICE:
    case NM_COPY_INTER_DEVICE:
        return true;
    default:
        return false;
    }
}

/* Is all device memory of the process in the trace, so that what is not there is not allocated? */
static bool knows_device_memory(const nm_replay *replay, const nm_process *process)
{
    bool has_device_memory = false;

    if (has_unseen_memory(process) || process->has_unseen_calls || replay->has_keyframe)
        return false;
    for (const nm_arena *arena = process->arenas; arena != NULL; arena = arena->next)
        if (arena->has_baseline)
            return false;
    for (const nm_heap *heap = process->heaps; heap != NULL; heap = heap->next_of_process)
        has_device_memory |= heap->level == NM_LEVEL_DRIVER && heap->total.allocation_count > 0;
    return has_device_memory;
}

/* Nothing of the driver holds the address: does anything else? */
static nm_status check_allocated(nm_replay *replay, const nm_context *context, bool is_target, nm_anomaly_row *row,
                                 nm_error *err)
{
    const nm_process *process = context->process;

    if (!is_device_side(context->event->detail, is_target) || !knows_device_memory(replay, process) ||
        nm_tree_holding(&process->registered_ranges, row->address) != NULL)
        return NM_OK;
    for (const nm_heap *heap = process->heaps; heap != NULL; heap = heap->next_of_process)
        if (nm_tree_holding(heap->space, row->address) != NULL)
            return NM_OK;
    row->kind = NM_ANOMALY_COPY_UNALLOCATED;
    row->detail = is_target ? "the target is not allocated" : "the source is not allocated";
    return nm_anomaly_write(replay, row, err);
}

/* One side of a copy: does it stay inside what is live at its address? */
static nm_status check_side(nm_replay *replay, const nm_context *context, uint64_t address, uint64_t copy_id,
                            bool is_target, nm_error *err)
{
    nm_anomaly_row row = row_for(NM_ANOMALY_COPY_PAST_END, context);
    uint64_t size_bytes = context->event->size_bytes;
    uint64_t end = 0;
    const nm_live *live;

    if (address == 0 || size_bytes == 0 || context->process == NULL || is_in_doubt(replay, context))
        return NM_OK;
    row.address = address;
    row.size_bytes = size_bytes;
    row.copy_id = copy_id;
    live = find_memory(context->process, address, &end);
    if (live == NULL || (address <= end && size_bytes <= end - address)) {
        uint64_t count = replay->anomaly_count;
        nm_status status = check_freed(replay, context, address, live, &row, err);

        return status != NM_OK || live != NULL || replay->anomaly_count != count
                   ? status
                   : check_allocated(replay, context, is_target, &row, err);
    }
    row.heap_id = live->heap->id;
    row.allocation_id = live->row.allocation_id;
    row.other_stack_id = live->row.stack_id;
    row.detail = is_target ? "the target is too small" : "the source is too small";
    return nm_anomaly_write(replay, &row, err);
}

static nm_status check_limit(nm_replay *replay, const nm_context *context, uint64_t copy_id, nm_error *err)
{
    const nm_event *event = context->event;
    nm_anomaly_row row = row_for(NM_ANOMALY_COPY_PAST_END, context);

    row.size_bytes = event->size_bytes;
    row.copy_id = copy_id;
    row.detail = "larger than its own limit";
    return nm_anomaly_write(replay, &row, err);
}

/* Does the host side lie in registered memory, whole? */
static int64_t is_registered(const nm_context *context)
{
    const nm_event *event = context->event;
    bool is_to_device = event->detail == NM_COPY_HOST_TO_DEVICE || event->detail == NM_COPY_HOST_TO_BUFFER_TO_DEVICE;
    uint64_t from = is_to_device ? event->source_address : event->address;
    const nm_tree_node *node;

    if (context->process == NULL || (!is_to_device && event->detail != NM_COPY_DEVICE_TO_HOST))
        return NM_UNKNOWN_NUMBER;
    node = nm_tree_holding(&context->process->registered_ranges, from);
    while (node != NULL && node->value - from < event->size_bytes) {
        const nm_tree_node *next = nm_tree_next(node);

        if (next == NULL || next->key != node->value)
            return 0;
        node = next;
    }
    return node != NULL;
}

nm_status nm_anomaly_copy(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_copy_row row = {
        .copy_id = ++replay->copy_count,
        .process_id = context->process == NULL ? 0 : context->process->id,
        .thread_id = context->thread == NULL ? 0 : context->thread->id,
        .operation_id = nm_program_operation(replay, context->thread),
        .stack_id = context->stack_id,
        .kind = (nm_copy_kind)event->detail,
        .has_stream = (event->flags & NM_FLAG_STREAM) != 0,
        .is_async = (event->flags & NM_FLAG_ASYNC) != 0,
        .stream = event->stream,
        .seq = context->seq,
        .ns = event->time_ns,
        .cost_ns = event->cost_ns,
        .size_bytes = event->size_bytes,
        .limit_bytes = event->limit_bytes,
        .source_address = event->source_address,
        .target_address = event->address,
        .source_device_id = nm_replay_device(replay, (uint64_t)event->number) == NULL ? 0 : (uint64_t)event->number,
        .target_device_id = nm_replay_device(replay, event->device_id) == NULL ? 0 : event->device_id,
        .error_code = event->error_code,
        .is_registered = is_registered(context),
    };
    nm_status status = nm_repeat_copy(replay, context, &row, err);

    if (status == NM_OK && replay->sink.copy != NULL)
        status = replay->sink.copy(replay->sink.context, &row, err);
    if (status == NM_OK && event->limit_bytes != 0 && event->size_bytes > event->limit_bytes)
        return check_limit(replay, context, row.copy_id, err);
    if (status == NM_OK)
        status = check_side(replay, context, event->address, row.copy_id, true, err);
    if (status == NM_OK && event->detail != NM_COPY_MEMSET)
        status = check_side(replay, context, event->source_address, row.copy_id, false, err);
    return status;
}
