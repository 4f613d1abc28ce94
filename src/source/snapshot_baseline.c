/* SPDX-License-Identifier: Apache-2.0
 *
 * For a block the question is: is the first thing the trace says of its address that it is freed? For driver memory the
 * same is asked of every byte, since an unmap may take a part of what was mapped.
 */
#include "source/snapshot_baseline.h"

#include <stdlib.h>

#include "base/buffer.h"

#define PLACE_BYTES 512 /* caching allocators hand out multiples of it */

static nm_status device_of(nm_snapshot_baseline *baseline, uint32_t number, nm_baseline_device **device, nm_error *err)
{
    nm_status status = nm_array_grow(&baseline->devices.items, &baseline->devices.capacity, (size_t)number + 1,
                                     sizeof *baseline->devices.items, err);

    if (status != NM_OK)
        return status;
    if (number >= baseline->devices.count)
        baseline->devices.count = (size_t)number + 1;
    *device = &baseline->devices.items[number];
    (*device)->is_used = true;
    return NM_OK;
}

static nm_status add(nm_snapshot_baseline *baseline, nm_baseline_item item, nm_error *err)
{
    nm_status status = nm_array_grow(&baseline->items.items, &baseline->items.capacity, baseline->items.count + 1,
                                     sizeof *baseline->items.items, err);

    if (status == NM_OK)
        baseline->items.items[baseline->items.count++] = item;
    return status;
}

/* Notes that a block at the address has been spoken of. *is_first: for the first time. Addresses that are no multiple
 * of PLACE_BYTES, which no known allocator hands out, are noted one by one. */
static nm_status note_block(nm_snapshot_baseline *baseline, uint32_t device, uint64_t address, bool *is_first,
                            nm_error *err)
{
    uint64_t place = address / PLACE_BYTES;
    nm_key key = {device, place / 64};
    uint64_t bit = UINT64_C(1) << place % 64;

    if (address % PLACE_BYTES != 0) {
        key = (nm_key){(uint64_t)1 << 32 | device, address};
        bit = 1;
    }
    uint64_t *bits = nm_map_get(&baseline->seen, key);
    *is_first = bits == NULL || (*bits & bit) == 0;
    if (bits == NULL)
        return nm_map_put(&baseline->seen, key, bit, err);
    *bits |= bit;
    return NM_OK;
}

/* Notes driver memory; with an item of non-zero kind, the parts not spoken of before become baseline like it. */
static nm_status note_range(nm_snapshot_baseline *baseline, nm_baseline_device *device, uint64_t address,
                            uint64_t size_bytes, nm_baseline_item item, nm_error *err)
{
    uint64_t end = size_bytes > UINT64_MAX - address ? UINT64_MAX : address + size_bytes;
    nm_status status = nm_ranges_add(&device->touched, (nm_range){address, end}, &baseline->news, err);

    for (size_t i = 0; i < baseline->news.count && status == NM_OK && item.kind != 0; i++) {
        item.address = baseline->news.items[i].begin;
        item.size_bytes = item.block_bytes = baseline->news.items[i].end - item.address;
        status = add(baseline, item, err);
    }
    return status;
}

static nm_baseline_item item_of(const nm_snapshot_entry *entry, nm_baseline_kind kind)
{
    return (nm_baseline_item){
        .kind = kind,
        .device = entry->device,
        .address = entry->address,
        .size_bytes = entry->size_bytes,
        .stream = entry->stream,
        .pool = entry->pool,
        .has_stream = entry->has_stream,
    };
}

static nm_status take_workspace(nm_snapshot_baseline *baseline, nm_baseline_device *device,
                                const nm_snapshot_entry *entry, nm_error *err)
{
    nm_baseline_item item = item_of(entry, NM_BASELINE_WORKSPACE);

    item.stack = entry->stack;
    if (entry->action == NM_SNAPSHOT_ALLOC) {
        device->has_workspace = true;
        return add(baseline, item, err);
    }
    if (entry->action != NM_SNAPSHOT_SEGMENT_ALLOC)
        return nm_map_put(&baseline->workspaces, (nm_key){entry->device, entry->address}, 1, err);
    item.kind = NM_BASELINE_WORKSPACE_SEGMENT;
    return note_range(baseline, device, entry->address, entry->size_bytes, item, err);
}

static nm_status take_block(nm_snapshot_baseline *baseline, const nm_snapshot_entry *entry, nm_error *err)
{
    nm_key key = {entry->device, entry->address};
    bool is_first;
    nm_status status = note_block(baseline, entry->device, entry->address, &is_first, err);

    if (baseline->requested.count > 0 && entry->action != NM_SNAPSHOT_FREE_REQUESTED)
        nm_map_remove(&baseline->requested, key, NULL);
    if (status != NM_OK || !is_first || entry->action == NM_SNAPSHOT_ALLOC)
        return status;
    nm_baseline_item item = item_of(entry, NM_BASELINE_BLOCK);
    item.is_pending = entry->action == NM_SNAPSHOT_FREE_COMPLETED;
    if (entry->action == NM_SNAPSHOT_FREE_REQUESTED)
        status = nm_map_put(&baseline->requested, key, baseline->items.count, err);
    return status == NM_OK ? add(baseline, item, err) : status;
}

nm_status nm_snapshot_baseline_entry(nm_snapshot_baseline *baseline, const nm_snapshot_entry *entry, nm_error *err)
{
    nm_baseline_device *device;
    nm_status status = device_of(baseline, entry->device, &device, err);

    if (status != NM_OK)
        return status;
    if (entry->has_time && !device->has_first)
        device->first_us = entry->time_us;
    device->has_first = device->has_first || entry->has_time;
    device->entry_count++;
    device->has_untimed = device->has_untimed || !entry->has_time;
    if (entry->is_workspace)
        return take_workspace(baseline, device, entry, err);
    switch (entry->action) {
    case NM_SNAPSHOT_ALLOC:
    case NM_SNAPSHOT_FREE_REQUESTED:
    case NM_SNAPSHOT_FREE_COMPLETED:
    case NM_SNAPSHOT_FREE:
        return take_block(baseline, entry, err);
    case NM_SNAPSHOT_SEGMENT_ALLOC:
    case NM_SNAPSHOT_SEGMENT_MAP:
        return note_range(baseline, device, entry->address, entry->size_bytes, (nm_baseline_item){0}, err);
    case NM_SNAPSHOT_SEGMENT_FREE:
        return note_range(baseline, device, entry->address, entry->size_bytes, item_of(entry, NM_BASELINE_SEGMENT),
                          err);
    case NM_SNAPSHOT_SEGMENT_UNMAP:
        return note_range(baseline, device, entry->address, entry->size_bytes, item_of(entry, NM_BASELINE_MAPPED), err);
    default:
        return NM_OK;
    }
}

/* ---- The state at the end ---------------------------------------------------------------------------------------- */

/* Of a block of the baseline that is still there, though its free has been requested, the list knows more. */
static void complete(nm_snapshot_baseline *baseline, const nm_snapshot_segment *segment, const nm_snapshot_block *block)
{
    const uint64_t *index = nm_map_get(&baseline->requested, (nm_key){segment->device, block->address});

    if (index == NULL)
        return;
    baseline->items.items[*index].stack = block->stack;
    baseline->items.items[*index].block_bytes = block->size_bytes;
    baseline->items.items[*index].pool = segment->pool;
}

static nm_status take_state_block(nm_snapshot_baseline *baseline, const nm_snapshot_segment *segment,
                                  const nm_snapshot_block *block, nm_error *err)
{
    bool is_first;
    nm_status status;

    if (block->state == NM_SNAPSHOT_INACTIVE)
        return NM_OK;
    status = note_block(baseline, segment->device, block->address, &is_first, err);
    if (status == NM_OK && !is_first)
        complete(baseline, segment, block);
    if (status != NM_OK || !is_first)
        return status;
    return add(baseline,
               (nm_baseline_item){
                   .kind = NM_BASELINE_BLOCK,
                   .device = segment->device,
                   .stack = block->stack,
                   .address = block->address,
                   .size_bytes = block->requested_bytes > 0 ? block->requested_bytes : block->size_bytes,
                   .block_bytes = block->size_bytes,
                   .stream = segment->stream,
                   .pool = segment->pool,
                   .has_stream = segment->has_stream,
                   .is_pending = block->state == NM_SNAPSHOT_PENDING,
               },
               err);
}

static nm_status take_segment(nm_snapshot_baseline *baseline, const nm_snapshot_segment *segment,
                              const nm_snapshot_block *blocks, nm_error *err)
{
    nm_baseline_item item = {
        .kind = segment->is_expandable ? NM_BASELINE_MAPPED : NM_BASELINE_SEGMENT,
        .device = segment->device,
        .stack = segment->stack,
        .stream = segment->stream,
        .pool = segment->pool,
        .has_stream = segment->has_stream,
    };
    nm_baseline_device *device;
    nm_status status = device_of(baseline, segment->device, &device, err);

    if (status == NM_OK)
        status = note_range(baseline, device, segment->address, segment->total_bytes, item, err);
    for (size_t i = 0; i < segment->block_count && status == NM_OK; i++)
        status = take_state_block(baseline, segment, &blocks[segment->first_block + i], err);
    return status;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_items(const void *left, const void *right)
{
    const nm_baseline_item *a = left;
    const nm_baseline_item *b = right;
    int order = compare_numbers(a->device, b->device);

    if (order == 0)
        order = compare_numbers(a->kind, b->kind);
    return order != 0 ? order : compare_numbers(a->address, b->address);
}

bool nm_snapshot_baseline_is_outside(const nm_snapshot_baseline *baseline, uint32_t device, uint64_t address)
{
    const nm_ranges *touched = &baseline->devices.items[device].touched;

    return touched->tree.count > 0 && !nm_ranges_hold(touched, address);
}

/* Looks for blocks outside of all segments among those that note_block has seen. */
static void find_contradictions(nm_snapshot_baseline *baseline)
{
    size_t at = 0;
    nm_key key;
    uint64_t bits;

    while (nm_map_next(&baseline->seen, &at, &key, &bits)) {
        uint32_t device = (uint32_t)key.high;
        bool is_alone = key.high >> 32 != 0; /* an address, not the places from one on */

        for (unsigned i = 0; i < 64 && !baseline->devices.items[device].is_contradictory; i++)
            if ((bits >> i & 1) != 0)
                baseline->devices.items[device].is_contradictory = nm_snapshot_baseline_is_outside(
                    baseline, device, is_alone ? key.low : (key.low * 64 + i) * PLACE_BYTES);
    }
}

nm_status nm_snapshot_baseline_finish(nm_snapshot_baseline *baseline, nm_snapshot_state_list *list, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < list->segments.count && status == NM_OK; i++) {
        nm_snapshot_segment *segment = &list->segments.items[i];
        segment->is_workspace = nm_map_get(&baseline->workspaces, (nm_key){segment->device, segment->address}) != NULL;
        if (!segment->is_workspace) {
            status = take_segment(baseline, segment, list->blocks.items, err);
            continue;
        }
        for (size_t j = 0; j < segment->block_count; j++)
            list->blocks.items[segment->first_block + j].state = NM_SNAPSHOT_ACTIVE;
    }
    for (size_t i = 0; i < baseline->items.count && status == NM_OK; i++)
        baseline->devices.items[baseline->items.items[i].device].has_baseline = true;
    if (status == NM_OK && baseline->items.count > 0)
        qsort(baseline->items.items, baseline->items.count, sizeof *baseline->items.items, compare_items);
    find_contradictions(baseline);
    nm_map_free(&baseline->seen);
    return status;
}

void nm_snapshot_baseline_free(nm_snapshot_baseline *baseline)
{
    for (size_t i = 0; i < baseline->devices.count; i++)
        nm_ranges_free(&baseline->devices.items[i].touched);
    free(baseline->devices.items);
    free(baseline->items.items);
    free(baseline->news.items);
    nm_map_free(&baseline->seen);
    nm_map_free(&baseline->workspaces);
    nm_map_free(&baseline->requested);
    *baseline = (nm_snapshot_baseline){0};
}
