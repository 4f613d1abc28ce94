/* SPDX-License-Identifier: Apache-2.0
 *
 * Which physical memory lies under a pool's expandable segments at the end. A mapping does not say its handle, but an
 * allocator maps a handle right after it has made it, or one of the same size that it kept: so each mapping takes the
 * youngest handle of its size, process and device that is older and that no other one has taken. Such memory is a segment
 * as the mapping is one: what the pool holds is no leak of the place at which it grew.
 */
#include <stdlib.h>

#include "replay/state.h"

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

/* The handles of one size that no mapping has taken yet are a stack at the begin of the array, where all has been read. */
static void match(pieces *all)
{
    size_t depth = 0;

    for (size_t i = 0; i < all->count; i++) {
        piece next = all->items[i];

        if (depth > 0 && by_size(&all->items[depth - 1], &next) != 0)
            depth = 0;
        if (next.is_handle)
            all->items[depth++] = next;
        else if (depth > 0)
            all->items[--depth].live->row.is_segment |= next.live->row.is_segment;
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
    if (status == NM_OK && all.count > 0) {
        qsort(all.items, all.count, sizeof *all.items, by_birth);
        match(&all);
    }
    free(all.items);
    return status;
}
