/* SPDX-License-Identifier: Apache-2.0
 *
 * Which stacks allocate from which heap: four bytes each, however many there are.
 */
#ifndef NM_SITES_HEAP_STACKS_H
#define NM_SITES_HEAP_STACKS_H

#include "base/id_map.h"
#include "base/map.h"

typedef struct nm_heap_stacks { /* a zeroed one is empty */
    struct nm_stacks_of_heap {
        uint64_t heap_id;
        nm_id_map stacks; /* stack -> number of the pair */
    } * items;            /* owned */
    size_t count, capacity;
    size_t pair_count;
    nm_map index_of; /* heap -> index */
    size_t recent;   /* the one that was asked for last */
} nm_heap_stacks;

/*
 * Numbers pairs from 0, in the order in which they first come: the pair is new where *number is the pair_count of before. There may
 * be as many calls as there are allocations.
 */
nm_status nm_heap_stacks_number(nm_heap_stacks *all, uint64_t heap_id, uint64_t stack_id, size_t *number,
                                nm_error *err);
void nm_heap_stacks_free(nm_heap_stacks *all); /* leaves it empty and usable */

#endif
