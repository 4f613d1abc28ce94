/* SPDX-License-Identifier: Apache-2.0
 *
 * A map of its stacks for each heap; heaps are few.
 */
#include "sites/heap_stacks.h"

#include <stdlib.h>

#include "base/buffer.h"

nm_status nm_heap_stacks_number(nm_heap_stacks *all, uint64_t heap_id, uint64_t stack_id, size_t *number, nm_error *err)
{
    uint64_t index = all->recent;
    nm_status status = NM_OK;

    if (index >= all->count || all->items[index].heap_id != heap_id) {
        status = nm_array_grow(&all->items, &all->capacity, all->count + 1, sizeof *all->items, err);
        if (status == NM_OK)
            status = nm_map_number(&all->index_of, (nm_key){0, heap_id}, &index, err);
        if (status != NM_OK)
            return status;
        if (index == all->count)
            all->items[all->count++] = (struct nm_stacks_of_heap){.heap_id = heap_id};
        all->recent = index;
    }
    *number = nm_id_map_find(&all->items[index].stacks, stack_id);
    if (*number != NM_ID_MAP_NONE)
        return NM_OK;
    *number = all->pair_count;
    status = nm_id_map_put(&all->items[index].stacks, stack_id, *number, err);
    all->pair_count += status == NM_OK;
    return status;
}

void nm_heap_stacks_free(nm_heap_stacks *all)
{
    for (size_t i = 0; i < all->count; i++)
        nm_id_map_free(&all->items[i].stacks);
    nm_map_free(&all->index_of);
    free(all->items);
    *all = (nm_heap_stacks){0};
}
