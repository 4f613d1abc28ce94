/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects what a simulation needs of an input: the heaps, and of each pool's blocks and the driver memory of devices when
 * they came and went. It is a replay's sink; whoever reads a database calls the sink's functions with the same rows.
 * Memory: that of the journal for each block, some 100 bytes for each piece of driver memory and of what was there at the beginning.
 *
 *     nm_gather_new(&gather, err);
 *     nm_replay_new(nm_gather_sink(gather), &replay, err); ... the records
 *     nm_workload_new(gather, heap, &workload, err);        workload.h
 *     nm_gather_free(gather);
 */
#ifndef NM_WHATIF_GATHER_H
#define NM_WHATIF_GATHER_H

#include "base/buffer.h"
#include "base/map.h"
#include "base/strings.h"
#include "rows/sink.h"
#include "whatif/journal.h"

#define NM_GATHER_NAME_BYTES 64
#define NM_GATHER_CONF_BYTES 512

typedef struct nm_gather_process {
    uint64_t process_id;
    int64_t pid, rank; /* or NM_UNKNOWN_NUMBER */
    bool is_late;      /* what was live when its recording began is not known */
    bool has_pause;    /* a part of it was not recorded */
    bool is_partial;   /* of a database: part of its input is missing */
    bool is_kept;      /* of a database: only the newest part of its input was kept */
    /* How far its input goes: */
    bool is_hit_estimated;  /* that no miss was seen does not say that there was none */
    bool is_peak_estimated; /* some of what is live is in no block */
    bool is_peak_untold;    /* blocks are none of requests */
    char host[256];         /* of a database; "": not known */
    /* As it was started with; "": not set. */
    char npu_conf[NM_GATHER_CONF_BYTES];  /* PYTORCH_NPU_ALLOC_CONF */
    char cuda_conf[NM_GATHER_CONF_BYTES]; /* PYTORCH_CUDA_ALLOC_CONF */
    char any_conf[NM_GATHER_CONF_BYTES];  /* PYTORCH_ALLOC_CONF: of any device that has no setting of its own */
} nm_gather_process;

typedef struct nm_gather_device {
    uint64_t device_id;
    int64_t number;          /* nm_shown_device */
    uint64_t capacity_bytes; /* 0: not known */
    bool is_npu, is_gpu;
    bool is_named; /* the input says of what kind it is, though it may be neither */
} nm_gather_device;

typedef struct nm_gather_heap {
    uint64_t heap_id, process_id, device_id;
    nm_heap_level level;
    char name[NM_GATHER_NAME_BYTES];
    uint64_t block_count; /* allocations, baseline included */
    uint64_t peak_bytes;  /* most that was live, by the heap's size basis; after the end */
    uint64_t peak_reserved_bytes, reserved_bytes;
    bool has_reserved;                 /* they come from segments */
    uint64_t served_count, miss_count; /* of the whole run; of these misses */
} nm_gather_heap;

/* One allocation of a pool or of the driver. Times are places in the order of events; NM_NO_SEQ: before, or never. */
typedef struct nm_gather_row {
    int64_t alloc_seq, free_seq, free_requested_seq;
    uint64_t address, requested_bytes, block_bytes; /* sizes: 0 is unknown */
    uint64_t allocation_id, segment_id;
    uint64_t stack_id, free_stack_id; /* of driver memory */
    uint32_t heap;                    /* index */
    uint32_t row, like;               /* of blocks: which one, as they came; number in nm_gather.likes */
    uint32_t stream, pool; /* numbers from nm_gather.streams and .pools; stream 0: not known; pool 0: the default */
    bool is_segment, is_mapped, is_exported;
    bool is_remainder; /* what a cut left over, no new memory */
} nm_gather_row;

/* What many blocks have in common; without padding. */
typedef struct nm_gather_like {
    uint64_t requested_bytes, block_bytes;
    uint32_t heap, stream, pool; /* as in a row */
    uint32_t is_exported;
} nm_gather_like;

typedef struct nm_gather_rows {
    nm_gather_row *items;
    size_t count, capacity;
} nm_gather_rows;

typedef struct nm_gather_failure {
    int64_t seq;
    uint32_t heap, stream;
    uint64_t requested_bytes, stack_id;
} nm_gather_failure;

typedef struct nm_gather_step {
    uint64_t process_id;
    int64_t begin_seq;
} nm_gather_step;

typedef struct nm_gather {
    nm_sink sink;
    struct {
        nm_gather_process *items;
        size_t count, capacity;
    } processes;
    struct {
        nm_gather_device *items;
        size_t count, capacity;
    } devices;
    struct {
        nm_gather_heap *items;
        size_t count, capacity;
    } heaps;
    nm_map process_of, device_of, heap_of; /* id -> index */
    nm_gather_rows baseline;               /* blocks of pools and workspaces that were there at the beginning */
    nm_journal journal;                    /* how blocks begin that were not, and how all of them end */
    uint32_t block_count;                  /* in both */
    nm_strings likes;                      /* an nm_gather_like each, from 1 */
    nm_gather_rows ranges;                 /* of the driver */
    struct {
        nm_gather_failure *items;
        size_t count, capacity;
    } failures;
    struct {
        nm_gather_step *items;
        size_t count, capacity;
    } steps;
    nm_map stream_of, pool_of; /* handle, or private pool -> number from 1 */
    nm_map text_of;            /* string -> offset of a short text in `text`, plus 1 */
    nm_map emptying;           /* (kind, id) -> 1: strings and frames of calls that empty the cache; 0: no longer */
    nm_map calls;              /* (kind, id) -> of a stack its caller and its frame, of a frame what it is inlined in */
    nm_buffer text;
    bool has_unknown_baseline;
} nm_gather;

nm_status nm_gather_new(nm_gather **out, nm_error *err);
void nm_gather_free(nm_gather *gather); /* NULL is fine */

const nm_sink *nm_gather_sink(nm_gather *gather); /* borrowed; its context is the gather */

nm_gather_like nm_gather_like_of(const nm_gather *gather, uint32_t number);

/* Is it the stack of a call that empties the cache? Asked when all is read: a trace names frames late. */
bool nm_gather_is_emptying(const nm_gather *gather, uint64_t stack_id);

/* The innermost frame of a stack, and that of its caller; 0: not known, or there is none. */
uint64_t nm_gather_frame(const nm_gather *gather, uint64_t stack_id);
uint64_t nm_gather_caller(const nm_gather *gather, uint64_t stack_id);

/* The process of the heap; NULL: it is not known. */
const nm_gather_process *nm_gather_process_of(const nm_gather *gather, const nm_gather_heap *heap);

/* The pool that held most at its peak; SIZE_MAX: there is no pool. */
size_t nm_gather_largest_pool(const nm_gather *gather);

#endif
