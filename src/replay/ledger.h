/* SPDX-License-Identifier: Apache-2.0
 *
 * What the replay keeps of a pool beside its gaps and hits: who asked (groups of blocks that can take each other's place,
 * classes of sizes), why it had to grow, what it gave back to the driver, what was given up and not yet reusable, and how
 * soon freed memory was asked for again. A ledger is made at a pool's first block or segment; its memory is bounded by the
 * limits below and by what is live, never by the number of events.
 *
 * ledger.c counts; miss.c finds causes; pending.c follows what was given up; reuse.c the distance to the next request.
 */
#ifndef NM_REPLAY_LEDGER_H
#define NM_REPLAY_LEDGER_H

#include "replay/state.h"

#define NM_POOL_GROUPS_MAX       4096  /* of one pool; what is beyond goes into the group without pool and stream */
#define NM_POOL_SIZES_MAX        65536 /* whose last free is kept, of one pool */
#define NM_PENDING_LOOKED_AT_MAX 256   /* pending blocks, and neighbours of one, that a miss looks at: the newest */
#define NM_NPU_PAD_BYTES         32    /* that torch_npu adds to a request before it rounds it */
#define NM_SIZE_CLASSES          65
#define NM_DISTANCE_CLASSES      65

/* A block that was given up and is not reusable yet. */
typedef struct nm_pending {
    nm_live *live;
    int64_t since_ns;
    struct nm_pending *older, *newer;
} nm_pending;

struct nm_group {
    nm_pool_group_row row;
    uint64_t live_bytes;    /* of blocks that the program has not given up, by their extent */
    uint64_t pending_bytes; /* now */
    unsigned __int128 pending_byte_ns;
    struct nm_group *next;
};

/* Counters of a pool as they were at a free. */
typedef struct nm_freed_size {
    uint64_t requests, bytes;
    bool is_free; /* freed, and not asked for again since */
} nm_freed_size;

typedef struct nm_reuse {
    uint64_t counts[NM_REUSE_KINDS][NM_REUSE_MEASURES][NM_DISTANCE_CLASSES];
    nm_map size_of; /* bytes -> index into sizes */
    struct {
        nm_freed_size *items;
        size_t count, capacity;
    } sizes;
} nm_reuse;

struct nm_ledger {
    nm_heap *pool;
    nm_pool_sum_row sum;
    nm_pool_step_row step; /* of the step that goes on */
    nm_map group_of;       /* (private pool, class, stream) -> nm_group */
    nm_group *groups;
    nm_group *recent[2]; /* the last of each class */
    struct {
        nm_pool_class_row *items;
        size_t count, capacity;
    } classes;
    uint8_t class_index[2][NM_SIZE_CLASSES]; /* place in classes, plus 1; 0: none */

    uint64_t request_count, request_bytes; /* handed out so far */
    nm_reuse *reuse;                       /* owned; NULL before the first free */

    nm_pending *oldest_pending, *newest_pending; /* owned */
    uint64_t pending_bytes;                      /* now */
    unsigned __int128 pending_byte_ns;
    nm_live *requested; /* given up by the pool's last event; pending when another one comes first */
    int64_t requested_seq, requested_ns;

    bool is_flushing; /* it has given segments back and handed out nothing since */
    bool has_failed_before_flush;
    uint64_t flush_length;  /* segments of this flush */
    uint64_t failures_seen; /* of the arena, when it handed out a block last */
};

/* What a block finds in the driver's memory when it comes. */
typedef struct nm_touch {
    int64_t is_miss;       /* NM_UNKNOWN_NUMBER: no driver memory is known under it */
    uint64_t driver_count; /* ranges that it is the first in */
    uint64_t driver_cost_ns;
    bool is_held_known;
    uint64_t held_bytes, most_held_bytes; /* of its group, before it */
} nm_touch;

nm_status nm_ledger_of(nm_heap *pool, nm_ledger **out, nm_error *err); /* makes it where it is missing */

/* A block comes: before the ranges under it are told. Finds its group and what that holds. */
nm_status nm_ledger_enter(nm_live *block, nm_touch *touch, nm_error *err);

/* It was a request of the program: behind the ranges, with what they told, and before nm_ledger_put. */
nm_status nm_ledger_count(nm_live *block, const nm_touch *touch, nm_error *err);
void nm_ledger_put(nm_live *block);                      /* it is there from now on */
nm_status nm_ledger_take(nm_live *block, nm_error *err); /* no more; its row says how it ended */

/* A driver range has become a segment of its owner for the first time. */
nm_status nm_ledger_claim(const nm_live *range, nm_error *err);
void nm_ledger_hold(nm_live *range, nm_group *group); /* its first block is of the group */
void nm_ledger_change_held(const nm_live *range, bool is_more, uint64_t bytes);

/* A segment, or so much of one, goes back to the driver; or not, for the driver refused the last one. */
nm_status nm_ledger_release(nm_heap *pool, uint64_t bytes, nm_error *err);
void nm_ledger_release_refused(nm_heap *pool, uint64_t bytes);

nm_status nm_ledger_end_step(nm_replay *replay, nm_heap *pool, nm_error *err);
nm_status nm_ledger_finish(nm_replay *replay, nm_heap *pool, nm_error *err); /* writes it all */
void nm_ledger_free(nm_heap *pool);

#endif
