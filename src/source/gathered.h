/* SPDX-License-Identifier: Apache-2.0
 *
 * What a file of another tool tells, gathered while it is read, in any order, and then delivered as every source does
 * (source/source.h): definitions first, then events by their order. For sources whose whole history is in memory: an event takes
 * some 50 bytes.
 *
 *     nm_gathered_string(g, text, &name, err);
 *     nm_gathered_define(g, &definition, err);
 *     nm_gathered_event(g, time_ns, &event, err);
 *     ...
 *     nm_gathered_sort(g);
 *     while ((status = nm_gathered_next(g, &record, err)) == NM_OK)
 *         ...
 */
#ifndef NM_SOURCE_GATHERED_H
#define NM_SOURCE_GATHERED_H

#include "base/bytes.h"
#include "base/error.h"
#include "trace/event.h"

typedef struct nm_gathered nm_gathered;

nm_status nm_gathered_new(nm_gathered **out, nm_error *err);
void nm_gathered_free(nm_gathered *gathered); /* NULL is fine */

/* The same text, frame or stack is the same number, from 1; an empty text is 0. */
nm_status nm_gathered_string(nm_gathered *gathered, nm_bytes text, uint64_t *id, nm_error *err);
nm_status nm_gathered_frame(nm_gathered *gathered, uint64_t function, uint64_t file, uint64_t line, uint64_t *id,
                            nm_error *err);
nm_status nm_gathered_stack(nm_gathered *gathered, uint64_t parent, uint64_t frame, uint64_t *id, nm_error *err);

/* What a number from above says; a text until the next is made. */
nm_bytes nm_gathered_text(const nm_gathered *gathered, uint64_t id);

/* Processes, threads, devices, heaps, modules, attributes: delivered in this order, with the numbers that the caller gives. What it
 * borrows is copied. */
nm_status nm_gathered_define(nm_gathered *gathered, const nm_definition *definition, nm_error *err);

/* `order`: events are delivered by it, those of one order as they were given. A baseline (NM_FLAG_BASELINE) comes
 * first of all; it, a note and a state at the end take no seq. `event->seq` and what a trace does not hold (nm_event_field_offsets) are left out. */
nm_status nm_gathered_event(nm_gathered *gathered, int64_t order, const nm_event *event, nm_error *err);

/* Everything is there. Also goes back to the first record. */
void nm_gathered_sort(nm_gathered *gathered);
nm_status nm_gathered_next(nm_gathered *gathered, nm_record *out, nm_error *err); /* NM_END after the last */
void nm_gathered_rewind(nm_gathered *gathered);

uint64_t nm_gathered_event_count(const nm_gathered *gathered); /* that take a seq */

#endif
