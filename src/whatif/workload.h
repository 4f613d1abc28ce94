/* SPDX-License-Identifier: Apache-2.0
 *
 * The requests of one pool in their order, as a simulation replays them: what was there at the beginning, what was asked
 * for and given up, when the program emptied the cache, when other driver memory of the device came and went, and where
 * steps begin. And what is known of the recorded run itself, to be compared with.
 */
#ifndef NM_WHATIF_WORKLOAD_H
#define NM_WHATIF_WORKLOAD_H

#include "whatif/caching.h"
#include "whatif/gather.h"

typedef enum nm_op_kind {
    NM_OP_NOTHING = 0,
    NM_OP_ALLOC,
    NM_OP_FREE_REQUESTED, /* given up, but another stream still uses it */
    NM_OP_FREE,
    NM_OP_FAILED, /* it failed in the recorded run: asked for, and given up at once */
    NM_OP_FLUSH,  /* the program emptied the cache */
    NM_OP_STEP,
    NM_OP_TAKE_OTHER, /* driver memory outside the pool */
    NM_OP_GIVE_OTHER,
    NM_OP_LET_GO, /* of the lane with that index: its private pool gave memory back, so that its graph is gone */
} nm_op_kind;

/* Above these bits the kind, in them an index: of a block's slot (ALLOC, FREE_REQUESTED, FREE, FAILED), which another block
 * has behind it; of the request (GIVE_OTHER); of the lane (LET_GO). */
#define NM_OP_INDEX_BITS 28

typedef struct nm_request { /* as many ask for */
    uint64_t bytes;
    uint32_t lane;
    bool is_block_bytes; /* what was asked for is not known; `bytes` is what was handed out */
} nm_request;

typedef struct nm_baseline_block {
    uint32_t slot, request;
} nm_baseline_block;

/* The recorded run. Bytes. */
typedef struct nm_recorded {
    uint64_t request_count;
    uint64_t served_count, miss_count; /* of the whole run, of which requests may be a part; of these misses */
    uint64_t segment_count; /* driver memory that the pool took during the recording: allocations, or mapped ranges */
    uint64_t peak_reserved_bytes, reserved_bytes;
    bool has_reserved; /* its segments are known */
    bool is_expandable;
    uint64_t baseline_segment_bytes, baseline_segment_count, baseline_block_bytes, baseline_block_count;
    uint64_t peak_other_bytes;
    uint64_t flush_count;     /* the program emptied the cache */
    uint64_t own_flush_count; /* the pool gave cached memory back by itself: not replayed */
    uint64_t failed_count;
    uint64_t
        refused_bytes; /* of driver memory that was refused at the end of the run, and no request of the pool tells of it */
    bool is_refusal_replayed;   /* the pool had asked: as the largest request that asks for so much */
    uint64_t unsized_count;     /* allocations without any size: left out */
    uint64_t block_sized_count; /* of which only the block's size is known */
    uint64_t streamless_count;  /* of which the stream is not known */
    uint64_t exported_count;    /* of its memory, opened to other processes */
    bool is_baseline_unknown;   /* what was live before the first event is not known */
    bool has_pause;
} nm_recorded;

#define NM_SEQ_MARK_ASKS 4096

typedef struct nm_seq_mark {
    int64_t seq;   /* before the first of its asks */
    size_t offset; /* in the packed ones */
} nm_seq_mark;

typedef struct nm_workload {
    struct {
        nm_request *items; /* no two alike */
        size_t count, capacity;
    } requests;
    struct {
        uint32_t *items;
        size_t count, capacity;
    } ops;
    struct {
        uint32_t *items; /* of each ALLOC, FAILED and TAKE_OTHER in turn its request */
        size_t count, capacity;
    } asks;
    nm_buffer seqs; /* and its seq, as how far it is from the one before */
    struct {
        nm_seq_mark *items; /* of every NM_SEQ_MARK_ASKS asks */
        size_t count, capacity;
    } seq_marks;
    uint32_t slot_count;
    struct {
        nm_lane *items;
        size_t count, capacity;
    } lanes;
    /* What was there at the beginning, as it lay; `first_seed` of a space is an index until the workload is complete. Empty:
     * nothing was, or it does not fit together. */
    struct {
        nm_seed_space *items;
        size_t count, capacity;
    } spaces;
    struct {
        nm_seed *items;
        size_t count, capacity;
    } seeds;
    struct {
        nm_baseline_block *items; /* blocks that were there at the beginning, by address */
        size_t count, capacity;
    } baseline;
    uint64_t page_bytes; /* of the recorded expandable segments, of the large pool */
    uint64_t step_count;
    uint64_t peak_live_bytes; /* of what was asked for (of blocks where that is not known) */
    uint64_t capacity_bytes;  /* of the device; 0: not known */
    bool is_npu;
    bool is_one_stream;                          /* all streams were taken for one */
    char conf[NM_GATHER_CONF_BYTES];             /* that the process was started with */
    char conf_refusal[NM_ERROR_TEXT_BYTES + 64]; /* why those settings are not simulated; "": they are */
    nm_recorded recorded;
    void (*tell)(void *told,
                 const void *setting); /* called as each run of it begins, with its nm_setting; NULL: nobody */
    void *told;
    struct nm_sim_memo *memo; /* borrowed: of its runs (simulate.h); NULL: each one is run */
    /* While it is made: */
    nm_map request_of; /* (bytes, lane and is_block_bytes) -> request */
    int64_t last_seq;
    struct {
        uint32_t *items; /* slots without a block; the last is the next to be taken */
        size_t count, capacity;
    } unused_slots;
} nm_workload;

typedef struct nm_workload_options {
    bool is_one_stream;    /* take all streams for one */
    bool is_flush_ignored; /* leave out that the program emptied the cache */
} nm_workload_options;

/* Of operations: does it ask for something (nm_workload.asks)? */
static inline bool nm_op_is_ask(nm_op_kind kind)
{
    return kind == NM_OP_ALLOC || kind == NM_OP_FAILED || kind == NM_OP_TAKE_OTHER;
}
static inline nm_op_kind nm_op_kind_of(uint32_t op)
{
    return (nm_op_kind)(op >> NM_OP_INDEX_BITS);
}
static inline uint32_t nm_op_index_of(uint32_t op)
{
    return op & ((UINT32_C(1) << NM_OP_INDEX_BITS) - 1);
}

/* Of the heap with that index, a pool. Takes the blocks out of the gather, which is of no use for another one then.
 * NM_ERR_LIMIT: more than 268 million requests. */
nm_status nm_workload_new(nm_gather *gather, size_t heap, const nm_workload_options *options, nm_workload **out,
                          nm_error *err);
void nm_workload_free(nm_workload *workload); /* NULL is fine */

/* The seq of the ask with that number; NM_NO_SEQ: it was there at the beginning. Looks at some thousand others. */
int64_t nm_workload_seq(const nm_workload *workload, size_t ask);

/* By hand, for tests and programs without an input: a lane; an ALLOC or FAILED of it (added by nm_workload_add_lane), whose
 * slot is *slot, or a TAKE_OTHER; another operation, of which FREE ends the slot. */
nm_status nm_workload_add_lane(nm_workload *workload, nm_lane lane, nm_error *err);
nm_status nm_workload_ask(nm_workload *workload, nm_op_kind kind, nm_request request, int64_t seq, uint32_t *slot,
                          nm_error *err);
nm_status nm_workload_add_op(nm_workload *workload, nm_op_kind kind, uint32_t index, nm_error *err);

#endif
