/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks that the program has given up and the pool cannot hand out yet, because another stream still uses them. An
 * allocator that is asked to free tells two things, that it was asked and that the block is free: a block is pending only
 * when another event of its pool came between the two.
 */
#include "replay/pending.h"

#include <stdlib.h>

#include "replay/ledger.h"
#include "replay/lookup.h"
#include "replay/pool.h"

static nm_status enlist(nm_live *block, int64_t seq, int64_t ns, nm_error *err)
{
    nm_ledger *ledger = block->heap->ledger;
    nm_pool_sum_row *sum = &ledger->sum;
    nm_group *group = block->group;
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
    block->pending = pending;
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

nm_status nm_pending_settle(nm_ledger *ledger, const nm_live *block, nm_error *err)
{
    nm_live *requested = ledger->requested;

    if (requested == NULL)
        return NM_OK;
    ledger->requested = NULL;
    return requested == block ? NM_OK : enlist(requested, ledger->requested_seq, ledger->requested_ns, err);
}

static void give_up(nm_live *block)
{
    block->is_given_up = true;
    block->group->live_bytes = nm_subtract_saturated(block->group->live_bytes, nm_live_extent(block));
}

nm_status nm_pending_request(nm_live *block, int64_t seq, int64_t ns, nm_error *err)
{
    nm_ledger *ledger = block->heap->ledger;
    nm_status status;

    if (block->group == NULL || block->is_given_up)
        return NM_OK;
    status = nm_pending_settle(ledger, NULL, err);
    if (status != NM_OK)
        return status;
    give_up(block);
    ledger->requested = block;
    ledger->requested_seq = seq;
    ledger->requested_ns = ns;
    return NM_OK;
}

nm_status nm_pending_arrive(nm_live *block, nm_error *err)
{
    if (block->group == NULL || block->is_given_up)
        return NM_OK;
    give_up(block);
    return enlist(block, NM_NO_SEQ, NM_NO_TIME, err);
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

nm_status nm_pending_end(nm_live *block, int64_t ns, nm_error *err)
{
    nm_ledger *ledger = block->heap->ledger;
    const nm_sink *sink = &block->heap->replay->sink;
    nm_pending_row row = {
        .heap_id = block->row.heap_id,
        .stack_id = block->row.stack_id,
        .has_stream = block->row.has_stream,
        .stream = block->row.stream,
        .size_bytes = nm_live_extent(block),
    };

    row.wait_ns = wait_of(block->pending, ns);
    ledger->pending_bytes = nm_subtract_saturated(ledger->pending_bytes, row.size_bytes);
    block->group->pending_bytes = nm_subtract_saturated(block->group->pending_bytes, row.size_bytes);
    if (row.wait_ns != NM_NO_TIME)
        add_wait(ledger, block->group, row.size_bytes, (uint64_t)row.wait_ns);
    delist(ledger, block->pending);
    block->pending = NULL;
    return nm_give_pending(sink, &row, err);
}

bool nm_pending_is_enough(const nm_live *request)
{
    const nm_pending *pending = request->heap->ledger->newest_pending;
    uint64_t bytes = nm_live_extent(request);
    unsigned looked_at = 0;

    for (; pending != NULL && looked_at < NM_PENDING_LOOKED_AT_MAX; pending = pending->older, looked_at++)
        if (pending->live->group == request->group && nm_pool_room_at(pending->live) >= bytes)
            return true;
    return false;
}

nm_status nm_pending_finish(nm_replay *replay, nm_heap *pool, nm_error *err)
{
    nm_ledger *ledger = pool->ledger;
    nm_status status = ledger == NULL ? NM_OK : nm_pending_settle(ledger, NULL, err);

    while (ledger != NULL && ledger->newest_pending != NULL && status == NM_OK)
        status = nm_pending_end(ledger->newest_pending->live, replay->last_ns, err);
    return status;
}

void nm_pending_free(nm_ledger *ledger)
{
    while (ledger->newest_pending != NULL)
        delist(ledger, ledger->newest_pending);
}
