/* SPDX-License-Identifier: Apache-2.0
 *
 * Begins and ends allocations. Every end goes through take_out(), which leaves an allocation that is nowhere but in its
 * row; the row is written at once, or later where the end may be undone (a free that the runtime then refused: the
 * thread keeps it as `unconfirmed`) or explained (an address that was reused before the free of it arrived: nm_replaced).
 */
#include "replay/pairing.h"

#include <assert.h>
#include <stdlib.h>

#include "replay/backing.h"
#include "replay/doubt.h"
#include "replay/graph.h"
#include "replay/live.h"
#include "replay/lookup.h"
#include "replay/pass.h"
#include "replay/places.h"
#include "replay/pool.h"
#include "replay/usage.h"
#include "replay/workspace.h"

/* Gives an ended allocation to the sink and frees it. */
static nm_status emit(nm_replay *replay, nm_live *live, nm_error *err)
{
    nm_allocation_row row;

    assert(live->place == NULL); /* take_out() left it nowhere but in its row */
    nm_status status = NM_TELL(replay, NM_CHANGE_ENDED, err, .live = live);
    if (live->more->end_kind == NM_END_FREED)
        nm_usage_release(live);
    if (status == NM_OK) {
        nm_live_row_of(live, &row);
        status = nm_give_allocation(&replay->sink, &row, err);
    }
    nm_live_drop(replay, live);
    return status;
}

/* ---- Putting in and taking out ----------------------------------------------------------------------------------- */

static uint64_t size_by_basis(const nm_heap *heap, uint64_t requested_bytes, uint64_t block_bytes)
{
    if (heap->size_basis == NM_BASIS_BLOCK)
        return block_bytes != 0 ? block_bytes : requested_bytes;
    return requested_bytes != 0 ? requested_bytes : block_bytes;
}

static uint64_t limit_size(uint64_t bytes)
{
    return bytes < NM_SIZE_BYTES_MAX ? bytes : NM_SIZE_BYTES_MAX;
}

/* Where it begins and ends: a pool's block by what it occupies, other memory by what sums count. */
static void set_extent(nm_live *live, uint64_t address)
{
    const nm_live_row *row = &live->row;
    uint64_t bytes = nm_is_pool(live->heap) && row->block_bytes != 0 ? row->block_bytes : row->size_bytes;

    live->node.key = address;
    live->node.value = address + bytes < address ? UINT64_MAX : address + bytes;
}

static void insert_node(nm_live *live)
{
    nm_tree_insert(live->heap->space, &live->node);
    if (live->heap->level == NM_LEVEL_DRIVER)
        live->heap->arena->range_version++;
}

static void remove_node(nm_live *live)
{
    nm_tree_remove(live->heap->space, &live->node);
    if (live->heap->level == NM_LEVEL_DRIVER)
        live->heap->arena->range_version++;
}

/* The pool whose segment it is, if that can be. */
static nm_heap *pool_of(const nm_replay *replay, const nm_context *context)
{
    nm_heap *pool = nm_replay_heap(replay, context->event->pool_id);

    return pool != NULL && nm_is_pool(pool) && pool->arena == context->heap->arena &&
                   context->heap->level == NM_LEVEL_DRIVER
               ? pool
               : NULL;
}

/* Its peak was that of `peak_epoch` before the event. */
static nm_status tell_peak(nm_replay *replay, const nm_heap *heap, uint64_t peak_epoch, const nm_context *context,
                           nm_error *err)
{
    return heap->peak_epoch == peak_epoch ? NM_OK
                                          : NM_TELL(replay, NM_CHANGE_PEAKED, err, .context = context, .heap = heap);
}

/* Puts a live allocation where it is found by address; `is_new` when it was never live before. */
static nm_status put_in(nm_replay *replay, nm_live *live, const nm_context *context, bool is_new, nm_error *err)
{
    nm_heap *heap = live->heap;
    nm_status status = nm_graph_hold(replay, live, err);

    if (status == NM_OK)
        status = nm_place_put(replay, live, err);
    if (status != NM_OK) {
        nm_graph_leave(live);
        nm_live_drop(replay, live);
        return status;
    }
    bool is_restored = context->event->kind == NM_EVENT_KEYFRAME; /* it knows its pool */
    uint64_t peak_epoch = heap->peak_epoch;
    nm_touch touch = {0};
    if (is_new)
        status = NM_TELL(replay, NM_CHANGE_COMING, err, .context = context, .live = live);
    if (status == NM_OK && is_restored && nm_is_pool(heap))
        status = nm_pool_block_returns(live, context->event->flags, err);
    else if (status == NM_OK && is_new && nm_is_pool(heap))
        status = nm_pool_block_appears(live, context->event->flags, context->seq, &touch, err);
    insert_node(live);
    if (status == NM_OK && nm_is_pool(heap))
        status = nm_pool_block_covers(live, err);
    if (status == NM_OK && heap->level == NM_LEVEL_DRIVER)
        status = is_new && !is_restored ? nm_pool_range_appears(live, pool_of(replay, context), context, err)
                                        : nm_pool_attach(live, false, context->seq, err);
    nm_status told = nm_usage_add(live, context->seq, context->event->time_ns, err);
    if (status == NM_OK)
        status = told;
    nm_usage_touch(heap);
    if (status == NM_OK)
        status = NM_TELL(replay, is_new ? NM_CHANGE_BORN : NM_CHANGE_REFUSED, err, .context = context, .live = live,
                         .driver_count = touch.driver_count, .driver_cost_ns = touch.driver_cost_ns);
    nm_place_drop_past(replay, live->place);
    return status == NM_OK ? tell_peak(replay, heap, peak_epoch, context, err) : status;
}

/* Takes a live allocation out of everything but the memory of its place. */
static nm_status take_out(nm_replay *replay, nm_live *live, const nm_context *context, nm_error *err)
{
    nm_heap *heap = live->heap;
    nm_status status = NM_OK;

    if (heap->level == NM_LEVEL_DRIVER)
        status = nm_pool_detach(live, err);
    remove_node(live);
    if (status == NM_OK && nm_is_pool(heap))
        status = nm_pool_block_ends(live, err);
    nm_status told = nm_usage_subtract(live, err);
    if (status == NM_OK)
        status = told;
    nm_graph_leave(live);
    nm_place_take(replay, live, context);
    nm_usage_touch(heap);
    return status;
}

/* So that who keeps rows of moments alone knows whether one met it. */
static void note_moments(nm_live *live)
{
    const nm_heap *heap = live->heap;
    int64_t own = heap->process->moment_seq, other = heap->replay->moment_seq;

    live->more->peak_seq = heap->total.peak_seq;
    live->more->device_peak_seq = heap->device == NULL ? NM_NO_SEQ : heap->device->group->peak.peak_seq;
    live->more->reserve_seq = heap->reserve_seq;
    live->more->moment_seq = own > other ? own : other;
}

static bool is_in_unload(const nm_context *context)
{
    const nm_operation *operation = context->thread == NULL ? NULL : context->thread->operations;

    return operation != NULL && operation->row.kind == NM_RANGE_MODEL_UNLOAD;
}

static nm_status set_end(nm_replay *replay, nm_live *live, const nm_context *context, nm_allocation_end end_kind,
                         nm_error *err)
{
    nm_status status = nm_live_make_more(replay, live, err);
    nm_live_more *more = live->more;

    if (status == NM_OK)
        status = nm_place_make_past(replay, live->place, err);
    if (status != NM_OK)
        return status;
    note_moments(live);
    more->end_kind = end_kind;
    more->free_seq = context->seq;
    more->free_ns = context->event->time_ns;
    if (end_kind == NM_END_REPLACED)
        return NM_OK;
    more->free_thread_id = context->thread == NULL ? 0 : context->thread->id;
    more->free_stack_id = context->stack_id;
    more->is_unloaded = is_in_unload(context);
    return NM_OK;
}

/* Of the baseline nothing was counted, and of what a keyframe brought only if its sums came, too. */
static bool is_counted(const nm_live *live)
{
    return !live->is_baseline && (!live->is_kept || live->heap->has_kept_total);
}

static uint32_t limit_step(uint64_t step_count)
{
    return step_count < UINT32_MAX ? (uint32_t)step_count : UINT32_MAX;
}

static bool is_of_this_step(const nm_live *live)
{
    const nm_live_more *more = nm_live_more_of(live);
    uint64_t step_count = live->heap->process->step_count;

    if (more->end_kind == NM_END_RESET)
        return more->generation == (int64_t)step_count;
    return live->row.step_count == limit_step(step_count);
}

static void count_end(nm_live *live, uint64_t bytes, bool is_whole)
{
    nm_step_base *base = &live->heap->step_base;

    if (!is_counted(live))
        return;
    if (is_of_this_step(live)) {
        base->left_count -= is_whole && base->left_count > 0;
        base->left_bytes = nm_subtract_saturated(base->left_bytes, bytes);
    }
    live->heap->total.free_count += is_whole;
    live->heap->total.freed_bytes = nm_add_saturated(live->heap->total.freed_bytes, bytes);
    live->site->free_count += is_whole;
    live->site->freed_bytes = nm_add_saturated(live->site->freed_bytes, bytes);
}

/* Ends it, and leaves it to the caller to write or keep. */
static nm_status end_live(nm_replay *replay, nm_live *live, const nm_context *context, nm_allocation_end end_kind,
                          nm_error *err)
{
    nm_status status = set_end(replay, live, context, end_kind, err);

    if (status == NM_OK) {
        count_end(live, live->row.size_bytes, true);
        status = NM_TELL(replay, NM_CHANGE_ENDING, err, .context = context, .live = live, .bytes = live->row.size_bytes,
                         .is_whole = true);
    }
    nm_status taken = take_out(replay, live, context, err);
    if (status == NM_OK)
        status = taken;
    return status;
}

static nm_status end_and_emit(nm_replay *replay, nm_live *live, const nm_context *context, nm_allocation_end end_kind,
                              nm_error *err)
{
    nm_status status = end_live(replay, live, context, end_kind, err);

    if (status != NM_OK) {
        nm_live_drop(replay, live);
        return status;
    }
    return emit(replay, live, err);
}

/* ---- Addresses that are reused before their free arrives --------------------------------------------------------- */

/* At its place there is something else to wait for, or nothing. */
static void leave_place(nm_replaced *replaced)
{
    if (replaced->place != NULL)
        replaced->place->past->replaced = NULL;
    replaced->place = NULL;
}

/* The replaced allocation is written: as misuse, unless its free came or the stream has holes. */
static nm_status resolve_replaced(nm_replay *replay, nm_replaced *replaced, nm_error *err)
{
    nm_status status = NM_OK;

    leave_place(replaced);
    if (replaced->old == NULL)
        return NM_OK;
    status = NM_TELL(replay, NM_CHANGE_UNEXPLAINED, err, .replaced = replaced);
    if (status == NM_OK)
        status = emit(replay, replaced->old, err);
    else
        nm_live_drop(replay, replaced->old);
    replaced->old = NULL;
    return status;
}

nm_status nm_pairing_expire(nm_replay *replay, int64_t now_ns, nm_error *err)
{
    nm_status status = NM_OK;

    while (replay->first_replaced != NULL && status == NM_OK && nm_free_is_past(replay->first_replaced->ns, now_ns)) {
        nm_replaced *replaced = replay->first_replaced;

        status = resolve_replaced(replay, replaced, err);
        replay->first_replaced = replaced->next;
        if (replay->first_replaced == NULL)
            replay->last_replaced = &replay->first_replaced;
        free(replaced);
    }
    return status;
}

/* `old` has ended because `live` begins at its address. A free of it may be on its way from another thread: the clocks
 * of two threads order their events only as well as a stamp before one call and a stamp after another can. */
static nm_status replace(nm_replay *replay, nm_live *old, const nm_live *live, const nm_context *context, nm_error *err)
{
    nm_replaced *replaced = nm_replay_allocate(sizeof *replaced, err);
    nm_place *place = old->place;
    nm_status status;

    if (replaced == NULL)
        return NM_ERR_MEMORY;
    *replaced = (nm_replaced){
        .new_allocation_id = live->row.allocation_id,
        .new_thread_id = live->row.thread_id,
        .new_stack_id = nm_live_stack(live),
        .seq = context->seq,
        .ns = context->event->time_ns,
        .is_late = live->is_late || live->is_unseen || live->heap->process->is_paused || nm_doubt_may_have_gone(old),
    };
    status = end_live(replay, old, context, NM_END_REPLACED, err);
    if (status != NM_OK) {
        free(replaced);
        nm_live_drop(replay, old);
        return status;
    }
    replaced->old = old;
    if (place->past->replaced != NULL)
        status = resolve_replaced(replay, place->past->replaced, err);
    if (status == NM_OK && (context->thread == NULL || replaced->ns == NM_NO_TIME)) { /* no free can be told late */
        status = resolve_replaced(replay, replaced, err);
        free(replaced);
        return status;
    }
    replaced->place = place;
    place->past->replaced = replaced;
    *replay->last_replaced = replaced;
    replay->last_replaced = &replaced->next;
    return status;
}

/* Is this free the late one of what was replaced at the place, and not one of what is live there now? */
static bool is_late_free(const nm_replaced *replaced, const nm_context *context)
{
    const nm_event *event = context->event;

    if (replaced == NULL || replaced->old == NULL || context->thread == NULL || replaced->new_thread_id == 0)
        return false;
    if (context->heap == NULL ? nm_free_misfit(replaced->old->heap->level, event->detail) >= NM_MISFIT_NEVER
                              : context->heap != replaced->old->heap)
        return false;
    return context->thread->id != replaced->new_thread_id && event->time_ns != NM_NO_TIME &&
           !nm_free_is_past(replaced->ns, event->time_ns);
}

static nm_status match_late_free(nm_replay *replay, nm_replaced *replaced, const nm_context *context, nm_error *err)
{
    nm_live *old = replaced->old;

    old->more->free_thread_id = context->thread->id;
    old->more->free_stack_id = context->stack_id;
    replaced->old = NULL;
    leave_place(replaced);
    return emit(replay, old, err);
}

/* ---- ALLOC and MAP ----------------------------------------------------------------------------------------------- */

static nm_live *new_live(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_live *live = nm_slab_take(&replay->lives, err);

    if (live == NULL)
        return NULL;
    live->heap = context->heap;
    live->is_baseline = (event->flags & NM_FLAG_BASELINE) != 0;
    live->is_late = (event->flags & NM_FLAG_LATE) != 0;
    live->is_unseen = (event->flags & NM_FLAG_PAUSED) != 0;
    live->is_mapped = event->kind == NM_EVENT_MAP;
    live->row = (nm_live_row){
        .allocation_id = ++replay->allocation_count,
        .thread_id = context->thread == NULL ? 0 : context->thread->id,
        .has_stream = (event->flags & NM_FLAG_STREAM) != 0,
        .stream = event->stream,
        .policy = event->policy,
        .requested_bytes = limit_size(event->requested_bytes),
        .block_bytes = limit_size(event->block_bytes),
        .alloc_seq = live->is_baseline ? NM_NO_SEQ : context->seq,
        .alloc_ns = live->is_baseline ? NM_NO_TIME : event->time_ns,
        .cost_ns = event->cost_ns,
        .is_miss = NM_NO_MISS,
        .step_count = limit_step(context->process->step_count),
    };
    live->birth_seq = context->seq;
    nm_workspace_own(replay, live, context->thread);
    live->row.size_bytes = size_by_basis(live->heap, live->row.requested_bytes, live->row.block_bytes);
    set_extent(live, event->address);
    if (context->process->capture_count > 0 && context->event->kind != NM_EVENT_KEYFRAME &&
        nm_graph_claim(replay, live, context, err) != NM_OK) {
        nm_live_drop(replay, live);
        return NULL;
    }
    return live;
}

/* The driver's allocation or mapping that begins at the place; NULL: none does. */
static const nm_live *range_at(const nm_place *place, const nm_arena *arena)
{
    const nm_live *live = place == NULL ? NULL : place->live;

    while (live != NULL && (live->heap->level != NM_LEVEL_DRIVER || live->heap->arena != arena))
        live = live->next_here;
    return live;
}

/*
 * The event says what the heap has handed out in all, not how large the block is. Allocators that tell such totals hand
 * out whole driver allocations: one that begins where the block does gives its size. Else it is what the total has grown
 * by, and where that is nothing it stays unknown.
 */
static void set_size_by_total(nm_replay *replay, nm_live *live, uint64_t total_bytes)
{
    const nm_heap *heap = live->heap;
    const nm_live *range = range_at(nm_place_find(replay, heap->process->id, nm_live_address(live)), heap->arena);

    if (nm_is_pool(heap) && range != NULL) {
        live->row.block_bytes = range->node.value - range->node.key;
    } else {
        live->row.block_bytes = nm_subtract_saturated(total_bytes, heap->total.live_bytes);
        live->heap->has_guessed_size = true;
    }
    live->row.block_bytes = limit_size(live->row.block_bytes);
    live->row.size_bytes = size_by_basis(heap, live->row.requested_bytes, live->row.block_bytes);
    set_extent(live, nm_live_address(live));
}

static void count_begin(nm_live *live)
{
    nm_heap_total_row *total = &live->heap->total;
    uint64_t bytes = live->row.size_bytes;

    if (live->is_baseline)
        live->heap->arena->has_baseline = true;
    if (live->is_baseline || live->is_kept) { /* of what is kept the sums come later, and hold */
        total->baseline_count++;
        total->baseline_bytes = nm_add_saturated(total->baseline_bytes, bytes);
    } else {
        if (total->allocation_count == 0)
            live->heap->first_alloc_seq = live->birth_seq;
        total->allocation_count++;
        total->last_alloc_seq = live->birth_seq;
        total->released_count = total->released_bytes = 0;
        total->allocated_bytes = nm_add_saturated(total->allocated_bytes, bytes);
        live->site->allocation_count++;
        live->site->allocated_bytes = nm_add_saturated(live->site->allocated_bytes, bytes);
        live->heap->step_base.left_count++;
        live->heap->step_base.left_bytes = nm_add_saturated(live->heap->step_base.left_bytes, bytes);
        if (live->heap->process->step_count > 0)
            live->site->in_step_bytes = nm_add_saturated(live->site->in_step_bytes, bytes);
    }
}

nm_status nm_pairing_alloc(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_live *live;
    nm_live *old;
    nm_status status;

    if (context->heap == NULL) /* its definition was lost */
        return nm_doubt_lose(replay, context->process, context->seq, context->event->time_ns, err);
    live = new_live(replay, context, err);
    if (live == NULL)
        return NM_ERR_MEMORY;
    status = nm_usage_site(replay, live, context->stack_id, err);
    old = nm_place_live_of(nm_place_find(replay, context->process->id, nm_live_address(live)), live->heap);
    if (status == NM_OK && old != NULL)
        status = replace(replay, old, live, context, err);
    if (status != NM_OK) {
        nm_live_drop(replay, live);
        return status;
    }
    if (context->event->flags & NM_FLAG_TOTAL)
        set_size_by_total(replay, live, context->event->block_bytes);
    if (nm_is_pool(live->heap) && live->row.size_bytes == 0)
        live->heap->has_guessed_size = true;
    count_begin(live);
    status = put_in(replay, live, context, true, err);
    if (status == NM_OK)
        live->row.live_bytes = live->heap->total.live_bytes;
    return status;
}

static nm_live *restored_live(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_live *live = new_live(replay, context, err);

    if (live == NULL)
        return NULL;
    live->is_kept = !live->is_baseline;
    live->heap->has_guessed_size |= live->heap->level == NM_LEVEL_WORKSPACE && event->requested_bytes == 0;
    live->is_ending = (event->flags & NM_FLAG_IDLE) != 0;
    live->birth_seq = event->number;
    live->is_mapped = event->detail == NM_EVENT_MAP;
    live->is_touched = (event->flags & NM_FLAG_HIT) != 0;
    live->owner = pool_of(replay, context);
    live->row.is_segment = live->owner != NULL || ((event->flags & NM_FLAG_SEGMENT) != 0);
    live->row.is_exported = (event->flags & NM_FLAG_EXPORTED) != 0;
    live->row.step_count = event->generation > INT32_MAX ? INT32_MAX : (uint32_t)event->generation;
    return live;
}

nm_status nm_pairing_restore(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_live *live;
    nm_live *old;
    nm_status status;

    if (context->heap == NULL)
        return nm_doubt_lose(replay, context->process, context->seq, context->event->time_ns, err);
    live = restored_live(replay, context, err);
    if (live == NULL)
        return NM_ERR_MEMORY;
    status = nm_usage_site(replay, live, context->stack_id, err);
    old = nm_place_live_of(nm_place_find(replay, context->process->id, nm_live_address(live)), live->heap);
    if (status == NM_OK && old != NULL && old->is_ending)
        status = replace(replay, old, live, context, err);
    if (status != NM_OK) {
        nm_live_drop(replay, live);
        return status;
    }
    count_begin(live);
    return put_in(replay, live, context, true, err);
}

/* ---- FREE -------------------------------------------------------------------------------------------------------- */

static nm_live *find_freed(const nm_place *place, const nm_context *context)
{
    nm_live *best = NULL;
    int best_misfit = NM_MISFIT_NEVER;

    if (context->heap != NULL)
        return nm_place_live_of(place, context->heap);
    for (nm_live *live = place == NULL ? NULL : place->live; live != NULL; live = live->next_here) {
        int misfit = nm_free_misfit(live->heap->level, context->event->detail);

        if (misfit < best_misfit) {
            best = live;
            best_misfit = misfit;
        }
    }
    return best;
}

nm_status nm_pairing_free(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_place *place;
    nm_live *live;
    nm_status status;

    if (context->process == NULL || context->event->address == 0)
        return NM_OK;
    place = nm_place_find(replay, context->process->id, context->event->address);
    if (place != NULL && place->past != NULL && is_late_free(place->past->replaced, context))
        return match_late_free(replay, place->past->replaced, context, err);
    live = find_freed(place, context);
    if (live == NULL)
        return NM_TELL(replay, NM_CHANGE_UNKNOWN_FREED, err, .context = context, .place = place);

    if (context->thread == NULL)
        return end_and_emit(replay, live, context, NM_END_FREED, err);
    status = end_live(replay, live, context, NM_END_FREED, err);
    assert(context->thread->unconfirmed == NULL); /* confirm() has emptied it when this event came */
    context->thread->unconfirmed = live;
    return status;
}

nm_status nm_pairing_free_requested(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_live *live;

    if (context->process == NULL)
        return NM_OK;
    live = find_freed(nm_place_find(replay, context->process->id, context->event->address), context);
    if (live != NULL && nm_live_more_of(live)->free_requested_seq == NM_NO_SEQ && context->seq != NM_NO_SEQ) {
        if (nm_live_make_more(replay, live, err) != NM_OK)
            return NM_ERR_MEMORY;
        live->more->free_requested_seq = context->seq;
        live->heap->pending_bytes = nm_add_saturated(live->heap->pending_bytes, live->row.size_bytes);
        nm_usage_touch_figures(live->heap);
    }
    return live == NULL ? NM_OK : NM_TELL(replay, NM_CHANGE_GIVEN_UP, err, .context = context, .live = live);
}

nm_status nm_pairing_confirm(nm_replay *replay, nm_thread *thread, nm_error *err)
{
    nm_live *live = thread->unconfirmed;

    if (live == NULL)
        return NM_OK;
    thread->unconfirmed = NULL;
    return emit(replay, live, err);
}

static void undo_end(nm_live *live)
{
    nm_live_more *more = live->more;

    more->end_kind = NM_END_NONE;
    more->free_seq = NM_NO_SEQ;
    more->free_ns = NM_NO_TIME;
    more->free_thread_id = more->free_stack_id = 0;
    more->is_unloaded = false;
}

nm_status nm_pairing_free_failed(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_live *live = context->thread == NULL ? NULL : context->thread->unconfirmed;
    nm_heap_total_row *total;
    nm_status status;

    if (live == NULL)
        return NM_OK;
    if (nm_live_address(live) != context->event->address ||
        nm_place_live_of(nm_place_find(replay, live->heap->process->id, nm_live_address(live)), live->heap) != NULL)
        return nm_pairing_confirm(replay, context->thread, err);
    context->thread->unconfirmed = NULL;
    if (is_counted(live)) {
        total = &live->heap->total;
        if (is_of_this_step(live)) {
            live->heap->step_base.left_count++;
            live->heap->step_base.left_bytes = nm_add_saturated(live->heap->step_base.left_bytes, live->row.size_bytes);
        }
        total->free_count--;
        total->freed_bytes = nm_subtract_saturated(total->freed_bytes, live->row.size_bytes);
        live->site->free_count--;
        live->site->freed_bytes = nm_subtract_saturated(live->site->freed_bytes, live->row.size_bytes);
    }
    undo_end(live);
    status = put_in(replay, live, context, false, err);
    return status;
}

/* ---- UNMAP ------------------------------------------------------------------------------------------------------- */

/* What is left of a cut range between `from` and `to`: a new row, of the same birth; NULL in *out when nothing is. */
static nm_status make_part(nm_replay *replay, const nm_live *range, uint64_t from, uint64_t to,
                           const nm_context *context, nm_live **out, nm_error *err)
{
    nm_live *part;

    *out = NULL;
    if (from >= to)
        return NM_OK;
    part = nm_slab_take(&replay->lives, err);
    if (part == NULL)
        return NM_ERR_MEMORY;
    part->heap = range->heap;
    part->site = range->site;
    part->is_baseline = range->is_baseline;
    part->is_kept = range->is_kept;
    part->birth_seq = context->seq;
    part->is_late = range->is_late;
    part->is_unseen = range->is_unseen;
    part->is_mapped = range->is_mapped;
    part->is_touched = range->is_touched;
    part->row = range->row;
    part->row.allocation_id = ++replay->allocation_count;
    if (nm_live_make_more(replay, part, err) != NM_OK) {
        nm_live_drop(replay, part);
        return NM_ERR_MEMORY;
    }
    *part->more = *nm_live_more_of(range);
    part->more->member = NULL;
    part->more->split_from_id = range->row.allocation_id;
    part->row.size_bytes = to - from;
    part->row.block_bytes = range->row.block_bytes == 0 ? 0 : to - from;
    part->row.requested_bytes = range->row.requested_bytes == 0 ? 0 : to - from;
    part->row.alloc_seq = context->seq;
    part->row.alloc_ns = context->event->time_ns;
    part->row.cost_ns = 0;
    if (part->row.operation_source != NM_SOURCE_THREAD) { /* the workspace may have lain in what is gone */
        part->row.operation_source = NM_SOURCE_NONE;
        part->row.operation_id = 0;
        part->row.operation_name = 0;
    }
    set_extent(part, from);
    *out = part;
    return NM_OK;
}

/* Puts a part (NULL: there is none) where its range was; its pool has been told by nm_pool_cut. */
static nm_status put_part(nm_replay *replay, nm_live *part, const nm_context *context, nm_error *err)
{
    nm_status status;

    if (part == NULL)
        return NM_OK;
    status = nm_graph_hold(replay, part, err);
    if (status == NM_OK)
        status = nm_place_put(replay, part, err);
    if (status != NM_OK) {
        nm_graph_leave(part);
        nm_live_drop(replay, part);
        return status;
    }
    insert_node(part);
    uint64_t peak_epoch = part->heap->peak_epoch;
    status = nm_usage_add(part, context->seq, context->event->time_ns, err);
    part->row.live_bytes = part->heap->total.live_bytes;
    if (status == NM_OK)
        status = NM_TELL(replay, NM_CHANGE_REMAINED, err, .context = context, .live = part);
    nm_place_drop_past(replay, part->place);
    return status == NM_OK ? tell_peak(replay, part->heap, peak_epoch, context, err) : status;
}

/* Puts both parts, or frees what cannot be put. */
static nm_status put_parts(nm_replay *replay, nm_live *left, nm_live *right, const nm_context *context, nm_error *err)
{
    nm_status status = put_part(replay, left, context, err);

    if (status == NM_OK)
        return put_part(replay, right, context, err);
    nm_live_drop(replay, right);
    return status;
}

/* Ends a range of which [from, to) is unmapped, and goes on with what is left of it. */
static nm_status cut_range(nm_replay *replay, nm_live *range, uint64_t from, uint64_t to, const nm_context *context,
                           nm_error *err)
{
    nm_live *left = NULL;
    nm_live *right = NULL;
    nm_status status = make_part(replay, range, range->node.key, from, context, &left, err);

    if (status == NM_OK)
        status = make_part(replay, range, to, range->node.value, context, &right, err);
    if (status == NM_OK)
        status = nm_pool_cut(range, from, to, left, right, err);
    if (status == NM_OK)
        status = set_end(replay, range, context, NM_END_UNMAPPED, err);
    if (status != NM_OK) {
        nm_live_drop(replay, left);
        nm_live_drop(replay, right);
        return status;
    }
    if (nm_live_owner(range) != NULL)
        range->owner = NULL; /* the pool has nothing to do with the rest any more: take_out() shall not detach it */
    count_end(range, to - from, left == NULL && right == NULL);
    status = NM_TELL(replay, NM_CHANGE_ENDING, err, .context = context, .live = range, .bytes = to - from,
                     .is_whole = left == NULL && right == NULL);
    nm_status taken = take_out(replay, range, context, err);
    if (status == NM_OK)
        status = taken;
    if (status == NM_OK)
        status = emit(replay, range, err);
    else
        nm_live_drop(replay, range);
    if (status != NM_OK) {
        nm_live_drop(replay, left);
        nm_live_drop(replay, right);
        return status;
    }
    return put_parts(replay, left, right, context, err);
}

/* The mapping that begins at the address, of the event's heap or, where it names none, of its process. */
static nm_live *find_mapping(nm_replay *replay, const nm_context *context)
{
    const nm_place *place =
        context->process == NULL ? NULL : nm_place_find(replay, context->process->id, context->event->address);
    nm_live *live = place == NULL ? NULL : place->live;

    while (live != NULL && (!live->is_mapped || (context->heap != NULL && live->heap != context->heap)))
        live = live->next_here;
    return live;
}

static nm_status unmap_whole(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_live *range = find_mapping(replay, context);

    if (range == NULL)
        return NM_TELL(replay, NM_CHANGE_UNKNOWN_UNMAPPED, err, .context = context);
    if (range->heap->level != NM_LEVEL_DRIVER)
        return end_and_emit(replay, range, context, NM_END_UNMAPPED, err);
    return cut_range(replay, range, range->node.key, range->node.value, context, err);
}

nm_status nm_pairing_unmap(nm_replay *replay, const nm_context *context, nm_error *err)
{
    uint64_t from = context->event->address;
    uint64_t to = from + limit_size(context->event->block_bytes);
    bool is_found = false;
    nm_status status = NM_OK;
    nm_tree_node *node;

    if (context->event->block_bytes == 0 && from != 0)
        return unmap_whole(replay, context, err);
    if (context->heap == NULL || to <= from)
        return NM_OK;
    node = nm_tree_holding(context->heap->space, from);
    if (node == NULL)
        node = nm_tree_ceiling(context->heap->space, from);
    while (node != NULL && node->key < to && status == NM_OK) {
        nm_tree_node *next = nm_tree_next(node);
        nm_live *range = NM_TREE_ITEM(node, nm_live, node);

        if (range->heap == context->heap && node->value > from) {
            is_found = true;
            status = cut_range(replay, range, node->key > from ? node->key : from, node->value < to ? node->value : to,
                               context, err);
        }
        node = next;
    }
    return is_found || status != NM_OK ? status : NM_TELL(replay, NM_CHANGE_UNKNOWN_UNMAPPED, err, .context = context);
}

/* The step of birth where steps are known, else the twentieth of the trace; in a source without threads (a snapshot), which
 * has the trace of one device behind that of another, of that of its device. */
static int64_t generation_of(const nm_replay *replay, const nm_live *live)
{
    const nm_device *device = live->heap->device;
    bool is_apart = replay->first_thread == NULL && replay->eventful_count > 1 && device != NULL && device->has_events;
    int64_t first_seq = replay->has_keyframe ? 0 : is_apart ? device->first_seq : replay->first_seq;
    int64_t end_seq = is_apart ? device->last_seq : replay->last_seq;
    int64_t last_seq = end_seq > first_seq ? end_seq : first_seq;
    unsigned __int128 span = (unsigned __int128)((__int128)last_seq - first_seq) + 1;
    unsigned __int128 since = (unsigned __int128)((__int128)live->birth_seq - first_seq);

    if (live->is_unseen) /* all in one, so that they are no growth */
        return 0;
    if (live->is_baseline || live->birth_seq < first_seq || live->birth_seq > last_seq)
        return NM_UNKNOWN_NUMBER;
    if (live->heap->process->step_count > 0)
        return live->row.step_count;
    return (int64_t)(since * 20 / span);
}

/* ---- RESET ------------------------------------------------------------------------------------------------------- */

static nm_status end_all_of(nm_replay *replay, nm_heap *heap, const nm_context *context, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_tree_node *node = nm_tree_first(heap->space); node != NULL && status == NM_OK;) {
        nm_live *live = NM_TREE_ITEM(node, nm_live, node);

        node = nm_tree_next(node);
        if (live->heap != heap)
            continue;
        status = nm_live_make_more(replay, live, err);
        if (status != NM_OK)
            return status;
        live->more->generation = generation_of(replay, live);
        live->more->is_doubtful = nm_doubt_of_live(replay, live);
        status = end_and_emit(replay, live, context, NM_END_RESET, err);
    }
    return status;
}

nm_status nm_pairing_reset(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_device *device = nm_replay_device(replay, context->event->device_id);
    nm_process *process = context->process != NULL ? context->process : device == NULL ? NULL : device->process;
    nm_status status = NM_OK;

    if (process == NULL || (device == NULL && context->event->device_id != 0))
        return NM_OK;
    status = NM_TELL(replay, NM_CHANGE_STREAMS_GONE, err, .context = context, .process = process, .device = device);
    if (status == NM_OK)
        status = nm_graphs_reset(replay, process, device, context, err);
    if (status == NM_OK)
        status = nm_backing_mark(replay, err);
    for (nm_heap *heap = process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process) {
        bool is_hit = device == NULL ? heap->level != NM_LEVEL_HOST
                                     : heap->device == device && heap->level != NM_LEVEL_HOST &&
                                           heap->level != NM_LEVEL_PINNED && heap->level != NM_LEVEL_REGISTERED;
        if (is_hit)
            status = end_all_of(replay, heap, context, err);
    }
    return status;
}

/* ---- EXPORT ------------------------------------------------------------------------------------------------------ */

/* A part of device memory can be exported too: then the whole allocation around it is. */
void nm_pairing_export(nm_replay *replay, const nm_context *context)
{
    const nm_event *event = context->event;
    bool is_device = event->detail == NM_FREE_ANY || event->detail == NM_FREE_DEVICE;
    nm_live *live;

    if (context->process == NULL || event->address == 0)
        return;
    live = find_freed(nm_place_find(replay, context->process->id, event->address), context);
    for (const nm_arena *arena = context->process->arenas; is_device && live == NULL && arena != NULL;
         arena = arena->next) {
        nm_tree_node *node = nm_tree_holding(&arena->ranges, event->address);

        live = node == NULL ? NULL : NM_TREE_ITEM(node, nm_live, node);
    }
    if (live != NULL)
        live->row.is_exported = true;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static nm_status emit_outstanding(nm_replay *replay, nm_live *live, nm_error *err)
{
    nm_heap_total_row *total = &live->heap->total;
    nm_allocation_row row;

    nm_status status = NM_TELL(replay, NM_CHANGE_OUTSTANDING, err, .live = live);
    if (!live->is_baseline && !live->row.is_segment) {
        total->outstanding_count++;
        total->outstanding_bytes = nm_add_saturated(total->outstanding_bytes, live->row.size_bytes);
    }
    if (status == NM_OK) {
        nm_live_row_of(live, &row);
        row.generation = generation_of(replay, live);
        row.is_doubtful = nm_doubt_of_live(replay, live);
        status = nm_give_allocation(&replay->sink, &row, err);
    }
    nm_live_drop(replay, live);
    return status;
}

static nm_status emit_space(nm_replay *replay, nm_tree *space, nm_error *err)
{
    nm_status status = NM_OK;

    while (space->root != NULL && status == NM_OK) {
        nm_tree_node *node = nm_tree_first(space);

        nm_tree_remove(space, node);
        status = emit_outstanding(replay, NM_TREE_ITEM(node, nm_live, node), err);
    }
    return status;
}

nm_status nm_pairing_finish(nm_replay *replay, nm_error *err)
{
    nm_status status = nm_pairing_expire(replay, INT64_MAX, err);

    for (nm_thread *thread = replay->first_thread; thread != NULL && status == NM_OK; thread = thread->next)
        status = nm_pairing_confirm(replay, thread, err);
    if (status == NM_OK)
        status = nm_backing_mark(replay, err);
    nm_places_free(replay); /* their memory is what the rows take now */
    for (nm_heap *heap = replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        status = emit_space(replay, heap->space, err);
    return status;
}

static void discard_space(nm_replay *replay, nm_tree *space)
{
    while (space->root != NULL) {
        nm_tree_node *node = space->root;

        nm_tree_remove(space, node);
        nm_live_drop(replay, NM_TREE_ITEM(node, nm_live, node));
    }
}

void nm_pairing_discard(nm_replay *replay)
{
    while (replay->first_replaced != NULL) {
        nm_replaced *replaced = replay->first_replaced;

        replay->first_replaced = replaced->next;
        nm_live_drop(replay, replaced->old);
        free(replaced);
    }
    for (nm_thread *thread = replay->first_thread; thread != NULL; thread = thread->next)
        nm_live_drop(replay, thread->unconfirmed);
    for (nm_heap *heap = replay->first_heap; heap != NULL; heap = heap->next)
        discard_space(replay, heap->space);
}
