/* SPDX-License-Identifier: Apache-2.0
 *
 * Who keeps segments from being empty. Where a segment has free bytes and blocks, the bytes are split evenly over the
 * blocks: each of them is as much in the way as the others, however small it is. Sums by stack are exact, so that they add
 * up to the stuck bytes; only the largest of them have a row of their own.
 */
#include "analysis/blockers.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "replay/lookup.h"

typedef struct holder { /* a stack, of the baseline or not */
    nm_blocker_row row;
    size_t last_segment; /* that was counted, plus 1 */
} holder;

typedef struct holders {
    const nm_blocks_then *blocks;
    uint64_t *hostage_bytes; /* of each block; owned */
    bool *is_counted;        /* each block, with its stack; owned */
    nm_map index;            /* (is_baseline, stack_id) -> index into items */
    holder *items;           /* owned */
    size_t count, capacity;
} holders;

size_t nm_blockers_first(const nm_blocks_then *blocks, uint64_t from)
{
    size_t low = 0;
    size_t high = blocks->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (blocks->items[middle].to > from)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool are_of_one_stack(const nm_block_then *a, const nm_block_then *b)
{
    return a->stack_id == b->stack_id && a->is_baseline == b->is_baseline;
}

/* Free bytes of the segment, how many blocks are in it, and whether all are of one stack. */
static uint64_t look_into(const holders *all, const nm_segment_then *segment, size_t first, size_t *count,
                          bool *is_sole)
{
    const nm_block_then *blocks = all->blocks->items;
    uint64_t free_bytes = segment->to - segment->from;

    *count = 0;
    *is_sole = true;
    for (size_t i = first; i < all->blocks->count && blocks[i].from < segment->to; i++) {
        uint64_t from = blocks[i].from > segment->from ? blocks[i].from : segment->from;
        uint64_t to = blocks[i].to < segment->to ? blocks[i].to : segment->to;

        free_bytes = nm_subtract_saturated(free_bytes, to > from ? to - from : 0);
        *is_sole = *is_sole && are_of_one_stack(&blocks[i], &blocks[first]);
        (*count)++;
    }
    return free_bytes;
}

static nm_status find_holder(holders *all, const nm_block_then *block, uint64_t *out, nm_error *err)
{
    nm_key key = {block->is_baseline, block->stack_id};
    nm_status status = nm_map_number(&all->index, key, out, err);

    if (status != NM_OK || *out < all->count)
        return status;
    status = nm_array_grow(&all->items, &all->capacity, all->count + 1, sizeof *all->items, err);
    if (status == NM_OK)
        all->items[all->count++] = (holder){
            .row = {.stack_id = block->stack_id,
                    .is_baseline = block->is_baseline,
                    .oldest_seq = INT64_MAX,
                    .oldest_ns = NM_NO_TIME},
        };
    return status;
}

/* The block's part in one segment. */
static nm_status hold(holders *all, size_t block_index, size_t segment_index, uint64_t bytes, uint64_t sole_bytes,
                      nm_error *err)
{
    const nm_block_then *block = &all->blocks->items[block_index];
    uint64_t index;
    nm_blocker_row *row;
    nm_status status = find_holder(all, block, &index, err);

    if (status != NM_OK)
        return status;
    row = &all->items[index].row;
    nm_sum_add(&all->hostage_bytes[block_index], bytes);
    nm_sum_add(&row->hostage_bytes, bytes);
    if (all->items[index].last_segment != segment_index + 1) {
        row->segment_count++;
        row->sole_segment_count += sole_bytes > 0;
        nm_sum_add(&row->sole_hostage_bytes, sole_bytes);
    }
    all->items[index].last_segment = segment_index + 1;
    if (all->is_counted[block_index])
        return NM_OK;
    all->is_counted[block_index] = true;
    row->block_count++;
    nm_sum_add(&row->block_bytes, block->to - block->from);
    if (block->alloc_seq < row->oldest_seq) { /* NM_NO_SEQ, where the birth is not known, is before all */
        row->oldest_seq = block->alloc_seq;
        row->oldest_ns = block->alloc_ns;
    }
    return NM_OK;
}

static nm_status split(holders *all, const nm_segment_then *segment, size_t segment_index, nm_error *err)
{
    size_t first = nm_blockers_first(all->blocks, segment->from);
    size_t count;
    bool is_sole;
    uint64_t free_bytes = look_into(all, segment, first, &count, &is_sole);
    nm_status status = NM_OK;

    for (size_t i = 0; i < count && free_bytes > 0 && status == NM_OK; i++)
        status = hold(all, first + i, segment_index, free_bytes / count + (i < free_bytes % count),
                      is_sole ? free_bytes : 0, err);
    return status;
}

/* The block of each stack that holds most; of two that hold as much, the one with the lower address. */
static void find_worst(holders *all)
{
    for (size_t i = 0; i < all->blocks->count; i++) {
        const nm_block_then *block = &all->blocks->items[i];
        const uint64_t *index = nm_map_get(&all->index, (nm_key){block->is_baseline, block->stack_id});
        nm_blocker_row *row = index == NULL ? NULL : &all->items[*index].row;

        if (row == NULL || all->hostage_bytes[i] <= row->worst_hostage_bytes)
            continue;
        row->worst_allocation_id = block->allocation_id;
        row->worst_address = block->from;
        row->worst_block_bytes = block->to - block->from;
        row->worst_hostage_bytes = all->hostage_bytes[i];
    }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static int compare_holders(const void *left, const void *right)
{
    const nm_blocker_row *a = &((const holder *)left)->row;
    const nm_blocker_row *b = &((const holder *)right)->row;

    if (a->hostage_bytes != b->hostage_bytes)
        return a->hostage_bytes > b->hostage_bytes ? -1 : 1;
    if (a->is_baseline != b->is_baseline)
        return a->is_baseline ? 1 : -1;
    return a->stack_id < b->stack_id ? -1 : a->stack_id > b->stack_id;
}

static void add_to_rest(nm_blocker_row *rest, const nm_blocker_row *row)
{
    rest->block_count += row->block_count;
    nm_sum_add(&rest->block_bytes, row->block_bytes);
    nm_sum_add(&rest->hostage_bytes, row->hostage_bytes);
    rest->sole_segment_count += row->sole_segment_count;
    nm_sum_add(&rest->sole_hostage_bytes, row->sole_hostage_bytes);
    if (row->oldest_seq < rest->oldest_seq) {
        rest->oldest_seq = row->oldest_seq;
        rest->oldest_ns = row->oldest_ns;
    }
}

static nm_status write_row(const nm_sink *sink, uint64_t moment_id, const nm_heap *pool, nm_blocker_row *row,
                           nm_error *err)
{
    row->moment_id = moment_id;
    row->heap_id = pool->id;
    return nm_give_blocker(sink, row, err);
}

static nm_status write_rows(const nm_sink *sink, uint64_t moment_id, const nm_heap *pool, holders *all, size_t limit,
                            nm_error *err)
{
    nm_blocker_row rest = {.is_rest = true, .oldest_seq = INT64_MAX, .oldest_ns = NM_NO_TIME};
    nm_status status = NM_OK;

    if (all->count > 0)
        qsort(all->items, all->count, sizeof *all->items, compare_holders);
    for (size_t i = 0; i < all->count && status == NM_OK; i++) {
        if (i < limit)
            status = write_row(sink, moment_id, pool, &all->items[i].row, err);
        else
            add_to_rest(&rest, &all->items[i].row);
    }
    return status == NM_OK && rest.block_count > 0 ? write_row(sink, moment_id, pool, &rest, err) : status;
}

static nm_status make_room(holders *all, nm_error *err)
{
    all->hostage_bytes = nm_replay_allocate((all->blocks->count + 1) * sizeof *all->hostage_bytes, err);
    all->is_counted = nm_replay_allocate((all->blocks->count + 1) * sizeof *all->is_counted, err);
    return all->hostage_bytes == NULL || all->is_counted == NULL ? NM_ERR_MEMORY : NM_OK;
}

nm_status nm_blockers_write(const nm_sink *sink, uint64_t moment_id, const nm_heap *pool,
                            const nm_segments_then *segments, const nm_blocks_then *blocks, size_t limit, nm_error *err)
{
    holders all = {.blocks = blocks};
    nm_status status;

    if (!sink->wants[NM_ROW_BLOCKER])
        return NM_OK;
    status = make_room(&all, err);
    for (size_t i = 0; i < segments->count && status == NM_OK; i++)
        status = split(&all, &segments->items[i], i, err);
    if (status == NM_OK) {
        find_worst(&all);
        status = write_rows(sink, moment_id, pool, &all, limit, err);
    }
    nm_map_free(&all.index);
    free(all.items);
    free(all.hostage_bytes);
    free(all.is_counted);
    return status;
}
