/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts what a pool is asked for, by group and by class of size, and what it gets from the driver and gives back. All of
 * a block's figures here go by its extent or size; none needs more than the block and its group.
 */
#include <stdlib.h>

#include "analysis/hits.h"
#include "analysis/passes.h"
#include "analysis/pool_miss.h"
#include "analysis/pool_pending.h"
#include "analysis/pool_reuse.h"
#include "base/buffer.h"
#include "base/number.h"

enum { NEED_HITS };

/* Of a pool that has had a block or a segment from now on. */
static nm_ledger *ledger_of(const nm_run *run, const nm_heap *pool)
{
    nm_ledger *ledger = nm_heap_room(run, pool);

    if (!ledger->is_used) {
        ledger->is_used = true;
        ledger->pool = pool;
        ledger->sum =
            (nm_pool_sum_row){.heap_id = pool->id, .max_pending_seq = NM_NO_SEQ, .max_pending_ns = NM_NO_TIME};
        ledger->step.heap_id = pool->id;
    }
    return ledger;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

/* By what the pool cut where that is known: an allocator rounds before it chooses. */
static bool is_large(const nm_live *block)
{
    const nm_device *device = block->heap->device;
    bool is_padded = block->row.block_bytes == 0 && device != NULL && device->is_npu;

    return nm_live_extent(block) + (is_padded ? NM_NPU_PAD_BYTES : 0) > block->heap->large_bytes;
}

static bool is_of(const nm_group *group, const nm_live_row *row)
{
    return group != NULL && group->row.private_pool == row->policy && group->row.has_stream == row->has_stream &&
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
static nm_status look_up_group(nm_ledger *ledger, const nm_live_row *row, bool large, nm_group **out, nm_error *err)
{
    nm_key key = {row->policy << 2 | (uint64_t)row->has_stream << 1 | large, row->has_stream ? row->stream : 0};
    nm_pool_group_row made = {.heap_id = ledger->pool->id,
                              .private_pool = row->policy,
                              .has_stream = row->has_stream,
                              .stream = key.low,
                              .is_large = large,
                              .last_miss_seq = NM_NO_SEQ,
                              .last_seq = NM_NO_SEQ,
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
static void look_at_held(nm_ledger *ledger, const nm_heap *pool, const nm_group *group)
{
    ledger->is_held_known = pool->has_segments || pool->has_stated;
    ledger->held_bytes = pool->has_segments ? group->row.held_bytes : pool->stated_reserved_bytes;
    ledger->most_held_bytes = pool->has_segments ? group->row.peak_held_bytes : pool->peak_stated_reserved_bytes;
}

/* A block comes: before the ranges under it are told. Finds its group and what that holds. */
static nm_status take_coming(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_live *block = change->live;

    if (!nm_is_pool(block->heap))
        return NM_OK;
    nm_ledger *ledger = ledger_of(run, block->heap);
    nm_ledger_entry *entry = nm_ledger_entry_of(run, block);
    nm_status status = nm_pending_settle(run, ledger, block, err);

    if (status == NM_OK)
        status = find_group(ledger, block, &entry->group, err);
    if (status == NM_OK)
        look_at_held(ledger, block->heap, entry->group);
    return status;
}

/* n for sizes above 2^(n-1), up to 2^n. */
static int size_class_of(uint64_t bytes)
{
    return bytes == 0 ? 0 : nm_bits_of(bytes - 1);
}

static nm_status find_class(nm_ledger *ledger, const nm_live *block, bool large, nm_pool_class_row **out, nm_error *err)
{
    const nm_live_row *row = &block->row;
    int size_class = size_class_of(row->requested_bytes != 0 ? row->requested_bytes : row->block_bytes);
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

static void count_miss(nm_ledger *ledger, const nm_live *block, nm_pool_group_row *group, nm_pool_class_row *class)
{
    const nm_live_row *row = &block->row;

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

/* How long a group asks for nothing is counted in requests of the pool. */
static void note_request(const nm_ledger *ledger, nm_group *group, int64_t seq)
{
    uint64_t gap_count = group->last_request == 0 ? 0 : ledger->request_count - group->last_request - 1;

    if (gap_count > group->row.max_gap_count)
        group->row.max_gap_count = gap_count;
    group->last_request = ledger->request_count;
    group->row.last_seq = seq;
}

/* It was a request of the program. */
static nm_status count(const nm_run *run, nm_ledger *ledger, const nm_change *change, nm_error *err)
{
    const nm_live *block = change->live;
    const nm_live_row *row = &block->row;
    nm_pool_group_row *group = &nm_ledger_entry_of(run, block)->group->row;
    nm_pool_class_row *class = NULL;
    nm_status status = NM_OK;

    nm_reuse_request(run, ledger, block);
    if (row->is_miss == 1) /* before it is counted: the first is cold */
        status = nm_miss_take(run, ledger, change, err);
    if (status == NM_OK)
        status = find_class(ledger, block, group->is_large, &class, err);
    if (status != NM_OK)
        return status;
    end_flush(ledger, row->is_miss == 1);
    ledger->request_count++;
    note_request(ledger, nm_ledger_entry_of(run, block)->group, change->context->seq);
    nm_sum_add(&ledger->request_bytes, row->size_bytes);
    if (row->is_miss == NM_NO_MISS)
        return NM_OK;
    group->allocation_count++;
    nm_sum_add(&group->allocated_bytes, row->size_bytes);
    class->allocation_count++;
    nm_sum_add(&class->allocated_bytes, row->size_bytes);
    ledger->step.allocation_count++;
    nm_sum_add(&ledger->step.allocated_bytes, row->size_bytes);
    if (row->is_miss == 1)
        count_miss(ledger, block, group, class);
    return NM_OK;
}

/* It is there from now on. */
static void put(nm_ledger_entry *entry, const nm_live *block)
{
    nm_group *group = entry->group;

    if (group == NULL)
        return;
    entry->is_given_up = false;
    nm_sum_add(&group->live_bytes, nm_live_extent(block));
    if (group->live_bytes > group->row.peak_live_bytes)
        group->row.peak_live_bytes = group->live_bytes;
}

static nm_status take_birth(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_live *block = change->live;

    if (!nm_is_pool(block->heap))
        return NM_OK;
    nm_ledger *ledger = ledger_of(run, block->heap);
    bool is_request = !block->is_baseline && !block->is_kept && !block->is_unseen;
    nm_status status = is_request ? count(run, ledger, change, err) : NM_OK;

    put(nm_ledger_entry_of(run, block), block);
    if (status == NM_OK && (change->context->event->flags & NM_FLAG_PENDING))
        status = nm_pending_arrive(run, ledger, block, err);
    return status;
}

/* It is there no more; its row says how it ends. What is left of a block that was cut (nonsense, but a stream may say it) is of
 * no group. */
static nm_status take_end(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_live *block = change->live;
    const nm_ledger_entry *entry = nm_ledger_entry_of(run, block);
    nm_group *group = entry->group;

    if (!nm_is_pool(block->heap) || group == NULL)
        return NM_OK;
    nm_ledger *ledger = ledger_of(run, block->heap);
    nm_status status = nm_pending_settle(run, ledger, block, err);
    if (status == NM_OK && entry->pending != NULL)
        status = nm_pending_end(run, ledger, block, block->more->free_ns, err);
    if (!entry->is_given_up)
        group->live_bytes = nm_subtract_saturated(group->live_bytes, nm_live_extent(block));
    if (status == NM_OK && block->more->end_kind == NM_END_FREED)
        status = nm_reuse_freed(run, ledger, block, err);
    return status;
}

/* ---- Segments ---------------------------------------------------------------------------------------------------- */

static void change_held(nm_group *group, bool is_more, uint64_t bytes)
{
    nm_pool_group_row *row = &group->row;

    row->held_bytes =
        is_more ? nm_add_saturated(row->held_bytes, bytes) : nm_subtract_saturated(row->held_bytes, bytes);
    if (row->held_bytes > row->peak_held_bytes)
        row->peak_held_bytes = row->held_bytes;
}

/* A driver range has become a segment of its owner for the first time. */
static void claim(const nm_run *run, const nm_live *range)
{
    bool is_seen =
        !range->is_baseline && !range->is_unseen && !range->is_kept && nm_live_more_of(range)->split_from_id == 0;

    if (!is_seen)
        return;
    nm_ledger *ledger = ledger_of(run, range->owner);
    ledger->sum.driver_count++;
    ledger->step.driver_count++;
    ledger->sum.driver_cost_count += range->row.cost_ns != 0;
    nm_sum_add(&ledger->sum.driver_cost_ns, range->row.cost_ns);
    nm_sum_add(&ledger->step.driver_cost_ns, range->row.cost_ns);
}

static nm_status take_segment(nm_run *run, const nm_change *change, nm_error *err)
{
    nm_group *group = nm_ledger_entry_of(run, change->live)->group;

    (void)err;
    if (group != NULL)
        change_held(group, true, nm_live_extent(change->live));
    if (change->is_first)
        claim(run, change->live);
    return NM_OK;
}

/* The first block of its pool in a segment says which group that is of. */
static nm_status take_use(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_live *range = change->live;
    nm_ledger_entry *entry = nm_ledger_entry_of(run, range);

    (void)err;
    if (entry->group != NULL || range->owner != change->block->heap)
        return NM_OK;
    entry->group = nm_ledger_entry_of(run, change->block)->group;
    if (entry->group != NULL)
        change_held(entry->group, true, nm_live_extent(range));
    return NM_OK;
}

/* A segment, or so much of one, goes back to the driver. */
static void give_back(nm_ledger *ledger, uint64_t bytes)
{
    if (!ledger->is_flushing) {
        ledger->is_flushing = true;
        ledger->flush_length = 0;
        ledger->has_failed_before_flush = ledger->pool->arena->failure_count != ledger->failures_seen;
        ledger->sum.flush_count++;
    }
    ledger->flush_length++;
    ledger->sum.released_count++;
    nm_sum_add(&ledger->sum.released_bytes, bytes);
    ledger->step.released_count++;
    nm_sum_add(&ledger->step.released_bytes, bytes);
}

static nm_status take_segment_out(nm_run *run, const nm_change *change, nm_error *err)
{
    nm_group *group = nm_ledger_entry_of(run, change->live)->group;

    (void)err;
    if (change->left != NULL)
        nm_ledger_entry_of(run, change->left)->group = group;
    if (change->right != NULL)
        nm_ledger_entry_of(run, change->right)->group = group;
    if (group != NULL)
        change_held(group, false, change->bytes);
    if (change->is_given_back)
        give_back(ledger_of(run, change->heap), change->bytes);
    return NM_OK;
}

/* The driver refused to take the segment that it was given back last. */
static void keep_segment(const nm_run *run, const nm_live *range)
{
    nm_ledger *ledger = range->owner == NULL ? NULL : nm_heap_room(run, range->owner);
    uint64_t bytes = nm_live_extent(range);

    if (ledger == NULL || !ledger->is_used)
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

static nm_status take_refusal(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_live *live = change->live;

    (void)err;
    if (live->heap->level == NM_LEVEL_DRIVER)
        keep_segment(run, live);
    if (!nm_is_pool(live->heap) || nm_ledger_entry_of(run, live)->group == NULL)
        return NM_OK;
    put(nm_ledger_entry_of(run, live), live);
    nm_reuse_forget(run, ledger_of(run, live->heap), live);
    return NM_OK;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static nm_status end_step_of(const nm_run *run, const nm_heap *pool, nm_error *err)
{
    nm_ledger *ledger = nm_heap_room(run, pool);
    nm_pool_step_row row = ledger->step;

    if (!ledger->is_used)
        return NM_OK;
    ledger->step = (nm_pool_step_row){.heap_id = pool->id};
    row.generation = (int64_t)pool->process->step_count;
    if (row.allocation_count == 0 && row.driver_count == 0 && row.released_count == 0)
        return NM_OK;
    return nm_give_pool_step(&run->replay->sink, &row, err);
}

static nm_status end_step(const nm_run *run, const nm_process *process, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process)
        status = end_step_of(run, heap, err);
    return status;
}

static nm_status write_group(const nm_run *run, const nm_ledger *ledger, const nm_group *group, nm_error *err)
{
    nm_pool_group_row row = group->row;

    row.pending_byte_ms = nm_byte_ms(group->pending_byte_ns);
    row.since_count = ledger->request_count - group->last_request;
    return nm_give_pool_group(&run->replay->sink, &row, err);
}

static nm_status write_ledger(const nm_run *run, nm_ledger *ledger, nm_error *err)
{
    nm_status status = NM_OK;

    ledger->sum.pending_byte_ms = nm_byte_ms(ledger->pending_byte_ns);
    ledger->sum.is_partial = !nm_miss_is_history_known(ledger->pool);
    ledger->sum.is_estimate = ledger->pool->has_unknown_block;
    for (const nm_group *group = ledger->groups; group != NULL && status == NM_OK; group = group->next)
        status = write_group(run, ledger, group, err);
    for (size_t i = 0; i < ledger->classes.count && status == NM_OK; i++)
        if (ledger->classes.items[i].allocation_count > 0)
            status = nm_give_pool_class(&run->replay->sink, &ledger->classes.items[i], err);
    if (status == NM_OK)
        status = nm_reuse_finish(run, ledger, err);
    return status == NM_OK ? nm_give_pool_sum(&run->replay->sink, &ledger->sum, err) : status;
}

/* A keyframe may have brought a pool's hits, and nothing else of it come. */
static bool has_ledger(const nm_run *run, const nm_heap *heap)
{
    return ((const nm_ledger *)nm_heap_room(run, heap))->is_used ||
           nm_hits_request_count(run->needs[NEED_HITS], heap) > 0;
}

/* ---- The pass ---------------------------------------------------------------------------------------------------- */

static nm_status take_stream_end(nm_run *run, const nm_change *change, nm_error *err)
{
    nm_status status = NM_OK;

    (void)change;
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        status = nm_pending_finish(run, nm_heap_room(run, heap), err);
    return status;
}

static nm_status take_giving_up(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_heap *pool = change->live->heap;

    return nm_is_pool(pool) ? nm_pending_request(run, ledger_of(run, pool), change, err) : NM_OK;
}

static nm_status take_step_end(nm_run *run, const nm_change *change, nm_error *err)
{
    return end_step(run, change->process, err);
}

static nm_status finish(nm_run *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        if (has_ledger(run, heap))
            status = write_ledger(run, ledger_of(run, heap), err);
    return status;
}

static void free_ledger(nm_ledger *ledger)
{
    while (ledger->groups != NULL) {
        nm_group *group = ledger->groups;

        ledger->groups = group->next;
        free(group);
    }
    nm_map_free(&ledger->group_of);
    free(ledger->classes.items);
    nm_pending_free(ledger);
    nm_reuse_free(ledger);
}

static void release(nm_run *run)
{
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next)
        free_ledger(nm_heap_room(run, heap));
}

static const nm_pass *const needs[] = {[NEED_HITS] = &nm_hits_pass, NULL};

const nm_pass nm_pool_ledger_pass = {
    .name = "pool ledger",
    .gives = {[NM_ROW_MISS] = true,
              [NM_ROW_PENDING] = true,
              [NM_ROW_POOL_GROUP] = true,
              [NM_ROW_POOL_CLASS] = true,
              [NM_ROW_POOL_STEP] = true,
              [NM_ROW_POOL_REUSE] = true,
              [NM_ROW_POOL_SUM] = true},
    .needs = needs,
    .wants = {[NM_CHANGE_COMING] = take_coming,
              [NM_CHANGE_BORN] = take_birth,
              [NM_CHANGE_GIVEN_UP] = take_giving_up,
              [NM_CHANGE_ENDING] = take_end,
              [NM_CHANGE_REFUSED] = take_refusal,
              [NM_CHANGE_SEGMENT_IN] = take_segment,
              [NM_CHANGE_SEGMENT_USED] = take_use,
              [NM_CHANGE_SEGMENT_OUT] = take_segment_out,
              [NM_CHANGE_STEP_ENDED] = take_step_end,
              [NM_CHANGE_END] = take_stream_end},
    .room = {[NM_OWNER_HEAP] = sizeof(nm_ledger),
             [NM_OWNER_LIVE] = sizeof(nm_ledger_entry),
             [NM_OWNER_PAST] = sizeof(nm_ledger_past)},
    .finish = finish,
    .release = release,
};
