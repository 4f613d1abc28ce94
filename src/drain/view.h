/* SPDX-License-Identifier: Apache-2.0
 *
 * One ring, read with suspicion: its file is written by a program that may be killed in the middle of a word or write
 * wildly, so bounds are taken once, checked, and kept here.
 */
#ifndef NM_DRAIN_VIEW_H
#define NM_DRAIN_VIEW_H

#include "base/bytes.h"
#include "drain/folder.h"
#include "trace/ring.h"

typedef struct nm_view_spill { /* spill.h; a zeroed one: nothing was ever spilled */
    nm_ring_spill *file;       /* mapped, or a copy; NULL: none */
    size_t map_bytes;
    uint64_t slot_count; /* a power of two */
    uint64_t tail, end;  /* positions between them are read there */
    uint64_t freed;      /* positions below it have no memory there any more */
    bool is_refused;     /* the file could not be made: not tried again */
} nm_view_spill;

typedef struct nm_view {
    nm_ring *ring; /* of the folder: nm_folder_map */
    size_t map_bytes;
    uint64_t ring_id;
    uint64_t process_number;
    uint64_t slot_count; /* a power of two that the file has room for */
    nm_view_spill spill;
} nm_view;

#define NM_VIEW_WORDS_MAX ((size_t)NM_RING_RECORD_SLOTS_MAX * 7)

typedef struct nm_view_record {
    uint64_t position;
    uint32_t slot_count;
    uint32_t kind;         /* nm_event_kind or nm_ring_kind */
    size_t word_count;     /* 7 for each slot */
    const uint64_t *words; /* borrowed from the ring, or from the caller's scratch */
} nm_view_record;

typedef enum nm_view_state {
    NM_VIEW_READY, /* a record */
    NM_VIEW_OPEN,  /* claimed, but not published yet */
    NM_VIEW_BAD,   /* published, but not a record; record->slot_count slots are to be skipped */
} nm_view_state;

/* NM_END: not there, or not whole yet. NM_ERR_FORMAT: not a ring. */
nm_status nm_view_open(const nm_folder *folder, uint64_t number, nm_view *out, nm_error *err);
void nm_view_close(const nm_folder *folder, nm_view *view);

/* Takes over how many slots the ring has. After the caller has loaded its head, with acquire. */
void nm_view_refresh(nm_view *view);

/* The first position that does not stand in the trace: the ring's tail, or that of what was spilled. Of a copy. */
uint64_t nm_view_tail(const nm_view *view);

/* The place of a position in the ring itself. */
const nm_slot *nm_view_ring_slot(const nm_view *view, uint64_t position);

/* The first position from `from` up to `head` at which no published record begins: what is before it may be copied. */
uint64_t nm_view_pass_published(const nm_view *view, uint64_t from, uint64_t head);

/* What stands at `position`, below `head`. `scratch` holds a record that takes more than one slot. */
nm_view_state nm_view_read(const nm_view *view, uint64_t position, uint64_t head, uint64_t scratch[NM_VIEW_WORDS_MAX],
                           nm_view_record *record);

/* The first position from `from` up to `head` at which a published record begins, or `head`. */
uint64_t nm_view_search(const nm_view *view, uint64_t from, uint64_t head);

/* The text that follows the first `head_bytes` of a record; cut to what the record holds and to `max_bytes`. */
nm_bytes nm_view_text(const nm_view_record *record, size_t head_bytes, uint64_t text_bytes, size_t max_bytes);

#endif
