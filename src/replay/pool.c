/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments and misses. A driver range becomes a segment of the pool whose block it first carries, or of the device's
 * first pool when its source says that it is one from birth. Its bytes are reserved from then to its end, and what no
 * block of that pool covers is a gap. A block is a miss when it is the first to touch some range under it.
 */
#include "replay/pool.h"

#include <assert.h>
#include <stdlib.h>

#include "replay/doubt.h"
#include "replay/gaps.h"
#include "replay/lookup.h"
#include "replay/pass.h"
#include "replay/rounding.h"
#include "replay/sub_pool.h"
#include "replay/usage.h"

static nm_live *range_of(const nm_tree_node *node)
{
    return node == NULL ? NULL : NM_TREE_ITEM(node, nm_live, node);
}

/* The first range that holds something of [from, ...). */
static nm_live *first_range(const nm_arena *arena, uint64_t from)
{
    nm_tree_node *node = nm_tree_holding(&arena->ranges, from);

    return range_of(node != NULL ? node : nm_tree_ceiling(&arena->ranges, from));
}

static nm_live *first_range_under(nm_live *block)
{
    const nm_arena *arena = block->heap->arena;

    if (block->range_version != arena->range_version) {
        block->range = first_range(arena, block->node.key);
        block->range_version = arena->range_version;
    }
    return block->range;
}

/* Free bytes in a segment that emptying the cache cannot give back. */
static uint64_t stuck_in(const nm_live *range)
{
    return range->covered_bytes == 0 ? 0
                                     : nm_subtract_saturated(range->node.value - range->node.key, range->covered_bytes);
}

static void set_covered(nm_live *range, uint64_t covered_bytes)
{
    uint64_t before_bytes = stuck_in(range);

    range->covered_bytes = covered_bytes;
    nm_sub_pool_stick(range->part, stuck_in(range), before_bytes);
}

/* Takes the block's bytes out of the gaps of one of its pool's segments, or gives them back. */
static nm_status cover_part(nm_live *range, const nm_live *block, bool is_taken, nm_error *err)
{
    uint64_t from = block->node.key > range->node.key ? block->node.key : range->node.key;
    uint64_t to = block->node.value < range->node.value ? block->node.value : range->node.value;
    uint64_t changed_bytes = 0;
    nm_status status = NM_OK;

    if (from >= to)
        return NM_OK;
    if (is_taken) {
        status = nm_sub_pool_take(range->part, from, to, &changed_bytes, err);
        set_covered(range, range->covered_bytes + changed_bytes);
    } else {
        status = nm_sub_pool_give(range, from, to, &changed_bytes, err);
        set_covered(range, nm_subtract_saturated(range->covered_bytes, changed_bytes));
    }
    return status;
}

static nm_status cover(nm_live *block, bool is_taken, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_live *range = first_range_under(block);
         range != NULL && range->node.key < block->node.value && status == NM_OK;
         range = range_of(nm_tree_next(&range->node)))
        if (range->owner == block->heap)
            status = cover_part(range, block, is_taken, err);
    return status;
}

/* A block that was there before its segment was known to be one counts for its part from now on. */
static void count_inside(const nm_live *range, nm_live *block)
{
    if (block->part != NULL || block->node.key < range->node.key)
        return;
    nm_sub_pool_subtract_waste(block);
    block->rounding = nm_rounding_of(range, block, false);
    nm_sub_pool_add_waste(block, range->part);
}

nm_status nm_pool_attach(nm_live *range, bool is_first, int64_t seq, nm_error *err)
{
    nm_heap *pool = range->owner;
    uint64_t given_bytes;
    nm_status status;

    if (pool == NULL)
        return NM_OK;
    if (!pool->has_segments)
        pool->most_reserved_bytes = 0; /* its own word counts no more */
    pool->has_segments = true;
    status = nm_sub_pool_enter(range, err);
    if (status != NM_OK)
        return status;
    range->begin_epoch = pool->epoch;
    nm_sub_pool_reserve(range, range->node.value - range->node.key, 0);
    nm_sum_add(&range->heap->segment_bytes, range->node.value - range->node.key);
    nm_usage_touch_figures(range->heap);
    range->covered_bytes = 0;
    status = nm_sub_pool_give(range, range->node.key, range->node.value, &given_bytes, err);

    /* Blocks that were there before the range was known to be a segment. */
    nm_tree_node *node = nm_tree_holding(&pool->blocks, range->node.key);
    if (node == NULL)
        node = nm_tree_ceiling(&pool->blocks, range->node.key);
    for (; node != NULL && node->key < range->node.value && status == NM_OK; node = nm_tree_next(node)) {
        count_inside(range, range_of(node));
        if (range_of(node)->is_covering)
            status = cover_part(range, range_of(node), true, err);
    }
    nm_usage_peak_reserved(pool, seq);
    nm_usage_touch(pool);
    return status == NM_OK
               ? NM_TELL(pool->replay, NM_CHANGE_SEGMENT_IN, err, .live = range, .heap = pool, .is_first = is_first)
               : status;
}

/* Goes, and no request was ever served from it. */
static void lose_fresh(const nm_live *range, uint64_t bytes)
{
    if (!range->is_touched)
        range->owner->fresh_bytes = nm_subtract_saturated(range->owner->fresh_bytes, bytes);
}

nm_status nm_pool_detach(nm_live *range, nm_error *err)
{
    nm_heap *pool = range->owner;
    uint64_t taken_bytes;
    nm_status status;

    if (pool == NULL)
        return NM_OK;
    assert(range->part != NULL && range->part->pool == pool); /* nm_pool_attach() has put it there */
    nm_allocation_end end_kind = nm_live_more_of(range)->end_kind;
    bool is_given_back = end_kind == NM_END_FREED || end_kind == NM_END_UNMAPPED;
    status = NM_TELL(pool->replay, NM_CHANGE_SEGMENT_OUT, err, .live = range, .heap = pool, .from = range->node.key,
                     .to = range->node.value, .bytes = range->node.value - range->node.key, .is_whole = true,
                     .is_given_back = is_given_back);
    if (status != NM_OK)
        return status;
    set_covered(range, 0);
    nm_sub_pool_reserve(range, 0, range->node.value - range->node.key);
    lose_fresh(range, range->node.value - range->node.key);
    range->heap->segment_bytes = nm_subtract_saturated(range->heap->segment_bytes, range->node.value - range->node.key);
    nm_usage_touch(pool);
    status = nm_sub_pool_take(range->part, range->node.key, range->node.value, &taken_bytes, err);
    return status;
}

/* A part takes its share of the range's covered bytes over. */
static void inherit(nm_live *part, const nm_live *range, uint64_t free_bytes)
{
    if (part == NULL)
        return;
    part->owner = range->owner;
    part->part = range->part;
    part->is_settled = range->is_settled;
    part->begin_epoch = range->owner->epoch;
    part->covered_bytes = 0;
    set_covered(part, nm_subtract_saturated(part->node.value - part->node.key, free_bytes));
}

nm_status nm_pool_cut(nm_live *range, uint64_t from, uint64_t to, nm_live *left, nm_live *right, nm_error *err)
{
    nm_heap *pool = nm_live_owner(range);
    uint64_t free_bytes = nm_subtract_saturated(range->node.value - range->node.key, range->covered_bytes);
    uint64_t left_bytes = 0;
    uint64_t taken_bytes = 0;
    nm_status status;

    if (pool == NULL)
        return NM_OK;
    status = NM_TELL(pool->replay, NM_CHANGE_SEGMENT_OUT, err, .live = range, .heap = pool, .from = from, .to = to,
                     .bytes = to - from, .left = left, .right = right, .is_given_back = true);
    if (status == NM_OK)
        status = nm_sub_pool_take(range->part, from, to, &taken_bytes, err);
    free_bytes = nm_subtract_saturated(free_bytes, taken_bytes);
    if (left != NULL)
        left_bytes =
            right == NULL ? free_bytes : nm_gaps_free_bytes_in(&range->part->gaps, left->node.key, left->node.value);
    set_covered(range, 0);
    inherit(left, range, left_bytes);
    inherit(right, range, nm_subtract_saturated(free_bytes, left_bytes));
    nm_sub_pool_reserve(range, 0, to - from);
    lose_fresh(range, to - from);
    range->heap->segment_bytes = nm_subtract_saturated(range->heap->segment_bytes, to - from);
    nm_usage_touch(pool);
    return status;
}

nm_status nm_pool_adopt(nm_heap *pool, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_tree_node *node = nm_tree_first(&pool->arena->ranges); node != NULL && status == NM_OK;
         node = nm_tree_next(node)) {
        nm_live *range = range_of(node);

        if (range->row.is_segment && range->owner == NULL) {
            range->owner = pool;
            status = nm_pool_attach(range, true, NM_NO_SEQ, err);
        }
    }
    return status;
}

static nm_status tell_use(const nm_live *range, const nm_live *block, nm_error *err)
{
    return NM_TELL(block->heap->replay, NM_CHANGE_SEGMENT_USED, err, .live = range, .heap = range->owner,
                   .block = block);
}

/* The block lies in `range`: makes it a segment where it is none yet. */
static nm_status enter_range(nm_live *range, const nm_live *block, int64_t seq, nm_error *err)
{
    nm_status status = NM_OK;

    if (range->owner == NULL) {
        range->row.is_segment = true;
        range->owner = block->heap;
        status = nm_pool_attach(range, true, seq, err);
    }
    if (status == NM_OK)
        status = tell_use(range, block, err);
    if (status != NM_OK)
        return status;
    if (range->owner == block->heap)
        return nm_sub_pool_settle(range, block, err);
    block->heap->is_inside = true;
    if (nm_tree_holding(&range->owner->blocks, block->node.key) == NULL)
        range->owner->has_foreign_block = true;
    return NM_OK;
}

/* A block that was there before the range was mapped: its segment has been without memory (vLLM asleep), and has some again. */
static nm_live *block_asleep(const nm_live *range)
{
    for (const nm_heap *heap = range->heap->process->heaps; heap != NULL; heap = heap->next_of_process) {
        nm_tree_node *node = NULL;

        if (nm_is_pool(heap) && heap->arena == range->heap->arena)
            node = nm_tree_ceiling(&heap->blocks, range->node.key);
        if (node != NULL && node->value <= range->node.value)
            return range_of(node);
    }
    return NULL;
}

/* The pool that has grown by the range, though no block was ever seen in it: it lies at the end of a mapping of the pool. */
static nm_heap *pool_beside(const nm_live *range)
{
    const nm_live *left = range_of(nm_tree_previous(&range->node));

    return left != NULL && range->is_mapped && left->is_mapped && left->node.value == range->node.key &&
                   left->heap == range->heap
               ? left->owner
               : NULL;
}

static nm_status claim(nm_live *range, nm_heap *claimant, const nm_context *context, nm_error *err)
{
    nm_status status = NM_OK;

    range->owner = claimant != NULL ? claimant : pool_beside(range);
    if (range->owner == NULL)
        return NM_OK;
    range->row.is_segment = true;
    if (claimant != NULL)
        status = nm_sub_pool_claim(range, context->event, err);
    return status == NM_OK ? nm_pool_attach(range, true, context->seq, err) : status;
}

static nm_status enter_pool(nm_live *range, nm_heap *claimant, const nm_context *context, nm_error *err)
{
    bool is_segment = (context->event->flags & NM_FLAG_SEGMENT) != 0;

    range->is_touched = range->is_baseline || (range->is_unseen && is_segment);
    if (!is_segment) {
        const nm_live *block = range->is_mapped ? block_asleep(range) : NULL;

        range->is_touched |= block != NULL;
        return block == NULL ? claim(range, claimant, context, err) : enter_range(range, block, context->seq, err);
    }
    range->row.is_segment = true;
    range->owner = range->heap->arena->pool;
    return nm_pool_attach(range, true, context->seq, err);
}

nm_status nm_pool_range_appears(nm_live *range, nm_heap *claimant, const nm_context *context, nm_error *err)
{
    nm_status status = enter_pool(range, claimant, context, err);

    if (range->owner != NULL && !range->is_touched) {
        nm_sum_add(&range->owner->fresh_bytes, range->node.value - range->node.key);
        range->owner->fresh_end = range->node.value;
        range->owner->fresh_part = range->part;
    }
    return status;
}

uint64_t nm_pool_found_bytes(const nm_heap *pool)
{
    return pool->fresh_bytes == 0 ? 0 : nm_gaps_before(&pool->fresh_part->gaps, pool->fresh_end);
}

/* Finds the ranges under the block, which are next to each other, and whether one of them is touched for the first
 * time: touch->is_miss stays unknown when there is none. */
static nm_status enter_ranges(nm_live *block, int64_t seq, nm_touch *touch, nm_error *err)
{
    nm_live *range = first_range_under(block);
    nm_status status = NM_OK;

    if (range == NULL || range->node.key > block->node.key)
        return NM_OK;
    block->row.segment_id = range->row.allocation_id;
    touch->is_miss = 0;
    while (status == NM_OK) {
        uint64_t end = range->node.value;

        status = enter_range(range, block, seq, err);
        if (!range->is_touched) {
            touch->is_miss = 1;
            touch->driver_count++;
            nm_sum_add(&touch->driver_cost_ns, range->row.cost_ns);
        }
        range->is_touched = true;
        range = range_of(nm_tree_next(&range->node));
        if (range == NULL || range->node.key != end || end >= block->node.value)
            break;
    }
    return status;
}

/* Does the block lie over another of its pool? While no two do, the neighbours alone can tell. */
static bool overlaps(const nm_live *block)
{
    const nm_tree_node *next = nm_tree_next(&block->node);
    const nm_tree_node *before;

    if (next != NULL && next->key < block->node.value)
        return true;
    if (block->heap->overlapping_count > 0)
        return nm_tree_reaching(&block->node) != NULL;
    before = nm_tree_previous(&block->node);
    return before != NULL && before->value > block->node.key;
}

nm_status nm_pool_block_covers(nm_live *block, nm_error *err)
{
    const nm_live *range = first_range_under(block);
    bool is_inside = range != NULL && range->owner == block->heap && range->node.key <= block->node.key;
    nm_status status = NM_OK;

    block->begin_epoch = block->heap->epoch;
    if (is_inside)
        block->rounding = nm_rounding_of(range, block, !block->is_baseline && !block->is_kept);
    nm_sub_pool_add_waste(block, is_inside ? range->part : NULL);
    block->is_covering = !overlaps(block);
    block->heap->overlapping_count += !block->is_covering;
    if (block->is_covering)
        status = cover(block, true, err);
    return status;
}

nm_status nm_pool_block_appears(nm_live *block, uint64_t flags, int64_t seq, nm_touch *touch, nm_error *err)
{
    nm_status status;

    touch->is_miss = NM_NO_MISS;
    status = enter_ranges(block, seq, touch, err);
    if (block->row.block_bytes == 0)
        block->heap->has_unknown_block = true;
    if (flags & (NM_FLAG_MISS | NM_FLAG_HIT))
        touch->is_miss = (flags & NM_FLAG_MISS) != 0;
    block->heap->fresh_bytes = 0;
    if (status != NM_OK || block->is_baseline || block->is_unseen)
        return status;
    block->row.is_miss = touch->is_miss;
    block->heap->miss_count += block->row.is_miss == 1;
    return NM_OK;
}

nm_status nm_pool_block_returns(nm_live *block, uint64_t flags, nm_error *err)
{
    nm_live *range = first_range_under(block);
    bool is_inside = range != NULL && range->node.key <= block->node.key;
    nm_status status = NM_OK;

    block->row.is_miss = flags & NM_FLAG_MISS ? 1 : flags & NM_FLAG_HIT ? 0 : NM_NO_MISS;
    if (block->row.is_miss != NM_NO_MISS && is_inside)
        block->row.segment_id = range->row.allocation_id;
    if (is_inside && range->owner == block->heap)
        status = nm_sub_pool_settle(range, block, err);
    for (; range != NULL && range->node.key < block->node.value && status == NM_OK;
         range = range_of(nm_tree_next(&range->node)))
        status = tell_use(range, block, err);
    return status;
}

nm_status nm_pool_block_ends(nm_live *block, nm_error *err)
{
    nm_sub_pool_subtract_waste(block);
    if (!block->is_covering) {
        block->heap->overlapping_count--;
        return NM_OK;
    }
    block->is_covering = false;
    return cover(block, false, err);
}

/* ---- What a pool states ------------------------------------------------------------------------------------------ */

void nm_pool_reserved(const nm_context *context)
{
    nm_heap *pool = context->heap;

    if (pool == NULL || (!nm_is_pool(pool) && pool->level != NM_LEVEL_PINNED))
        return;
    pool->has_stated = true;
    pool->stated_reserved_bytes = nm_add_saturated(context->event->block_bytes, 0);
    if (pool->stated_reserved_bytes > pool->step_base.peak_stated_bytes)
        pool->step_base.peak_stated_bytes = pool->stated_reserved_bytes;
    if (pool->stated_reserved_bytes > pool->peak_stated_reserved_bytes) {
        pool->peak_stated_reserved_bytes = pool->stated_reserved_bytes;
        pool->peak_stated_reserved_seq = context->seq;
    }
    if (nm_pool_is_stated(pool)) /* else its timeline is that of its segments */
        nm_usage_touch(pool);
}

/* Where the pool's free memory is and how it is cut up is not known. */
static void set_stated_figures(const nm_heap *pool, nm_fragmentation_row *out)
{
    out->is_stated = true;
    out->is_estimate = true;
    out->reserved_bytes = pool->stated_reserved_bytes;
    out->occupied_bytes = pool->page_bytes < out->reserved_bytes ? pool->page_bytes : out->reserved_bytes;
    out->free_bytes = out->reserved_bytes - out->occupied_bytes;
}

void nm_pool_figures(const nm_heap *pool, nm_fragmentation_row *out)
{
    *out = (nm_fragmentation_row){
        .heap_id = pool->id,
        .reserved_bytes = pool->total.reserved_bytes,
        .occupied_bytes = nm_subtract_saturated(pool->total.reserved_bytes, pool->free_bytes),
        .free_bytes = pool->free_bytes,
        .largest_free_bytes = nm_sub_pool_largest(pool),
        .stuck_bytes = pool->stuck_bytes,
        .gap_count = pool->gap_count,
        .size_basis = pool->has_unknown_block ? NM_BASIS_REQUESTED : NM_BASIS_BLOCK,
        .is_estimate = nm_pool_is_estimate(pool),
        .has_stated = pool->has_stated,
        .stated_reserved_bytes = pool->stated_reserved_bytes,
        .waste_bytes = nm_sub_pool_waste(pool->waste_bytes, pool->unknown_waste_count),
        .is_rounding_known = nm_rounding_is_known(pool),
        .rounding = nm_rounding_is_known(pool) ? pool->rounding : (nm_rounding){0},
        .is_doubtful = nm_doubt_has_loss(pool->replay, pool->process),
        .is_partial = nm_pool_is_partial(pool),
    };
    if (nm_pool_is_stated(pool))
        set_stated_figures(pool, out);
}
