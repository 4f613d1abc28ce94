/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations that begin inside live memory of their own level, or cover where some begins. Levels lie over each other by
 * nature, as do pools in pools, so each is looked at alone; bytes beyond what was asked for are padding, and may be
 * anybody's. Physical and imported memory is told by handles, which are no addresses, and registering allocates nothing.
 *
 * As with one address (replay/pairing.c) the free of the old one may still come from another thread: so long the row waits.
 */
#include "analysis/passes.h"

#include <stdlib.h>

#include "analysis/anomaly.h"
#include "replay/doubt.h"
#include "replay/lookup.h"
#include "replay/pass.h"

enum { NEED_ANOMALY };

typedef struct overlapped { /* live memory that something overlaps, while rows of it wait */
    uint64_t allocation_id;
    size_t waiting_count;
    uint64_t free_thread_id; /* 0: it is not freed */
    int64_t free_ns;
} overlapped;

typedef struct overlap { /* a row that waits */
    nm_anomaly_row row;
    const nm_process *process;
    overlapped *old;
    struct overlap *next; /* by time */
} overlap;

typedef struct replay_room {
    nm_map overlapped;     /* allocation -> its struct, owned */
    overlap *first, *last; /* owned */
} replay_room;

static overlapped *find_overlapped(const nm_run *run, uint64_t allocation_id)
{
    const replay_room *room = nm_replay_room(run);
    const uint64_t *known = nm_map_get(&room->overlapped, (nm_key){0, allocation_id});

    return known == NULL ? NULL : (overlapped *)(uintptr_t)*known;
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

static bool has_addresses(const nm_heap *heap)
{
    return heap->level != NM_LEVEL_PHYSICAL && heap->level != NM_LEVEL_IMPORTED && heap->level != NM_LEVEL_REGISTERED &&
           !heap->has_guessed_size;
}

/* The end of what is its own for certain: without padding. */
static uint64_t solid_end(const nm_live *live)
{
    uint64_t end = nm_live_usable_end(live);

    return end < live->node.value ? end : live->node.value;
}

/* Do they share bytes that they may not share? Two heaps of a level may tell the same memory, one in the other. */
static bool may_not_share(const nm_live *old, const nm_live *live)
{
    uint64_t old_end = solid_end(old), end = solid_end(live);
    uint64_t last_begin = old->node.key > live->node.key ? old->node.key : live->node.key;
    bool is_nested =
        (old->node.key <= live->node.key && end <= old_end) || (live->node.key <= old->node.key && old_end <= end);

    return last_begin < end && last_begin < old_end && old->heap->level == live->heap->level &&
           (old->heap == live->heap || !is_nested);
}

/* ---- Telling ----------------------------------------------------------------------------------------------------- */

/* NULL with *err filled when memory is out. */
static overlapped *new_overlapped(nm_run *run, uint64_t allocation_id, nm_error *err)
{
    replay_room *room = nm_replay_room(run);
    overlapped *made = nm_replay_allocate(sizeof *made, err);

    if (made == NULL)
        return NULL;
    if (nm_map_put(&room->overlapped, (nm_key){0, allocation_id}, (uintptr_t)made, err) != NM_OK) {
        free(made);
        return NULL;
    }
    made->allocation_id = allocation_id;
    return made;
}

/* For what tells whether what waits is explained, or has waited long enough. */
static void listen(nm_run *run, bool is_waiting)
{
    nm_run_hear(run, NM_CHANGE_EVENT, is_waiting);
    nm_run_hear(run, NM_CHANGE_ENDING, is_waiting);
}

static nm_status wait_for_free(nm_run *run, const nm_live *old, const nm_anomaly_row *row, nm_error *err)
{
    replay_room *room = nm_replay_room(run);
    overlap *waiting = nm_replay_allocate(sizeof *waiting, err);
    overlapped *of = find_overlapped(run, old->row.allocation_id);

    if (waiting != NULL && of == NULL)
        of = new_overlapped(run, old->row.allocation_id, err);
    if (waiting == NULL || of == NULL) {
        free(waiting);
        return NM_ERR_MEMORY;
    }
    of->waiting_count++;
    *waiting = (overlap){.row = *row, .process = old->heap->process, .old = of};
    if (room->last != NULL)
        room->last->next = waiting;
    else
        room->first = waiting;
    room->last = waiting;
    listen(run, true);
    return NM_OK;
}

static nm_status tell(nm_run *run, const nm_live *old, const nm_live *live, const nm_context *context, nm_error *err)
{
    uint64_t end = solid_end(live), old_end = solid_end(old);
    bool is_inside = old->node.key <= live->node.key;
    nm_anomaly_row row = nm_anomaly_row_for(NM_ANOMALY_OVERLAP, context);

    row.address = is_inside ? live->node.key : old->node.key;
    row.size_bytes = (end < old_end ? end : old_end) - row.address;
    row.allocation_id = live->row.allocation_id;
    row.other_stack_id = nm_live_stack(old);
    row.detail = is_inside ? "begins inside a live allocation" : "covers the begin of a live allocation";
    if (old->is_late || nm_doubt_may_have_gone(old))
        return NM_OK;
    if (context->thread == NULL || row.ns == NM_NO_TIME) /* no free can be told late */
        return nm_anomaly_write(run->needs[NEED_ANOMALY], &row, err);
    return wait_for_free(run, old, &row, err);
}

/* Memory that has just begun. */
static nm_status check(nm_run *run, const nm_live *live, const nm_context *context, nm_error *err)
{
    nm_tree_node *before, *next;
    nm_status status = NM_OK;

    if (live->is_covering) /* a pool's block that lies over no other */
        return NM_OK;
    next = nm_tree_next(&live->node);
    before = nm_tree_reaching(&live->node);
    if ((before == NULL && (next == NULL || next->key >= live->node.value)) || !has_addresses(live->heap) ||
        live->is_baseline || live->is_unseen || live->heap->process->is_paused ||
        nm_doubt_of_event(run->replay, context))
        return NM_OK;
    if (before != NULL && may_not_share(NM_TREE_ITEM(before, nm_live, node), live))
        status = tell(run, NM_TREE_ITEM(before, nm_live, node), live, context, err);
    if (status == NM_OK && next != NULL && may_not_share(NM_TREE_ITEM(next, nm_live, node), live))
        status = tell(run, NM_TREE_ITEM(next, nm_live, node), live, context, err);
    return status;
}

/* It ends, as its row says. */
static void note_end(nm_run *run, const nm_live *live)
{
    overlapped *of = live->more->end_kind != NM_END_REPLACED ? find_overlapped(run, live->row.allocation_id) : NULL;

    if (of == NULL)
        return;
    of->free_thread_id = live->more->free_thread_id;
    of->free_ns = live->more->free_ns;
}

/* Did its free come from another thread, and in time? */
static bool is_explained(const overlap *waiting)
{
    const overlapped *old = waiting->old;

    return old->free_thread_id != 0 && waiting->row.thread_id != old->free_thread_id && old->free_ns != NM_NO_TIME &&
           !nm_free_is_past(waiting->row.ns, old->free_ns);
}

static void drop_first(replay_room *room)
{
    overlap *gone = room->first;

    room->first = gone->next;
    if (room->first == NULL)
        room->last = NULL;
    if (--gone->old->waiting_count == 0) {
        nm_map_remove(&room->overlapped, (nm_key){0, gone->old->allocation_id}, NULL);
        free(gone->old);
    }
    free(gone);
}

/* Writes what has waited long enough. */
static nm_status expire(nm_run *run, int64_t now_ns, nm_error *err)
{
    replay_room *room = nm_replay_room(run);
    nm_status status = NM_OK;

    while (room->first != NULL && status == NM_OK && nm_free_is_past(room->first->row.ns, now_ns)) {
        overlap *waiting = room->first;

        if (!is_explained(waiting) && !nm_doubt_has_loss(run->replay, waiting->process))
            status = nm_anomaly_write(run->needs[NEED_ANOMALY], &waiting->row, err);
        drop_first(room);
    }
    if (room->first == NULL)
        listen(run, false);
    return status;
}

/* ---- The pass ---------------------------------------------------------------------------------------------------- */

static nm_status take_event(nm_run *run, const nm_change *change, nm_error *err)
{
    int64_t now_ns = change->context->event->time_ns;

    return now_ns == NM_NO_TIME ? NM_OK : expire(run, now_ns, err);
}

static nm_status take_birth(nm_run *run, const nm_change *change, nm_error *err)
{
    return change->live->is_kept ? NM_OK : check(run, change->live, change->context, err);
}

static nm_status take_end(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)err;
    note_end(run, change->live);
    return NM_OK;
}

static nm_status finish(nm_run *run, nm_error *err)
{
    return expire(run, INT64_MAX, err);
}

static void release(nm_run *run)
{
    replay_room *room = nm_replay_room(run);

    while (room->first != NULL)
        drop_first(room);
    nm_map_free(&room->overlapped);
}

static const nm_pass *const needs[] = {[NEED_ANOMALY] = &nm_anomaly_pass, NULL};

const nm_pass nm_overlap_pass = {
    .name = "overlaps",
    .gives = {[NM_ROW_ANOMALY] = true},
    .needs = needs,
    .wants = {[NM_CHANGE_EVENT] = take_event, [NM_CHANGE_BORN] = take_birth, [NM_CHANGE_ENDING] = take_end},
    .at_times = {[NM_CHANGE_EVENT] = true, [NM_CHANGE_ENDING] = true}, /* while something waits */
    .room = {[NM_OWNER_REPLAY] = sizeof(replay_room)},
    .finish = finish,
    .release = release,
};
