/* SPDX-License-Identifier: Apache-2.0
 *
 * Rings to one ordered stream. The drain does it again and again while the rings are written; a recovery does it once,
 * with what is left. A look reads what has been published and says up to which stamp nothing can be missing (the
 * watermark); a release merges the rings' records below it into a trace writer. Records stay in their ring until the
 * block that holds them has been written: then, and only then, nm_ring_merge_written moves the tails.
 */
#ifndef NM_DRAIN_RING_MERGE_H
#define NM_DRAIN_RING_MERGE_H

#include "drain/pause.h"
#include "drain/spill.h"
#include "drain/unify.h"

typedef struct nm_ring_merge_item { /* a record that has been read, but not released */
    uint64_t ticks;                 /* that it is ordered by */
    uint64_t position;
    uint64_t thread_id;
    uint32_t slot_count;
    uint32_t kind; /* nm_event_kind, nm_ring_kind or NM_RING_MERGE_UNREADABLE */
} nm_ring_merge_item;

#define NM_RING_MERGE_UNREADABLE 254 /* slots that will never be published, or hold nonsense */

typedef struct nm_ring_merge_mark { /* a look that has been put off: at these ticks the ring's head was here */
    uint64_t position, ticks;
} nm_ring_merge_mark;

#define NM_RING_MERGE_HEAPS 8

typedef struct nm_ring_merge_heap { /* what a heap of the process is called in the trace */
    uint64_t local_id, id;
} nm_ring_merge_heap;

typedef struct nm_ring_merge_ring {
    nm_view view;
    uint64_t cursor;           /* next position to read */
    uint64_t thread_id;        /* of the record before the cursor, 0 before the first */
    uint64_t max_ticks;        /* largest stamp read */
    uint64_t head;             /* as it was last read, or at a mark */
    uint64_t look_ticks;       /* when that was, or when the ring did not exist yet */
    uint64_t seen_head;        /* as it was last seen, read or not */
    nm_ring_merge_mark *marks; /* owned; by position; those below `first_mark` have been read */
    size_t first_mark, mark_count, mark_capacity;
    bool is_open;          /* the slot at the cursor is claimed and not published */
    uint64_t open_ticks;   /* then: no record from the cursor on is older */
    uint64_t open_since;   /* then: ticks at which it was first seen so */
    bool is_overdue;       /* then: it is not waited for any more */
    bool is_dead;          /* its process is: what is open will stay so */
    bool is_broken;        /* its header is nonsense: not read any more */
    nm_block_range *skips; /* owned; positions that stand in the trace already (recovery), by position */
    size_t skip_count, skip_at;
    uint64_t said_drops; /* dropped_count as far as events say it */

    /* For a recovery: what the trace says of the slots behind its own. */
    uint64_t known_end;  /* they were read up to here, */
    uint64_t known_left; /* and held so many events that have not been read again */
    uint64_t known_runs; /* runs of slots below known_end that cannot be read, each said as one event */

    nm_ring_merge_item *items; /* owned; ordered by (ticks, position); items below `first` are released */
    size_t first, count, capacity;
    size_t waiting_events;   /* of the items that are not released */
    uint64_t disordered_end; /* items at positions below it may stand behind younger positions */
    nm_block_range *taken;   /* owned; of the block under construction */
    size_t taken_count, taken_capacity;
    nm_stack_table stacks; /* of the thread whose records are being released: */
    nm_stack_table python_frames;
    nm_ring_merge_heap heaps[NM_RING_MERGE_HEAPS]; /* by local_id; those looked for last */
    uint64_t stacks_thread;
    nm_block_range released; /* what was released last; thread 0: nothing yet */
} nm_ring_merge_ring;

/* A number whose ring does not exist yet, or never will. */
typedef struct nm_ring_merge_missing {
    uint64_t number;
    uint64_t since_ticks;
} nm_ring_merge_missing;

/* What of one thread could not be written because the trace's disk is full. */
typedef struct nm_ring_merge_discard {
    uint64_t thread_id;
    uint64_t first_ticks, last_ticks;
    uint64_t count;
    bool is_at_least;
} nm_ring_merge_discard;

typedef struct nm_ring_merge {
    nm_folder *folder;       /* borrowed */
    nm_trace_writer *writer; /* borrowed */
    nm_unify unify;
    nm_ring_merge_ring **rings; /* owned */
    size_t ring_count, ring_capacity;
    nm_ring_merge_missing *missing; /* owned */
    size_t missing_count, missing_capacity;
    uint64_t numbers_seen;           /* ring numbers up to it have been looked for */
    uint64_t numbers_ticks;          /* when that was */
    uint64_t counted, counted_ticks; /* ring numbers up to it exist, and when that was */
    nm_ring_merge_ring **heap;       /* owned: rings with something to release, smallest first */
    size_t heap_count, heap_capacity;

    bool has_released; /* since the last block was begun */
    bool wants_border; /* the block ends with what was released last; the reader empties it */
    bool has_failure;  /* an allocation failed among what was released; the reader empties it */

    nm_pause pause;
    bool is_flush_wanted; /* a snapshot was among what was released; the reader empties it */

    uint64_t patience_ticks;   /* how long one thread is waited for */
    uint64_t margin_ticks;     /* NM_RING_MARGIN_NS */
    uint64_t last_ticks;       /* of the youngest event given to the writer */
    uint64_t event_count;      /* given to the writer, LOSS not counted */
    uint64_t late_count;       /* of these, after younger ones */
    uint64_t unreadable_count; /* events that could not be read; at least so many where */
    bool is_at_least;          /* some ring does not tell how many it held */
    uint64_t dropped_count;    /* that the program has said, by LOSS events */

    bool is_discarding;              /* events are counted, by thread, instead of written */
    nm_ring_merge_discard *discards; /* owned */
    size_t discard_count, discard_capacity;
    nm_map discard_index;      /* thread -> index in discards */
    uint64_t discarded_events; /* waiting to be said */

    uint64_t spilled_slots;                      /* of all rings, as far as their memory has not been given back */
    uint64_t spill_room_slots, spill_room_ticks; /* so many more may be, and when that was found out */

    uint64_t scratch[NM_VIEW_WORDS_MAX];
} nm_ring_merge;

/* For a recovery, called for each ring that is found: where to begin, as which thread, knowing which stacks. */
typedef nm_status nm_ring_merge_begin(void *context, nm_ring_merge_ring *ring, nm_error *err);

void nm_ring_merge_init(nm_ring_merge *merge, nm_folder *folder, nm_trace_writer *writer, const nm_namer *namer);
void nm_ring_merge_fini(nm_ring_merge *merge);

/* Sees how many rings there are. Comes before the look for processes: of a ring that exists the process exists, so that
 * no ring is read whose process is not known yet. */
void nm_ring_merge_count_rings(nm_ring_merge *merge);

/* Opens the rings that had appeared by then; `begin` may be NULL. Those of a moment before may come later. */
nm_status nm_ring_merge_find_rings(nm_ring_merge *merge, nm_ring_merge_begin *begin, void *context, nm_error *err);

/* Reads what is published, of a ring that has been spilled no more than a part at once. *watermark: nothing that is not read yet is older, but for threads that were waited for in
 * vain. `*is_busy` is set when there was something to read. */
nm_status nm_ring_merge_look(nm_ring_merge *merge, uint64_t *watermark, bool *is_busy, nm_error *err);

/* Gives the writer, in order, what is older than `watermark`, until the block under construction has `event_max` events
 * (then *is_full), or until the trace must be brought up to date first (then merge->pause.due). */
nm_status nm_ring_merge_release(nm_ring_merge *merge, uint64_t watermark, uint32_t event_max, bool *is_full,
                                nm_error *err);

/* Copies the slots of rings that fill up faster than they are read out of them; asked often. `has_more`: there is more to release
 * than fits the block; else the block is written before long, and what is in it holds no room then. True: there was such a ring,
 * and no more than half of the room for what is spilled is taken, so that all else may wait. */
bool nm_ring_merge_spill(nm_ring_merge *merge, bool has_more);

/* Some ring has been spilled and not read since as far as it was then. */
bool nm_ring_merge_is_behind(const nm_ring_merge *merge);

/* States the positions of what was released since the last block, and what is read and not released yet; call it before
 * sealing. */
nm_status nm_ring_merge_state_positions(nm_ring_merge *merge, nm_error *err);

/* Forgets the positions of what was released: nothing of it is to stand in a block. */
void nm_ring_merge_forget_positions(nm_ring_merge *merge);

/* The process is paused for these reasons from here on; 0: it is not. Said in the trace where it is another state. */
nm_status nm_ring_merge_set_pause(nm_ring_merge *merge, uint64_t process, uint32_t reasons, nm_error *err);

/* Something was read that is not released yet. */
bool nm_ring_merge_is_pending(const nm_ring_merge *merge);

/* The block is in the file: its slots may be used again. */
void nm_ring_merge_written(nm_ring_merge *merge);

/* Says again, for a part of the trace, what a recovery needs to know: threads, where they are, how they call things. */
nm_status nm_ring_merge_repeat(nm_ring_merge *merge, nm_error *err);

/* Says what a ring's header counts as dropped and no LOSS record has said; after the ring's last event. */
nm_status nm_ring_merge_say_drops(nm_ring_merge *merge, nm_ring_merge_ring *ring, nm_error *err);
nm_status nm_ring_merge_say_loss(nm_ring_merge *merge, uint64_t thread_id, uint64_t first_ticks, uint64_t last_ticks,
                                 uint64_t count, nm_loss loss, nm_error *err);

/* Events that were in a ring and cannot be read; `is_at_least`: there may be more of them. */
nm_status nm_ring_merge_say_unreadable(nm_ring_merge *merge, uint64_t thread_id, uint64_t first_ticks,
                                       uint64_t last_ticks, uint64_t count, bool is_at_least, nm_error *err);

/* Writes again, and says by LOSS events what was counted meanwhile. */
nm_status nm_ring_merge_say_discards(nm_ring_merge *merge, nm_error *err);

/* Some of what waits to be released may lie before the first of it, by position. */
bool nm_ring_merge_is_disordered(const nm_ring_merge_ring *ring);

/* Everything that was published in it has been released. */
bool nm_ring_merge_is_empty(const nm_ring_merge_ring *ring);

/* Removes a ring that is empty and whose process has ended, and its file. */
void nm_ring_merge_drop_rings(nm_ring_merge *merge, uint64_t process_number);

/* The largest share of a ring, of 256, that is read but still holds its slots. */
unsigned nm_ring_merge_pressure(const nm_ring_merge *merge);

#endif
