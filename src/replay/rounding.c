/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a pool is cut up for sure. Of many blocks only the requested size is told; what they were given beyond it is bounded
 * by the next block, by the end of the segment, and by the rules of the allocator where they are known. What is left is free
 * without doubt.
 */
#include "replay/rounding.h"

#include "replay/lookup.h"
#include "replay/sub_pool.h"

#define UNIT_BYTES     UINT64_C(512)
#define NPU_PAD_BYTES  UINT64_C(32)
#define REST_BYTES_MAX (UINT64_C(1) << 20) /* a large block keeps no more than this; smaller ones are rounded alone */
#define RANGES_MAX     64

static nm_live *live_of(const nm_tree_node *node)
{
    return node == NULL ? NULL : NM_TREE_ITEM(node, nm_live, node);
}

/* What is added to a block by rounding alone. */
static uint64_t rounding_of(uint64_t bytes, uint64_t pad_bytes)
{
    uint64_t padded_bytes = nm_add_saturated(bytes, pad_bytes);

    if (padded_bytes > UINT64_MAX - UNIT_BYTES)
        return 0;
    return (padded_bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES - bytes;
}

/* Such blocks are cut to their rounded size. */
static bool is_small(uint64_t bytes, uint64_t pad_bytes)
{
    return nm_add_saturated(bytes, rounding_of(bytes, pad_bytes)) <= REST_BYTES_MAX;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool nm_rounding_is_small(uint64_t bytes)
{
    return is_small(bytes, 0);
}

const nm_live *nm_rounding_last_under(const nm_live *range, const nm_live *block)
{
    const nm_live *next = range;

    for (; next != NULL && next->node.key < block->node.value; next = live_of(nm_tree_next(&range->node))) {
        range = next;
        if (range->node.value >= block->node.value)
            break;
    }
    return range;
}

/* Up to the next block, or to where the segment ends, with those that it has grown together with. More than RANGES_MAX of
 * them are not looked at: then it is all that is free in the pool. */
static uint64_t room_behind(const nm_live *range, const nm_live *block)
{
    const nm_live *block_behind = live_of(nm_tree_next(&block->node));
    const nm_live *last = nm_rounding_last_under(range, block);
    const nm_live *next = live_of(nm_tree_next(&last->node));
    uint64_t limit = block_behind == NULL ? UINT64_MAX : block_behind->node.key;
    unsigned range_count = 0;

    while (last->node.value < limit && nm_sub_pool_is_joined(last, next) && ++range_count < RANGES_MAX) {
        last = next;
        next = live_of(nm_tree_next(&last->node));
    }
    if (range_count == RANGES_MAX)
        return block->heap->free_bytes;
    return nm_subtract_saturated(last->node.value < limit ? last->node.value : limit, block->node.value);
}

/* A pad that may be there decides less than a unit. */
nm_rounding nm_rounding_of(const nm_live *range, const nm_live *block, bool is_new)
{
    uint64_t bytes = block->node.value - block->node.key;
    uint64_t pad_bytes = block->heap->block_cut == NM_CUT_TORCH_NPU ? NPU_PAD_BYTES : 0;
    uint64_t room_bytes;
    nm_rounding out;

    if (block->row.block_bytes != 0)
        return (nm_rounding){0};
    room_bytes = room_behind(range, block);
    if (block->heap->block_cut == NM_CUT_UNKNOWN)
        return (nm_rounding){.max_bytes = room_bytes};
    out = (nm_rounding){smaller(rounding_of(bytes, 0), room_bytes), smaller(rounding_of(bytes, pad_bytes), room_bytes)};
    if (range->is_mapped || is_small(bytes, pad_bytes))
        return out;
    if (is_new && room_bytes - out.min_bytes <= REST_BYTES_MAX)
        out.min_bytes = room_bytes;
    if (room_bytes - out.max_bytes <= REST_BYTES_MAX)
        out.max_bytes = room_bytes;
    else if (!is_new)
        out.max_bytes += REST_BYTES_MAX;
    return out;
}

bool nm_rounding_is_known(const nm_heap *pool)
{
    bool is_placed = !nm_pool_is_stated(pool) || !pool->has_unknown_block;

    return pool->overlapping_count == 0 && !pool->has_foreign_block && is_placed;
}
