/* SPDX-License-Identifier: Apache-2.0
 *
 * Items of one size that come and go with every event: what is given back is taken again first, and an item begins at a
 * cache line, unless they are packed. Under a memory checker every item is an allocation of its own, so that the checker sees
 * what goes wrong.
 */
#ifndef NM_REPLAY_SLAB_H
#define NM_REPLAY_SLAB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct nm_slab {
    size_t item_bytes; /* the only fields to set are this one and the next; the rest is zeroed */
    bool is_packed;    /* one item behind the other: of those that are small, and there by the million */
    struct nm_slab_item *unused;
    struct nm_slab_chunk *chunks; /* owned */
} nm_slab;

void *nm_slab_take(nm_slab *slab, nm_error *err);       /* zeroed; NULL and *err filled when memory is out */
void *nm_slab_take_as_is(nm_slab *slab, nm_error *err); /* the same, not zeroed: for who fills all of it */
void nm_slab_give(nm_slab *slab, void *item);           /* NULL is fine */
void nm_slab_free(nm_slab *slab);                       /* all items have been given back */

#endif
