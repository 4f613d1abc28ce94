/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations that begin inside live memory of their own level, or cover where some begins. Levels lie over each other by
 * nature, as do pools in pools, so each is looked at alone; bytes beyond what was asked for are padding, and may be
 * anybody's. Physical and imported memory is told by handles, which are no addresses, and registering allocates nothing.
 *
 * As with one address (pairing.c) the free of the old one may still come from another thread: so long the row waits.
 */
#include "replay/overlap.h"

#include <stdlib.h>

#include "replay/anomaly.h"
#include "replay/doubt.h"
#include "replay/lookup.h"

typedef struct nm_overlapped { /* live memory that something overlaps, while rows of it wait */
    uint64_t allocation_id;
    size_t waiting_count;
    uint64_t free_thread_id; /* 0: it is not freed */
    int64_t free_ns;
} nm_overlapped;

struct nm_overlap { /* a row that waits */
    nm_anomaly_row row;
    nm_process *process;
    nm_overlapped *old;
    nm_overlap *next; /* by time */
};

static bool is_past(int64_t since_ns, int64_t now_ns)
{
    return now_ns > since_ns && (uint64_t)now_ns - (uint64_t)since_ns > NM_LATE_FREE_NS;
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

static nm_status wait_for_free(nm_replay *replay, nm_live *old, const nm_anomaly_row *row, nm_error *err)
{
    const uint64_t *known = nm_map_get(&replay->overlapped, (nm_key){0, old->row.allocation_id});
    nm_overlapped *overlapped = known == NULL ? NULL : (nm_overlapped *)(uintptr_t)*known;
    nm_overlap *overlap = nm_replay_allocate(sizeof *overlap, err);

    if (overlap == NULL)
        return NM_ERR_MEMORY;
    if (overlapped == NULL) {
        overlapped = nm_replay_allocate(sizeof *overlapped, err);
        if (overlapped == NULL ||
            nm_map_put(&replay->overlapped, (nm_key){0, old->row.allocation_id}, (uintptr_t)overlapped, err) != NM_OK) {
            free(overlapped);
            free(overlap);
            return NM_ERR_MEMORY;
        }
        overlapped->allocation_id = old->row.allocation_id;
    }
    overlapped->waiting_count++;
    old->is_overlapped = true;
    *overlap = (nm_overlap){.row = *row, .process = old->heap->process, .old = overlapped};
    if (replay->last_overlap != NULL)
        replay->last_overlap->next = overlap;
    else
        replay->first_overlap = overlap;
    replay->last_overlap = overlap;
    return NM_OK;
}

static nm_status tell(nm_replay *replay, nm_live *old, const nm_live *live, const nm_context *context, nm_error *err)
{
    uint64_t end = solid_end(live), old_end = solid_end(old);
    bool is_inside = old->node.key <= live->node.key;
    nm_anomaly_row row = nm_anomaly_row_for(NM_ANOMALY_OVERLAP, context);

    row.address = is_inside ? live->node.key : old->node.key;
    row.size_bytes = (end < old_end ? end : old_end) - row.address;
    row.allocation_id = live->row.allocation_id;
    row.other_stack_id = old->row.stack_id;
    row.detail = is_inside ? "begins inside a live allocation" : "covers the begin of a live allocation";
    if (old->is_late || nm_doubt_may_have_gone(old))
        return NM_OK;
    if (context->thread == NULL || row.ns == NM_NO_TIME) /* no free can be told late */
        return nm_anomaly_write(replay, &row, err);
    return wait_for_free(replay, old, &row, err);
}

nm_status nm_overlap_check(nm_replay *replay, const nm_live *live, const nm_context *context, nm_error *err)
{
    nm_tree_node *before, *next;
    nm_status status = NM_OK;

    if (live->is_covering) /* a pool's block that lies over no other */
        return NM_OK;
    next = nm_tree_next(&live->node);
    before = nm_tree_reaching(&live->node);
    if ((before == NULL && (next == NULL || next->key >= live->node.value)) || !has_addresses(live->heap) ||
        live->is_baseline || live->is_unseen || live->heap->process->is_paused || nm_doubt_of_event(replay, context))
        return NM_OK;
    if (before != NULL && may_not_share(NM_TREE_ITEM(before, nm_live, node), live))
        status = tell(replay, NM_TREE_ITEM(before, nm_live, node), live, context, err);
    if (status == NM_OK && next != NULL && may_not_share(NM_TREE_ITEM(next, nm_live, node), live))
        status = tell(replay, NM_TREE_ITEM(next, nm_live, node), live, context, err);
    return status;
}

void nm_overlap_freed(nm_replay *replay, const nm_live *live)
{
    const uint64_t *known = nm_map_get(&replay->overlapped, (nm_key){0, live->row.allocation_id});
    nm_overlapped *overlapped = known == NULL ? NULL : (nm_overlapped *)(uintptr_t)*known;

    if (overlapped == NULL)
        return;
    overlapped->free_thread_id = live->row.free_thread_id;
    overlapped->free_ns = live->row.free_ns;
}

/* Did its free come from another thread, and in time? */
static bool is_explained(const nm_overlap *overlap)
{
    const nm_overlapped *old = overlap->old;

    return old->free_thread_id != 0 && overlap->row.thread_id != old->free_thread_id && old->free_ns != NM_NO_TIME &&
           !is_past(overlap->row.ns, old->free_ns);
}

static void drop_first(nm_replay *replay)
{
    nm_overlap *overlap = replay->first_overlap;

    replay->first_overlap = overlap->next;
    if (replay->first_overlap == NULL)
        replay->last_overlap = NULL;
    if (--overlap->old->waiting_count == 0) {
        nm_map_remove(&replay->overlapped, (nm_key){0, overlap->old->allocation_id}, NULL);
        free(overlap->old);
    }
    free(overlap);
}

nm_status nm_overlap_expire(nm_replay *replay, int64_t now_ns, nm_error *err)
{
    nm_status status = NM_OK;

    while (replay->first_overlap != NULL && status == NM_OK && is_past(replay->first_overlap->row.ns, now_ns)) {
        nm_overlap *overlap = replay->first_overlap;

        if (!is_explained(overlap) && !nm_doubt_has_loss(replay, overlap->process))
            status = nm_anomaly_write(replay, &overlap->row, err);
        drop_first(replay);
    }
    return status;
}

void nm_overlap_discard(nm_replay *replay)
{
    while (replay->first_overlap != NULL)
        drop_first(replay);
    nm_map_free(&replay->overlapped);
}
