/* SPDX-License-Identifier: Apache-2.0
 *
 * For passes over rows that keep something of each heap: numbers heaps from 0 in the order in which they first come, so that an
 * array has a place for each. Rows of one heap often follow each other, so the last one is looked at first.
 *
 *     status = nm_by_heap_find(&pass->numbers, row->heap_id, &index, err);
 *     if (status == NM_OK)
 *         status = nm_array_grow(&pass->heaps, &pass->capacity, index + 1, sizeof *pass->heaps, err);
 */
#ifndef NM_SUMS_BY_HEAP_H
#define NM_SUMS_BY_HEAP_H

#include "base/map.h"

typedef struct nm_by_heap { /* a zeroed one is empty; nm_map_free(&of) */
    nm_map of;              /* heap_id -> number */
    uint64_t recent_id, recent;
} nm_by_heap;

static inline nm_status nm_by_heap_find(nm_by_heap *numbers, uint64_t heap_id, uint64_t *out, nm_error *err)
{
    nm_status status = NM_OK;

    if (numbers->of.count == 0 || numbers->recent_id != heap_id)
        status = nm_map_number(&numbers->of, (nm_key){0, heap_id}, &numbers->recent, err);
    numbers->recent_id = heap_id;
    *out = numbers->recent;
    return status;
}

#endif
