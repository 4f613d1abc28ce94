/* SPDX-License-Identifier: Apache-2.0
 *
 * A stretch of a recording of which every single event keeps its row (npumem-ingest --window), named before anybody knows
 * where it lies: by steps, times, marks or places in the order of events. It is found while events come, so what is asked of it
 * is exact for what has ended by then: who asks of something that is over learns at once whether the window met it.
 *
 *     nm_window_read("step:8990..step:9010", &bounds, &err);
 *     nm_window window = nm_window_of(&bounds);
 *     nm_window_event(&window, seq, ns, &err);       each event, before what comes of it
 *     nm_window_step(&window, &row, &err); ...       what the event was
 *     nm_window_meets(&window, alloc_seq, free_seq)  of what has ended
 *     nm_window_end(&window, &err);
 */
#ifndef NM_STORE_WINDOW_H
#define NM_STORE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/map.h"
#include "rows/rows.h"

typedef enum nm_window_kind {
    NM_WINDOW_EDGE, /* the begin or the end of the recording */
    NM_WINDOW_SEQ,
    NM_WINDOW_TIME,
    NM_WINDOW_STEP,
    NM_WINDOW_MARK,
} nm_window_kind;

typedef struct nm_window_bound {
    nm_window_kind kind;
    int64_t value; /* place, nanoseconds, number of a step */
    nm_bytes mark; /* borrowed of the text that was read */
} nm_window_bound;

/*
 * From the first event that is `from` or later to the last one of `to`. A step begins where the first process begins it, or a
 * later one of the window; and ends where each process that had begun one of the window's has begun a later one, or has ended. A
 * mark is the first of its text; as `to`, the first behind `from`.
 */
typedef struct nm_window_bounds {
    nm_window_bound from, to;
} nm_window_bounds;

/*
 * 'A..B', each of 'step:N', 'seq:N', 'ns:N', a time as '10s', 'mark:TEXT'; A also 'begin', B also 'end', and a number alone, which
 * is what A is. Borrows the text. NM_ERR_USAGE: it is none, or ends before it begins.
 */
nm_status nm_window_read(const char *text, nm_window_bounds *out, nm_error *err);

typedef struct nm_window {
    nm_window_bounds bounds;
    bool has_begun, has_ended;
    int64_t begin_seq, end_seq; /* the first and the last event of it, once it has begun and ended */
    int64_t begin_ns,
        end_ns;        /* when the first one of it was, and the first one behind it; NM_NO_TIME: not known, or none */
    int64_t seq, ns;   /* of the event at hand; NM_NO_SEQ: of none yet */
    int64_t last_step; /* the largest number of a step so far, */
    bool has_step;     /* if there was any */
    nm_map inside;     /* process_id -> 0: it is in a step of the window */
} nm_window;

nm_window nm_window_of(const nm_window_bounds *bounds);

/* An event, in the order of `seq`. NM_ERR_USAGE: the window ends before it begins. */
nm_status nm_window_event(nm_window *window, int64_t seq, int64_t ns, nm_error *err);

/* What the event at hand is. */
nm_status nm_window_step(nm_window *window, const nm_step_begin_row *row, nm_error *err);
void nm_window_mark(nm_window *window, nm_bytes text);
void nm_window_process_end(nm_window *window, uint64_t process_id);

/* Was some of [from_seq, to_seq] in the window? NM_NO_SEQ as from_seq: before the first event. */
bool nm_window_meets(const nm_window *window, int64_t from_seq, int64_t to_seq);

/* No event comes any more: the window ends here at the latest. NM_ERR_USAGE: it has not begun. */
nm_status nm_window_end(nm_window *window, nm_error *err);

void nm_window_free(nm_window *window);

#endif
