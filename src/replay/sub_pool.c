/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of a pool: its segments of one kind, stream and private pool, with the free ranges in them. Sums of the pool are
 * kept beside those of its parts; only the largest free range is looked up part by part.
 */
#include "replay/sub_pool.h"

#include <stdlib.h>

#include "replay/gaps.h"
#include "replay/graph.h"
#include "replay/lookup.h"
#include "replay/pass.h"

#define SMALL_SEGMENT_BYTES     (UINT64_C(2) << 20)
#define LARGE_SEGMENT_BYTES_MIN (UINT64_C(10) << 20)

nm_segment_kind nm_sub_pool_kind(uint64_t segment_bytes, bool is_mapped)
{
    if (is_mapped)
        return NM_SEGMENT_EXPANDABLE;
    if (segment_bytes == SMALL_SEGMENT_BYTES)
        return NM_SEGMENT_SMALL;
    return segment_bytes >= LARGE_SEGMENT_BYTES_MIN && segment_bytes % SMALL_SEGMENT_BYTES == 0 ? NM_SEGMENT_LARGE
                                                                                                : NM_SEGMENT_OTHER;
}

static nm_live *range_of(const nm_tree_node *node)
{
    return node == NULL ? NULL : NM_TREE_ITEM(node, nm_live, node);
}

/* As nm_sub_pool_is_joined, whatever part they are of. */
static bool are_joinable(const nm_live *left, const nm_live *right)
{
    return left != NULL && right != NULL && left->node.value == right->node.key && left->is_mapped &&
           right->is_mapped && left->heap == right->heap && left->owner == right->owner &&
           left->row.has_stream == right->row.has_stream && left->row.stream == right->row.stream;
}

bool nm_sub_pool_is_joined(const nm_live *left, const nm_live *right)
{
    return are_joinable(left, right) && left->part == right->part;
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

static bool is_same(const nm_pool_part_row *a, const nm_pool_part_row *b)
{
    return a->kind == b->kind && a->has_stream == b->has_stream && a->stream == b->stream &&
           a->private_pool == b->private_pool && a->is_rest == b->is_rest;
}

static nm_sub_pool *find_known(const nm_heap *pool, const nm_pool_part_row *key)
{
    nm_sub_pool *part = pool->parts;

    while (part != NULL && !is_same(&part->row, key))
        part = part->next;
    return part;
}

nm_status nm_sub_pool_find(nm_replay *replay, nm_heap *pool, const nm_pool_part_row *key, nm_sub_pool **out,
                           nm_error *err)
{
    static const nm_pool_part_row rest = {.kind = NM_SEGMENT_OTHER, .is_rest = true};
    nm_sub_pool *part = find_known(pool, key);

    if (part == NULL && pool->part_count >= NM_POOL_PARTS_MAX) {
        key = &rest;
        part = find_known(pool, key);
    }
    *out = part;
    if (part != NULL)
        return NM_OK;
    part = nm_replay_allocate(nm_runs_bytes_of(replay, NM_OWNER_SUB_POOL), err);
    if (part == NULL)
        return NM_ERR_MEMORY;
    part->row = *key;
    part->row.heap_id = pool->id;
    part->row.part_id = ++replay->part_count;
    part->pool = pool;
    part->gaps.slab = &replay->gaps;
    if (pool->parts == NULL)
        pool->last_part = &pool->parts;
    *pool->last_part = part;
    pool->last_part = &part->next;
    pool->part_count++;
    *out = part;
    return NM_OK;
}

static nm_pool_part_row key_of(const nm_live *range, uint64_t private_pool)
{
    return (nm_pool_part_row){
        .kind = nm_sub_pool_kind(range->node.value - range->node.key, range->is_mapped),
        .has_stream = range->row.has_stream,
        .stream = range->row.has_stream ? range->row.stream : 0,
        .private_pool = private_pool,
    };
}

/* A range that goes on where one of the same pool ends, or ends where one begins: the pool's part has grown. */
static bool has_grown(nm_live *range)
{
    const nm_live *beside = range_of(nm_tree_previous(&range->node));

    if (!are_joinable(beside, range)) {
        beside = range_of(nm_tree_next(&range->node));
        if (!are_joinable(range, beside))
            beside = NULL;
    }
    if (beside == NULL || beside->part == NULL)
        return false;
    range->part = beside->part;
    range->is_settled = beside->is_settled;
    return true;
}

nm_status nm_sub_pool_enter(nm_live *range, nm_error *err)
{
    nm_heap *pool = range->owner;
    nm_pool_part_row key = key_of(range, 0);

    if (range->part != NULL && range->part->pool == pool) /* it comes back, or was claimed */
        return NM_OK;
    range->is_settled = false;
    return has_grown(range) ? NM_OK : nm_sub_pool_find(pool->replay, pool, &key, &range->part, err);
}

static void set_stream(nm_pool_part_row *key, bool has_stream, uint64_t stream)
{
    if (key->has_stream || !has_stream)
        return;
    key->has_stream = true;
    key->stream = stream;
}

nm_status nm_sub_pool_claim(nm_live *range, const nm_event *event, nm_error *err)
{
    nm_heap *pool = range->owner;
    nm_pool_part_row key = key_of(range, event->private_pool);

    set_stream(&key, (event->flags & NM_FLAG_POOL_STREAM) != 0, event->pool_stream);
    if (has_grown(range))
        return NM_OK;
    range->is_settled = true;
    return nm_sub_pool_find(pool->replay, pool, &key, &range->part, err);
}

/* ---- Free ranges ------------------------------------------------------------------------------------------------- */

static void touch(nm_sub_pool *part)
{
    if (part->is_changed)
        return;
    part->is_changed = true;
    part->next_changed = part->pool->first_changed_part;
    part->pool->first_changed_part = part;
}

/* The pool's sums follow what the part's free ranges were before. */
static void follow(nm_sub_pool *part, uint64_t free_bytes, uint64_t gap_count)
{
    part->pool->free_bytes += part->gaps.free_bytes - free_bytes;
    part->pool->gap_count += part->gaps.tree.count - gap_count;
    touch(part);
}

nm_status nm_sub_pool_take(nm_sub_pool *part, uint64_t from, uint64_t to, uint64_t *taken_bytes, nm_error *err)
{
    uint64_t free_bytes = part->gaps.free_bytes;
    uint64_t gap_count = part->gaps.tree.count;
    nm_status status = nm_gaps_take(&part->gaps, from, to, taken_bytes, err);

    follow(part, free_bytes, gap_count);
    return status;
}

nm_status nm_sub_pool_give(nm_live *range, uint64_t from, uint64_t to, uint64_t *given_bytes, nm_error *err)
{
    nm_sub_pool *part = range->part;
    uint64_t free_bytes = part->gaps.free_bytes;
    uint64_t gap_count = part->gaps.tree.count;
    bool joins_left = from > range->node.key || nm_sub_pool_is_joined(range_of(nm_tree_previous(&range->node)), range);
    bool joins_right = to < range->node.value || nm_sub_pool_is_joined(range, range_of(nm_tree_next(&range->node)));
    nm_status status = nm_gaps_give(&part->gaps, from, to, joins_left, joins_right, given_bytes, err);

    follow(part, free_bytes, gap_count);
    return status;
}

void nm_sub_pool_reserve(const nm_live *range, uint64_t more_bytes, uint64_t less_bytes)
{
    nm_sub_pool *part = range->part;
    nm_heap_total_row *total = &part->pool->total;

    total->reserved_bytes = nm_subtract_saturated(nm_add_saturated(total->reserved_bytes, more_bytes), less_bytes);
    part->reserved_bytes = nm_subtract_saturated(nm_add_saturated(part->reserved_bytes, more_bytes), less_bytes);
    nm_graph_reserve(range, more_bytes, less_bytes);
    touch(part);
}

void nm_sub_pool_stick(nm_sub_pool *part, uint64_t more_bytes, uint64_t less_bytes)
{
    nm_heap *pool = part->pool;

    pool->stuck_bytes = nm_subtract_saturated(nm_add_saturated(pool->stuck_bytes, more_bytes), less_bytes);
    part->stuck_bytes = nm_subtract_saturated(nm_add_saturated(part->stuck_bytes, more_bytes), less_bytes);
    touch(part);
}

/* ---- Private pools and streams ----------------------------------------------------------------------------------- */

/* Nothing of the range is covered: it goes over as one. */
static nm_status move(nm_live *range, nm_sub_pool *part, nm_error *err)
{
    uint64_t bytes = range->node.value - range->node.key;
    uint64_t moved_bytes;
    nm_status status = nm_sub_pool_take(range->part, range->node.key, range->node.value, &moved_bytes, err);

    range->part->reserved_bytes = nm_subtract_saturated(range->part->reserved_bytes, bytes);
    range->old_part = range->part;
    range->old_epoch = part->pool->epoch;
    range->part = part;
    nm_sum_add(&part->reserved_bytes, bytes);
    range->is_settled = true;
    return status == NM_OK ? nm_sub_pool_give(range, range->node.key, range->node.value, &moved_bytes, err) : status;
}

static bool is_movable(const nm_live *range)
{
    return range->covered_bytes == 0 && nm_gaps_free_bytes_in(&range->part->gaps, range->node.key, range->node.value) ==
                                            range->node.value - range->node.key;
}

/* The free memory that the range's own went on in, on one side, comes along. */
static nm_status move_along(nm_live *range, nm_sub_pool *old, bool is_left, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_live *at = range; status == NM_OK;) {
        nm_live *next = range_of(is_left ? nm_tree_previous(&at->node) : nm_tree_next(&at->node));

        if (!(is_left ? are_joinable(next, at) : are_joinable(at, next)) || next->part != old || next->is_settled ||
            !is_movable(next))
            break;
        status = move(next, range->part, err);
        at = next;
    }
    return status;
}

nm_status nm_sub_pool_settle(nm_live *range, const nm_live *block, nm_error *err)
{
    nm_heap *pool = range->owner;
    nm_sub_pool *old = range->part;
    nm_sub_pool *part = NULL;
    nm_pool_part_row key;
    nm_status status;

    if (range->is_settled || old == NULL)
        return NM_OK;
    range->is_settled = true;
    key = key_of(range, block->row.policy);
    set_stream(&key, block->row.has_stream, block->row.stream);
    if (is_same(&key, &old->row) || !is_movable(range))
        return NM_OK;
    status = nm_sub_pool_find(pool->replay, pool, &key, &part, err);
    if (status != NM_OK || part == old)
        return status;
    status = move(range, part, err);
    if (status == NM_OK)
        status = move_along(range, old, true, err);
    return status == NM_OK ? move_along(range, old, false, err) : status;
}

/* ---- Waste ------------------------------------------------------------------------------------------------------- */

int64_t nm_sub_pool_block_waste(uint64_t requested_bytes, uint64_t block_bytes)
{
    if (requested_bytes == 0 || block_bytes == 0)
        return NM_UNKNOWN_NUMBER;
    return (int64_t)nm_subtract_saturated(block_bytes, requested_bytes);
}

static bool is_rounded(const nm_live *block)
{
    return (block->rounding.min_bytes | block->rounding.max_bytes) != 0;
}

static void add_rounding(nm_rounding *sum, const nm_rounding *more)
{
    nm_sum_add(&sum->min_bytes, more->min_bytes);
    nm_sum_add(&sum->max_bytes, more->max_bytes);
}

static void subtract_rounding(nm_rounding *sum, const nm_rounding *less)
{
    sum->min_bytes = nm_subtract_saturated(sum->min_bytes, less->min_bytes);
    sum->max_bytes = nm_subtract_saturated(sum->max_bytes, less->max_bytes);
}

void nm_sub_pool_add_waste(nm_live *block, nm_sub_pool *part)
{
    nm_heap *pool = block->heap;
    int64_t waste_bytes = nm_sub_pool_block_waste(block->row.requested_bytes, block->row.block_bytes);
    bool is_known = waste_bytes != NM_UNKNOWN_NUMBER;
    uint64_t bytes = is_known ? (uint64_t)waste_bytes : 0;

    block->part = part;
    pool->unknown_waste_count += !is_known;
    nm_sum_add(&pool->waste_bytes, bytes);
    if (part == NULL)
        return;
    if (is_rounded(block)) {
        add_rounding(&pool->rounding, &block->rounding);
        add_rounding(&part->rounding, &block->rounding);
    }
    part->unknown_waste_count += !is_known;
    nm_sum_add(&part->waste_bytes, bytes);
    touch(part);
}

void nm_sub_pool_subtract_waste(nm_live *block)
{
    nm_heap *pool = block->heap;
    nm_sub_pool *part = block->part;
    int64_t waste_bytes = nm_sub_pool_block_waste(block->row.requested_bytes, block->row.block_bytes);
    bool is_known = waste_bytes != NM_UNKNOWN_NUMBER;
    uint64_t bytes = is_known ? (uint64_t)waste_bytes : 0;

    pool->unknown_waste_count -= !is_known;
    pool->waste_bytes = nm_subtract_saturated(pool->waste_bytes, bytes);
    if (part == NULL)
        return;
    if (is_rounded(block)) {
        subtract_rounding(&pool->rounding, &block->rounding);
        subtract_rounding(&part->rounding, &block->rounding);
    }
    part->unknown_waste_count -= !is_known;
    part->waste_bytes = nm_subtract_saturated(part->waste_bytes, bytes);
    touch(part);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

nm_sub_pool_figures nm_sub_pool_figures_of(const nm_sub_pool *part)
{
    return (nm_sub_pool_figures){
        .reserved_bytes = part->reserved_bytes,
        .free_bytes = part->gaps.free_bytes,
        .largest_free_bytes = nm_tree_largest(&part->gaps.tree),
        .stuck_bytes = part->stuck_bytes,
        .gap_count = part->gaps.tree.count,
        .waste_bytes = nm_sub_pool_waste(part->waste_bytes, part->unknown_waste_count),
    };
}

uint64_t nm_sub_pool_largest(const nm_heap *pool)
{
    uint64_t largest_bytes = 0;

    for (const nm_sub_pool *part = pool->parts; part != NULL; part = part->next) {
        uint64_t bytes = nm_tree_largest(&part->gaps.tree);

        if (bytes > largest_bytes)
            largest_bytes = bytes;
    }
    return largest_bytes;
}

void nm_parts_settle(nm_heap *pool)
{
    while (pool->first_changed_part != NULL) {
        nm_sub_pool *part = pool->first_changed_part;

        pool->first_changed_part = part->next_changed;
        part->is_changed = false;
    }
}

nm_status nm_sub_pools_write(const nm_replay *replay, const nm_heap *pool, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_sub_pool *part = pool->parts; part != NULL && status == NM_OK && replay->sink.wants[NM_ROW_POOL_PART];
         part = part->next)
        status = nm_give_pool_part(&replay->sink, &part->row, err);
    return status;
}

void nm_parts_free(nm_heap *pool)
{
    while (pool->parts != NULL) {
        nm_sub_pool *part = pool->parts;

        pool->parts = part->next;
        nm_gaps_free(&part->gaps);
        free(part);
    }
}
