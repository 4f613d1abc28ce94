/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts records into the calling thread's ring, by the protocol of trace/ring.h. Safe against signal handlers of the same
 * thread that put records too; nothing here is for another thread's ring.
 */
#ifndef NM_RECORD_WRITER_H
#define NM_RECORD_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "record/thread_state.h"

#define NM_WRITER_SLOT_WORDS 7

/*
 * Puts one event: `record` is one of trace/ring.h's structs (`ticks`, its first word, is filled here), `text` follows it.
 * Waits for room within the session's bounds; false when the event was dropped, which is counted.
 */
bool nm_writer_put(nm_recorded_thread *thread, unsigned kind, const void *record, size_t record_bytes, const void *text,
                   size_t text_bytes);

/* As nm_writer_put, for a record of one slot: `words` as they will stand in it, but for the first, which is the time. */
bool nm_writer_put_slot(nm_recorded_thread *thread, unsigned kind, const uint64_t words[NM_WRITER_SLOT_WORDS]);

/* Puts a definition: as nm_writer_put, but one that finds no room is not counted, since it is no event. */
bool nm_writer_define(nm_recorded_thread *thread, unsigned kind, const void *record, size_t record_bytes,
                      const void *text, size_t text_bytes);

/* Puts the record that names the ring's owner; false when there is no room yet, then it is tried again at the next put. */
bool nm_writer_announce(nm_recorded_thread *thread);

#endif
