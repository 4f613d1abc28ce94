/* SPDX-License-Identifier: Apache-2.0
 *
 * What the replay keeps in memory, shared by the files of this folder and by nobody else. Everything hangs on struct
 * nm_replay. Memory is in proportion to what is live, or was at a pool's peak, to the stacks (per heap) and to what is
 * open; beside it are bounded: NM_FREED_PLACES_MAX addresses and NM_FREED_MAX ranges that were freed last, and the
 * buckets of timelines.
 *
 * Who does what: replay.c takes events apart and ends everything; define.c takes definitions; pairing.c begins and
 * ends allocations; places.c finds them by address; usage.c keeps sums, peaks and the timeline; pool.c knows
 * segments and misses; ledger.c what else a pool did (ledger.h); gaps.c the free ranges in segments; parts.c which
 * segments lend to each other; fragments.c how they are cut up at a moment, blockers.c by whom, squeeze.c for sure, and
 * fragment_line.c all the time; program.c operations, steps, stream calls and notes; graph.c what graphs hold; workspace.c
 * which block an operator works in,
 * hold.c how long that is held, rise.c how far heaps rise in an operation, names.c what operations do in a step;
 * moments.c moments and fragmentation; chain.c failures that belong together; effort.c what segments cost; sample.c
 * what heaps and devices held at them; anomaly.c misuse, copy.c copies and theirs, overlap.c memory that lies over other;
 * freed.c who freed what is no more; backing.c what lies under mappings; repeat.c copies of the same; streams.c streams
 * that stay; totals.c sums of steps; growth.c what of each stack lives on; keyframe.c all of this as events, and back.
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
#define NM_FREED_MAX           16384
#define NM_SIZE_BYTES_MAX      (UINT64_C(1) << 56) /* a size above it is taken for this: no sum overflows soon */
#define NM_POOL_PARTS_MAX      64                  /* of a pool; one more has all the rest */
#define NM_PART_BUCKETS_MAX    1024                /* of the timeline of a part */
#define NM_BLOCKERS_MAX        64 /* stacks of a pool at its peak and at the end; one more row has all the rest */
#define NM_BLOCKERS_AT_MARKS   16 /* the same at marks and failures, of which there may be many */
#define NM_STACK_BITS_MAX      (UINT64_C(1) << 26)
#define NM_PEAK_HEAPS_MAX      512 /* heaps of one scope that a peak keeps */
#define NM_OPEN_MOMENTS_MAX    4096
#define NM_STEP_NAMES_MAX      16                /* operations of a heap with rows of their own in each step */
#define NM_LATE_FREE_NS        INT64_C(10000000) /* how long a free may come after its address was reused */
#define NM_SMALL_BYTES_DEFAULT 4096
#define NM_LARGE_BYTES_DEFAULT (UINT64_C(1) << 20)

typedef struct nm_heap nm_heap;
typedef struct nm_live nm_live;
typedef struct nm_lifetimes nm_lifetimes; /* growth.c */
typedef struct nm_graph nm_graph;         /* graph.c */
typedef struct nm_group nm_group;         /* of a pool: ledger.h */
typedef struct nm_ledger nm_ledger;       /* of a pool: ledger.h */
typedef struct nm_hold nm_hold;           /* hold.c */
typedef struct nm_member nm_member;       /* of a graph: graph.c */
typedef struct nm_part nm_part;
typedef struct nm_rise nm_rise;               /* rise.c */
typedef struct nm_source nm_source;           /* repeat.c */
typedef struct nm_stream nm_stream;           /* streams.c */
typedef struct nm_overlap nm_overlap;         /* overlap.c */
typedef struct nm_recent_free nm_recent_free; /* freed.c */
typedef struct nm_freed_piece nm_freed_piece; /* freed.c */

/* One stack's share of a heap, now and at the heap's last peak. A peak copies nothing: it only counts up the heap's
 * peak_epoch, and a share is taken over into at_peak_* when it first changes after that. */
typedef struct nm_site {
    uint64_t stack_id;
    uint64_t live_bytes, live_count;
    uint64_t graph_bytes, graph_count; /* of these, held by graphs */
    uint64_t at_peak_bytes, at_peak_count;
    uint64_t allocation_count, free_count, allocated_bytes, freed_bytes; /* ever, without the baseline */
    uint64_t in_step_bytes;                                              /* of allocated_bytes, inside steps */
    uint64_t epoch;                                                      /* heap->peak_epoch when it last changed */
    uint64_t told_bytes, told_count; /* live at the end of the last step that was told */
    nm_lifetimes *lifetimes;         /* owned; of what was freed; NULL: nothing was */
    bool is_touched;                 /* since that step: is in the heap's list */
    struct nm_site *next_touched;
    uint64_t floor_bytes, told_floor_bytes; /* least of this window, and of the last one that was told: floors.c */
    bool is_in_window;                      /* is in the heap's list */
    struct nm_site *next_in_window;
    struct nm_site *next; /* of the heap */
} nm_site;

/* Sums of the open step by operation: names.c. */
typedef struct nm_step_names {
    nm_map index_of;              /* (kind, name) -> index into items */
    nm_step_operation_row *items; /* owned */
    size_t count, capacity;
    size_t recent; /* the last one looked up */
} nm_step_names;

/* One address of one process at which something is live, or was until lately. */
typedef struct nm_place {
    uint64_t process_id, address;
    nm_live *live; /* chain: a segment and its first block share an address */
    uint64_t freed_allocation_id, freed_heap_id, freed_stack_id; /* what ended here last; 0: nothing yet */
    uint64_t freed_thread_id;
    int64_t freed_seq;                    /* when that was; NM_NO_SEQ: never */
    uint64_t reuse_requests, reuse_bytes; /* a pool's counters at its free, the first plus 1; 0: see reuse.c */
    struct nm_replaced *replaced;         /* whose own free may still come, or NULL */
    struct nm_place *older, *newer;       /* among places with nothing live */
    bool is_idle;                         /* is in that list */
    uint32_t reuse_heap;                  /* low half of the number of that pool's heap */
} nm_place;

/* How memory ended. */
typedef struct nm_freed {
    uint64_t address; /* its begin */
    uint64_t allocation_id, heap_id, thread_id, stack_id;
    int64_t seq;
} nm_freed;

typedef enum nm_freed_where { NM_FREED_IN_POOL, NM_FREED_IN_DRIVER, NM_FREED_ANYWHERE } nm_freed_where;

/* A live allocation or mapped range. The node comes first, so that it lies in one cache line: see slab.h. */
struct nm_live {
    nm_tree_node node;     /* by address in heap->space; its value is the address behind the last byte */
    nm_allocation_row row; /* generation: the step of the process at its birth */
    nm_heap *heap;
    nm_site *site;
    nm_place *place;
    nm_live *next_here; /* at the same place, of another heap */
    nm_live *range;     /* blocks: the first range under it, as of range_version of the arena */
    nm_heap *owner;     /* a segment's pool, also after its end; NULL: no segment */
    union {
        uint64_t range_version; /* blocks */
        uint64_t covered_bytes; /* segments: under blocks of the owner */
    };
    nm_part *part;        /* segments: of the owner; blocks: that they count for, or NULL */
    uint64_t begin_epoch; /* peak_epoch of the pool when the block came to it, or the segment */
    union {
        struct {
            nm_part *old_part;  /* segments: until old_epoch */
            uint64_t old_epoch; /* peak_epoch of the pool when the segment went over to another part */
        };
        nm_rounding rounding; /* blocks: behind their end, and theirs */
    };
    nm_group *group;            /* blocks: theirs; segments: that of the first block in it, or NULL */
    struct nm_pending *pending; /* blocks: given up, and not reusable yet; or NULL */
    nm_hold *hold;              /* blocks that have served operators; or NULL */
    nm_member *member;          /* of the graph that holds it; or NULL */
    int64_t birth_seq;          /* as row.alloc_seq; of what a keyframe brought its own */
    uint32_t size_number;       /* of a block's size, in reuse.c; 0: none */
    bool is_baseline;
    bool is_ending;   /* brought by one too: what comes next at its address has replaced it */
    bool is_kept;     /* brought by a keyframe, from before what was kept */
    bool is_mapped;   /* may be cut, and joins its neighbours */
    bool is_touched;  /* carried a block since it was mapped */
    bool is_settled;  /* a segment whose first block has told its private pool and stream */
    bool is_covering; /* a block that takes its bytes out of the gaps */
    bool is_late;
    bool is_workspace;  /* has served an operator */
    bool is_given_up;   /* a block whose free was asked for */
    bool is_overlapped; /* something lies over it, and a free of it may still explain that: overlap.c */
    bool is_held;       /* counted with what graphs hold: by the graph it is a member of, or in a private pool */
    bool is_unseen;     /* was born while the recording was paused: when, where and how is not known */
};

/* An allocation that ended because another began at its address, while a late free of it is still waited for. */
typedef struct nm_replaced {
    nm_live *old; /* NULL: the free came */
    nm_place *place;
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

/* The timeline of how a pool, or a part of it, is cut up: buckets of so many changes each, the last one still open. */
typedef struct nm_fragment_line {
    nm_fragment_usage_row *buckets; /* owned */
    size_t count, capacity;
    nm_fragment_usage_row *last; /* of them */
    uint64_t changes_per_bucket;
    uint64_t room; /* changes that the last one still takes */
} nm_fragment_line;

/* Segments of a pool of one kind, stream and private pool: see nm_pool_part_row. It stays as long as the pool. */
struct nm_part {
    nm_pool_part_row row;
    nm_heap *pool;
    nm_gaps gaps;
    uint64_t reserved_bytes, stuck_bytes;
    uint64_t waste_bytes, unknown_waste_count; /* the latter: live blocks of which it is not known */
    nm_rounding rounding;                      /* free, as far as is told, but of live blocks */
    nm_pool_growth_row growth;
    nm_fragment_line line;
    bool is_changed; /* by this event: is in the pool's list */
    nm_part *next_changed;
    nm_part *next; /* of the pool, in order of birth */
};

/* A segment or block as it was at a moment. */
typedef struct nm_segment_then {
    uint64_t from, to; /* first address, and the one behind the last */
    nm_part *part;
    const nm_heap *driver;
    uint64_t stream;
    bool has_stream, is_mapped;
} nm_segment_then;

typedef struct nm_block_then {
    uint64_t from, to;
    uint64_t allocation_id, stack_id;
    int64_t alloc_seq, alloc_ns;
    int64_t waste_bytes; /* NM_UNKNOWN_NUMBER: one of its two sizes is not known */
    nm_part *part;       /* that it counts for; NULL: none */
    bool is_baseline, is_covering;
} nm_block_then;

typedef struct nm_segments_then {
    nm_segment_then *items;
    size_t count, capacity;
} nm_segments_then;

typedef struct nm_blocks_then {
    nm_block_then *items;
    size_t count, capacity;
} nm_blocks_then;

/* What was there at a pool's last peak and has ended since: with what is still there it makes up the peak. */
typedef struct nm_gone {
    uint64_t epoch; /* the peak_epoch of the pool that they are of; else they are void */
    nm_segments_then segments;
    nm_blocks_then blocks;
} nm_gone;

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

/* What a heap held right after an event. */
typedef struct nm_heap_state {
    nm_heap *heap;
    nm_heap_sample_row row;
} nm_heap_state;

/* Heaps whose states belong together: of one piece of hardware, or of one process without a device. */
typedef struct nm_scope {
    nm_heap_state *states; /* owned; of heaps that ever held something, until their process ends */
    size_t count, capacity;
    nm_heap *first_dirty; /* whose states have not been written */
} nm_scope;

/* What a device said of itself. */
typedef struct nm_device_figures {
    bool is_known;
    uint64_t kind; /* nm_memory_kind */
    uint64_t free_bytes, total_bytes;
    int64_t seq, ns;
    int64_t recorded_bytes; /* what was recorded of it then, of all processes */
} nm_device_figures;

/* All heaps of a scope, at a peak of one of them or of the device. It is open while no memory of the hardware came or went
 * since then: what the device says of itself then still counts. */
typedef struct nm_peak_states {
    nm_heap_state *states; /* owned */
    size_t count, capacity;
    bool is_whole; /* all heaps are in it; else the peaking one alone */
    bool is_open;  /* is in the group's list */
    nm_device_figures figures;
    bool is_stale;
    int64_t at_seq, until_seq;
    struct nm_peak_states *previous_open, *next_open;
} nm_peak_states;

/* Devices of several processes that are one piece of hardware. */
typedef struct nm_device_group {
    nm_device_peak_row peak;
    uint64_t live_bytes;
    bool has_peaked;   /* by this event */
    bool is_peak_kept; /* it was before what was kept */
    nm_peak_states at_peak;
    nm_scope scope;
    bool has_changed; /* by this event: is in the replay's list */
    struct nm_device_group *next_changed;
    uint64_t moment_id; /* the last one that it has rows of */
    nm_device_figures figures;
    int64_t changed_seq; /* when memory last came or went; INT64_MIN: never */
    int64_t gone_seq;    /* when it last went with a process */
    nm_peak_states *first_open;
    struct { /* rows of marks and failures that are open */
        nm_device_sample_row *items;
        size_t count, capacity;
    } open;
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
    bool has_window;     /* something happened at a known time, */
    int64_t window;      /* in this one: floors.c */
    nm_step_row step;    /* open when step_id is not 0 */
    nm_step_names names; /* of operators whose block is not known */
    nm_hold *first_hold;
    nm_graph *graphs;          /* that live, and captures that go on; the youngest first */
    uint64_t capture_count;    /* of these, captures that go on */
    nm_tree host_ranges;       /* pinned and host memory */
    nm_tree registered_ranges; /* apart: any of it may be carved up by allocators that are recorded too */
    bool has_loss;             /* what follows is in doubt */
    int64_t loss_seq, loss_until_ns;
    struct nm_arena *arenas; /* by device */
    nm_heap *heaps, **last_heap;
    uint64_t heap_count;
    nm_scope scope;                           /* of its heaps without a device */
    int64_t moment_seq;                       /* of its last mark or failure; NM_NO_SEQ: none yet */
    nm_tree sources;                          /* what its last copies read */
    nm_tree freed[2];                         /* blocks of pools, driver memory: freed.c */
    nm_stream *oldest_stream, *newest_stream; /* that it has created, and not destroyed */
    struct stream_place *stream_places;       /* owned: streams.c */
    bool has_unseen_calls;                    /* some library's calls do not come through the recorder */
    int64_t end_seq;                          /* NM_NO_SEQ while it runs */
    struct nm_process *next;                  /* all, in order of definition */
} nm_process;

/* What a process's heaps take of a device, summed up heap by heap. */
typedef struct nm_device_tally {
    uint64_t pass_id; /* whose sums these are */
    bool is_written;
    uint64_t pool_bytes, stated_bytes, program_bytes, module_bytes, physical_bytes, mapped_bytes;
    int64_t rounding_bytes;
} nm_device_tally;

typedef struct nm_device {
    uint64_t id;
    nm_process *process;
    nm_device_group *group;
    uint64_t host;
    int64_t physical_ordinal;
    bool is_npu;
    uint64_t live_bytes;      /* of its driver heaps */
    uint64_t step_call_count; /* while a step ends: driver calls in it */
    uint64_t stream_count;    /* of the program's, created and not destroyed */
    uint64_t event_count;     /* likewise */
    bool has_events;          /* of its heaps: */
    int64_t first_seq, last_seq;
    nm_device_tally tally;
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

/* What a source's own list says of a pool at the end. */
typedef struct nm_pool_state {
    bool is_known;
    uint64_t reserved_bytes, occupied_bytes, free_bytes, largest_free_bytes, stuck_bytes, gap_count;
    nm_segments_then segments;
    nm_blocks_then blocks;
    nm_segments_then gaps; /* as the source lists them */
} nm_pool_state;

/* A heap's sums when the step of its process began, and its peak since then. */
typedef struct nm_step_base {
    uint64_t allocation_count, free_count, allocated_bytes, freed_bytes, miss_count;
    uint64_t peak_bytes;
    uint64_t peak_reserved_bytes, peak_stated_bytes;
    uint64_t graph_bytes, graph_reserved_bytes; /* most since then */
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
    nm_step_names names;     /* of the open step */
    int64_t first_alloc_seq; /* birth of the first, without the baseline; NM_NO_SEQ: none yet, or not kept */
    bool has_kept_total;     /* a keyframe has brought its sums */
    bool is_peak_kept;       /* its peak was before what was kept */
    uint64_t peak_epoch;
    nm_site baseline_site;
    nm_site *sites;
    nm_site *first_touched;   /* see growth.c */
    nm_site *first_in_window; /* see floors.c */
    nm_usage usage;
    nm_replay *replay;
    bool is_changed; /* by this event: is in the replay's list */
    nm_heap *next_changed;

    uint64_t page_bytes, mapped_bytes, segment_bytes; /* as in nm_heap_sample_row */
    nm_pool_effort_row effort;                        /* driver memory, too */
    uint64_t pending_bytes;                           /* live, and given up by the program */
    uint64_t graph_bytes;                             /* live, and held by graphs */
    uint64_t graph_reserved_bytes;                    /* pools: segments of it that graphs hold */
    bool has_guessed_size;                            /* of some allocation only a sum was told */
    size_t slot;                                      /* its state in the scope, plus 1; 0: none */
    bool is_unsettled;                                /* changed by this event: is in the replay's list */
    bool has_state;                                   /* held something, ever */
    bool is_dirty;                                    /* is in the scope's list */
    bool has_peaked;                                  /* by this event */
    nm_heap *next_unsettled, *next_dirty;
    nm_peak_states at_peak_states;

    /* Pools and workspaces only. */
    nm_part *parts, **last_part;
    size_t part_count;
    nm_part *first_changed_part;
    uint64_t free_bytes, gap_count; /* of all parts, as are: */
    uint64_t stuck_bytes;
    uint64_t waste_bytes, unknown_waste_count;
    nm_rounding rounding;
    nm_fragment_line line;
    uint64_t detail_count; /* moments that have looked at all of it */
    nm_gone gone;
    nm_fragmentation_row at_peak;
    nm_hit_row hits[3];
    nm_ledger *ledger;                         /* owned; NULL before the first block or segment */
    uint64_t requests_by_peak, misses_by_peak; /* hits and misses up to the peak */
    uint64_t overlapping_count;                /* live blocks left out of the gaps, for they overlap others */
    bool has_unknown_block;                    /* some block's rounded size was not known */
    bool has_foreign_block;                    /* another pool's block lies in its free memory */
    bool has_segments;                         /* had one, ever */
    bool is_inside;                            /* a block of it lay in a segment of another pool */
    bool has_stated;                           /* has said itself what it holds: */
    uint64_t stated_reserved_bytes, peak_stated_reserved_bytes, stated_at_peak_bytes;
    int64_t peak_stated_reserved_seq;
    nm_pool_state state;
    nm_heap *next_of_process;
    nm_heap *next; /* all, in order of definition */
};

typedef struct nm_rises { /* by heap */
    nm_rise *items;       /* owned */
    size_t count, capacity;
    bool is_cut; /* there were more heaps */
} nm_rises;

typedef struct nm_operation { /* an open range */
    nm_operation_row row;
    nm_rises rises; /* while it was the innermost; and of what has ended within it */
    nm_hold *hold;  /* of its workspace, or NULL */
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
    struct nm_chain *chains;  /* failures that may go on: see chain.c */
    struct nm_thread *next;   /* all, in order of definition */
} nm_thread;

struct nm_replay {
    nm_sink sink;
    nm_slab lives, gaps;
    nm_map processes, threads, devices, heaps, arenas, groups; /* by number (arenas, groups: a pair) -> pointer */
    nm_buffer stack_bits; /* a bit for every stack number below NM_STACK_BITS_MAX that is defined */
    nm_map stacks;        /* the larger ones */
    uint64_t npu_string;  /* the one that says "npu" */
    nm_map sites;         /* (heap, stack) -> nm_site */
    nm_map places;        /* (process, address) -> nm_place */
    nm_map operations;    /* (process, number) -> nm_operation, open */
    nm_process *first_process, **last_process;
    nm_thread *first_thread, **last_thread;
    nm_heap *first_heap, **last_heap;
    nm_device_group *first_group, **last_group;
    nm_place *oldest_idle, *newest_idle;
    size_t idle_count;
    nm_heap *first_changed;
    nm_heap *first_unsettled;
    nm_device_group *first_changed_group;
    nm_replaced *first_replaced, **last_replaced;
    nm_map overlapped; /* allocation -> what waits for its free: overlap.c */
    nm_overlap *first_overlap, *last_overlap;
    nm_recent_free *recent_frees; /* owned; NM_FREED_MAX of them */
    uint64_t recent_free_count;   /* since somebody asked; the last NM_FREED_MAX are there */
    nm_freed_piece *oldest_freed, *newest_freed;
    size_t freed_count;
    nm_map streams;                           /* (process, stream) -> nm_stream */
    nm_map stream_places;                     /* (process, stack) -> what of them streams.c knows */
    nm_map graphs;                            /* (process, handle) and (0, number) -> nm_graph */
    nm_source *oldest_source, *newest_source; /* of copies */
    size_t source_count;
    nm_thread *acting;        /* whose event is being taken; NULL: nothing is recorded yet */
    nm_thread *recent_thread; /* the last one looked up, and the last heap */
    nm_heap *recent_heap;
    nm_thread nobody; /* has the operations of sources that know no threads */
    uint64_t allocation_count, failure_count, copy_count, operation_count, step_count, moment_count, anomaly_count;
    uint64_t workspace_count, stream_call_count, note_count, part_count, graph_count;
    uint64_t detail_spent;        /* segments and blocks that moments have looked at one by one */
    uint64_t figures_spent;       /* heaps that moments have been asked about */
    uint64_t unseen_free_count;   /* frees of what may have been allocated unseen */
    bool has_pause;               /* some process was paused, and nothing of its memory told */
    size_t open_chain_count;      /* of all threads */
    uint64_t out_of_memory_count; /* chains that have begun */
    uint64_t stack_look_count;    /* stacks and ranges that their states have looked at */
    uint64_t tally_count;
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

/* ---- replay.c ---- */

/* How well memory of a level fits the call (nm_free_call) that freed it, when that named no heap; 0: best. */
#define NM_MISFIT_NEVER 4
int nm_pairing_misfit(uint64_t level, uint64_t free_call);

static inline bool nm_is_pool(const nm_heap *heap)
{
    return heap->level == NM_LEVEL_POOL || heap->level == NM_LEVEL_WORKSPACE;
}
/* Does it state what it holds, and none of its segments were ever seen? */
static inline bool nm_pool_is_stated(const nm_heap *pool)
{
    return pool->has_stated && !pool->has_segments;
}

/* Was nothing ever seen of what it holds, so that its blocks are memory that no other heap counts? */
static inline bool nm_pool_is_unseen(const nm_heap *pool)
{
    return pool->level == NM_LEVEL_POOL && !pool->has_segments && !pool->has_stated && !pool->is_inside;
}

/* As in nm_fragmentation_row. */
static inline bool nm_pool_is_estimate(const nm_heap *pool)
{
    return pool->has_unknown_block || pool->has_foreign_block || pool->overlapping_count > 0;
}

/* Was something of the process there that nobody has told? */
static inline bool nm_pool_is_partial(const nm_heap *pool)
{
    return pool->process->is_late || pool->process->has_unknown_pause ||
           (pool->replay->has_keyframe && !pool->replay->has_whole_keyframe);
}

static inline int64_t nm_part_waste(uint64_t waste_bytes, uint64_t unknown_count)
{
    return unknown_count == 0 ? (int64_t)waste_bytes : NM_UNKNOWN_NUMBER;
}

void *nm_replay_allocate(size_t bytes, nm_error *err); /* zeroed; NULL and *err filled when memory is out */

/* The things with these numbers; NULL when the number is 0 or never defined. */
nm_thread *nm_replay_thread(nm_replay *replay, uint64_t id);
nm_heap *nm_replay_heap(nm_replay *replay, uint64_t id);
nm_device *nm_replay_device(nm_replay *replay, uint64_t id);

/* Did the stream lose events of this process? Then what seems misuse may only be a hole. */
void nm_replay_lose(nm_replay *replay, nm_process *process, int64_t seq, int64_t until_ns); /* it lost some */
static inline bool nm_replay_is_doubtful(const nm_replay *replay, const nm_process *process)
{
    return replay->has_loss || (process != NULL && process->has_loss);
}

/* Gives an ended allocation to the sink and frees it. */
nm_status nm_replay_emit(nm_replay *replay, nm_live *live, nm_error *err);

/* ---- define.c ---- */

bool nm_define_knows_stack(const nm_replay *replay, uint64_t id);
nm_process *nm_define_process(nm_replay *replay, uint64_t id, nm_error *err); /* makes it where it is missing */

nm_status nm_replay_define(nm_replay *replay, const nm_definition *definition, nm_error *err);
void nm_define_free(nm_replay *replay); /* processes, threads, devices, heaps and what they hold */

/* What was live where the stream begins: a KEYFRAME that stands for an ALLOC or MAP. */
nm_status nm_pairing_restore(nm_replay *replay, const nm_context *context, nm_error *err);

/* ---- places.c ---- */

/* The place of an address, NULL when nothing is known of it. */
nm_place *nm_place_find(const nm_replay *replay, uint64_t process_id, uint64_t address);
nm_status nm_place_put(nm_replay *replay, nm_live *live, nm_error *err); /* makes the place where it is missing */
void nm_place_take(nm_replay *replay, nm_live *live);                    /* the place may be forgotten by it */
nm_live *nm_place_live_of(const nm_place *place, const nm_heap *heap);   /* place may be NULL */
void nm_places_free(nm_replay *replay);

/* ---- pairing.c ---- */

nm_status nm_pairing_alloc(nm_replay *replay, const nm_context *context, nm_error *err); /* ALLOC and MAP */
nm_status nm_pairing_free(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_pairing_free_requested(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_pairing_free_failed(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_pairing_unmap(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_pairing_reset(nm_replay *replay, const nm_context *context, nm_error *err);
void nm_pairing_export(nm_replay *replay, const nm_context *context);

bool nm_pairing_is_doubtful(const nm_replay *replay, const nm_live *live); /* may its free be among what was lost? */

/* The thread's last free stands: writes its row. */
nm_status nm_pairing_confirm(nm_replay *replay, nm_thread *thread, nm_error *err);

/* Gives up waiting for late frees of what was replaced more than NM_LATE_FREE_NS before `now_ns`. */
nm_status nm_pairing_expire(nm_replay *replay, int64_t now_ns, nm_error *err);
nm_status nm_pairing_finish(nm_replay *replay, nm_error *err); /* writes what is live */
void nm_pairing_discard(nm_replay *replay);                    /* frees what a failed replay left behind */

/* ---- usage.c ---- */

nm_status nm_usage_site(nm_replay *replay, nm_live *live, nm_error *err); /* finds live->site */
void nm_usage_add(nm_live *live, int64_t seq, int64_t ns);                /* to the sums; may be a new peak */
void nm_usage_subtract(nm_live *live);
void nm_usage_peak_reserved(nm_heap *pool, int64_t seq); /* after reserved_bytes has grown */

/* The heap's share of a stack, made where it is missing; 0: no stack. */
nm_status nm_usage_site_of(nm_replay *replay, nm_heap *heap, uint64_t stack_id, nm_site **out, nm_error *err);

/* The event changes the heap. When all of it is done, the timelines of all changed heaps take their state over. */
void nm_usage_touch(nm_heap *heap);
nm_status nm_usage_flush(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_usage_finish(nm_replay *replay, nm_error *err); /* totals, peaks by stack, timeline, hits, devices */
void nm_usage_free(nm_heap *heap);

/* ---- floors.c ---- */

/* What of it is live and held by no graph; it was `before_bytes`. */
void nm_floors_change(nm_heap *heap, nm_site *site, uint64_t before_bytes);
nm_status nm_floors_pass(nm_replay *replay, nm_process *process, int64_t now_ns, nm_error *err); /* time goes on */
nm_status nm_floors_finish(nm_replay *replay, nm_error *err);

/* ---- graph.c ---- */

nm_status nm_graph_call(nm_replay *replay, const nm_context *context, nm_error *err); /* a call about streams */

/* Memory that is being born: is it in a capture? Fills its row's graph_id. */
void nm_graph_claim(nm_live *live, const nm_context *context);

/* It becomes live, or lives on: if its graph lives, that holds it. Before it comes into any sum. */
nm_status nm_graph_hold(nm_replay *replay, nm_live *live, nm_error *err);
void nm_graph_leave(nm_live *live); /* it is in no sum any more */

/* For usage.c and parts.c: the graph's share of a heap's sums, when it comes or goes. */
void nm_graph_add(nm_live *live);
void nm_graph_subtract(nm_live *live);
void nm_graph_reserve(const nm_live *range, uint64_t more_bytes, uint64_t less_bytes);

/* What of a site no graph holds. */
static inline uint64_t nm_graph_not_of(uint64_t all, uint64_t of_graphs)
{
    return all > of_graphs ? all - of_graphs : 0;
}

void nm_graphs_lose(const nm_process *process); /* events were lost: the end of a capture may be among them */

/* The device's graphs end; NULL: all of the process. */
nm_status nm_graphs_reset(nm_replay *replay, nm_process *process, const nm_device *device, const nm_context *context,
                          nm_error *err);
nm_status nm_graphs_finish(nm_replay *replay, nm_error *err); /* writes those that live */
void nm_graphs_discard(nm_replay *replay);

/* ---- growth.c ---- */

void nm_growth_touch(nm_heap *heap, nm_site *site); /* what of it is live changes */
nm_status nm_growth_end_step(nm_replay *replay, nm_heap *heap, bool is_last, nm_error *err);
nm_status nm_growth_freed(const nm_live *live, nm_error *err); /* its end stands */
bool nm_growth_is_sampled(uint64_t generation);                /* is that step told of long runs, too? */
nm_status nm_growth_write_lifetimes(nm_replay *replay, const nm_heap *heap, const nm_site *site, nm_error *err);

/* ---- gaps.c ---- */

/* Takes [from, to) out of the gaps; *taken_bytes is what was free of it. */
nm_status nm_gaps_take(nm_gaps *gaps, uint64_t from, uint64_t to, uint64_t *taken_bytes, nm_error *err);

/* Makes [from, to) free. It joins a gap that ends or begins there where the caller says that none lies between two
 * segments. *given_bytes is what was not free before. */
nm_status nm_gaps_give(nm_gaps *gaps, uint64_t from, uint64_t to, bool joins_left, bool joins_right,
                       uint64_t *given_bytes, nm_error *err);
uint64_t nm_gaps_free_bytes_in(const nm_gaps *gaps, uint64_t from, uint64_t to);
void nm_gaps_free(nm_gaps *gaps);
size_t nm_gaps_item_bytes(void); /* of the slab */

/* ---- parts.c ---- */

/* Does free memory at the end of `left` go on in `right`? Only mapped ranges of one part grow together. NULL: nothing. */
bool nm_part_is_joined(const nm_live *left, const nm_live *right);

/* The pool's part of such segments, made where it is missing; the key's other fields do not count. */
nm_status nm_part_find(nm_replay *replay, nm_heap *pool, const nm_pool_part_row *key, nm_part **out, nm_error *err);
nm_segment_kind nm_part_kind(uint64_t segment_bytes, bool is_mapped);

/* The segment becomes its owner's: finds its part. */
nm_status nm_part_enter(nm_live *range, nm_error *err);

/* The first block in a segment tells which private pool it is of, and which stream where the segment does not say that, and
 * so for all that its free memory goes on in. */
nm_status nm_part_settle(nm_live *range, const nm_live *block, nm_error *err);

/* nm_gaps_give and nm_gaps_take for a segment's part, with the sums of its pool. */
nm_status nm_part_give(nm_live *range, uint64_t from, uint64_t to, uint64_t *given_bytes, nm_error *err);
nm_status nm_part_take(nm_part *part, uint64_t from, uint64_t to, uint64_t *taken_bytes, nm_error *err);
void nm_part_reserve(const nm_live *range, uint64_t more_bytes, uint64_t less_bytes); /* a segment with its part */
void nm_part_stick(nm_part *part, uint64_t more_bytes, uint64_t less_bytes);          /* stuck bytes */

/* A block comes or goes: what it was given beyond what was asked for. */
void nm_part_add_waste(nm_live *block, nm_part *part); /* NULL: it is in no segment */
void nm_part_subtract_waste(nm_live *block);
int64_t nm_part_block_waste(uint64_t requested_bytes, uint64_t block_bytes);

nm_part_figures nm_part_figures_of(const nm_part *part);
uint64_t nm_part_largest(const nm_heap *pool); /* of the free ranges of all its parts */
nm_status nm_parts_write(const nm_replay *replay, const nm_heap *pool, nm_error *err); /* the parts themselves */
void nm_parts_free(nm_heap *pool);

/* ---- squeeze.c ---- */

/* How far a block of which only the requested size is known reaches behind its end. is_new: it was cut just now, from what is
 * free behind it. */
nm_rounding nm_squeeze_rounding(const nm_live *range, const nm_live *block, bool is_new);
bool nm_squeeze_is_known(const nm_heap *pool); /* of all its blocks */

/* A new block, which may be a miss: range is the first one under it. After it has taken its bytes out of the gaps. */
void nm_squeeze_miss(const nm_live *range, const nm_live *block);
nm_status nm_squeeze_write(const nm_replay *replay, const nm_heap *pool, nm_error *err);

/* ---- fragment_line.c ---- */

/* The timelines of the pool and of its parts that have changed take their state over. */
nm_status nm_fragment_line_take(nm_heap *pool, int64_t seq, int64_t ns, nm_error *err);
nm_status nm_fragment_line_write(const nm_replay *replay, const nm_heap *pool, nm_error *err);
void nm_fragment_line_free(nm_fragment_line *line);

/* ---- fragments.c ---- */

/* Parts, gaps and blockers of a pool at a moment. At the present one so many stacks have rows of their own; 0: neither
 * gaps nor blockers. */
nm_status nm_fragments_now(nm_replay *replay, uint64_t moment_id, const nm_heap *pool, size_t blocker_limit,
                           nm_error *err);
nm_status nm_fragments_peak(nm_replay *replay, uint64_t moment_id, const nm_heap *pool, nm_error *err);
nm_status nm_fragments_end(nm_replay *replay, uint64_t moment_id, const nm_heap *pool, nm_error *err);

/* May a present moment look at all of the pool? It takes so much of what all moments together may look at. */
bool nm_fragments_afford(nm_replay *replay, nm_heap *pool, bool is_failure);

/* The segment, or the block, ends or is cut: it may have been there at the pool's peak. Before it is changed. */
nm_status nm_fragments_lose_segment(const nm_live *range, nm_error *err);
nm_status nm_fragments_lose_block(const nm_live *block, nm_error *err);

/* The source lists a segment or a block of the pool, at the end. */
nm_status nm_fragments_state(nm_replay *replay, nm_heap *pool, const nm_event *event, nm_error *err);
void nm_fragments_free(nm_heap *pool);

/* ---- backing.c ---- */

/* At the end: physical memory under mappings is marked as segments are. */
nm_status nm_backing_mark(const nm_replay *replay, nm_error *err);

/* ---- blockers.c ---- */

/* Which blocks hold which free bytes, split over the blocks of each segment: `limit` stacks have a row. Both lists in order
 * of address, the blocks apart from each other. */
nm_status nm_blockers_write(nm_replay *replay, uint64_t moment_id, const nm_heap *pool,
                            const nm_segments_then *segments, const nm_blocks_then *blocks, size_t limit,
                            nm_error *err);

/* The first of the blocks that ends behind `from`. */
size_t nm_blockers_first(const nm_blocks_then *blocks, uint64_t from);

/* ---- pool.c ---- */

/* A driver range appears: if it is a segment from birth, its pool takes it. */
nm_status nm_pool_range_appears(nm_live *range, bool is_segment, int64_t seq, nm_error *err);

/* A new block: the segments under it, and whether it is a miss. */
nm_status nm_pool_block_appears(nm_live *block, uint64_t flags, int64_t seq, nm_error *err);

/* A block that a keyframe brings: its segments say themselves whose they are, and its flags whether it was a miss. */
nm_status nm_pool_block_returns(nm_live *block, uint64_t flags, nm_error *err);

/* Takes its bytes out of the gaps while it is in heap->space, or gives them back. Before nm_usage_add takes a peak. */
nm_status nm_pool_block_covers(nm_live *block, nm_error *err);
nm_status nm_pool_block_ends(nm_live *block, nm_error *err);

/* A segment becomes the pool's (again), or is lost to it. No effect on what is no segment. */
nm_status nm_pool_attach(nm_live *range, int64_t seq, nm_error *err);
nm_status nm_pool_detach(nm_live *range, nm_error *err);

/* A range loses [from, to): `left` and `right` (NULL: nothing is left there) go on for it, owner and all. */
nm_status nm_pool_cut(nm_live *range, uint64_t from, uint64_t to, nm_live *left, nm_live *right, nm_error *err);

/* The pool is the first of its arena: it takes the segments from birth that are there already. */
nm_status nm_pool_adopt(nm_heap *pool, nm_error *err);
void nm_pool_reserved(const nm_context *context);     /* RESERVED */
uint64_t nm_pool_reserved_bytes(const nm_heap *pool); /* of its segments; where none was ever seen, what it states; else
                                                       * what is live: at least so much */

/* The free memory in one piece that there would be if the pending block and those next to it were free. */
uint64_t nm_pool_room_at(const nm_live *block);
void nm_pool_figures(const nm_heap *pool, nm_fragmentation_row *out); /* as of now; the caller sets moment_id */

/* ---- program.c ---- */

nm_status nm_program_range_begin(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_range_end(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_step(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_infer_step(nm_replay *replay, const nm_context *context, nm_error *err); /* before the event */
nm_status nm_program_process_end(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_stream_call(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_pause(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_note(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_program_finish(nm_replay *replay, nm_error *err); /* writes what is still open */
void nm_program_discard(nm_replay *replay);
uint64_t nm_program_operation(const nm_replay *replay, const nm_thread *thread); /* the innermost open one, or 0 */
const nm_operation *nm_program_innermost(const nm_replay *replay, const nm_thread *thread); /* the same, or NULL */

/* ---- totals.c ---- */

/* The step that the process is in ends: what its heaps did in it. */
nm_status nm_totals_end_step(nm_replay *replay, nm_process *process, int64_t end_seq, int64_t end_ns, bool is_last,
                             nm_error *err);
uint64_t nm_totals_misses(const nm_heap *heap); /* of all sizes */
nm_status nm_totals_write_site(nm_replay *replay, const nm_heap *heap, const nm_site *site, nm_error *err);

/* The sums of the heap's step so far, as a row without its step. */
nm_step_total_row nm_totals_since(const nm_heap *heap);

/* ---- keyframe.c ---- */

nm_status nm_keyframe_take(nm_replay *replay, const nm_context *context, nm_error *err); /* events that repeat */

/* ---- workspace.c ---- */

void nm_workspace_own(const nm_replay *replay, nm_live *live, const nm_thread *thread); /* a new one, by its thread */

/* An operator begins: its row, and the operation of the block that it works in. */
nm_status nm_workspace_use(nm_replay *replay, const nm_context *context, nm_operation *operation, nm_error *err);

/* ---- hold.c ---- */

nm_status nm_hold_use(nm_replay *replay, nm_live *live, nm_operation *operation, nm_error *err); /* it works in it */
nm_status nm_hold_leave(nm_replay *replay, nm_operation *operation, nm_error *err);              /* it ends */

/* The block ends, or (is_freed = false) all that is known of it. */
nm_status nm_hold_end(nm_replay *replay, nm_live *live, bool is_freed, int64_t ns, nm_error *err);
nm_status nm_hold_process_end(nm_replay *replay, nm_process *process, int64_t ns, nm_error *err);
void nm_hold_discard(nm_process *process); /* its lives may be gone already */

/* ---- rise.c ---- */

/* The event that is being taken makes the heap so much larger, or smaller. */
nm_status nm_rise_change(nm_replay *replay, nm_heap *heap, int64_t bytes, nm_error *err);
nm_status nm_rise_end(nm_replay *replay, nm_operation *operation, nm_error *err); /* before it is unlinked */
void nm_rise_free(nm_operation *operation);

/* ---- names.c ---- */

/* The block has come to an operation: it is new, or its first operator runs in it. */
nm_status nm_names_allocated(const nm_live *live, nm_error *err);
nm_status nm_names_freed(const nm_live *live, uint64_t bytes, bool is_whole, nm_error *err);
nm_status nm_names_unfree(const nm_live *live, nm_error *err); /* that was refused */
nm_status nm_names_rise(nm_heap *heap, const nm_operation_rise_row *rise, nm_error *err);
nm_status nm_names_workspace(nm_process *process, nm_heap *heap, const nm_workspace_row *workspace, nm_error *err);
nm_status nm_names_end_step(const nm_replay *replay, nm_process *process, bool is_last, nm_error *err);
void nm_names_free(nm_step_names *names);

/* ---- moments.c ---- */

nm_status nm_moments_mark(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_moments_failure(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_moments_sample(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_moments_module(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_moments_state(nm_replay *replay, const nm_context *context,
                           nm_error *err);                     /* STATE_SEGMENT, STATE_BLOCK */
nm_status nm_moments_finish(nm_replay *replay, nm_error *err); /* peaks and the end */

/* ---- effort.c ---- */

void nm_effort_segment(const nm_live *range); /* it has become its owner's */
void nm_effort_peak(nm_heap *pool);           /* its live bytes are more than ever */
nm_status nm_effort_write(nm_replay *replay, const nm_heap *heap, nm_error *err);

/* ---- chain.c ---- */

/* Did the runtime say that it lacks memory, or streams, events and the like? */
bool nm_chain_is_lack(const nm_event *event);

/* An allocation, or a call about streams, failed at the moment `moment_id`. Call it before anything else of the event takes
 * effect. */
nm_status nm_chain_failure(nm_replay *replay, const nm_context *context, const nm_failure_row *failure,
                           uint64_t moment_id, nm_error *err);

/* Any other event, before it takes effect: does it go on with what has failed, serve it or leave it? Only needed while
 * replay->open_chain_count is not 0. */
nm_status nm_chain_event(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_chain_finish(nm_replay *replay, nm_error *err); /* writes what is open */
void nm_chain_discard(nm_replay *replay);

/* ---- sample.c ---- */

/* The event changes what the heap holds. When all of it is done, nm_sample_settle takes the states over. */
void nm_sample_touch(nm_heap *heap);
nm_status nm_sample_settle(nm_replay *replay, nm_error *err);

/* The first event in order comes: what the baseline made is one moment, however many peaks it passed through. */
nm_status nm_sample_begin(nm_replay *replay, nm_error *err);

/* The hardware says how much of it is free. */
void nm_sample_device(nm_replay *replay, nm_device_group *group, const nm_device_figures *figures);

/* What the process's heaps take of the device now. */
int64_t nm_sample_recorded(nm_replay *replay, const nm_device *device);
uint64_t nm_sample_modules(const nm_replay *replay,
                           const nm_device *device); /* and, right after that, what CANN's do */

/* Rows for a moment: the present one of a process (NULL: of all), a peak, the end. Rows of the present are given when the
 * memory of the device changes, or at the end. */
nm_status nm_sample_now(nm_replay *replay, uint64_t moment_id, nm_process *process, nm_error *err);
nm_status nm_sample_close(nm_replay *replay, nm_error *err); /* no more events: before the two below */
nm_status nm_sample_peak(nm_replay *replay, uint64_t moment_id, const nm_peak_states *peak, nm_error *err);
nm_status nm_sample_end(nm_replay *replay, uint64_t moment_id, nm_error *err);

/* A process ended: its memory is gone. */
nm_status nm_sample_process_end(nm_replay *replay, nm_process *process, nm_error *err);

/* The device turns out to belong to other hardware than device->group, or (NULL) to some hardware at all. */
nm_status nm_sample_regroup(nm_replay *replay, nm_device *device, nm_device_group *group, nm_error *err);

/* ---- repeat.c ---- */

/* A copy: sets row->repeat_count. */
nm_status nm_repeat_copy(nm_replay *replay, const nm_context *context, nm_copy_row *row, nm_error *err);

/* The bytes [from, to) have changed, or are gone. */
void nm_repeat_written(nm_replay *replay, nm_process *process, uint64_t from, uint64_t to);
void nm_repeat_forget(nm_replay *replay, nm_process *process); /* writes to its memory may have been missed */
void nm_repeat_forget_all(nm_replay *replay);

/* ---- streams.c ---- */

nm_status nm_streams_call(nm_replay *replay, const nm_context *context, nm_error *err); /* creates or destroys one */

/* The streams of the device (0: of all) may be gone, or their end will not be told. */
void nm_streams_forget(nm_replay *replay, nm_process *process, uint64_t device_id);
nm_status nm_streams_exit(nm_replay *replay, nm_process *process, const nm_context *context, nm_error *err);
void nm_streams_discard(nm_replay *replay);

/* ---- anomaly.c ---- */

/* A row of what the event did, without a detail; what is wrong about a copy is its own affair. */
nm_anomaly_row nm_anomaly_row_for(nm_anomaly_kind kind, const nm_context *context);
nm_status nm_anomaly_write(nm_replay *replay, nm_anomaly_row *row, nm_error *err); /* numbers it */

/* May it be none, because the stream has holes or the event's place in it is not certain? */
bool nm_anomaly_is_in_doubt(const nm_replay *replay, const nm_context *context);

/* May it have ended in a pause of which nothing is known? */
bool nm_anomaly_may_have_gone(const nm_live *live);
bool nm_anomaly_may_have_changed(const nm_process *process, int64_t since_seq); /* the same of what was then */
bool nm_anomaly_has_unseen_memory(const nm_process *process); /* memory that nobody has seen it allocate */
uint64_t nm_anomaly_usable_end(const nm_live *live);          /* of what the program asked for; the rest is padding */

nm_status nm_anomaly_zero_size(nm_replay *replay, const nm_context *context, nm_error *err); /* a request, or none */
nm_status nm_anomaly_free(nm_replay *replay, const nm_context *context, const nm_place *place, nm_error *err);
nm_status nm_anomaly_wrong_free(nm_replay *replay, const nm_context *context, const nm_live *live, nm_error *err);
nm_status nm_anomaly_unmap(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_anomaly_overlap(nm_replay *replay, const nm_replaced *replaced, nm_error *err);

/* ---- copy.c ---- */

nm_status nm_copy_take(nm_replay *replay, const nm_context *context, nm_error *err); /* its row, and its misuse */

/* ---- overlap.c ---- */

nm_status nm_overlap_check(nm_replay *replay, const nm_live *live, const nm_context *context, nm_error *err); /* new */
void nm_overlap_freed(nm_replay *replay, const nm_live *live); /* one with is_overlapped, whose row says so */
nm_status nm_overlap_expire(nm_replay *replay, int64_t now_ns, nm_error *err);
void nm_overlap_discard(nm_replay *replay);

/* ---- freed.c ---- */

nm_status nm_freed_note(nm_replay *replay, const nm_live *live, const nm_context *context, nm_error *err); /* it ends */

/* The last end of device memory that held the address, in *out until the next call; NULL: none that is remembered.
 * Anywhere: a block's before that of the driver's memory around it. */
nm_status nm_freed_find(nm_replay *replay, const nm_process *process, nm_freed_where where, uint64_t address,
                        const nm_freed **out, nm_error *err);
void nm_freed_forget_all(nm_replay *replay);

#endif
