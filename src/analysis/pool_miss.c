/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a pool had to grow. The rules stand in schema/pool_miss.sql, at table z_miss_cause; a cause is named only where what was
 * before is known well enough for it.
 */
#include "analysis/pool_miss.h"

#include "analysis/pool_pending.h"
#include "base/number.h"
#include "replay/doubt.h"

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

static nm_miss_cause cause_of(const nm_run *run, const nm_ledger *ledger, const nm_live *block, bool is_pending_enough)
{
    const nm_heap *pool = block->heap;
    const nm_group *group = nm_ledger_entry_of(run, block)->group;
    uint64_t live_bytes = nm_add_saturated(group->live_bytes, nm_live_extent(block));
    bool is_history_known = nm_miss_is_history_known(pool);

    if (!is_present_known(pool))
        return NM_MISS_UNKNOWN;
    if (is_history_known && group->row.miss_count == 0)
        return NM_MISS_COLD;
    if (ledger->is_held_known && ledger->held_bytes < ledger->most_held_bytes && live_bytes <= ledger->most_held_bytes)
        return NM_MISS_AFTER_FLUSH;
    if (is_history_known && pool->process->step_count == 1)
        return NM_MISS_COLD;
    if (live_bytes > group->row.peak_live_bytes)
        return is_history_known ? NM_MISS_GROWTH : NM_MISS_UNKNOWN;
    if (is_pending_enough)
        return NM_MISS_PENDING_FREE;
    return pool->has_segments && !pool->has_unknown_block ? NM_MISS_FRAGMENTATION : NM_MISS_UNKNOWN;
}

nm_status nm_miss_take(const nm_run *run, nm_ledger *ledger, const nm_change *change, nm_error *err)
{
    const nm_live *block = change->live;
    const nm_live_row *row = &block->row;
    bool is_pending_enough = nm_pending_is_enough(run, ledger, block);
    nm_miss_cause cause = cause_of(run, ledger, block, is_pending_enough);
    nm_miss_row miss = {
        .heap_id = block->heap->id,
        .thread_id = row->thread_id,
        .stack_id = nm_live_stack(block),
        .has_stream = row->has_stream,
        .is_large = nm_ledger_entry_of(run, block)->group->row.is_large,
        .stream = row->stream,
        .private_pool = row->policy,
        .seq = row->alloc_seq,
        .ns = row->alloc_ns,
        .generation = (int64_t)block->heap->process->step_count,
        .size_bytes = row->size_bytes,
        .cause = cause,
        .is_early = block->heap->process->step_count == 0 && nm_miss_is_history_known(block->heap) &&
                    cause != NM_MISS_AFTER_FLUSH,
        .is_pending_enough = is_pending_enough,
        .driver_count = change->driver_count,
        .driver_cost_ns = change->driver_cost_ns,
        .held_bytes = ledger->held_bytes,
        .most_held_bytes = ledger->most_held_bytes,
        .is_held_known = ledger->is_held_known,
    };

    ledger->sum.pending_miss_count += is_pending_enough;
    return nm_give_miss(&run->replay->sink, &miss, err);
}
