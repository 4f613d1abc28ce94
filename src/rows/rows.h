/* SPDX-License-Identifier: Apache-2.0
 *
 * What the replay gives: a kind of row per table of DESIGN.md section 5, same names. sink.h says how. A field named _id of 0, a time of NM_NO_TIME, a seq of NM_NO_SEQ and a number of NM_UNKNOWN_NUMBER are NULL in
 * the database. Definitions (process, thread, device, heap, frame, stack) are rows as they are.
 */
#ifndef NM_ROWS_ROWS_H
#define NM_ROWS_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "rows/sum_rows.h"
#include "trace/event.h"

#define NM_NO_SEQ INT64_MIN

typedef nm_definition nm_definition_row;

typedef enum nm_allocation_end { /* table end_kind: freed, unmapped, reset, replaced, none */
                                 NM_END_NONE = 0,
                                 NM_END_FREED = 1,
                                 NM_END_UNMAPPED = 2,
                                 NM_END_RESET = 3,
                                 NM_END_REPLACED = 4,
} nm_allocation_end;

/* How it is known which operation an allocation belongs to. The innermost open range of the thread comes first, of
 * whatever kind; where there was none, the first operator that ran with its workspace in the block. */
typedef enum nm_operation_source {
    NM_SOURCE_NONE = 0,      /* the operation is not known */
    NM_SOURCE_THREAD = 1,    /* made by a thread inside the operation's open range */
    NM_SOURCE_WORKSPACE = 2, /* the operator's workspace, allocated by the thread that ran it */
    NM_SOURCE_QUEUE = 3,     /* the same, allocated by another thread (a task queue lay between): see workspace.c */
} nm_operation_source;

typedef struct nm_allocation_row {
    uint64_t allocation_id;
    uint64_t heap_id, segment_id, thread_id, operation_id, stack_id;
    nm_operation_source operation_source;
    nm_range_kind operation_kind; /* of the operation, */
    uint64_t operation_name;      /* and its name (string), since its own row comes only at its end */
    uint64_t stream;              /* with has_stream */
    uint64_t policy;
    uint64_t private_pool; /* a snapshot's pool_id (a, b) as a * 2^32 + b; 0: the default pool, or none known */
    uint64_t address;
    uint64_t size_bytes;                   /* by the heap's size_basis */
    uint64_t requested_bytes, block_bytes; /* 0: unknown */
    int64_t alloc_seq, alloc_ns;           /* NM_NO_SEQ for the baseline */
    uint64_t cost_ns;
    int64_t free_requested_seq, free_seq, free_ns;
    uint64_t free_thread_id, free_stack_id;
    nm_allocation_end end_kind;
    uint64_t live_bytes; /* of the heap, right after */
    int64_t is_miss;     /* 1, 0, or NM_UNKNOWN_NUMBER where the question has no sense (not a pool's block) */
    bool is_segment;     /* a driver allocation that carried a pool's block */
    bool is_doubtful;    /* its end may lie in a window of loss: never called a leak */
    bool is_exported;    /* other processes may open it */
    bool is_mapped;      /* physical memory that was mapped: its policy is an aclrtMemAttr */
    bool has_stream;
    uint64_t split_from_id;
    /* Outstanding only, else NM_UNKNOWN_NUMBER: how many steps of the process had begun at its birth (0: before the
     * first), or without steps the twentieth of the trace (0 to 19). */
    int64_t generation;
    uint64_t graph_id; /* it was born in this graph's capture; 0: in none */
    /* Ended only: the places of the moments that were the last ones before its end. Peaks may move on. NM_NO_SEQ: none
     * yet, or (a peak) before the first event. */
    int64_t peak_seq, device_peak_seq; /* of its heap, and of the device's hardware */
    int64_t moment_seq;                /* of a mark or failed allocation of its process */
} nm_allocation_row;

typedef enum nm_graph_end {
    NM_GRAPH_LIVES = 0,
    NM_GRAPH_DESTROYED = 1,
    NM_GRAPH_RESET = 2,  /* its device was */
    NM_GRAPH_FAILED = 3, /* its capture did not end well: there never was one */
} nm_graph_end;

/* A graph: work of a stream that was captured, to be done later as often as the program executes it. What was born in the
 * capture is held by it until it is destroyed. Written then, or when its device is reset, or at the end of the stream. */
typedef struct nm_graph_row {
    uint64_t graph_id, process_id, device_id, thread_id, stack_id; /* of the capture's begin */
    uint64_t stream;
    int64_t begin_seq, begin_ns, end_seq, end_ns; /* of the capture */
    nm_graph_end end_kind;
    int64_t destroyed_seq, destroyed_ns; /* NM_NO_SEQ: it lives. A capture that failed: its end */
    uint64_t execute_count;
    int64_t last_execute_seq;
    /* What it holds, or held when it was destroyed: memory that the driver gave (segments too), blocks of pools and
     * workspaces in such memory or in older one, and host memory. */
    uint64_t driver_bytes, block_bytes, host_bytes;
} nm_graph_row;

typedef struct nm_failure_row {
    uint64_t failure_id, heap_id, thread_id, operation_id, stack_id;
    bool has_stream;
    uint64_t stream;
    int64_t seq, ns;
    uint64_t requested_bytes;
    int64_t error_code;
    uint64_t device_free_bytes, device_total_bytes; /* both 0: unknown */
} nm_failure_row;

typedef enum nm_out_of_memory_outcome {
    NM_OUTCOME_UNKNOWN = 0,   /* events of the thread were lost before it was known */
    NM_OUTCOME_RECOVERED = 1, /* the same request was served then, or later on as much in smaller ones */
    NM_OUTCOME_FATAL = 2,     /* it was not */
    NM_OUTCOME_OPEN = 3,      /* the stream ended first */
} nm_out_of_memory_outcome;

/*
 * Failures of one thread on one device that belong together, try, flush and retry: see chain.c. What is said of the device
 * and of heaps is as it was before the first of them; `moment_id` is that failure's moment.
 */
typedef struct nm_out_of_memory_row {
    uint64_t out_of_memory_id;
    uint64_t process_id, device_id, thread_id, operation_id, stack_id;
    uint64_t heap_id;      /* that could not serve first */
    uint64_t pool_heap_id; /* the pool that could not; 0: none said so */
    uint64_t moment_id;
    nm_out_of_memory_outcome outcome;
    uint64_t stream_call; /* nm_stream_call that failed; 0: it was an allocation */
    uint64_t failure_count, driver_failure_count;
    int64_t first_seq, last_seq, first_ns, last_ns;
    int64_t error_code;            /* of the first */
    uint64_t tried_bytes;          /* what the pool was asked for; 0: not known */
    uint64_t at_least_tried_bytes; /* the largest request that the driver refused; 0: it refused none */
    uint64_t released_bytes;       /* driver memory that the thread gave back in between */
    uint64_t allocated_bytes, active_bytes,
        reserved_bytes;         /* of all pools of the device; without any: of the program */
    uint64_t own_bytes;         /* what the process's heaps take of the device, without those of modules of CANN */
    uint64_t module_bytes;      /* and those */
    uint64_t max_pending_bytes; /* largest block of those pools that was given up and that other streams still used */
    uint64_t pool_live_count;   /* blocks of pool_heap_id */
    uint64_t stream_count, event_count; /* of the device, created before and not destroyed */
    bool has_segments;                  /* driver memory of that pool was seen: so are its calls */
    bool is_partial;                    /* events were lost before, or not all that was live is known */
} nm_out_of_memory_row;

/* What was live before the first failure, in pools and other driver memory of the device: the largest, and one row of the
 * rest of each heap. */
typedef struct nm_out_of_memory_stack_row {
    uint64_t out_of_memory_id, heap_id, stack_id;
    bool is_baseline, is_rest;
    uint64_t live_count, live_bytes;
} nm_out_of_memory_stack_row;

typedef struct nm_copy_row {
    uint64_t copy_id, process_id, thread_id, operation_id, stack_id;
    nm_copy_kind kind;
    bool has_stream, is_async;
    uint64_t stream;
    int64_t seq, ns;
    uint64_t cost_ns, size_bytes, limit_bytes;
    uint64_t source_address, target_address, source_device_id, target_device_id;
    int64_t error_code;
    int64_t is_registered; /* the host side lies in registered memory; NM_UNKNOWN_NUMBER: there is no one host side */
    uint64_t repeat_count; /* copies of this source before it, as far as is known unwritten since */
} nm_copy_row;

typedef struct nm_operation_row {
    uint64_t operation_id, process_id, thread_id;
    nm_range_kind kind;
    uint64_t name; /* string */
    bool has_stream;
    uint64_t stream;
    int64_t begin_seq, end_seq, begin_ns, end_ns;
    uint64_t parent_id; /* open around it on the same thread when it began */
    uint64_t model_id;  /* of a model */
    int64_t error_code; /* what an operator or a model returned; NM_UNKNOWN_NUMBER: it did not end, or is neither */
} nm_operation_row;

/* One run of an operator that was given a workspace. The block that held it is NULL (0) where no recorded one did, or
 * where it is not certain that it still was the one. */
typedef struct nm_workspace_row {
    uint64_t workspace_id, operation_id, process_id, thread_id;
    nm_range_kind operation_kind;
    uint64_t operation_name; /* string */
    uint64_t allocation_id, heap_id;
    bool has_stream;
    uint64_t stream;
    int64_t seq, ns;
    uint64_t address, requested_bytes;
    uint64_t block_bytes; /* of that block; 0: unknown */
    int64_t is_reused;    /* the block served an earlier operator; NM_UNKNOWN_NUMBER: the block is not known */
} nm_workspace_row;

/* How far a heap rose while one run of an operation was open: rise.c. Told when the run ends, of each heap that it touched. */
typedef struct nm_operation_rise_row {
    uint64_t heap_id;
    nm_range_kind kind;
    uint64_t name; /* string */
    int64_t begin_seq;
    uint64_t rise_bytes; /* most that its thread allocated in it, less what that thread freed in it up to then */
    bool is_doubtful;    /* events may be missing in it, or it touched too many heaps */
} nm_operation_rise_row;

/* What an operation did to a heap in one step, when that ends: names.c. */
typedef struct nm_step_operation_row {
    uint64_t process_id;
    uint64_t heap_id; /* 0: workspaces of which the block is not known */
    int64_t generation, number;
    bool is_rest; /* of all names that have no row of their own; without kind and name */
    uint64_t name_count;
    nm_range_kind kind;
    uint64_t name; /* string */
    uint64_t allocation_count, allocated_bytes, freed_count, freed_bytes;
    uint64_t run_count, max_rise_bytes, doubtful_count; /* runs that ended in it and touched the heap; doubtful apart */
    uint64_t workspace_count, workspace_bytes, workspace_block_bytes;
} nm_step_operation_row;

typedef enum nm_hold_span { /* of a block that serves operators as their workspace */
                            NM_HOLD_USED = 0,
                            NM_HOLD_BETWEEN = 1, /* from one use to the next */
                            NM_HOLD_AFTER = 2,   /* from the last use to the end of the block */
                            NM_HOLD_AT_END = 3,  /* from the last use to the end of the process or the stream */
} nm_hold_span;

typedef struct nm_workspace_span_row {
    uint64_t heap_id;
    bool has_stream;
    uint64_t stream; /* of the operator that used it, or used it last */
    nm_hold_span span;
    bool is_last; /* of the block */
    uint64_t size_bytes;
    uint64_t use_count; /* operators that began in the span */
    int64_t ns;         /* how long; NM_NO_TIME: not known */
} nm_workspace_span_row;

typedef struct nm_stream_call_row {
    uint64_t stream_call_id, process_id, thread_id, operation_id, stack_id, device_id;
    nm_stream_call kind; /* 0: one that this version does not know */
    bool has_stream;
    uint64_t stream;
    uint64_t event; /* handle; 0: none */
    int64_t seq, ns;
    uint64_t cost_ns;
    int64_t error_code;
} nm_stream_call_row;

typedef struct nm_note_row {
    uint64_t note_id, process_id, thread_id;
    int64_t seq, ns;
    nm_note kind;   /* 0: one that this version does not know */
    uint64_t text;  /* string */
    uint64_t count; /* how many things, as the event says it; 0: not said */
} nm_note_row;

typedef enum nm_step_source {
    NM_STEP_MARKED = 1,   /* the program said so */
    NM_STEP_INFERRED = 2, /* nm_replay_begin_step */
} nm_step_source;

/* A step ends where the next one of the process begins, or with the process; NM_NO_SEQ when neither was seen. */
typedef struct nm_step_row {
    uint64_t step_id, process_id, device_id;
    int64_t number, begin_seq, end_seq, begin_ns, end_ns;
    int64_t generation; /* how many steps of the process had begun with it: from 1 */
    nm_step_source source;
} nm_step_row;

/*
 * What one heap did in one step of its process; no row for a step in which it did nothing. A recording kept in parts may
 * have joined steps that are long past: then `last_generation` is more than `generation`, and the row is of all of them.
 * Generation 0 is what was before the first step. Processes without steps have no rows.
 */
typedef struct nm_step_total_row {
    uint64_t process_id, heap_id;
    int64_t number; /* of the first step, as the program counts, or NM_UNKNOWN_NUMBER */
    int64_t generation, last_generation;
    int64_t begin_seq, end_seq, begin_ns, end_ns;
    uint64_t allocation_count, free_count, allocated_bytes, freed_bytes; /* without the baseline */
    uint64_t miss_count;
    uint64_t peak_bytes;             /* most that was live in it, what was there at its begin included */
    uint64_t live_bytes, live_count; /* at its end */
    uint64_t peak_reserved_bytes;  /* pools: most that was reserved in it; what the pool stated, where no segment of it
                                        had been seen by its end; 0: not known */
    uint64_t driver_call_count;    /* allocations and ends of driver memory of the heap's device and process in it */
    uint64_t graph_bytes;          /* most that graphs held of the heap in it */
    uint64_t graph_reserved_bytes; /* pools: most that they held of its segments in it */
} nm_step_total_row;

typedef enum nm_anchor_kind {                       /* how it is known where the steps of a process begin: anchor.h */
                              NM_ANCHOR_NONE = 0,   /* it is not: no place recurs as iterations would */
                              NM_ANCHOR_MARKED = 1, /* the program says it, so nothing was looked for */
                              NM_ANCHOR_SITE = 2,   /* where the place (a stack) allocates */
                              NM_ANCHOR_RANGE = 3,  /* where the range of that name begins */
                              NM_ANCHOR_OPTIMIZER = 4, /* where the first allocation follows those of an optimizer that
                                                         came after a backward pass */
                              NM_ANCHOR_GRAPH = 5,     /* where a graph is executed after what was executed before was
                                                      waited for */
} nm_anchor_kind;

typedef struct nm_step_anchor_row {
    uint64_t process_id;
    nm_anchor_kind kind;
    bool is_given;            /* the user named it */
    uint64_t stack_id, name;  /* of the place or the range (string); of the nearest one where none was found */
    uint64_t step_count;      /* steps begun by it, or marked */
    uint64_t recur_count;     /* how often the place was met while looking; 0: no place */
    double regular_ratio;     /* share of the distances between that are alike; below 0: not known */
    int64_t allocation_count; /* between two of them, mostly, and of a range operators; NM_UNKNOWN_NUMBER */
    const char *reason;       /* one line; borrowed */
} nm_step_anchor_row;

typedef struct nm_site_total_row { /* per heap and stack, of the whole recording, without the baseline */
    uint64_t heap_id, stack_id;
    uint64_t allocation_count, free_count, allocated_bytes, freed_bytes;
    uint64_t in_step_bytes; /* of allocated_bytes, inside steps; of what was kept alone */
} nm_site_total_row;

/* What of a stack was live at the end of a step, what graphs held left out, where it was not what the last such row of it says. Steps are told as
 * growth.c says: all of the first thousand. */
typedef struct nm_step_site_row {
    uint64_t heap_id, stack_id;
    int64_t generation; /* of the step; 0: before the first one */
    uint64_t live_bytes, live_count;
} nm_step_site_row;

/* The least that was live of a stack in a window of time, what graphs held left out, of a process without steps, where it was not what the last such
 * row of it says: floors.c. */
typedef struct nm_site_floor_row {
    uint64_t heap_id, stack_id;
    int64_t window; /* minutes since the recording began */
    uint64_t floor_bytes;
} nm_site_floor_row;

#define NM_LIFETIME_BUCKETS 64

/* How many of a stack lived for 2^bucket ns up to twice that (bucket 0: from 0; -1: times are not known), of what was freed. */
typedef struct nm_lifetime_row {
    uint64_t heap_id, stack_id;
    int bucket;
    uint64_t freed_count;
    uint64_t max_ns, max_steps; /* of all buckets of the stack: the longest time, the most steps that began meanwhile */
    int64_t last_alloc_seq;     /* of all buckets: birth of the one that was born last; NM_NO_SEQ: not known of any */
} nm_lifetime_row;

typedef enum nm_moment_kind {
    NM_MOMENT_PEAK = 1,
    NM_MOMENT_END = 2,
    NM_MOMENT_MARK = 3,
    NM_MOMENT_FAILURE = 4,
    NM_MOMENT_DEVICE_PEAK = 5,
} nm_moment_kind;

/*
 * A peak is of one heap (any level, if it ever held anything), and its figures are of that heap. A mark and a failure are
 * of one process (0 where it is not known), with figures of all its pools; a failure also names the heap that could not
 * serve. There is one end, of the whole input: no process, no heap, figures of every pool. A device's peak is that of
 * nm_device_peak_row, and has no figures. Only pools and workspaces have figures; where no segment of a pool is known
 * they come from what the pool states (is_stated), else they are 0.
 */
typedef struct nm_moment_row {
    uint64_t moment_id;
    nm_moment_kind kind;
    uint64_t name; /* string; a mark's text */
    uint64_t process_id, heap_id, failure_id;
    uint64_t device_id; /* of a device's peak */
    int64_t seq, ns;
} nm_moment_row;

typedef struct nm_usage_row {
    uint64_t heap_id;
    int64_t first_seq, last_seq, max_seq, max_ns, last_ns;
    uint64_t max_live_bytes, live_bytes, live_count, reserved_bytes; /* live, count, reserved: at last_seq */
} nm_usage_row;

/* What blocks were given beyond what was asked for, where that is not told but bounded. */
typedef struct nm_rounding {
    uint64_t min_bytes, max_bytes;
} nm_rounding;

/*
 * is_estimate: a block's rounded size was not known (size_basis is then NM_BASIS_REQUESTED and false small gaps stand
 * behind blocks), or blocks overlap, or another pool's blocks lie in this one's free memory. The end is exact where the
 * source lists segments and blocks itself (NM_EVENT_STATE_*).
 */
typedef struct nm_fragmentation_row {
    uint64_t moment_id, heap_id;
    uint64_t reserved_bytes, occupied_bytes, free_bytes, largest_free_bytes, stuck_bytes, gap_count;
    nm_size_basis size_basis;
    bool is_estimate;
    bool is_stated; /* no segment was known by then: reserved is what the pool states, and where its free bytes are is
                       not known (largest, stuck and gap_count mean nothing) */
    bool has_stated;
    uint64_t stated_reserved_bytes; /* what the pool itself stated last, with has_stated */
    int64_t waste_bytes;            /* of blocks beyond what was asked for, or NM_UNKNOWN_NUMBER */
    bool is_rounding_known;
    nm_rounding rounding; /* of free_bytes: in blocks of which only the requested size is known */
    bool is_doubtful;     /* events were lost before it */
    bool is_partial;      /* what the process held when its recording began is not known */
    bool has_detail;      /* the moment has gaps and blockers of this pool; else it had too many moments */
} nm_fragmentation_row;

/*
 * The request that took a part of a pool to the largest that it ever was, and what was free in that part although it had to
 * grow; of several to the same size the one with most of it. What is left over of the new segment is not counted.
 */
typedef struct nm_pool_growth_row {
    uint64_t heap_id, part_id;
    int64_t seq, ns;
    uint64_t size_bytes;     /* that were asked for */
    uint64_t reserved_bytes; /* of the whole pool, with the new segment */
    uint64_t part_reserved_bytes;
    uint64_t free_bytes;  /* of the part, */
    nm_rounding rounding; /* and what of it may lie in blocks */
    bool is_doubtful, is_partial;
} nm_pool_growth_row;

/* By the size of the segment alone, as PyTorch's caching allocators choose it. */
typedef enum nm_segment_kind {
    NM_SEGMENT_SMALL = 1,      /* exactly 2 MiB: for requests of up to 1 MiB */
    NM_SEGMENT_LARGE = 2,      /* 10 MiB or more, a multiple of 2 MiB: for larger ones */
    NM_SEGMENT_EXPANDABLE = 3, /* mapped: it grows and shrinks, whatever it is for */
    NM_SEGMENT_OTHER = 4,
} nm_segment_kind;

/*
 * A part of a pool: its segments of one kind, stream and private pool. A request is served from one part alone, so that
 * free memory of another is of no use to it. Rows come at the end. After NM_POOL_PARTS_MAX parts of a pool all others are
 * one (is_rest), whose kind, stream and private pool mean nothing.
 */
typedef struct nm_pool_part_row {
    uint64_t part_id, heap_id;
    nm_segment_kind kind;
    bool has_stream, is_rest;
    uint64_t stream;
    uint64_t private_pool; /* 0: the default one, or none known */
} nm_pool_part_row;

typedef struct nm_part_figures {
    uint64_t reserved_bytes, free_bytes, largest_free_bytes, stuck_bytes, gap_count;
    int64_t waste_bytes; /* NM_UNKNOWN_NUMBER: some block's two sizes are not both known */
} nm_part_figures;

typedef struct nm_part_sample_row {
    uint64_t moment_id, part_id;
    nm_part_figures figures;
} nm_part_sample_row;

typedef struct nm_gap_row { /* the free ranges of a part whose size is in [class_bytes, 2 * class_bytes) */
    uint64_t moment_id, heap_id, part_id;
    uint64_t class_bytes, gap_count, free_bytes, largest_bytes;
} nm_gap_row;

/* A bucket of the timeline of a pool (part_id 0) or of a part of it: figures at last_seq, and extremes. */
typedef struct nm_fragment_usage_row {
    uint64_t heap_id, part_id;
    int64_t first_seq, last_seq, last_ns;
    nm_part_figures figures;
    uint64_t max_reserved_bytes, max_occupied_bytes, max_free_bytes, min_largest_free_bytes, max_gap_count;
    int64_t max_free_seq, max_free_ns;
    uint64_t max_stuck_bytes;
    int64_t max_stuck_seq, max_stuck_ns;
    int64_t max_waste_bytes; /* NM_UNKNOWN_NUMBER: not known at some event of it */
    bool is_stated;          /* at some event no segment was known: reserved is what the pool states, and where its free
                                bytes are is not known */
    bool is_estimate, is_doubtful, is_partial;
} nm_fragment_usage_row;

/*
 * Blocks of one stack that keep segments from being empty, at a moment. The free bytes of a segment are split evenly over
 * the blocks in it (what is left over goes, byte by byte, to those with the lowest addresses), so that hostage_bytes of
 * all rows of a heap add up to its stuck_bytes. The stacks after the NM_BLOCKERS_MAX
 * largest (at marks and failures NM_BLOCKERS_AT_MARKS) are one row (is_rest).
 */
typedef struct nm_blocker_row {
    uint64_t moment_id, heap_id, stack_id;
    bool is_baseline, is_rest;
    uint64_t block_count, block_bytes;               /* of those in segments with free bytes */
    uint64_t segment_count;                          /* that they lie in; of the rest: NM_SUM_MAX, not known */
    uint64_t sole_segment_count, sole_hostage_bytes; /* of these, where no block of another stack is */
    uint64_t hostage_bytes;
    int64_t oldest_seq, oldest_ns; /* the first one's birth; NM_NO_SEQ: a baseline block, or not known */
    uint64_t worst_allocation_id;  /* which holds the most; 0: not known. Of the rest none is told */
    uint64_t worst_address, worst_block_bytes, worst_hostage_bytes;
} nm_blocker_row;

typedef struct nm_memory_sample_row {
    int64_t ns, seq;
    uint64_t process_id, device_id;
    uint64_t kind; /* nm_memory_kind */
    uint64_t used_bytes, total_bytes;
} nm_memory_sample_row;

typedef struct nm_module_sample_row {
    int64_t ns, seq;
    uint64_t process_id, device_id;
    uint64_t module; /* string */
    uint64_t used_bytes, peak_bytes;
    int64_t recorded_bytes; /* what the process's heaps took of the device then, as in nm_device_sample_row */
} nm_module_sample_row;

/*
 * What a heap held from the event `since_seq` on (-1: before the first event) until its next row. There are rows for what
 * moments need, not for every change: the last one at or before a moment is exact at the end, at moments of the heap's
 * process or of no known one, at peaks of the heap itself or of another on the same hardware (without a device: of the
 * same process), and at every mark and failure of a process that uses the same hardware. A row may come twice; then the
 * later one holds. A heap without a row held nothing yet.
 */
typedef struct nm_heap_sample_row {
    uint64_t heap_id;
    int64_t since_seq;
    uint64_t live_bytes, live_count;
    uint64_t page_bytes;     /* of what is live: whole pages where they are known, else sizes */
    uint64_t mapped_bytes;   /* part of live that came by MAP */
    uint64_t segment_bytes;  /* driver memory: part of live that is some pool's segments */
    uint64_t reserved_bytes; /* pools and workspaces */
    bool is_stated;          /* reserved is what the pool states: no segment was known by then */
    bool is_at_least;        /* reserved is what is live, for nothing else was seen of the pool by then */
} nm_heap_sample_row;

/*
 * A device of a process at a moment that concerns it: while the process ran, and at the end if it still ran when the
 * device's memory was asked for last. What the device said of itself counts if nothing changed in between: between
 * until_seq and the moment no driver or physical memory of the hardware came or went, so that a sample after the moment is
 * as good as one before it.
 */
typedef struct nm_device_sample_row {
    uint64_t moment_id, device_id;
    uint64_t hardware_id;   /* the first device that is the same hardware, as in nm_device_peak_row */
    int64_t at_seq;         /* the moment's place in the order of events; -1: before the first */
    int64_t recorded_bytes; /* what the process's heaps take of the device: the sum of its rows in view device_memory */
    bool has_sample;
    uint64_t free_bytes, total_bytes;
    int64_t sample_seq, sample_ns;
    int64_t sample_recorded_bytes; /* what heaps of all processes took of the hardware at the sample */
    bool is_stale;                 /* memory came or went between sample and moment */
    int64_t until_seq;
} nm_device_sample_row;

typedef enum nm_anomaly_kind {
    NM_ANOMALY_FREE_UNKNOWN = 1,       /* free of memory never allocated */
    NM_ANOMALY_DOUBLE_FREE = 2,        /* free of memory that is freed already */
    NM_ANOMALY_WRONG_FREE = 3,         /* aclrtFree of host memory, aclrtFreeHost of device memory */
    NM_ANOMALY_COPY_PAST_END = 4,      /* a copy runs past the end of an allocation, or past its own limit */
    NM_ANOMALY_USE_AFTER_FREE = 5,     /* a copy reads or writes memory that is freed */
    NM_ANOMALY_OVERLAP = 6,            /* an allocation at an address that is live */
    NM_ANOMALY_UNMAP_UNKNOWN = 7,      /* unmap of a range that is not mapped */
    NM_ANOMALY_ZERO_SIZE = 8,          /* an allocation of no bytes was asked for */
    NM_ANOMALY_UNREGISTER_UNKNOWN = 9, /* unregister of memory that is not registered */
    NM_ANOMALY_STREAM_KEPT = 10,       /* a stream that its process never destroyed, told at its exit */
    NM_ANOMALY_COPY_UNALLOCATED = 11,  /* a copy reads or writes device memory that is not allocated */
} nm_anomaly_kind;

typedef struct nm_anomaly_row {
    uint64_t anomaly_id;
    nm_anomaly_kind kind;
    uint64_t process_id, thread_id;
    int64_t seq, ns;
    uint64_t heap_id, address, size_bytes, allocation_id, copy_id, stack_id, other_stack_id;
    const char *detail; /* borrowed; one line, or NULL */
} nm_anomaly_row;

typedef enum nm_reserved_source {                           /* where a pool's reserved bytes come from */
                                  NM_RESERVED_UNKNOWN = 0,  /* no segment was ever seen, and the pool said nothing */
                                  NM_RESERVED_SEGMENTS = 1, /* driver memory that carried its blocks */
                                  NM_RESERVED_STATED = 2,   /* no segment was ever seen: what the pool states */
} nm_reserved_source;

/*
 * Per heap, at the end. Feeds the views peak, heap_total, pool_hit_rate and device_peak. What is left of a cut mapping is
 * no new allocation: free_count counts what ended and left nothing, freed_bytes what was given back, so that live_bytes =
 * baseline + allocated - freed, less what was freed of the baseline. A peak that the baseline alone makes has no seq.
 */
typedef struct nm_heap_total_row {
    uint64_t heap_id;
    uint64_t allocation_count, free_count, allocated_bytes, freed_bytes; /* of the trace, without the baseline */
    uint64_t outstanding_count, outstanding_bytes;
    int64_t last_alloc_seq; /* birth of the last, without the baseline */
    uint64_t baseline_count, baseline_bytes;
    uint64_t live_bytes;                  /* at the end, baseline included */
    uint64_t peak_bytes, peak_live_count; /* baseline included */
    int64_t peak_seq, peak_ns;
    uint64_t reserved_at_peak_bytes, peak_reserved_bytes, reserved_bytes; /* pools: by reserved_source */
    int64_t peak_reserved_seq;
    nm_reserved_source reserved_source;
    bool has_stated; /* the pool itself has said what it holds: */
    uint64_t stated_reserved_bytes, peak_stated_reserved_bytes;
    bool is_partial; /* the beginning of the recording was not kept, and neither were its sums */
    uint64_t released_count,
        released_bytes; /* freed since the last allocation: blocks as old as half the heap, or older */
} nm_heap_total_row;

/* Per heap and stack, at the heap's peak; stack 0 is "(no stack)"; is_baseline rows have stack 0. */
typedef struct nm_peak_stack_row {
    uint64_t heap_id, stack_id;
    bool is_baseline;
    uint64_t live_count, live_bytes;
} nm_peak_stack_row;

typedef struct nm_hit_row { /* per pool heap and bucket */
    uint64_t heap_id;
    int bucket; /* 0 small, 1 medium, 2 large */
    uint64_t allocation_count, miss_count;
    int64_t last_miss_seq, last_miss_ns;
} nm_hit_row;

/* Why a pool had to grow: the words of table miss_cause, whose comment in schema/063_pool.sql is the definition. */
typedef enum nm_miss_cause {
    NM_MISS_UNKNOWN = 0,
    NM_MISS_COLD = 1,
    NM_MISS_GROWTH = 2,
    NM_MISS_AFTER_FLUSH = 3,
    NM_MISS_PENDING_FREE = 4,
    NM_MISS_FRAGMENTATION = 5,
    NM_MISS_MAX = NM_MISS_FRAGMENTATION,
} nm_miss_cause;

/* One request for which a pool had to grow, when it happens. */
typedef struct nm_miss_row {
    uint64_t heap_id, thread_id, stack_id;
    bool has_stream, is_large;
    uint64_t stream, private_pool;
    int64_t seq, ns;
    int64_t generation; /* how many steps of the process had begun */
    uint64_t size_bytes;
    nm_miss_cause cause;
    bool is_early;            /* no step had begun, all that was before is known, and no flush: cold, if steps follow */
    bool is_pending_enough;   /* memory that was given up and not yet reusable would have served it */
    uint64_t driver_count;    /* driver allocations that it is the first block in */
    uint64_t driver_cost_ns;  /* of these; 0: not known */
    uint64_t held_bytes;      /* what the group held before */
    uint64_t most_held_bytes; /* the most that it ever held before */
    bool is_held_known;
} nm_miss_row;

/* One block that was given up and not reusable when its pool's next event came: at the end of that. */
typedef struct nm_pending_row {
    uint64_t heap_id, stack_id; /* of its allocation */
    bool has_stream;
    uint64_t stream;
    uint64_t size_bytes; /* by what the pool cut */
    int64_t wait_ns;     /* up to the end of the stream; NM_NO_TIME: not known */
} nm_pending_row;

/* Blocks of a pool that can take each other's place: of one private pool, one stream and one of the pool's own classes.
 * Only requests of which it is known whether they are misses are counted. */
typedef struct nm_pool_group_row {
    uint64_t heap_id, private_pool;
    bool has_stream, is_large;
    uint64_t stream;
    uint64_t allocation_count, miss_count, allocated_bytes, missed_bytes;
    int64_t last_miss_seq, last_miss_ns;
    uint64_t peak_live_bytes; /* most that the program held of it at once */
    uint64_t held_bytes, peak_held_bytes;
    uint64_t pending_count, pending_bytes, pending_byte_ms, max_pending_bytes;
} nm_pool_group_row;

typedef struct nm_pool_class_row { /* by size of the request, in powers of two */
    uint64_t heap_id;
    bool is_large;
    int size_class; /* n: above 2^(n-1), up to 2^n bytes; 0: up to 1 */
    uint64_t allocation_count, miss_count, allocated_bytes, missed_bytes;
    int64_t last_miss_seq, last_miss_ns;
} nm_pool_class_row;

typedef struct nm_pool_step_row { /* what a pool did in one step of its process, if anything */
    uint64_t heap_id;
    int64_t generation;
    uint64_t allocation_count, miss_count, allocated_bytes, missed_bytes;
    uint64_t driver_count, driver_cost_ns; /* driver allocations that became its segments */
    uint64_t released_count, released_bytes;
} nm_pool_step_row;

typedef enum nm_reuse_kind { NM_REUSE_SIZE = 0, NM_REUSE_ADDRESS = 1, NM_REUSE_KINDS = 2 } nm_reuse_kind;
typedef enum nm_reuse_measure { NM_REUSE_ALLOCATIONS = 0, NM_REUSE_BYTES = 1, NM_REUSE_MEASURES = 2 } nm_reuse_measure;

/* How far from a free the next request of the same size, or at the same address, came: what the pool handed out between. */
typedef struct nm_pool_reuse_row {
    uint64_t heap_id;
    nm_reuse_kind kind;
    nm_reuse_measure measure;
    int distance_class; /* 0: nothing between; n: from 2^(n-1) to 2^n - 1 */
    uint64_t request_count;
} nm_pool_reuse_row;

typedef struct nm_pool_sum_row { /* per pool that ever had a block or a segment */
    uint64_t heap_id;
    uint64_t driver_count, driver_cost_count, driver_cost_ns; /* segments got; of these with a known cost */
    uint64_t flush_count, released_count, released_bytes;     /* runs of segments given back */
    uint64_t retry_count, failed_retry_count;
    uint64_t pending_count, pending_bytes, pending_byte_ms, max_pending_bytes, pending_miss_count;
    int64_t max_pending_seq, max_pending_ns;
    uint64_t max_wait_ns;
    uint64_t untracked_count; /* frees of sizes that reuse did not keep */
    bool is_partial;          /* what was before, or in between, is not all known */
    bool is_estimate;         /* the size of some block was not known */
} nm_pool_sum_row;

/* Per heap, pools and driver memory: what segments cost, and how a pool served after its peak. Without the baseline. */
typedef struct nm_pool_effort_row {
    uint64_t heap_id;
    uint64_t segment_count, segment_cost_count, segment_cost_ns; /* of the pool, or out of this driver memory */
    uint64_t mapped_count;                                       /* of these */
    bool has_after_peak;                                         /* pools whose peak is in the stream: */
    uint64_t after_peak_count, after_peak_miss_count;
} nm_pool_effort_row;

typedef struct nm_device_peak_row { /* per physical device, over its driver heaps and processes */
    uint64_t device_id;             /* the first device definition of that host and physical ordinal */
    uint64_t peak_bytes;
    int64_t peak_seq, peak_ns;
} nm_device_peak_row;

/* From begin to end nothing of the process was recorded in full. It ends with the next row of the process, with the process,
 * or not in the input (NM_NO_SEQ). */
typedef struct nm_pause_row {
    uint64_t process_id;
    int64_t begin_seq, begin_ns, end_seq, end_ns;
    bool is_memory_told; /* memory events were, without stacks; else what they led to, at the end */
    bool is_end_known;   /* the end, if it is there, told all that the pause led to */
} nm_pause_row;

typedef enum nm_baseline {                          /* what was live before the first event */
                           NM_BASELINE_NONE = 0,    /* nothing: all is recorded since each process began */
                           NM_BASELINE_KNOWN = 1,   /* the input tells it */
                           NM_BASELINE_UNKNOWN = 2, /* some process ran before its recording began */
} nm_baseline;

typedef struct nm_baseline_row { /* of the whole input, at its end */
    nm_baseline kind;
    uint64_t unseen_free_count; /* frees of what the input does not know, and may have missed: no anomalies */
} nm_baseline_row;

typedef struct nm_process_end_row {
    uint64_t process_id;
    int64_t end_ns;
    nm_process_end end_kind;
    int64_t end_status;
} nm_process_end_row;

typedef enum nm_row_kind {
#define ROW(name, NAME) NM_ROW_##NAME,
#include "rows/rows.def"
#undef ROW
    NM_ROW_KINDS
} nm_row_kind;

#endif
