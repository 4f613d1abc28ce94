/* SPDX-License-Identifier: Apache-2.0
 *
 * What the replay keeps in memory, shared by the files of this folder and by nobody else. Everything hangs on struct
 * nm_replay. Memory is in proportion to what is live, to the stacks (per heap) and to what is open; beside it are bounded:
 * NM_FREED_PLACES_MAX addresses that were freed last, and the buckets of timelines. What passes keep (pass.h) comes on top.
 *
 * Each .c of the folder has a header of its name, which is its manual. lookup.h and doubt.h lie below all of them.
 */
#ifndef NM_REPLAY_STATE_H
#define NM_REPLAY_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/number.h"
#include "base/tree.h"
#include "replay/replay.h"
#include "replay/slab.h"
#include "rows/sink.h"

#define NM_USAGE_BUCKETS_MAX   4096
#define NM_FREED_PLACES_MAX    131072
#define NM_SIZE_BYTES_MAX      (UINT64_C(1) << 56) /* a size above it is taken for this: no sum overflows soon */
#define NM_POOL_PARTS_MAX      64                  /* of a pool; one more has all the rest */
#define NM_STACK_BITS_MAX      (UINT64_C(1) << 26)
#define NM_LATE_FREE_NS        INT64_C(10000000) /* how long a free may come after its address was reused */
#define NM_SMALL_BYTES_DEFAULT 4096
#define NM_PASS_NEEDS_MAX      4 /* passes that one reads the rooms of */
#define NM_LARGE_BYTES_DEFAULT (UINT64_C(1) << 20)

typedef struct nm_heap nm_heap;
typedef struct nm_runs nm_runs; /* pass.c */
typedef struct nm_run nm_run;   /* pass.h */
typedef struct nm_live nm_live;
typedef struct nm_graph nm_graph;   /* graph.c */
typedef struct nm_member nm_member; /* of a graph: graph.c */
typedef struct nm_sub_pool nm_sub_pool;
typedef struct nm_live_more nm_live_more;

/* One stack's share of a heap, now and at the heap's last peak. A peak copies nothing: it only counts up the heap's
 * peak_epoch, and a share is taken over into at_peak_* when it first changes after that. */
typedef struct nm_site {
    uint64_t stack_id;
    uint64_t live_bytes, live_count;
    uint64_t graph_bytes, graph_count; /* of these, held by graphs; */
    uint64_t older_bytes, older_count; /* or of the baseline, and held by none */
    uint64_t at_peak_bytes, at_peak_count, at_peak_older_bytes;
    uint64_t allocation_count, free_count, allocated_bytes, freed_bytes; /* ever, without the baseline */
    uint64_t in_step_bytes;                                              /* of allocated_bytes, inside steps */
    uint64_t epoch;                                                      /* heap->peak_epoch when it last changed */
    struct nm_site *next;                                                /* of the heap */
} nm_site;

typedef struct nm_past nm_past;

/* One address of one process at which something is live, or was until lately. */
typedef struct nm_place {
    uint64_t process_id, address;
    nm_live *live;     /* chain: a segment and its first block share an address */
    nm_past *past;     /* owned; or NULL: of what ended here nobody asks any more */
    int64_t freed_seq; /* when something ended here last; NM_NO_SEQ: never */
} nm_place;

/* What ended at a place last. A place with nothing live has one, and is in a list by it. */
struct nm_past {
    nm_place *place;
    uint64_t allocation_id; /* 0: nothing yet, or something of the same heap has begun since */
    uint64_t heap_id, stack_id, thread_id;
    struct nm_replaced *replaced; /* whose own free may still come, or NULL */
    nm_past *older, *newer;       /* among places with nothing live */
};

/* Of the row of what lives, all that is known nowhere else: its heap, address and stack are the books' (nm_live_address,
 * nm_live_stack), and what few have is in nm_live_more. nm_live_row_of makes the whole row. Members are as there. */
typedef struct nm_live_row {
    uint64_t allocation_id, segment_id;
    uint64_t thread_id;
    uint64_t operation_id, operation_name;
    uint64_t stream;
    uint64_t policy; /* pools: the private pool (nm_live_private_pool) */
    uint64_t size_bytes, requested_bytes, block_bytes;
    int64_t alloc_seq, alloc_ns;
    uint64_t cost_ns;
    uint64_t live_bytes;
    uint32_t step_count;      /* of the process at its birth, or UINT32_MAX */
    int8_t is_miss;           /* 1, 0, or NM_NO_MISS */
    uint8_t operation_kind;   /* nm_range_kind */
    uint8_t operation_source; /* nm_operation_source */
    bool has_stream, is_segment, is_exported;
} nm_live_row;

#define NM_NO_MISS (-1) /* the question has no sense, or is not answered */

/* What few of what is live have, and what there is to say of what has ended until its row is given: nm_live_more_of. Members
 * are as in nm_allocation_row. */
struct nm_live_more {
    uint64_t split_from_id, graph_id;
    int64_t free_requested_seq;
    nm_member *member; /* of the graph that holds it; or NULL */

    nm_allocation_end end_kind; /* NM_END_NONE: nothing of the end is told */
    bool is_unloaded, is_doubtful;
    int64_t generation;
    int64_t free_seq, free_ns;
    uint64_t free_thread_id, free_stack_id;
    int64_t peak_seq, device_peak_seq, reserve_seq, moment_seq;
};

/* A live allocation or mapped range. The node comes first, so that it lies in one cache line: see slab.h. */
struct nm_live {
    nm_tree_node node; /* by address in heap->space; its value is the address behind the last byte */
    nm_live_row row;
    nm_live_more *more; /* owned; or NULL */
    nm_heap *heap;
    nm_site *site;
    nm_place *place;
    nm_live *next_here; /* at the same place, of another heap */
    union {
        nm_live *range; /* blocks: the first range under it, as of range_version of the arena */
        nm_heap *owner; /* driver memory: a segment's pool, also after its end; NULL: no segment. Else nm_live_owner */
    };
    union {
        uint64_t range_version; /* blocks */
        uint64_t covered_bytes; /* segments: under blocks of the owner */
    };
    nm_sub_pool *part;    /* segments: of the owner; blocks: that they count for, or NULL */
    uint64_t begin_epoch; /* epoch of the pool when the block came to it, or the segment */
    union {
        struct {
            nm_sub_pool *old_part; /* segments: until old_epoch */
            uint64_t old_epoch;    /* epoch of the pool when the segment went over to another part */
        };
        nm_rounding rounding; /* blocks: behind their end, and theirs */
    };
    int64_t birth_seq; /* as row.alloc_seq; of what a keyframe brought its own */
    bool is_baseline;
    bool is_ending;   /* brought by one too: what comes next at its address has replaced it */
    bool is_kept;     /* brought by a keyframe, from before what was kept */
    bool is_mapped;   /* may be cut, and joins its neighbours */
    bool is_touched;  /* carried a block since it was mapped */
    bool is_settled;  /* a segment whose first block has told its private pool and stream */
    bool is_covering; /* a block that takes its bytes out of the gaps */
    bool is_late;
    bool is_workspace; /* has served an operator */
    bool is_held;      /* counted with what graphs hold: by the graph it is a member of, or in a private pool */
    bool is_unseen;    /* was born while the recording was paused: when, where and how is not known */
};

/* An allocation that ended because another began at its address, while a late free of it is still waited for. */
typedef struct nm_replaced {
    nm_live *old;    /* NULL: the free came */
    nm_place *place; /* whose past it is in; NULL: no more */
    uint64_t new_allocation_id, new_thread_id, new_stack_id;
    int64_t seq, ns;
    bool is_late;             /* the new allocation's place in the order is not certain */
    struct nm_replaced *next; /* by time */
} nm_replaced;

typedef struct nm_gaps { /* the free ranges of a pool's segments, by address */
    nm_tree tree;        /* value: bytes */
    uint64_t free_bytes;
    nm_slab *slab; /* borrowed: of the gaps of all pools */
} nm_gaps;

/* Segments of a pool of one kind, stream and private pool: see nm_pool_part_row. It stays as long as the pool. */
struct nm_sub_pool {
    nm_pool_part_row row;
    nm_heap *pool;
    nm_gaps gaps;
    uint64_t reserved_bytes, stuck_bytes;
    uint64_t waste_bytes, unknown_waste_count; /* the latter: live blocks of which it is not known */
    nm_rounding rounding;                      /* free, as far as is told, but of live blocks */
    bool is_changed;                           /* since the last event in order was done: is in the pool's list */
    nm_sub_pool *next_changed;
    nm_sub_pool *next; /* of the pool, in order of birth */
};

/* A bucket of the timeline under construction. */
typedef struct nm_usage_bucket {
    nm_usage_row row; /* reserved_bytes: of segments */
    uint64_t stated_reserved_bytes;
    uint32_t change_count;
    bool is_empty;
} nm_usage_bucket;

typedef struct nm_usage {
    nm_usage_bucket *buckets; /* owned */
    size_t count, capacity;
    uint32_t changes_per_bucket;
} nm_usage;

/* Devices of several processes that are one piece of hardware. */
typedef struct nm_device_group {
    nm_device_peak_row peak;
    uint64_t live_bytes;
    uint64_t peak_epoch;          /* counts up when live_bytes are more than ever */
    bool is_peak_kept;            /* its peak was before what was kept */
    struct nm_device_group *next; /* all, in order of definition */
} nm_device_group;

typedef struct nm_process {
    uint64_t id;
    uint64_t host;             /* string */
    int64_t begin_ns;          /* or NM_NO_TIME */
    bool is_late;              /* it ran before its recording began */
    bool has_unknown_pause;    /* what happened to its memory in a pause is not known */
    int64_t unknown_pause_seq; /* its end, of the last one */
    bool is_paused;            /* now, and nothing of its memory is told */
    bool has_pause;            /* `pause` is open */
    nm_pause_row pause;
    uint64_t step_count;
    nm_step_row step;          /* open when step_id is not 0 */
    nm_graph *graphs;          /* that live, and captures that go on; the youngest first */
    uint64_t capture_count;    /* of these, captures that go on */
    nm_tree host_ranges;       /* pinned and host memory */
    nm_tree registered_ranges; /* apart: any of it may be carved up by allocators that are recorded too */
    bool has_loss;             /* what follows is in doubt */
    int64_t loss_seq, loss_until_ns;
    struct nm_arena *arenas; /* by device */
    nm_heap *heaps, **last_heap;
    uint64_t heap_count;
    int64_t moment_seq;      /* of its last mark or failure; NM_NO_SEQ: none yet */
    bool has_unseen_calls;   /* some library's calls do not come through the recorder */
    struct nm_process *next; /* all, in order of definition */
} nm_process;

typedef struct nm_device {
    uint64_t id;
    nm_process *process;
    nm_device_group *group;
    uint64_t host;
    int64_t physical_ordinal;
    bool is_npu;
    uint64_t live_bytes;      /* of its driver heaps */
    uint64_t step_call_count; /* while a step ends: driver calls in it */
    bool has_events;          /* of its heaps: */
    int64_t first_seq, last_seq;
} nm_device;

/* One device of one process: where driver memory and the pools that cut it meet. */
typedef struct nm_arena {
    nm_process *process;
    uint64_t device_id;
    nm_tree ranges;         /* driver memory */
    uint64_t range_version; /* counts up when a range comes or goes */
    nm_heap *pool;          /* the first pool defined, owner of segments that carry no block yet */
    uint64_t failure_count; /* requests that failed */
    bool has_baseline;      /* something was there before the stream began */
    struct nm_arena *next;
} nm_arena;

/* A heap's sums when the step of its process began, and its peak since then. */
typedef struct nm_step_base {
    uint64_t allocation_count, free_count, allocated_bytes, freed_bytes, miss_count;
    uint64_t peak_bytes;
    uint64_t peak_reserved_bytes, peak_stated_bytes;
    uint64_t graph_bytes, graph_reserved_bytes; /* most since then */
    uint64_t left_count, left_bytes;            /* born since then and live */
    bool is_left_unknown;                       /* something of that may have been before what was kept */
} nm_step_base;

struct nm_heap {
    uint64_t id;
    nm_process *process;
    nm_device *device; /* NULL: host memory */
    nm_arena *arena;
    uint64_t level;
    nm_size_basis size_basis;
    uint64_t small_bytes, large_bytes;
    uint64_t module_id;
    uint64_t block_cut; /* nm_block_cut */
    nm_tree *space;     /* where its allocations lie by address */
    nm_tree blocks;     /* pools: that space */

    nm_heap_total_row total;
    uint64_t live_count;
    nm_step_base step_base;
    int64_t first_alloc_seq; /* birth of the first, without the baseline; NM_NO_SEQ: none yet, or not kept */
    bool has_kept_total;     /* a keyframe has brought its sums */
    bool is_peak_kept;       /* its peak was before what was kept */
    uint64_t epoch;          /* counts up at both: */
    uint64_t peak_epoch;     /* of its last peak, which is within an event */
    uint64_t reserve_epoch;  /* pools: of when it held most, which is after one; 0: not known, or never */
    nm_site *baseline_site;  /* owned; of the baseline without a stack */
    nm_site *sites;
    nm_map site_of; /* stack -> nm_site */
    nm_usage usage;
    nm_replay *replay;
    bool is_changed; /* by this event: is in the replay's list */
    nm_heap *next_changed;

    uint64_t page_bytes, mapped_bytes, segment_bytes; /* as in nm_heap_sample_row */
    uint64_t pending_bytes;                           /* live, and given up by the program */
    uint64_t graph_bytes;                             /* live, and held by graphs */
    uint64_t graph_reserved_bytes;                    /* pools: segments of it that graphs hold */
    bool has_guessed_size;                            /* of some allocation only a sum was told */
    bool is_touched;                                  /* by this event: is in the replay's list */
    nm_heap *next_touched;

    /* Pools and workspaces only. */
    nm_sub_pool *parts, **last_part;
    size_t part_count;
    nm_sub_pool *first_changed_part;
    uint64_t free_bytes, gap_count; /* of all parts, as are: */
    uint64_t stuck_bytes;
    uint64_t fresh_bytes; /* driver memory that has come since it last served a request: for the one that it serves */
    uint64_t fresh_end;   /* where the last of it ends, */
    const nm_sub_pool *fresh_part;
    uint64_t waste_bytes, unknown_waste_count;
    nm_rounding rounding;
    uint64_t miss_count;        /* requests for which it had to grow */
    uint64_t overlapping_count; /* live blocks left out of the gaps, for they overlap others */
    bool has_unknown_block;     /* some block's rounded size was not known */
    bool has_foreign_block;     /* another pool's block lies in its free memory */
    bool has_segments;          /* had one, ever */
    bool is_inside;             /* a block of it lay in a segment of another pool */
    bool has_stated;            /* has said itself what it holds: */
    uint64_t stated_reserved_bytes, peak_stated_reserved_bytes, stated_at_peak_bytes;
    int64_t peak_stated_reserved_seq;
    uint64_t most_reserved_bytes; /* by its segments, or its word while none was seen */
    bool is_reserve_open;         /* the request that it grew for then has not been served yet */
    bool is_reserve_kept;         /* it was before what was kept */
    int64_t reserve_seq;
    nm_sub_pool *listed_part; /* of the last segment that the source's own list of the end has named */
    nm_heap *next_of_process;
    nm_heap *next; /* all, in order of definition */
};

typedef struct nm_operation { /* an open range */
    nm_operation_row row;
    int64_t number;
    struct nm_thread *thread;
    struct nm_operation *outer, *inner; /* of its thread */
} nm_operation;

typedef struct nm_thread {
    uint64_t id;
    nm_process *process;      /* NULL: unknown */
    nm_operation *operations; /* innermost first */
    nm_live *unconfirmed;     /* its last free, which may still be refused; taken out of everything else */
    bool is_queue;            /* has run operators for other threads: see workspace.c */
    int64_t queue_seq;        /* what it runs for them was queued after this event */
    struct nm_thread *next;   /* all, in order of definition */
} nm_thread;

/* What questions leave behind. It is no part of the books, and changes while those are read. */
typedef struct nm_scratch {
    nm_thread *thread; /* the last ones that were looked up: events of a thread follow each other */
    nm_heap *heap;
    nm_place *place; /* the same: an event asks for one more than once */
} nm_scratch;

struct nm_replay {
    nm_sink sink;
    uint64_t wanted; /* a bit for each nm_change_kind that some pass wants */
    nm_runs *runs;   /* owned: pass.h */
    nm_slab lives, gaps, mores, place_items, pasts;
    nm_map processes, threads, devices, heaps, arenas, groups; /* by number (arenas, groups: a pair) -> pointer */
    nm_buffer stack_bits; /* a bit for every stack number below NM_STACK_BITS_MAX that is defined */
    nm_map stacks;        /* the larger ones */
    uint64_t npu_string;  /* the one that says "npu" */
    nm_map places;        /* (process, address) -> nm_place */
    nm_map operations;    /* (process, number) -> nm_operation, open */
    nm_process *first_process, **last_process;
    nm_thread *first_thread, **last_thread;
    nm_heap *first_heap, **last_heap;
    nm_device_group *first_group, **last_group;
    nm_past *oldest_idle, *newest_idle;
    size_t idle_count;
    nm_heap *first_changed;
    nm_heap *first_touched,
        **last_touched; /* whose figures have changed since NM_CHANGE_DONE was told, in that order */
    nm_replaced *first_replaced, **last_replaced;
    nm_map graphs;       /* (process, handle) and (0, number) -> nm_graph */
    nm_thread *acting;   /* whose event is being taken; NULL: nothing is recorded yet */
    nm_scratch *scratch; /* owned */
    nm_thread *nobody;   /* owned; has the operations of sources that know no threads */
    uint64_t allocation_count, operation_count, step_count;
    uint64_t workspace_count, stream_call_count, note_count, part_count, graph_count;
    bool has_pause;          /* some process was paused, and nothing of its memory told */
    bool begins_step;        /* the next event, though no mark says so */
    uint64_t eventful_count; /* devices that has_events */
    uint64_t next_seq;       /* the number after the largest that any event had */
    bool has_events, has_loss;
    bool has_keyframe; /* the stream begins with one: it is not the beginning of the recording */
    bool has_whole_keyframe;
    int64_t first_seq, last_seq, last_ns;
    int64_t moment_seq;              /* of the last mark or failure of no known process */
    int64_t loss_seq, loss_until_ns; /* of losses that belong to no known process */
};

/* What an event refers to, resolved: unknown numbers have become NULL or 0. */
typedef struct nm_context {
    const nm_event *event;
    nm_heap *heap;
    nm_thread *thread;
    nm_process *process;
    uint64_t stack_id;
    int64_t seq; /* NM_NO_SEQ for the baseline */
} nm_context;

#endif
