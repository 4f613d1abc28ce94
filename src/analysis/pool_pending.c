/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks that the program has given up and the pool cannot hand out yet, because another stream still uses them. An
 * allocator that is asked to free tells two things, that it was asked and that the block is free: a block is pending only
 * when another event of its pool came between the two.
 */
#include "analysis/pool_pending.h"

#include <stdlib.h>

#include "base/number.h"
#include "replay/sub_pool.h"

static nm_status enlist(const nm_run *run, nm_ledger *ledger, const nm_live *block, int64_t seq, int64_t ns,
                        nm_error *err)
{
    nm_ledger_entry *entry = nm_ledger_entry_of(run, block);
    nm_pool_sum_row *sum = &ledger->sum;
    nm_group *group = entry->group;
    uint64_t bytes = nm_live_extent(block);
    nm_pending *pending = nm_replay_allocate(sizeof *pending, err);

    if (pending == NULL)
        return NM_ERR_MEMORY;
    *pending = (nm_pending){.live = block, .since_ns = ns, .older = ledger->newest_pending};
    if (pending->older != NULL)
        pending->older->newer = pending;
    else
        ledger->oldest_pending = pending;
    ledger->newest_pending = pending;
    entry->pending = pending;
    sum->pending_count++;
    group->row.pending_count++;
    nm_sum_add(&sum->pending_bytes, bytes);
    nm_sum_add(&group->row.pending_bytes, bytes);
    nm_sum_add(&ledger->pending_bytes, bytes);
    nm_sum_add(&group->pending_bytes, bytes);
    if (group->pending_bytes > group->row.max_pending_bytes)
        group->row.max_pending_bytes = group->pending_bytes;
    if (ledger->pending_bytes > sum->max_pending_bytes) {
        sum->max_pending_bytes = ledger->pending_bytes;
        sum->max_pending_seq = seq;
        sum->max_pending_ns = ns;
    }
    return NM_OK;
}

nm_status nm_pending_settle(const nm_run *run, nm_ledger *ledger, const nm_live *block, nm_error *err)
{
    const nm_live *requested = ledger->requested;

    if (requested == NULL)
        return NM_OK;
    ledger->requested = NULL;
    return requested == block ? NM_OK
                              : enlist(run, ledger, requested, ledger->requested_seq, ledger->requested_ns, err);
}

static void give_up(nm_ledger_entry *entry, const nm_live *block)
{
    entry->is_given_up = true;
    entry->group->live_bytes = nm_subtract_saturated(entry->group->live_bytes, nm_live_extent(block));
}

nm_status nm_pending_request(const nm_run *run, nm_ledger *ledger, const nm_change *change, nm_error *err)
{
    const nm_live *block = change->live;
    nm_ledger_entry *entry = nm_ledger_entry_of(run, block);
    nm_status status;

    if (entry->group == NULL || entry->is_given_up)
        return NM_OK;
    status = nm_pending_settle(run, ledger, NULL, err);
    if (status != NM_OK)
        return status;
    give_up(entry, block);
    ledger->requested = block;
    ledger->requested_seq = change->context->seq;
    ledger->requested_ns = change->context->event->time_ns;
    return NM_OK;
}

nm_status nm_pending_arrive(const nm_run *run, nm_ledger *ledger, const nm_live *block, nm_error *err)
{
    nm_ledger_entry *entry = nm_ledger_entry_of(run, block);

    if (entry->group == NULL || entry->is_given_up)
        return NM_OK;
    give_up(entry, block);
    return enlist(run, ledger, block, NM_NO_SEQ, NM_NO_TIME, err);
}

static void delist(nm_ledger *ledger, nm_pending *pending)
{
    if (pending->older != NULL)
        pending->older->newer = pending->newer;
    else
        ledger->oldest_pending = pending->newer;
    if (pending->newer != NULL)
        pending->newer->older = pending->older;
    else
        ledger->newest_pending = pending->older;
    free(pending);
}

/* How long it was pending, up to `ns`; NM_NO_TIME: not known. */
static int64_t wait_of(const nm_pending *pending, int64_t ns)
{
    uint64_t wait_ns = (uint64_t)ns - (uint64_t)pending->since_ns;

    if (pending->since_ns == NM_NO_TIME || ns == NM_NO_TIME || ns < pending->since_ns)
        return NM_NO_TIME;
    return wait_ns > NM_SUM_MAX ? INT64_MAX : (int64_t)wait_ns;
}

static void add_wait(nm_ledger *ledger, nm_group *group, uint64_t bytes, uint64_t wait_ns)
{
    unsigned __int128 byte_ns = (unsigned __int128)bytes * wait_ns;

    ledger->pending_byte_ns += byte_ns;
    group->pending_byte_ns += byte_ns;
    if (wait_ns > ledger->sum.max_wait_ns)
        ledger->sum.max_wait_ns = wait_ns;
}

nm_status nm_pending_end(const nm_run *run, nm_ledger *ledger, const nm_live *block, int64_t ns, nm_error *err)
{
    nm_ledger_entry *entry = nm_ledger_entry_of(run, block);
    nm_pending_row row = {
        .heap_id = block->heap->id,
        .stack_id = nm_live_stack(block),
        .has_stream = block->row.has_stream,
        .stream = block->row.stream,
        .size_bytes = nm_live_extent(block),
    };

    row.wait_ns = wait_of(entry->pending, ns);
    ledger->pending_bytes = nm_subtract_saturated(ledger->pending_bytes, row.size_bytes);
    entry->group->pending_bytes = nm_subtract_saturated(entry->group->pending_bytes, row.size_bytes);
    if (row.wait_ns != NM_NO_TIME)
        add_wait(ledger, entry->group, row.size_bytes, (uint64_t)row.wait_ns);
    delist(ledger, entry->pending);
    entry->pending = NULL;
    return nm_give_pending(&run->replay->sink, &row, err);
}

/* ---- Would it be enough? ------------------------------------------------------------------------------------------- */

static const nm_live *live_of(const nm_tree_node *node)
{
    return node == NULL ? NULL : NM_TREE_ITEM(node, nm_live, node);
}

static nm_tree_node *neighbour(const nm_tree_node *node, bool is_next)
{
    return is_next ? nm_tree_next(node) : nm_tree_previous(node);
}

/* The last of the mapped ranges on that side that have grown together with this one. */
static const nm_live *last_joined(const nm_live *range, bool is_next)
{
    for (unsigned step = 0; step < NM_PENDING_LOOKED_AT_MAX; step++) {
        const nm_live *other = live_of(neighbour(&range->node, is_next));

        if (!(is_next ? nm_sub_pool_is_joined(range, other) : nm_sub_pool_is_joined(other, range)))
            break;
        range = other;
    }
    return range;
}

/* The next block of the pool on that side, as if the request were not there yet. */
static const nm_live *block_beside(const nm_live *block, bool is_next, const nm_live *request)
{
    const nm_live *at = live_of(neighbour(&block->node, is_next));

    return at == request ? live_of(neighbour(&request->node, is_next)) : at;
}

/* The first block of the pool on that side that is not pending, or the last one looked at; NULL: there is none. */
static const nm_live *first_kept(const nm_run *run, const nm_live *block, bool is_next, const nm_live *request)
{
    const nm_live *at = block_beside(block, is_next, request);

    for (unsigned step = 0;
         step < NM_PENDING_LOOKED_AT_MAX && at != NULL && nm_ledger_entry_of(run, at)->pending != NULL; step++)
        at = block_beside(at, is_next, request);
    return at;
}

/* The free memory in one piece that there would have been before the request, if the pending block and those next to it had
 * been free. */
static uint64_t room_at(const nm_run *run, const nm_live *block, const nm_live *request)
{
    const nm_live *range = live_of(nm_tree_holding(&block->heap->arena->ranges, block->node.key));
    const nm_live *left = first_kept(run, block, false, request);
    const nm_live *right = first_kept(run, block, true, request);
    uint64_t from, to;

    if (range == NULL || range->owner != block->heap)
        return nm_live_extent(block);
    from = last_joined(range, false)->node.key;
    to = last_joined(range, true)->node.value;
    if (left != NULL && left->node.value > from)
        from = left->node.value;
    if (right != NULL && right->node.key < to)
        to = right->node.key;
    return nm_subtract_saturated(to, from);
}

bool nm_pending_is_enough(const nm_run *run, const nm_ledger *ledger, const nm_live *request)
{
    const nm_group *group = nm_ledger_entry_of(run, request)->group;
    const nm_pending *pending = ledger->newest_pending;
    uint64_t bytes = nm_live_extent(request);
    unsigned looked_at = 0;

    for (; pending != NULL && looked_at < NM_PENDING_LOOKED_AT_MAX; pending = pending->older, looked_at++)
        if (nm_ledger_entry_of(run, pending->live)->group == group && room_at(run, pending->live, request) >= bytes)
            return true;
    return false;
}

uint64_t nm_pending_largest(const nm_run *run, const nm_heap *pool, uint64_t *look_count)
{
    const nm_ledger *ledger = nm_heap_room(run, pool);
    uint64_t bytes = 0;

    if (ledger->requested != NULL) /* by the last event of the pool: it is not in the list yet */
        bytes = ledger->requested->row.size_bytes;
    for (const nm_pending *pending = ledger->oldest_pending; pending != NULL; pending = pending->newer) {
        ++*look_count;
        if (pending->live->row.size_bytes > bytes)
            bytes = pending->live->row.size_bytes;
    }
    return bytes;
}

nm_status nm_pending_finish(const nm_run *run, nm_ledger *ledger, nm_error *err)
{
    nm_status status = nm_pending_settle(run, ledger, NULL, err);

    while (ledger->newest_pending != NULL && status == NM_OK)
        status = nm_pending_end(run, ledger, ledger->newest_pending->live, run->replay->last_ns, err);
    return status;
}

void nm_pending_free(nm_ledger *ledger)
{
    while (ledger->newest_pending != NULL)
        delist(ledger, ledger->newest_pending);
}
