/* SPDX-License-Identifier: Apache-2.0
 *
 * What is kept of a pool beside its gaps and hits: who asked (groups of blocks that can take each other's place, classes of
 * sizes), why it had to grow, what it gave back to the driver, what was given up and not yet reusable, and how soon freed
 * memory was asked for again. A ledger is used from a pool's first block or segment on; its memory is bounded by the limits
 * below and by what is live, never by the number of events.
 *
 * pool_ledger.c counts and is the pass; below it pool_miss.c finds causes, pool_pending.c follows what was given up, and
 * pool_reuse.c the distance to the next request.
 */
#ifndef NM_ANALYSIS_POOL_LEDGER_STATE_H
#define NM_ANALYSIS_POOL_LEDGER_STATE_H

#include "replay/lookup.h"
#include "replay/pass.h"

#define NM_POOL_GROUPS_MAX       4096  /* of one pool; what is beyond goes into the group without pool and stream */
#define NM_POOL_SIZES_MAX        65536 /* whose last free is kept, of one pool */
#define NM_PENDING_LOOKED_AT_MAX 256   /* pending blocks, and neighbours of one, that a miss looks at: the newest */
#define NM_NPU_PAD_BYTES         32    /* that torch_npu adds to a request before it rounds it */
#define NM_SIZE_CLASSES          65
#define NM_DISTANCE_CLASSES      65

/* A block that was given up and is not reusable yet. */
typedef struct nm_pending {
    const nm_live *live;
    int64_t since_ns;
    struct nm_pending *older, *newer;
} nm_pending;

typedef struct nm_group {
    nm_pool_group_row row;
    uint64_t live_bytes;    /* of blocks that the program has not given up, by their extent */
    uint64_t pending_bytes; /* now */
    unsigned __int128 pending_byte_ns;
    uint64_t last_request; /* its number among those of the pool, from 1; 0: none yet */
    struct nm_group *next;
} nm_group;

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

/* The room of a pool. */
typedef struct nm_ledger {
    bool is_used; /* it had a block or a segment */
    const nm_heap *pool;
    nm_pool_sum_row sum;
    nm_pool_step_row step; /* of the step that goes on */
    nm_map group_of;       /* (private pool, class, stream) -> nm_group */
    nm_group *groups;      /* owned */
    nm_group *recent[2];   /* the last of each class */
    struct {
        nm_pool_class_row *items; /* owned */
        size_t count, capacity;
    } classes;
    uint8_t class_index[2][NM_SIZE_CLASSES]; /* place in classes, plus 1; 0: none */

    bool is_held_known;                   /* when the block came that is being born: what its group held, */
    uint64_t held_bytes, most_held_bytes; /* and the most that it ever did */

    uint64_t request_count, request_bytes; /* handed out so far */
    nm_reuse *reuse;                       /* owned; NULL before the first free */

    nm_pending *oldest_pending, *newest_pending; /* owned */
    uint64_t pending_bytes;                      /* now */
    unsigned __int128 pending_byte_ns;
    const nm_live *requested; /* given up by the pool's last event; pending when another one comes first */
    int64_t requested_seq, requested_ns;

    bool is_flushing; /* it has given segments back and handed out nothing since */
    bool has_failed_before_flush;
    uint64_t flush_length;  /* segments of this flush */
    uint64_t failures_seen; /* of the arena, when it handed out a block last */
} nm_ledger;

/* The room of a block or a segment. */
typedef struct nm_ledger_entry {
    nm_group *group;      /* blocks: theirs; segments: that of the first block in it; or NULL */
    nm_pending *pending;  /* blocks: given up, and not reusable yet; or NULL */
    uint32_t size_number; /* of a block's size, in pool_reuse.c; 0: none */
    bool is_given_up;     /* a block whose free was asked for */
} nm_ledger_entry;

/* The room of a place's past: what was handed out by the last free there. All zero once a request was served there. */
typedef struct nm_ledger_past {
    uint64_t reuse_requests, reuse_bytes; /* a pool's counters at its free, the first plus 1; 0: none */
    uint64_t reuse_heap_id;
} nm_ledger_past;

static inline nm_ledger_entry *nm_ledger_entry_of(const nm_run *run, const nm_live *live)
{
    return nm_live_room(run, live);
}

#endif
