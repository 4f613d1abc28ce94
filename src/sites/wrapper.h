/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what may be a program's own plumbing. Most programs allocate through a function or two of their own (take_buffer,
 * get), and a site that names those for every allocation says little. A function looks like a wrapper of a heap when nearly
 * every stack of the heap goes through it and it is called from several functions, from more places than there are inside
 * it. That depends on what ran: it is shown, and judges no site.
 */
#ifndef NM_SITES_WRAPPER_H
#define NM_SITES_WRAPPER_H

#include "sites/heap_stacks.h"
#include "sites/site.h"

typedef struct nm_wrapper_taker {
    void *context;
    /* A function that looks like a wrapper of the heap, as a pattern that matches it alone; borrowed. Each comes once. */
    nm_status (*take)(void *context, uint64_t heap_id, nm_bytes pattern, nm_error *err);
} nm_wrapper_taker;

/* `heap_stacks` are those of all allocations. Heap after heap, by their numbers. */
nm_status nm_wrappers_find(const nm_definitions *definitions, const nm_heap_stacks *heap_stacks, const nm_sites *sites,
                           const nm_wrapper_taker *taker, nm_error *err);

#endif
