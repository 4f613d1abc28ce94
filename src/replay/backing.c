/* SPDX-License-Identifier: Apache-2.0
 *
 * Which physical memory lies under mappings at the end: it is judged once, as the mapping. A mapping does not say its handle,
 * but an allocator maps a handle right after it has made it, or one of the same size that it kept: so each mapping takes the
 * youngest handle of its size, process and device that is older and that no other one has taken. Mappings that find none are
 * parts of a handle: all together they take the youngest that are left, as much as they have bytes.
 */
#include "replay/backing.h"

#include <stdlib.h>

typedef struct piece {
    nm_live *live;
    bool is_handle; /* else a mapping */
} piece;

typedef struct pieces {
    piece *items; /* owned */
    size_t count, capacity;
} pieces;

static bool is_handle(const nm_live *live)
{
    return live->heap->level == NM_LEVEL_PHYSICAL;
}

static bool is_piece(const nm_live *live)
{
    return is_handle(live) || (live->heap->level == NM_LEVEL_DRIVER && live->is_mapped);
}

static nm_status collect(const nm_heap *heap, pieces *out, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_tree_node *node = nm_tree_first(heap->space); node != NULL && status == NM_OK; node = nm_tree_next(node)) {
        nm_live *live = NM_TREE_ITEM(node, nm_live, node);

        if (live->heap != heap || !is_piece(live)) /* heaps may share a space */
            continue;
        status = nm_array_grow(&out->items, &out->capacity, out->count + 1, sizeof *out->items, err);
        if (status == NM_OK)
            out->items[out->count++] = (piece){live, is_handle(live)};
    }
    return status;
}

static int compare(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

static int by_size(const piece *a, const piece *b)
{
    int order = compare(a->live->heap->process->id, b->live->heap->process->id);

    if (order == 0)
        order = compare(a->live->heap->device->id, b->live->heap->device->id);
    return order != 0 ? order : compare(a->live->row.size_bytes, b->live->row.size_bytes);
}

/* Those that may belong together, in the order of their births. */
static int by_birth(const void *left, const void *right)
{
    const piece *a = left, *b = right;
    int order = by_size(a, b);

    if (order == 0 && a->live->birth_seq != b->live->birth_seq)
        return a->live->birth_seq < b->live->birth_seq ? -1 : 1;
    if (order == 0 && a->is_handle != b->is_handle)
        return a->is_handle ? -1 : 1;
    return order != 0 ? order : compare(a->live->row.allocation_id, b->live->row.allocation_id);
}

static bool is_of_one_device(const piece *a, const piece *b)
{
    return a->live->heap->process == b->live->heap->process && a->live->heap->device == b->live->heap->device;
}

static void lie_under(const piece *handle)
{
    handle->live->row.is_segment = true;
}

/* The handles of one size that no mapping has taken yet are a stack at the begin of the array, where all has been read. What
 * is left of both stays there, in its order. */
static void match_sizes(pieces *all)
{
    size_t kept = 0, open = 0; /* `open` handles of the size at hand are the last of what is kept, but for mappings */

    for (size_t i = 0; i < all->count; i++) {
        piece next = all->items[i];

        if (kept > 0 && by_size(&all->items[kept - 1], &next) != 0)
            open = 0;
        if (!next.is_handle && open > 0) {
            lie_under(&all->items[--kept]);
            open--;
            continue;
        }
        all->items[kept++] = next;
        open = next.is_handle ? open + 1 : 0;
    }
    all->count = kept;
}

static int by_device_and_birth(const void *left, const void *right)
{
    const piece *a = left, *b = right;
    int order = compare(a->live->heap->process->id, b->live->heap->process->id);

    if (order == 0)
        order = compare(a->live->heap->device->id, b->live->heap->device->id);
    if (order == 0 && a->live->birth_seq != b->live->birth_seq)
        return a->live->birth_seq < b->live->birth_seq ? -1 : 1;
    return order != 0 ? order : compare(a->live->row.allocation_id, b->live->row.allocation_id);
}

/* From the youngest on; a handle that is younger than the mapping cannot be under it. */
static void match_parts(const pieces *all)
{
    uint64_t mapped_bytes = 0;

    for (size_t i = all->count; i-- > 0;) {
        const piece *one = &all->items[i];

        if (i + 1 < all->count && !is_of_one_device(one, one + 1))
            mapped_bytes = 0;
        if (!one->is_handle) {
            mapped_bytes = nm_add_saturated(mapped_bytes, one->live->row.size_bytes);
        } else if (mapped_bytes > 0) {
            lie_under(one);
            mapped_bytes = nm_subtract_saturated(mapped_bytes, one->live->row.size_bytes);
        }
    }
}

nm_status nm_backing_mark(const nm_replay *replay, nm_error *err)
{
    pieces all = {0};
    bool has_handles = false;
    nm_status status = NM_OK;

    for (const nm_heap *heap = replay->first_heap; heap != NULL; heap = heap->next)
        has_handles |= heap->level == NM_LEVEL_PHYSICAL;
    for (const nm_heap *heap = replay->first_heap; heap != NULL && has_handles && status == NM_OK; heap = heap->next)
        if (heap->device != NULL && (heap->level == NM_LEVEL_PHYSICAL || heap->level == NM_LEVEL_DRIVER))
            status = collect(heap, &all, err);
    for (size_t i = 0; i < all.count && status == NM_OK; i++) /* it may have been asked before, and unmapped since */
        all.items[i].live->row.is_segment &= !all.items[i].is_handle;
    if (status == NM_OK && all.count > 0) {
        qsort(all.items, all.count, sizeof *all.items, by_birth);
        match_sizes(&all);
        qsort(all.items, all.count, sizeof *all.items, by_device_and_birth);
        match_parts(&all);
    }
    free(all.items);
    return status;
}
