/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a stream of records once, in order, and gives rows to a sink. Keeps in memory what is live, and per stack its
 * value as of the last peak: never the events. An allocation's row is written when it ends; what is live at the end of
 * the stream is written by nm_replay_finish.
 *
 *     nm_replay *replay = NULL;
 *     nm_replay_new(&sink, nm_passes, &replay, err);
 *     for each record:  nm_replay_record(replay, &record, err);
 *     nm_replay_finish(replay, err);
 *     nm_replay_free(replay);
 */
#ifndef NM_REPLAY_REPLAY_H
#define NM_REPLAY_REPLAY_H

#include "rows/sink.h"
#include "trace/event.h"

typedef struct nm_replay nm_replay;
typedef struct nm_pass nm_pass; /* pass.h */

/* Copies *sink. The passes (then NULL; or NULL: none) are what is asked of the stream beside its books, in the order in which
 * they are told; those run whose rows the sink wants. */
nm_status nm_replay_new(const nm_sink *sink, const nm_pass *const *passes, nm_replay **out, nm_error *err);
nm_status nm_replay_record(nm_replay *replay, const nm_record *record, nm_error *err);
nm_status nm_replay_finish(nm_replay *replay, nm_error *err);

/* The next record, an event, is the first of a step of its process that the program did not mark. */
void nm_replay_begin_step(nm_replay *replay);

/* The next so many numbers in order are not told, and are no loss. */
void nm_replay_pass_over(nm_replay *replay, uint64_t event_count);
void nm_replay_free(nm_replay *replay); /* NULL is fine */

/* ---- Looking on, between two records ---- */

/* What the segments of a pool are good for, as in view device_part; what streams that ask for nothing any more leave free is
 * only known when all is read, and counts as any other. */
typedef enum nm_gauge_part {
    NM_GAUGE_USED,
    NM_GAUGE_PENDING,
    NM_GAUGE_NEW,
    NM_GAUGE_PRIVATE,
    NM_GAUGE_EMPTY,
    NM_GAUGE_SMALL,
    NM_GAUGE_PINNED,
    NM_GAUGE_PARTS
} nm_gauge_part;

typedef struct nm_heap_gauge {
    uint64_t heap_id, process_id, device_id; /* device 0: host memory */
    uint64_t level;                          /* nm_heap_level */
    uint64_t live_bytes, live_count, peak_bytes;
    uint64_t reserved_bytes;                                /* pools: of their segments */
    uint64_t part_bytes[NM_GAUGE_PARTS];                    /* which add up to that */
    uint64_t segment_bytes;                                 /* driver memory: in which pools have their blocks */
    uint64_t allocation_count, free_count, allocated_bytes; /* since the stream began */
} nm_heap_gauge;

typedef struct nm_live_now {
    const struct nm_live *live; /* borrowed until the next record: for nm_live_row_of */
    uint64_t allocation_id;
    bool is_mapped; /* came by MAP */
    bool is_baseline;
    bool is_pool;        /* a pool's block, or a workspace */
    bool is_first_pools; /* a segment of the first pool of its device */
} nm_live_now;

typedef void nm_heap_visit(void *context, const nm_heap_gauge *heap);
typedef void nm_live_visit(void *context, const nm_live_now *live);

/* Its row. What only an end can tell is not filled, and has no meaning. */
void nm_live_row_of(const struct nm_live *live, nm_allocation_row *out);

void nm_replay_each_heap(const nm_replay *replay, nm_heap_visit *visit, void *context); /* in order of definition */
void nm_replay_each_live(const nm_replay *replay, nm_live_visit *visit, void *context); /* in no order */
void nm_replay_each_live_of(const nm_replay *replay, uint64_t process_id, nm_live_visit *visit, void *context);

/*
 * What the replay knows, as events from which another one may go on: what is live, sums and peaks, the steps that are
 * open. Not: open operations, the timeline, what was freed lately, and what has been given to the sink. The caller puts
 * NM_KEYFRAME_BEGIN before and NM_KEYFRAME_END behind. What passes know is in it of those that run: nm_keyframe_wants adds
 * the rows of all that have something to say to what a sink wants, whatever becomes of these rows.
 */
typedef nm_status nm_keyframe_put(void *context, const nm_event *event, nm_error *err);
void nm_keyframe_wants(const nm_pass *const *passes, bool wants[NM_ROW_KINDS]);
nm_status nm_replay_keyframe(const nm_replay *replay, nm_keyframe_put *put, void *context, nm_error *err);

#endif
