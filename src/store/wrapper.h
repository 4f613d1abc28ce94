/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what may be a program's own plumbing. Most programs allocate through a function or two of their own (take_buffer,
 * get), and a site that names those for every allocation says little. A function looks like a wrapper of a heap when nearly
 * every stack of the heap goes through it and it is called from several functions, from more places than there are inside
 * it. That depends on what ran: it is shown in table `wrapper`, and judges no site.
 */
#ifndef NM_STORE_WRAPPER_H
#define NM_STORE_WRAPPER_H

#include "store/site.h"

/* `heap_stacks` has the keys (heap_id, stack_id) of all allocations. Adds one row for each heap and function to table `wrapper`. */
nm_status nm_wrappers_find(sqlite3 *db, const nm_definitions *definitions, const nm_map *heap_stacks,
                           const nm_sites *sites, nm_error *err);

#endif
