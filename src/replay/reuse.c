/* SPDX-License-Identifier: Apache-2.0
 *
 * How soon freed memory is asked for again: from the last free of a size to the next request of that size, and from a free
 * to the next request that is served at its address. The distance is what the pool handed out in between. A size whose last
 * free is kept stands in a table of NM_POOL_SIZES_MAX; an address is remembered as long as its place is (places.c).
 */
#include "replay/reuse.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "replay/ledger.h"
#include "replay/lookup.h"

static void count(nm_ledger *ledger, nm_reuse_kind kind, uint64_t requests, uint64_t bytes)
{
    nm_reuse *reuse = ledger->reuse;

    reuse->counts[kind][NM_REUSE_ALLOCATIONS][nm_bits_of(ledger->request_count - requests)]++;
    reuse->counts[kind][NM_REUSE_BYTES][nm_bits_of(nm_subtract_saturated(ledger->request_bytes, bytes))]++;
}

static bool was_freed_here(const nm_live *block)
{
    const nm_place *place = block->place;

    return place != NULL && place->reuse_requests != 0 && place->reuse_heap == (uint32_t)block->heap->id;
}

nm_status nm_reuse_request(nm_ledger *ledger, nm_live *block, nm_error *err)
{
    nm_reuse *reuse = ledger->reuse;
    const uint64_t *known;

    (void)err;
    if (reuse == NULL)
        return NM_OK;
    known = nm_map_get(&reuse->size_of, (nm_key){0, nm_live_extent(block)});
    if (known != NULL) {
        nm_freed_size *size = &reuse->sizes.items[*known];

        if (size->is_free)
            count(ledger, NM_REUSE_SIZE, size->requests, size->bytes);
        size->is_free = false;
        block->size_number = (uint32_t)*known + 1;
    }
    if (was_freed_here(block))
        count(ledger, NM_REUSE_ADDRESS, block->place->reuse_requests - 1, block->place->reuse_bytes);
    if (block->place != NULL)
        block->place->reuse_requests = 0;
    return NM_OK;
}

/* Numbers the block's size, if there is room. */
static nm_status number_size(nm_ledger *ledger, nm_live *block, nm_error *err)
{
    nm_reuse *reuse = ledger->reuse;
    nm_key key = {0, nm_live_extent(block)};
    const uint64_t *known = nm_map_get(&reuse->size_of, key);
    nm_status status;

    if (known != NULL) {
        block->size_number = (uint32_t)*known + 1;
        return NM_OK;
    }
    if (reuse->sizes.count >= NM_POOL_SIZES_MAX)
        return NM_OK;
    status = nm_array_grow(&reuse->sizes.items, &reuse->sizes.capacity, reuse->sizes.count + 1,
                           sizeof *reuse->sizes.items, err);
    if (status == NM_OK)
        status = nm_map_put(&reuse->size_of, key, reuse->sizes.count, err);
    if (status == NM_OK)
        block->size_number = (uint32_t)++reuse->sizes.count;
    return status;
}

nm_status nm_reuse_freed(nm_ledger *ledger, nm_live *block, nm_error *err)
{
    nm_status status = NM_OK;

    if (ledger->reuse == NULL)
        ledger->reuse = nm_replay_allocate(sizeof *ledger->reuse, err);
    if (ledger->reuse == NULL)
        return NM_ERR_MEMORY;
    if (block->size_number == 0)
        status = number_size(ledger, block, err);
    if (block->size_number != 0)
        ledger->reuse->sizes.items[block->size_number - 1] =
            (nm_freed_size){ledger->request_count, ledger->request_bytes, true};
    else
        ledger->sum.untracked_count++;
    block->place->reuse_requests = ledger->request_count + 1;
    block->place->reuse_bytes = ledger->request_bytes;
    block->place->reuse_heap = (uint32_t)block->heap->id;
    return status;
}

void nm_reuse_forget(nm_ledger *ledger, nm_live *block)
{
    if (ledger->reuse != NULL && block->size_number != 0)
        ledger->reuse->sizes.items[block->size_number - 1].is_free = false;
    block->place->reuse_requests = 0;
}

nm_status nm_reuse_finish(nm_replay *replay, const nm_ledger *ledger, nm_error *err)
{
    const nm_reuse *reuse = ledger->reuse;
    nm_status status = NM_OK;

    for (int n = 0; reuse != NULL && replay->sink.wants[NM_ROW_POOL_REUSE] && status == NM_OK &&
                    n < NM_REUSE_KINDS * NM_REUSE_MEASURES * NM_DISTANCE_CLASSES;
         n++) {
        nm_pool_reuse_row row = {
            .heap_id = ledger->pool->id,
            .kind = (nm_reuse_kind)(n / NM_DISTANCE_CLASSES / NM_REUSE_MEASURES),
            .measure = (nm_reuse_measure)(n / NM_DISTANCE_CLASSES % NM_REUSE_MEASURES),
            .distance_class = n % NM_DISTANCE_CLASSES,
        };

        row.request_count = reuse->counts[row.kind][row.measure][row.distance_class];
        if (row.request_count > 0)
            status = nm_give_pool_reuse(&replay->sink, &row, err);
    }
    return status;
}

void nm_reuse_free(nm_ledger *ledger)
{
    if (ledger->reuse == NULL)
        return;
    nm_map_free(&ledger->reuse->size_of);
    free(ledger->reuse->sizes.items);
    free(ledger->reuse);
    ledger->reuse = NULL;
}
