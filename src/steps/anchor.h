/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the iterations of a program begin that does not mark them. A first pass over the records looks for an anchor of
 * each process; a second one is told which events begin a step, so that everything behind it works as if they had been
 * marked. An anchor is, in this order:
 *
 *   - a range whose name says it ("ProfilerStep#7", "iteration 3"), if there are three of it;
 *   - a place (a stack that allocates on one device, or a range) that recurs at least three times, where what lies
 *     between is alike in number, and in its sites or bytes; mostly freed again; and most of what the process allocates
 *     at all. Of several the one at which least is live: between iterations, not within one. What recurs with it does not
 *     all lie within one call of a module, an optimizer, a backward pass or generate(); it has a line of Python where others
 *     have; it is not left out now and then; and it is met as often as an optimizer runs, where one does three times and does
 *     more than make state, and as the lines of the program that call a backward pass. Most of what lies between holds a
 *     forward or a backward pass, where any is seen. And another place is met about as often, if blocks stay each time;
 *   - the execution of a graph, where a thread executes one of those that were captured at one place, or the pieces of one,
 *     and waits, again and again, and no such place goes on meanwhile (anchor_graph.c);
 *   - the lines that call a backward pass, where no optimizer is seen three times: all of them where one comes after the
 *     other (training, then fine-tuning), none where they take turns in different numbers. Where gradients are summed up over several calls, the
 *     first after some were given back, if there are as many calls each time;
 *   - the first allocation after an optimizer's step that follows a backward pass, mostly as many of them; the first step
 *     begins with the process;
 *   - such a range that is there once or twice.
 *
 * Else there is none, and a reason. Memory is in proportion to the places, not to the events.
 *
 *     nm_anchor_new(&options, &anchor, err);
 *     for each record:  nm_anchor_observe(anchor, &record, &is_enough, err);      until is_enough
 *     nm_anchor_decide(anchor, err);
 *     for each record:  nm_anchor_begins(anchor, &record, &begins, err);          from the first one again
 *                       if (begins) nm_replay_begin_step(replay);
 *     nm_anchor_write(anchor, &sink, err);
 *     nm_anchor_free(anchor);
 */
#ifndef NM_STEPS_ANCHOR_H
#define NM_STEPS_ANCHOR_H

#include "rows/sink.h"
#include "trace/event.h"

typedef struct nm_anchor nm_anchor;

typedef struct nm_anchor_options {
    /* What the user names: FILE:LINE or a function of any frame of a stack, or a range; NULL: look for one. Borrowed. */
    const char *given;
    /* Several devices tell of one loop, each of all of it, and no thread does: the one that is looked at, or where what is given is
     * met; 0: all are. */
    uint64_t device_id;
} nm_anchor_options;

nm_status nm_anchor_new(const nm_anchor_options *options, nm_anchor **out, nm_error *err);

/* *is_enough: what comes need not be looked at. It can only be known where all processes mark their steps, or after
 * NM_ANCHOR_EVENTS_MAX events. */
#define NM_ANCHOR_EVENTS_MAX (UINT64_C(1) << 20)
nm_status nm_anchor_observe(nm_anchor *anchor, const nm_record *record, bool *is_enough, nm_error *err);

/* After the last record that is looked at. NM_ERR_USAGE: what was given never occurs in a process that
 * does not mark its steps. */
nm_status nm_anchor_decide(nm_anchor *anchor, nm_error *err);

/* Second pass: *begins when the event is the first of a step that is not marked. */
nm_status nm_anchor_begins(nm_anchor *anchor, const nm_record *record, bool *begins, nm_error *err);

/* A row for each process that allocated memory of a device, at the end of the second pass. */
nm_status nm_anchor_write(nm_anchor *anchor, const nm_sink *sink, nm_error *err);
void nm_anchor_free(nm_anchor *anchor); /* NULL is fine */

#endif
