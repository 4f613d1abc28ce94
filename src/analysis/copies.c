/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies: their rows, and what is wrong about their two sides. A side belongs to the block of a pool that it begins in,
 * or else to the driver's or the host's memory there, and has to stay inside what was asked for. Where nothing live is,
 * the last free of the address is looked for, and where nothing ever was, that is told.
 *
 * A task queue may issue a copy long after the program asked for it, when a pool has taken the block back and handed its
 * bytes out again, which is right as long as the stream is the same. So of a pool's blocks a queued copy is only judged
 * if its own thread allocated or freed them, or if all that the queue still had to do came after that (replay/workspace.c).
 */
#include "analysis/passes.h"

#include "analysis/anomaly.h"
#include "analysis/free_history.h"
#include "analysis/repeated_copies.h"
#include "replay/doubt.h"
#include "replay/lookup.h"
#include "replay/pass.h"
#include "replay/places.h"

enum { NEED_FREE_HISTORY, NEED_ANOMALY, NEED_REPEATED_COPIES };

typedef struct replay_room {
    uint64_t copy_count;
} replay_room;

/* One side of a copy. */
typedef struct copy_side {
    const nm_context *context;
    uint64_t address, size_bytes;
    uint64_t copy_id;
    bool is_target;
} copy_side;

static bool reaches_past(const copy_side *side, uint64_t end)
{
    return side->address > end || side->size_bytes > end - side->address;
}

static nm_status tell(nm_run *run, const copy_side *side, nm_anomaly_kind kind, const nm_live *live, const char *detail,
                      nm_error *err)
{
    nm_anomaly_row row = nm_anomaly_row_for(kind, side->context);

    row.address = side->address;
    row.size_bytes = side->size_bytes;
    row.copy_id = side->copy_id;
    row.detail = detail;
    if (live != NULL) {
        row.heap_id = live->heap->id;
        row.allocation_id = live->row.allocation_id;
        row.other_stack_id = nm_live_stack(live);
    }
    return nm_anomaly_write(run->needs[NEED_ANOMALY], &row, err);
}

/* ---- What is live ------------------------------------------------------------------------------------------------ */

/* The live memory of `space` that holds `address`, and *end behind what of it and of its joined neighbours is usable. */
static const nm_live *find_holder(const nm_tree *space, uint64_t address, uint64_t *end)
{
    const nm_tree_node *node = nm_tree_holding(space, address);
    const nm_live *live = node == NULL ? NULL : NM_TREE_ITEM(node, nm_live, node);

    if (live == NULL)
        return NULL;
    *end = nm_live_usable_end(live);
    while (node != NULL && NM_TREE_ITEM(node, nm_live, node)->is_mapped) {
        const nm_tree_node *next = nm_tree_next(node);

        if (next == NULL || next->key != node->value || !NM_TREE_ITEM(next, nm_live, node)->is_mapped)
            break;
        *end = nm_live_usable_end(NM_TREE_ITEM(next, nm_live, node));
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

/* Was a pool's doing of thread `thread_id` at `seq` before the program asked for this copy? */
static bool is_before_request(const nm_context *context, uint64_t thread_id, int64_t seq)
{
    const nm_thread *thread = context->thread;

    if (thread == NULL || seq == NM_NO_SEQ)
        return true;
    if (!thread->is_queue && (thread->id == thread_id || (context->event->flags & NM_FLAG_ASYNC) == 0))
        return true;
    return thread->queue_seq > 0 && seq <= thread->queue_seq;
}

/* Where the block ends that a copy may not leave; UINT64_MAX: nobody can tell. */
static uint64_t end_of_block(const nm_live *block, const nm_context *context)
{
    bool is_known = block->row.requested_bytes != 0 || (block->row.block_bytes != 0 && !block->heap->has_guessed_size);

    return is_known && !block->is_late && !nm_doubt_may_have_gone(block) &&
                   is_before_request(context, block->row.thread_id, block->row.alloc_seq)
               ? nm_live_usable_end(block)
               : UINT64_MAX;
}

/* The live block of a pool that the side begins in; of several, as pools lie in pools, what reaches farthest. */
static const nm_live *find_block(const copy_side *side, uint64_t *end)
{
    const nm_live *best = NULL;

    for (const nm_heap *heap = side->context->process->heaps; heap != NULL; heap = heap->next_of_process) {
        const nm_tree_node *node = nm_is_pool(heap) ? nm_tree_holding(&heap->blocks, side->address) : NULL;
        const nm_live *block = node == NULL ? NULL : NM_TREE_ITEM(node, nm_live, node);
        uint64_t block_end = block == NULL ? 0 : end_of_block(block, side->context);

        if (block != NULL && (best == NULL || block_end > *end)) {
            best = block;
            *end = block_end;
        }
    }
    return best;
}

/* Is it something that a pool does with its own memory: the whole of a segment, or a block cleared with its padding? */
static bool is_of_the_pool(const copy_side *side, const nm_live *block, const nm_live *range, uint64_t range_end)
{
    uint64_t end = side->address + side->size_bytes;

    if (range != NULL && range->node.key == side->address && (end == range->node.value || end == range_end))
        return true;
    return side->context->event->detail == NM_COPY_MEMSET && block->node.key == side->address &&
           end == block->node.value;
}

/* ---- What is no more --------------------------------------------------------------------------------------------- */

/* The last end of the memory that held the address, in *out; its allocation_id is 0 where none is remembered. */
static nm_status find_end(nm_run *run, const copy_side *side, nm_freed *out, nm_error *err)
{
    uint64_t process_id = side->context->process->id;
    const nm_place *place = nm_place_find(run->replay, process_id, side->address);
    const nm_freed *freed = NULL;
    nm_status status;

    *out = (nm_freed){.seq = NM_NO_SEQ};
    if (place != NULL && place->live != NULL)
        return NM_OK;
    status = nm_free_history_find(run->needs[NEED_FREE_HISTORY], side->context->process, NM_FREED_ANYWHERE,
                                  side->address, &freed, err);
    if (freed != NULL)
        *out = *freed;
    else if (place != NULL)
        *out = (nm_freed){.allocation_id = place->past->allocation_id,
                          .heap_id = place->past->heap_id,
                          .thread_id = place->past->thread_id,
                          .stack_id = place->past->stack_id,
                          .seq = place->freed_seq};
    return status;
}

/* Has the pool, or whoever came after it, something live there? `range` is the driver's memory around the address. */
static bool is_taken_again(const copy_side *side, const nm_freed *freed, const nm_heap *heap, const nm_live *range)
{
    if (nm_tree_holding(&heap->blocks, side->address) != NULL || (!nm_is_pool(heap) && range != NULL))
        return true;
    if (range != NULL && range->owner != heap && range->birth_seq > freed->seq)
        return true;
    for (const nm_heap *other = heap->process->heaps; other != NULL; other = other->next_of_process) {
        const nm_tree_node *node =
            other->level == NM_LEVEL_DRIVER ? NULL : nm_tree_holding(other->space, side->address);

        if (node != NULL && NM_TREE_ITEM(node, nm_live, node)->birth_seq > freed->seq)
            return true;
    }
    return false;
}

/* Is the address in device memory that ended, and in no live allocation now? Host memory may have been handed out again
 * by an allocator that is not recorded; and the handle of physical memory is no address of the device. */
static nm_status check_freed(nm_run *run, const copy_side *side, const nm_live *range, bool *is_told, nm_error *err)
{
    nm_anomaly_row row;
    nm_freed freed;
    nm_status status = find_end(run, side, &freed, err);
    const nm_heap *heap;

    if (status != NM_OK || freed.allocation_id == 0)
        return status;
    heap = nm_replay_heap(run->replay, freed.heap_id);
    if (heap == NULL || heap->device == NULL || heap->level == NM_LEVEL_PHYSICAL || heap->level == NM_LEVEL_IMPORTED ||
        heap->has_guessed_size)
        return NM_OK;
    if (is_taken_again(side, &freed, heap, range) || nm_doubt_may_have_changed(side->context->process, freed.seq) ||
        (nm_is_pool(heap) && !is_before_request(side->context, freed.thread_id, freed.seq)))
        return NM_OK;
    row = nm_anomaly_row_for(NM_ANOMALY_USE_AFTER_FREE, side->context);
    row.address = side->address;
    row.size_bytes = side->size_bytes;
    row.copy_id = side->copy_id;
    row.heap_id = freed.heap_id;
    row.allocation_id = freed.allocation_id;
    row.other_stack_id = freed.stack_id;
    row.detail = side->is_target ? "the target is freed" : "the source is freed";
    *is_told = true;
    return nm_anomaly_write(run->needs[NEED_ANOMALY], &row, err);
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

static bool is_host_side(uint64_t kind, bool is_target)
{
    switch (kind) {
    case NM_COPY_HOST_TO_DEVICE:
    case NM_COPY_HOST_TO_BUFFER_TO_DEVICE:
        return !is_target;
    case NM_COPY_DEVICE_TO_HOST:
        return is_target;
    case NM_COPY_HOST_TO_HOST:
        return true;
    default:
        return false;
    }
}

/* Is all device memory of the process in the trace, so that what is not there is not allocated? */
static bool knows_device_memory(const nm_replay *replay, const nm_process *process)
{
    bool has_device_memory = false;

    if (nm_doubt_has_unseen_memory(process) || process->has_unseen_calls || replay->has_keyframe)
        return false;
    for (const nm_arena *arena = process->arenas; arena != NULL; arena = arena->next)
        if (arena->has_baseline)
            return false;
    for (const nm_heap *heap = process->heaps; heap != NULL; heap = heap->next_of_process)
        has_device_memory |= heap->level == NM_LEVEL_DRIVER && heap->total.allocation_count > 0;
    return has_device_memory;
}

/* ---- Both sides -------------------------------------------------------------------------------------------------- */

/* Nothing of the driver holds the address: does anything else? */
static bool is_nowhere(const nm_replay *replay, const copy_side *side)
{
    const nm_process *process = side->context->process;

    if (!is_device_side(side->context->event->detail, side->is_target) || !knows_device_memory(replay, process) ||
        nm_tree_holding(&process->registered_ranges, side->address) != NULL)
        return false;
    for (const nm_heap *heap = process->heaps; heap != NULL; heap = heap->next_of_process)
        if (nm_tree_holding(heap->space, side->address) != NULL)
            return false;
    return true;
}

static nm_status check_side(nm_run *run, const copy_side *side, nm_error *err)
{
    uint64_t end = 0, block_end = 0;
    const nm_live *live = find_memory(side->context->process, side->address, &end);
    const nm_live *block = find_block(side, &block_end);
    const char *small = side->is_target ? "the target is too small" : "the source is too small";
    bool is_told = false;
    nm_status status;

    if (block != NULL && reaches_past(side, block_end) && !is_of_the_pool(side, block, live, end))
        return tell(run, side, NM_ANOMALY_COPY_PAST_END, block, small, err);
    if (live != NULL && reaches_past(side, end) && !nm_doubt_may_have_gone(live))
        return tell(run, side, NM_ANOMALY_COPY_PAST_END, live, small, err);
    if (is_host_side(side->context->event->detail, side->is_target))
        return NM_OK;
    status = check_freed(run, side, live, &is_told, err);
    if (status != NM_OK || live != NULL || is_told || !is_nowhere(run->replay, side))
        return status;
    return tell(run, side, NM_ANOMALY_COPY_UNALLOCATED, NULL,
                side->is_target ? "the target is not allocated" : "the source is not allocated", err);
}

/* Larger than the room that the caller stated: that is wrong in itself. */
static nm_status check_limit(nm_run *run, const copy_side *target, nm_error *err)
{
    uint64_t end = 0;
    const nm_live *live = target->context->process == NULL ? NULL : find_block(target, &end);

    if (live == NULL && target->context->process != NULL)
        live = find_memory(target->context->process, target->address, &end);
    return tell(run, target, NM_ANOMALY_COPY_PAST_END, live, "larger than its own limit", err);
}

/* Does the event say enough of the side? */
static bool is_told_of(const nm_replay *replay, const copy_side *side)
{
    return side->address != 0 && side->size_bytes != 0 && side->context->process != NULL &&
           !nm_doubt_of_event(replay, side->context);
}

static nm_status check_copy(nm_run *run, const nm_context *context, uint64_t copy_id, nm_error *err)
{
    const nm_event *event = context->event;
    copy_side target = {context, event->address, event->size_bytes, copy_id, true};
    copy_side source = {context, event->source_address, event->size_bytes, copy_id, false};
    nm_status status = NM_OK;

    if (event->limit_bytes != 0 && event->size_bytes > event->limit_bytes)
        return nm_doubt_of_event(run->replay, context) ? NM_OK : check_limit(run, &target, err);
    if (is_told_of(run->replay, &target))
        status = check_side(run, &target, err);
    if (status == NM_OK && event->detail != NM_COPY_MEMSET && is_told_of(run->replay, &source))
        status = check_side(run, &source, err);
    return status;
}

/* ---- The row ----------------------------------------------------------------------------------------------------- */

/* Where the host side of a copy between host and device begins; false: it has no one host side. */
static bool find_host_side(const nm_context *context, uint64_t *from)
{
    const nm_event *event = context->event;
    bool is_to_device = event->detail == NM_COPY_HOST_TO_DEVICE || event->detail == NM_COPY_HOST_TO_BUFFER_TO_DEVICE;

    *from = is_to_device ? event->source_address : event->address;
    return context->process != NULL && (is_to_device || event->detail == NM_COPY_DEVICE_TO_HOST);
}

/* Does the host side lie in registered memory, whole? */
static int64_t is_registered(const nm_context *context, uint64_t from)
{
    const nm_tree_node *node = nm_tree_holding(&context->process->registered_ranges, from);

    while (node != NULL && node->value - from < context->event->size_bytes) {
        const nm_tree_node *next = nm_tree_next(node);

        if (next == NULL || next->key != node->value)
            return 0;
        node = next;
    }
    return node != NULL;
}

/* Does it lie in one block of pinned memory, whole? */
static bool is_pinned(const nm_context *context, uint64_t from)
{
    uint64_t end = 0;
    const nm_live *live = find_holder(&context->process->host_ranges, from, &end);

    return live != NULL && live->heap->level == NM_LEVEL_PINNED && end - from >= context->event->size_bytes;
}

/* Of a kind that CANN has got since, nothing is known but that it is none of these: where it goes, the addresses say. */
static nm_copy_kind kind_of(uint64_t detail)
{
    return detail <= NM_COPY_INTER_DEVICE || detail == NM_COPY_MEMSET ? (nm_copy_kind)detail : NM_COPY_DEFAULT;
}

static nm_copy_row row_of(nm_run *run, const nm_context *context)
{
    const nm_replay *replay = run->replay;
    const nm_event *event = context->event;
    uint64_t host_address = 0;
    bool has_host_side = find_host_side(context, &host_address);

    return (nm_copy_row){
        .copy_id = ++((replay_room *)nm_replay_room(run))->copy_count,
        .process_id = context->process == NULL ? 0 : context->process->id,
        .thread_id = context->thread == NULL ? 0 : context->thread->id,
        .operation_id = nm_replay_operation(replay, context->thread),
        .stack_id = context->stack_id,
        .kind = kind_of(event->detail),
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
        .is_registered = has_host_side ? is_registered(context, host_address) : NM_UNKNOWN_NUMBER,
        .is_pinned = has_host_side && is_pinned(context, host_address),
    };
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    nm_copy_row row = row_of(run, change->context);
    nm_status status = nm_repeated_copies_count(run->needs[NEED_REPEATED_COPIES], change->context, &row, err);

    if (status == NM_OK)
        status = nm_give_copy(&run->replay->sink, &row, err);
    return status == NM_OK ? check_copy(run, change->context, row.copy_id, err) : status;
}

static const nm_pass *const needs[] = {[NEED_FREE_HISTORY] = &nm_free_history_pass,
                                       [NEED_ANOMALY] = &nm_anomaly_pass,
                                       [NEED_REPEATED_COPIES] = &nm_repeated_copies_pass,
                                       NULL};

const nm_pass nm_copies_pass = {
    .name = "copies",
    .gives = {[NM_ROW_COPY] = true, [NM_ROW_ANOMALY] = true},
    .needs = needs,
    .wants = {[NM_CHANGE_COPIED] = change},
    .room = {[NM_OWNER_REPLAY] = sizeof(replay_room)},
};
