/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts what a pool is asked for, by group and by class of size, and what it gets from the driver and gives back. All of
 * a block's figures here go by its extent or size; none needs more than the block and its group.
 */
#include "replay/ledger.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "replay/lookup.h"
#include "replay/miss.h"
#include "replay/pending.h"
#include "replay/reuse.h"

nm_status nm_ledger_of(nm_heap *pool, nm_ledger **out, nm_error *err)
{
    nm_ledger *ledger = pool->ledger;

    if (ledger == NULL) {
        ledger = nm_replay_allocate(sizeof *ledger, err);
        if (ledger == NULL)
            return NM_ERR_MEMORY;
        ledger->pool = pool;
        ledger->sum =
            (nm_pool_sum_row){.heap_id = pool->id, .max_pending_seq = NM_NO_SEQ, .max_pending_ns = NM_NO_TIME};
        ledger->step.heap_id = pool->id;
        pool->ledger = ledger;
    }
    *out = ledger;
    return NM_OK;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

/* By what the pool cut where that is known: an allocator rounds before it chooses. */
static bool is_large(const nm_live *block)
{
    const nm_device *device = block->heap->device;
    bool is_padded = block->row.block_bytes == 0 && device != NULL && device->is_npu;

    return nm_live_extent(block) + (is_padded ? NM_NPU_PAD_BYTES : 0) > block->heap->large_bytes;
}

static bool is_of(const nm_group *group, const nm_allocation_row *row)
{
    return group != NULL && group->row.private_pool == row->private_pool && group->row.has_stream == row->has_stream &&
           group->row.stream == row->stream;
}

static nm_status make_group(nm_ledger *ledger, nm_key key, nm_pool_group_row row, nm_group **out, nm_error *err)
{
    nm_group *group = nm_replay_allocate(sizeof *group, err);
    nm_status status = group == NULL ? NM_ERR_MEMORY : nm_map_put(&ledger->group_of, key, (uintptr_t)group, err);

    if (status != NM_OK) {
        free(group);
        return status;
    }
    group->row = row;
    group->next = ledger->groups;
    ledger->groups = group;
    *out = group;
    return NM_OK;
}

/* Another group than the last one of its class. */
static nm_status look_up_group(nm_ledger *ledger, const nm_allocation_row *row, bool large, nm_group **out,
                               nm_error *err)
{
    nm_key key = {row->private_pool << 2 | (uint64_t)row->has_stream << 1 | large, row->has_stream ? row->stream : 0};
    nm_pool_group_row made = {.heap_id = ledger->pool->id,
                              .private_pool = row->private_pool,
                              .has_stream = row->has_stream,
                              .stream = key.low,
                              .is_large = large,
                              .last_miss_seq = NM_NO_SEQ,
                              .last_miss_ns = NM_NO_TIME};
    const uint64_t *known = nm_map_get(&ledger->group_of, key);

    if (known == NULL && ledger->group_of.count >= NM_POOL_GROUPS_MAX) {
        key = (nm_key){large, 0};
        made.private_pool = made.stream = 0;
        made.has_stream = false;
        known = nm_map_get(&ledger->group_of, key);
    }
    if (known == NULL)
        return make_group(ledger, key, made, out, err);
    *out = (nm_group *)(uintptr_t)*known;
    return NM_OK;
}

static nm_status find_group(nm_ledger *ledger, const nm_live *block, nm_group **out, nm_error *err)
{
    bool large = is_large(block);
    nm_status status = NM_OK;

    *out = ledger->recent[large];
    if (is_of(*out, &block->row))
        return NM_OK;
    status = look_up_group(ledger, &block->row, large, out, err);
    if (status == NM_OK)
        ledger->recent[large] = *out;
    return status;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* What the group holds of the driver's memory; a pool that only states it has one figure for all its groups. */
static void look_at_held(const nm_heap *pool, const nm_group *group, nm_touch *touch)
{
    touch->is_held_known = pool->has_segments || pool->has_stated;
    touch->held_bytes = pool->has_segments ? group->row.held_bytes : pool->stated_reserved_bytes;
    touch->most_held_bytes = pool->has_segments ? group->row.peak_held_bytes : pool->peak_stated_reserved_bytes;
}

nm_status nm_ledger_enter(nm_live *block, nm_touch *touch, nm_error *err)
{
    nm_ledger *ledger = NULL;
    nm_status status = nm_ledger_of(block->heap, &ledger, err);

    *touch = (nm_touch){.is_miss = NM_UNKNOWN_NUMBER};
    if (status == NM_OK)
        status = nm_pending_settle(ledger, block, err);
    if (status == NM_OK)
        status = find_group(ledger, block, &block->group, err);
    if (status == NM_OK)
        look_at_held(block->heap, block->group, touch);
    return status;
}

/* n for sizes above 2^(n-1), up to 2^n. */
static int size_class_of(uint64_t bytes)
{
    return bytes == 0 ? 0 : nm_bits_of(bytes - 1);
}

static nm_status find_class(nm_ledger *ledger, const nm_live *block, nm_pool_class_row **out, nm_error *err)
{
    const nm_allocation_row *row = &block->row;
    int size_class = size_class_of(row->requested_bytes != 0 ? row->requested_bytes : row->block_bytes);
    bool large = block->group->row.is_large;
    uint8_t *index = &ledger->class_index[large][size_class];
    nm_status status;

    if (*index == 0) {
        status = nm_array_grow(&ledger->classes.items, &ledger->classes.capacity, ledger->classes.count + 1,
                               sizeof *ledger->classes.items, err);
        if (status != NM_OK)
            return status;
        ledger->classes.items[ledger->classes.count++] = (nm_pool_class_row){.heap_id = ledger->pool->id,
                                                                             .is_large = large,
                                                                             .size_class = size_class,
                                                                             .last_miss_seq = NM_NO_SEQ,
                                                                             .last_miss_ns = NM_NO_TIME};
        *index = (uint8_t)ledger->classes.count;
    }
    *out = &ledger->classes.items[*index - 1];
    return NM_OK;
}

static void count_miss(nm_ledger *ledger, const nm_live *block, nm_pool_class_row *class)
{
    const nm_allocation_row *row = &block->row;
    nm_pool_group_row *group = &block->group->row;

    class->miss_count++;
    nm_sum_add(&class->missed_bytes, row->size_bytes);
    class->last_miss_seq = group->last_miss_seq = row->alloc_seq;
    class->last_miss_ns = group->last_miss_ns = row->alloc_ns;
    group->miss_count++;
    nm_sum_add(&group->missed_bytes, row->size_bytes);
    ledger->step.miss_count++;
    nm_sum_add(&ledger->step.missed_bytes, row->size_bytes);
}

/* The pool hands something out again: was it because the driver had refused, and the pool flushed and asked again? */
static void end_flush(nm_ledger *ledger, bool is_miss)
{
    if (ledger->is_flushing && is_miss) {
        ledger->sum.retry_count++;
        ledger->sum.failed_retry_count += ledger->has_failed_before_flush;
    }
    ledger->is_flushing = false;
    ledger->failures_seen = ledger->pool->arena->failure_count;
}

nm_status nm_ledger_count(nm_live *block, const nm_touch *touch, nm_error *err)
{
    nm_ledger *ledger = block->heap->ledger;
    const nm_allocation_row *row = &block->row;
    nm_pool_group_row *group = &block->group->row;
    nm_pool_class_row *class = NULL;
    nm_status status = nm_reuse_request(ledger, block, err);

    if (status == NM_OK && row->is_miss == 1) /* before it is counted: the first is cold */
        status = nm_miss_take(block, touch, err);
    if (status == NM_OK)
        status = find_class(ledger, block, &class, err);
    if (status != NM_OK)
        return status;
    end_flush(ledger, row->is_miss == 1);
    ledger->request_count++;
    nm_sum_add(&ledger->request_bytes, row->size_bytes);
    if (row->is_miss == NM_UNKNOWN_NUMBER)
        return NM_OK;
    group->allocation_count++;
    nm_sum_add(&group->allocated_bytes, row->size_bytes);
    class->allocation_count++;
    nm_sum_add(&class->allocated_bytes, row->size_bytes);
    ledger->step.allocation_count++;
    nm_sum_add(&ledger->step.allocated_bytes, row->size_bytes);
    if (row->is_miss == 1)
        count_miss(ledger, block, class);
    return NM_OK;
}

void nm_ledger_put(nm_live *block)
{
    nm_group *group = block->group;

    if (group == NULL)
        return;
    block->is_given_up = false;
    nm_sum_add(&group->live_bytes, nm_live_extent(block));
    if (group->live_bytes > group->row.peak_live_bytes)
        group->row.peak_live_bytes = group->live_bytes;
}

nm_status nm_ledger_take(nm_live *block, nm_error *err)
{
    nm_group *group = block->group;
    nm_status status;

    if (group == NULL)
        return NM_OK;
    status = nm_pending_settle(block->heap->ledger, block, err);
    if (status == NM_OK && block->pending != NULL)
        status = nm_pending_end(block, block->row.free_ns, err);
    if (!block->is_given_up)
        group->live_bytes = nm_subtract_saturated(group->live_bytes, nm_live_extent(block));
    if (status == NM_OK && block->row.end_kind == NM_END_FREED)
        status = nm_reuse_freed(block->heap->ledger, block, err);
    return status;
}

/* ---- Segments ---------------------------------------------------------------------------------------------------- */

nm_status nm_ledger_claim(const nm_live *range, nm_error *err)
{
    bool is_seen = !range->is_baseline && !range->is_unseen && !range->is_kept && range->row.split_from_id == 0;
    nm_ledger *ledger = NULL;
    nm_status status = range->owner == NULL || !is_seen ? NM_END : nm_ledger_of(range->owner, &ledger, err);

    if (status != NM_OK)
        return status == NM_END ? NM_OK : status;
    ledger->sum.driver_count++;
    ledger->step.driver_count++;
    ledger->sum.driver_cost_count += range->row.cost_ns != 0;
    nm_sum_add(&ledger->sum.driver_cost_ns, range->row.cost_ns);
    nm_sum_add(&ledger->step.driver_cost_ns, range->row.cost_ns);
    return NM_OK;
}

void nm_ledger_change_held(const nm_live *range, bool is_more, uint64_t bytes)
{
    nm_pool_group_row *row = range->group == NULL ? NULL : &range->group->row;

    if (row == NULL)
        return;
    row->held_bytes =
        is_more ? nm_add_saturated(row->held_bytes, bytes) : nm_subtract_saturated(row->held_bytes, bytes);
    if (row->held_bytes > row->peak_held_bytes)
        row->peak_held_bytes = row->held_bytes;
}

void nm_ledger_hold(nm_live *range, nm_group *group)
{
    if (range->group != NULL || group == NULL || range->owner == NULL || group->row.heap_id != range->owner->id)
        return;
    range->group = group;
    nm_ledger_change_held(range, true, range->node.value - range->node.key);
}

nm_status nm_ledger_release(nm_heap *pool, uint64_t bytes, nm_error *err)
{
    nm_ledger *ledger = NULL;
    nm_status status = nm_ledger_of(pool, &ledger, err);

    if (status != NM_OK)
        return status;
    if (!ledger->is_flushing) {
        ledger->is_flushing = true;
        ledger->flush_length = 0;
        ledger->has_failed_before_flush = pool->arena->failure_count != ledger->failures_seen;
        ledger->sum.flush_count++;
    }
    ledger->flush_length++;
    ledger->sum.released_count++;
    nm_sum_add(&ledger->sum.released_bytes, bytes);
    ledger->step.released_count++;
    nm_sum_add(&ledger->step.released_bytes, bytes);
    return NM_OK;
}

void nm_ledger_release_refused(nm_heap *pool, uint64_t bytes)
{
    nm_ledger *ledger = pool == NULL ? NULL : pool->ledger;

    if (ledger == NULL)
        return;
    ledger->sum.released_count = nm_subtract_saturated(ledger->sum.released_count, 1);
    ledger->sum.released_bytes = nm_subtract_saturated(ledger->sum.released_bytes, bytes);
    ledger->step.released_count = nm_subtract_saturated(ledger->step.released_count, 1);
    ledger->step.released_bytes = nm_subtract_saturated(ledger->step.released_bytes, bytes);
    if (!ledger->is_flushing || --ledger->flush_length > 0)
        return;
    ledger->is_flushing = false;
    ledger->sum.flush_count--;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

nm_status nm_ledger_end_step(nm_replay *replay, nm_heap *pool, nm_error *err)
{
    nm_ledger *ledger = pool->ledger;
    nm_pool_step_row row;

    if (ledger == NULL)
        return NM_OK;
    row = ledger->step;
    ledger->step = (nm_pool_step_row){.heap_id = pool->id};
    row.generation = (int64_t)pool->process->step_count;
    if (!replay->sink.wants[NM_ROW_POOL_STEP] ||
        (row.allocation_count == 0 && row.driver_count == 0 && row.released_count == 0))
        return NM_OK;
    return nm_give_pool_step(&replay->sink, &row, err);
}

static nm_status write_group(nm_replay *replay, const nm_group *group, nm_error *err)
{
    nm_pool_group_row row = group->row;

    row.pending_byte_ms = nm_byte_ms(group->pending_byte_ns);
    return nm_give_pool_group(&replay->sink, &row, err);
}

nm_status nm_ledger_finish(nm_replay *replay, nm_heap *pool, nm_error *err)
{
    const nm_sink *sink = &replay->sink;
    bool has_hits =
        pool->hits[0].allocation_count + pool->hits[1].allocation_count + pool->hits[2].allocation_count > 0;
    nm_ledger *ledger = pool->ledger;
    nm_status status = ledger == NULL && has_hits ? nm_ledger_of(pool, &ledger, err) : NM_OK;

    if (ledger == NULL)
        return status;
    ledger->sum.pending_byte_ms = nm_byte_ms(ledger->pending_byte_ns);
    ledger->sum.is_partial = !nm_miss_is_history_known(pool);
    ledger->sum.is_estimate = pool->has_unknown_block;
    for (const nm_group *group = ledger->groups; sink->wants[NM_ROW_POOL_GROUP] && group != NULL && status == NM_OK;
         group = group->next)
        status = write_group(replay, group, err);
    for (size_t i = 0; sink->wants[NM_ROW_POOL_CLASS] && i < ledger->classes.count && status == NM_OK; i++)
        if (ledger->classes.items[i].allocation_count > 0)
            status = nm_give_pool_class(sink, &ledger->classes.items[i], err);
    if (status == NM_OK)
        status = nm_reuse_finish(replay, ledger, err);
    return status == NM_OK ? nm_give_pool_sum(sink, &ledger->sum, err) : status;
}

void nm_ledger_free(nm_heap *pool)
{
    nm_ledger *ledger = pool->ledger;

    if (ledger == NULL)
        return;
    while (ledger->groups != NULL) {
        nm_group *group = ledger->groups;

        ledger->groups = group->next;
        free(group);
    }
    nm_map_free(&ledger->group_of);
    free(ledger->classes.items);
    nm_pending_free(ledger);
    nm_reuse_free(ledger);
    free(ledger);
    pool->ledger = NULL;
}
