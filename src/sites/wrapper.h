/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what may be a program's own plumbing. Most programs allocate through a function or two of their own (take_buffer,
 * get), and a site that names those for every allocation says little. A function looks like a wrapper of a heap when nearly
 * every stack of the heap goes through it and it is called from several functions, from more places than there are inside
 * it. That depends on what ran: it is shown, and judges no site.
 */
#ifndef NM_SITES_WRAPPER_H
#define NM_SITES_WRAPPER_H

#include "sites/site.h"

typedef struct nm_wrapper_taker {
    void *context;
    /* A function that looks like a wrapper of the heap, as a pattern that matches it alone; borrowed. Each comes once. */
    nm_status (*take)(void *context, uint64_t heap_id, nm_bytes pattern, nm_error *err);
} nm_wrapper_taker;

/* Which stacks allocate from which heap; a zeroed one is empty. */
typedef struct nm_heap_stacks {
    struct nm_stacks_of_heap {
        uint64_t heap_id;
        nm_id_map stacks; /* by their numbers; the places say nothing */
    } * items;            /* owned */
    size_t count, capacity;
    nm_map index_of; /* heap -> index */
    size_t recent;   /* the one that was added to last */
} nm_heap_stacks;

/* There may be as many calls as there are allocations. */
nm_status nm_heap_stacks_add(nm_heap_stacks *all, uint64_t heap_id, uint64_t stack_id, nm_error *err);
void nm_heap_stacks_free(nm_heap_stacks *all); /* leaves it empty and usable */

/* `heap_stacks` are those of all allocations. Heap after heap, by their numbers. */
nm_status nm_wrappers_find(const nm_definitions *definitions, const nm_heap_stacks *heap_stacks, const nm_sites *sites,
                           const nm_wrapper_taker *taker, nm_error *err);

#endif
