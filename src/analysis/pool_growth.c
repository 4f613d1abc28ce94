/* SPDX-License-Identifier: Apache-2.0
 *
 * What was free in a part of a pool when a request made that part larger than ever: there being cut up costs memory,
 * whenever the peak was.
 */
#include "analysis/passes.h"

#include "base/number.h"
#include "replay/doubt.h"
#include "replay/lookup.h"
#include "replay/pass.h"
#include "replay/rounding.h"

typedef struct part_room {
    nm_pool_growth_row row;
} part_room;

static nm_pool_growth_row row_of(const nm_live *block)
{
    const nm_heap *pool = block->heap;
    const nm_sub_pool *part = block->part;
    const nm_live *last = nm_rounding_last_under(block->range, block);

    return (nm_pool_growth_row){
        .heap_id = pool->id,
        .part_id = part->row.part_id,
        .seq = block->row.alloc_seq,
        .ns = block->row.alloc_ns,
        .size_bytes = nm_live_extent(block),
        .reserved_bytes = pool->total.reserved_bytes,
        .part_reserved_bytes = part->reserved_bytes,
        .free_bytes = nm_subtract_saturated(part->gaps.free_bytes,
                                            nm_subtract_saturated(nm_live_extent(last), last->covered_bytes)),
        .rounding = {nm_subtract_saturated(part->rounding.min_bytes, block->rounding.min_bytes),
                     nm_subtract_saturated(part->rounding.max_bytes, block->rounding.max_bytes)},
        .is_doubtful = nm_doubt_has_loss(pool->replay, pool->process),
        .is_partial = nm_pool_is_partial(pool),
    };
}

/* A block of a part (so that block->range is the first segment under it) is there, and may be a miss. */
static void take_block(const nm_run *run, const nm_live *block)
{
    const nm_heap *pool = block->heap;
    nm_pool_growth_row *most = &((part_room *)nm_sub_pool_room(run, block->part))->row;
    nm_pool_growth_row row;

    if (block->is_kept || block->row.is_miss != 1 || pool->overlapping_count > 0 || pool->has_foreign_block ||
        block->part->reserved_bytes < most->part_reserved_bytes)
        return;
    /* Mapped segments are for small requests or for large ones, and are not told apart: the free memory is not of these. */
    if (block->range->is_mapped && nm_rounding_is_small(nm_live_extent(block)))
        return;
    row = row_of(block);
    if (row.part_reserved_bytes > most->part_reserved_bytes || row.free_bytes > most->free_bytes)
        *most = row;
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)err;
    if (nm_is_pool(change->live->heap) && change->live->part != NULL)
        take_block(run, change->live);
    return NM_OK;
}

static nm_status finish(nm_run *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next)
        for (const nm_sub_pool *part = heap->parts; part != NULL && status == NM_OK; part = part->next) {
            const part_room *room = nm_sub_pool_room(run, part);

            if (room->row.part_id != 0)
                status = nm_give_pool_growth(&run->replay->sink, &room->row, err);
        }
    return status;
}

const nm_pass nm_pool_growth_pass = {
    .name = "pool growth",
    .gives = {[NM_ROW_POOL_GROWTH] = true},
    .wants = {[NM_CHANGE_BORN] = change, [NM_CHANGE_REFUSED] = change},
    .room = {[NM_OWNER_SUB_POOL] = sizeof(part_room)},
    .finish = finish,
};
