/* SPDX-License-Identifier: Apache-2.0
 *
 * One ring record to one event, or to definitions. Every length inside a record is checked against the record.
 */
#ifndef NM_DRAIN_DECODE_H
#define NM_DRAIN_DECODE_H

#include "drain/ring_merge.h"

/* The stamp of a record, and whether it is as long as its kind needs. */
bool nm_decode_is_whole(const nm_view_record *record);
uint64_t nm_decode_ticks(const nm_view_record *record);

/* Equal stamps: these come first. */
bool nm_decode_is_free(uint32_t kind);

/* Takes what a record defines and others may need at once: thread, name, heap, device, module. */
nm_status nm_decode_early(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record, nm_error *err);

/* A STACK record, or the start of another thread: in the order of the ring. */
nm_status nm_decode_stack(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_ring_merge_item *item,
                          const nm_view_record *record, nm_error *err);

/* A PYTHON record: likewise. */
nm_status nm_decode_python(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_ring_merge_item *item,
                           const nm_view_record *record, nm_error *err);

/* An event, but not a LOSS. event->seq and NM_FLAG_LATE are the caller's. */
nm_status nm_decode_event(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_ring_merge_item *item,
                          const nm_view_record *record, nm_event *event, nm_error *err);

#endif
