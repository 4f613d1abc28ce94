/* SPDX-License-Identifier: Apache-2.0
 *
 * One pool of memory of which tables say two things: some of its blocks (of operators, or with addresses), and how much of it was allocated
 * and reserved from time to time. Of both events are made, so that what is live is at each moment what the tables state: what no block is
 * listed for is a rest, in blocks of its own. What falls of the rest was live before the first row where that is possible.
 */
#ifndef NM_SOURCE_ASCEND_PROFILER_POOL_H
#define NM_SOURCE_ASCEND_PROFILER_POOL_H

#include "source/gathered.h"

#define NM_ASCEND_BYTES_MAX ((int64_t)1 << 44) /* of a block or a sum; what states more is no row of these tools */

typedef enum nm_ascend_kind {
    NM_ASCEND_POINT = 0, /* sums alone */
    NM_ASCEND_BEGIN,     /* a block */
    NM_ASCEND_END,
} nm_ascend_kind;

typedef struct nm_ascend_change {
    int64_t ns;
    uint64_t place; /* of two at one time which is first; each its own */
    nm_ascend_kind kind;
    int64_t allocated, reserved; /* bytes of the pool after it, or NM_UNKNOWN_NUMBER */
    bool is_of_block;            /* a row of a block says that, not the pool's record */
    int64_t bytes;               /* of the block */
    uint64_t address;            /* which block; of one that is made up: from nm_ascend_pool_address */
    uint64_t stack_id, thread_id;
} nm_ascend_change;

typedef struct nm_ascend_pool {
    uint64_t heap_id, name, device_id; /* name: a string of what gathers */
    nm_heap_level level;
    bool is_pool;    /* hits and misses, and what it reserves, are asked of it */
    bool has_blocks; /* with addresses */
    bool has_record; /* points of a table of its own: what rows of blocks state of sums is not needed */
    bool is_beside;  /* another's blocks, whose record's times say nothing: what it reserved is told there */
    bool is_rounded; /* of whose times a spreadsheet has taken digits */
    uint64_t placed_count, matched_count; /* blocks that were placed; at whose time and sum there is such a point */
    struct {
        nm_ascend_change *items;
        size_t count, capacity;
    } changes;            /* owned */
    uint64_t block_bytes; /* of all blocks */
    uint64_t
        unmatched_count; /* parts whose blocks are more than is stated: one of the two was written at another time */
} nm_ascend_pool;

/* A zeroed address of the caller's counts them. Never two blocks at one, within what a device could ever have had. */
uint64_t nm_ascend_pool_address(uint64_t *next, int64_t bytes);

/* NM_ERR_FORMAT: its blocks add up to more than any device ever had. */
nm_status nm_ascend_pool_add(nm_ascend_pool *pool, const nm_ascend_change *change, nm_error *err);

/* All rows are there: gives the events, whose times count from `base_ns`. Sorts the changes. */
nm_status nm_ascend_pool_give(nm_ascend_pool *pool, int64_t base_ns, uint64_t *next_address, nm_gathered *gathered,
                              nm_error *err);
void nm_ascend_pool_fini(nm_ascend_pool *pool);

#endif
