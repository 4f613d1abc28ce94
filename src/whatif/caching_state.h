/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of the simulated caching allocator, shared by caching.c (which blocks serve, split and merge) and
 * expandable.c (segments that grow).
 */
#ifndef NM_WHATIF_CACHING_STATE_H
#define NM_WHATIF_CACHING_STATE_H

#include "replay/slab.h"
#include "whatif/caching.h"
#include "whatif/order.h"

typedef struct nm_bin { /* the small or the large pool of a lane */
    nm_order free;      /* mapped blocks that hold nothing, by size and address */
    nm_order unmapped;  /* address space without memory, by address */
    uint64_t space_count;
    uint64_t private_pool; /* 0: the default pool */
    bool is_small;
    bool is_kept; /* of a private pool that is in use: emptying the cache leaves its memory alone */
} nm_bin;

typedef struct nm_block nm_block;

typedef struct nm_block_list {
    nm_block *first;
} nm_block_list;

struct nm_block {
    nm_order_node node;                      /* in one of its bin's sets */
    nm_block *before, *behind;               /* what lies next to it in its segment */
    nm_block *previous_listed, *next_listed; /* in the list of what can be given back, or of what is pending */
    nm_block *previous_made, *next_made;     /* of all */
    nm_bin *bin;
    void **slot; /* in use: the handle that the caller keeps */
    uint64_t address, bytes;
    uint64_t releasable_bytes; /* free: what emptying the cache gives back of it */
    uint64_t age_begin;        /* free: the bin's clock when it became so */
    bool is_used, is_pending, is_mapped, is_expandable;
};

typedef struct nm_caching {
    nm_model model;
    nm_caching_settings settings;
    nm_slab blocks;
    nm_block *last_made; /* heads the list of all blocks */
    nm_bin *bins;        /* owned; of lane n: 2n (large) and 2n + 1 (small) */
    size_t bin_count;
    nm_block_list releasable; /* free blocks of which something can be given back */
    nm_block_list pending;
    uint64_t next_address; /* of the next segment that is not expandable */
    uint64_t age_clock;    /* requests to large pools */
} nm_caching;

/* ---- caching.c ---- */

nm_block *nm_block_new(nm_caching *caching, nm_bin *bin, uint64_t address, uint64_t bytes, nm_error *err);
void nm_block_give(nm_caching *caching, nm_block *block); /* it is in no set and no list */

/* Puts it among the free blocks of its bin, or takes it out again. Its size and neighbours hold still in between. */
void nm_block_put_free(nm_caching *caching, nm_block *block);
void nm_block_take_free(nm_caching *caching, nm_block *block);

/* Lets it swallow its neighbours that are free and mapped as it is itself; it is in no set. */
void nm_block_merge(nm_caching *caching, nm_block *block);

/* Cuts [from its begin, bytes) off as a block of its own, which is returned: in no set, mapped as `block`. */
nm_block *nm_block_cut(nm_caching *caching, nm_block *block, uint64_t bytes, nm_error *err);

/* ---- expandable.c ---- */

uint64_t nm_expandable_page_bytes(const nm_caching *caching, const nm_bin *bin);
uint64_t nm_expandable_releasable(const nm_caching *caching, const nm_block *block);

/* Of the free blocks that are large enough, `best` is the smallest: the one that is to serve, by the size to which each
 * might still grow. */
nm_block *nm_expandable_choose(nm_block *best);

/* Maps what a block of `bytes` lacks; *out is in no set and at least as large. NM_END: the device is full. */
nm_status nm_expandable_grow(nm_caching *caching, nm_bin *bin, uint64_t bytes, nm_block **out, nm_error *err);

/* Gives back the pages that lie wholly in the free block. */
nm_status nm_expandable_release(nm_caching *caching, nm_block *block, nm_error *err);

/* Puts address space without memory at the address, behind `before` (NULL: the first of a segment). */
nm_status nm_expandable_add_space(nm_caching *caching, nm_bin *bin, uint64_t address, nm_block *before, nm_error *err);

/* Where the bin's next expandable segment begins, and how much address space each one has. Both in whole pages. */
uint64_t nm_expandable_begin(const nm_caching *caching, nm_bin *bin);
uint64_t nm_expandable_space_bytes(const nm_caching *caching, const nm_bin *bin);

#endif
