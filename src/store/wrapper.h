/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds a program's own plumbing. Most programs allocate through a function or two of their own (alloc_tensor, pool_alloc),
 * and a site that names those for every allocation says nothing. A function is a wrapper of a heap when nearly every stack
 * of the heap goes through it and it is called from several functions, from more places than there are inside it.
 */
#ifndef NM_STORE_WRAPPER_H
#define NM_STORE_WRAPPER_H

#include "store/site.h"

/*
 * `heap_stacks` has the keys (heap_id, stack_id) of all allocations. Marks the frames of wrappers in sites->is_plumbing and
 * adds one row for each wrapper to table `plumbing`, with origin 'wrapper', so that a user sees why.
 */
nm_status nm_wrappers_mark(sqlite3 *db, const nm_definitions *definitions, const nm_map *heap_stacks, nm_sites *sites,
                           nm_error *err);

#endif
