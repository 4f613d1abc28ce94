/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a pool had to grow. The rules stand in schema/063_pool.sql, at table miss_cause; a cause is named only where what was
 * before is known well enough for it.
 */
#include "replay/miss.h"

#include "replay/doubt.h"
#include "replay/ledger.h"
#include "replay/lookup.h"
#include "replay/pending.h"

/* Nothing of the process was lost, untold or before the stream: what is live is what the program holds. */
static bool is_present_known(const nm_heap *pool)
{
    const nm_replay *replay = pool->replay;

    return !replay->has_keyframe && !replay->has_pause && !pool->process->is_late &&
           !pool->process->has_unknown_pause && !nm_doubt_has_loss(replay, pool->process);
}

bool nm_miss_is_history_known(const nm_heap *pool)
{
    return is_present_known(pool) && !pool->arena->has_baseline;
}

static nm_miss_cause cause_of(const nm_live *block, const nm_touch *touch, bool is_pending_enough)
{
    const nm_heap *pool = block->heap;
    const nm_group *group = block->group;
    uint64_t live_bytes = nm_add_saturated(group->live_bytes, nm_live_extent(block));
    bool is_history_known = nm_miss_is_history_known(pool);

    if (!is_present_known(pool))
        return NM_MISS_UNKNOWN;
    if (is_history_known && group->row.miss_count == 0)
        return NM_MISS_COLD;
    if (touch->is_held_known && touch->held_bytes < touch->most_held_bytes && live_bytes <= touch->most_held_bytes)
        return NM_MISS_AFTER_FLUSH;
    if (is_history_known && pool->process->step_count == 1)
        return NM_MISS_COLD;
    if (live_bytes > group->row.peak_live_bytes)
        return is_history_known ? NM_MISS_GROWTH : NM_MISS_UNKNOWN;
    if (is_pending_enough)
        return NM_MISS_PENDING_FREE;
    return pool->has_segments && !pool->has_unknown_block ? NM_MISS_FRAGMENTATION : NM_MISS_UNKNOWN;
}

nm_status nm_miss_take(nm_live *block, const nm_touch *touch, nm_error *err)
{
    nm_replay *replay = block->heap->replay;
    const nm_allocation_row *row = &block->row;
    bool is_pending_enough = nm_pending_is_enough(block);
    nm_miss_cause cause = cause_of(block, touch, is_pending_enough);
    nm_miss_row miss = {
        .heap_id = row->heap_id,
        .thread_id = row->thread_id,
        .stack_id = row->stack_id,
        .has_stream = row->has_stream,
        .is_large = block->group->row.is_large,
        .stream = row->stream,
        .private_pool = row->private_pool,
        .seq = row->alloc_seq,
        .ns = row->alloc_ns,
        .generation = (int64_t)block->heap->process->step_count,
        .size_bytes = row->size_bytes,
        .cause = cause,
        .is_early = block->heap->process->step_count == 0 && nm_miss_is_history_known(block->heap) &&
                    cause != NM_MISS_AFTER_FLUSH,
        .is_pending_enough = is_pending_enough,
        .driver_count = touch->driver_count,
        .driver_cost_ns = touch->driver_cost_ns,
        .held_bytes = touch->held_bytes,
        .most_held_bytes = touch->most_held_bytes,
        .is_held_known = touch->is_held_known,
    };

    block->heap->ledger->sum.pending_miss_count += is_pending_enough;
    return nm_give_miss(&replay->sink, &miss, err);
}
