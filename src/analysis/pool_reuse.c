/* SPDX-License-Identifier: Apache-2.0
 *
 * How soon freed memory is asked for again: from the last free of a size to the next request of that size, and from a free
 * to the next request that is served at its address. The distance is what the pool handed out in between. A size whose last
 * free is kept stands in a table of NM_POOL_SIZES_MAX; an address is remembered as long as its past is (places.c).
 */
#include "analysis/pool_reuse.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/number.h"

/* NULL: nothing ended at the address. While the block is ending, and so at its free, there is one. */
static nm_ledger_past *past_at(const nm_run *run, const nm_live *block)
{
    const nm_past *past = block->place->past;

    return past == NULL ? NULL : nm_past_room(run, past);
}

static void count(nm_ledger *ledger, nm_reuse_kind kind, uint64_t requests, uint64_t bytes)
{
    nm_reuse *reuse = ledger->reuse;

    reuse->counts[kind][NM_REUSE_ALLOCATIONS][nm_bits_of(ledger->request_count - requests)]++;
    reuse->counts[kind][NM_REUSE_BYTES][nm_bits_of(nm_subtract_saturated(ledger->request_bytes, bytes))]++;
}

void nm_reuse_request(const nm_run *run, nm_ledger *ledger, const nm_live *block)
{
    nm_reuse *reuse = ledger->reuse;
    nm_ledger_past *past = past_at(run, block);
    const uint64_t *known;

    if (reuse == NULL)
        return;
    known = nm_map_get(&reuse->size_of, (nm_key){0, nm_live_extent(block)});
    if (known != NULL) {
        nm_freed_size *size = &reuse->sizes.items[*known];

        if (size->is_free)
            count(ledger, NM_REUSE_SIZE, size->requests, size->bytes);
        size->is_free = false;
        nm_ledger_entry_of(run, block)->size_number = (uint32_t)*known + 1;
    }
    if (past == NULL)
        return;
    if (past->reuse_requests != 0 && past->reuse_heap_id == block->heap->id)
        count(ledger, NM_REUSE_ADDRESS, past->reuse_requests - 1, past->reuse_bytes);
    *past = (nm_ledger_past){0};
}

/* The number of the block's size plus 1, if there is room; 0: there is none. */
static nm_status number_size(nm_ledger *ledger, const nm_live *block, uint32_t *out, nm_error *err)
{
    nm_reuse *reuse = ledger->reuse;
    nm_key key = {0, nm_live_extent(block)};
    const uint64_t *known = nm_map_get(&reuse->size_of, key);
    nm_status status;

    if (known != NULL) {
        *out = (uint32_t)*known + 1;
        return NM_OK;
    }
    if (reuse->sizes.count >= NM_POOL_SIZES_MAX)
        return NM_OK;
    status = nm_array_grow(&reuse->sizes.items, &reuse->sizes.capacity, reuse->sizes.count + 1,
                           sizeof *reuse->sizes.items, err);
    if (status == NM_OK)
        status = nm_map_put(&reuse->size_of, key, reuse->sizes.count, err);
    if (status == NM_OK)
        *out = (uint32_t)++reuse->sizes.count;
    return status;
}

nm_status nm_reuse_freed(const nm_run *run, nm_ledger *ledger, const nm_live *block, nm_error *err)
{
    nm_ledger_entry *entry = nm_ledger_entry_of(run, block);
    nm_status status = NM_OK;

    if (ledger->reuse == NULL)
        ledger->reuse = nm_replay_allocate(sizeof *ledger->reuse, err);
    if (ledger->reuse == NULL)
        return NM_ERR_MEMORY;
    if (entry->size_number == 0)
        status = number_size(ledger, block, &entry->size_number, err);
    if (entry->size_number != 0)
        ledger->reuse->sizes.items[entry->size_number - 1] =
            (nm_freed_size){ledger->request_count, ledger->request_bytes, true};
    else
        ledger->sum.untracked_count++;
    *past_at(run, block) = (nm_ledger_past){ledger->request_count + 1, ledger->request_bytes, block->heap->id};
    return status;
}

void nm_reuse_forget(const nm_run *run, nm_ledger *ledger, const nm_live *block)
{
    const nm_ledger_entry *entry = nm_ledger_entry_of(run, block);
    nm_ledger_past *past = past_at(run, block);

    if (ledger->reuse != NULL && entry->size_number != 0)
        ledger->reuse->sizes.items[entry->size_number - 1].is_free = false;
    if (past != NULL)
        *past = (nm_ledger_past){0};
}

nm_status nm_reuse_finish(const nm_run *run, const nm_ledger *ledger, nm_error *err)
{
    const nm_reuse *reuse = ledger->reuse;
    nm_status status = NM_OK;

    for (int n = 0; reuse != NULL && status == NM_OK && n < NM_REUSE_KINDS * NM_REUSE_MEASURES * NM_DISTANCE_CLASSES;
         n++) {
        nm_pool_reuse_row row = {
            .heap_id = ledger->pool->id,
            .kind = (nm_reuse_kind)(n / NM_DISTANCE_CLASSES / NM_REUSE_MEASURES),
            .measure = (nm_reuse_measure)(n / NM_DISTANCE_CLASSES % NM_REUSE_MEASURES),
            .distance_class = n % NM_DISTANCE_CLASSES,
        };

        row.request_count = reuse->counts[row.kind][row.measure][row.distance_class];
        if (row.request_count > 0)
            status = nm_give_pool_reuse(&run->replay->sink, &row, err);
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
