/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads `valid` first and the words after it, as the writer publishes them the other way round. A record of one slot is
 * read in place; a longer one is copied, since the ring may end in the middle of it. Whatever does not fit its position
 * is open or bad, and the caller decides how long to wait for it. Nothing is written here. Positions that were spilled are read
 * from there.
 */
#include "drain/view.h"

#include <assert.h>
#include <string.h>

#include "drain/spill.h"

#define READ_AHEAD_SLOTS 16

static nm_slot *slot_of(void *file, uint64_t slot_count, uint64_t position)
{
    return (nm_slot *)((char *)file + NM_RING_HEADER_BYTES) + (position & (slot_count - 1));
}

const nm_slot *nm_view_ring_slot(const nm_view *view, uint64_t position)
{
    return slot_of(view->ring, view->slot_count, position);
}

static nm_slot *slot_at(const nm_view *view, uint64_t position)
{
    if (position < view->spill.end)
        return slot_of(view->spill.file, view->spill.slot_count, position);
    return slot_of(view->ring, view->slot_count, position);
}

/* Called while the program may still be making the file: `magic` is stored last. */
static bool is_whole(nm_ring *ring, uint64_t number, size_t map_bytes)
{
    uint64_t magic = __atomic_load_n(&ring->magic, __ATOMIC_ACQUIRE); /* pairs with the release of whoever made it */
    uint64_t slot_count = ring->slot_count;

    return magic == NM_RING_MAGIC && ring->ring_id == number && slot_count >= 2 &&
           (slot_count & (slot_count - 1)) == 0 &&
           slot_count <= (map_bytes - NM_RING_HEADER_BYTES) / NM_RING_SLOT_BYTES;
}

nm_status nm_view_open(const nm_folder *folder, uint64_t number, nm_view *out, nm_error *err)
{
    void *data = NULL;
    size_t bytes = 0;
    nm_status status =
        nm_folder_map(folder, 'r', number, NM_RING_HEADER_BYTES + 2 * sizeof(nm_slot), &data, &bytes, err);

    if (status != NM_OK)
        return status;
    if (!is_whole(data, number, bytes)) {
        nm_folder_unmap(folder, data, bytes);
        return NM_END;
    }
    nm_ring *ring = data;
    *out = (nm_view){.ring = ring,
                     .map_bytes = bytes,
                     .ring_id = number,
                     .process_number = ring->process_number,
                     .slot_count = ring->slot_count};
    if (!folder->is_copy)
        return NM_OK;
    status = nm_spill_take_up(folder, out, err);
    if (status != NM_OK)
        nm_view_close(folder, out);
    return status;
}

uint64_t nm_view_tail(const nm_view *view)
{
    /* relaxed: a copy */
    return view->spill.tail < view->spill.end ? view->spill.tail
                                              : atomic_load_explicit(&view->ring->tail, memory_order_relaxed);
}

/* It may become shorter once, to where no position was before: whoever has seen a position behind that sees it shorter. */
void nm_view_refresh(nm_view *view)
{
    /* relaxed: the caller's acquire of head pairs with the writer's release */
    uint64_t slot_count = __atomic_load_n(&view->ring->slot_count, __ATOMIC_RELAXED);

    if (slot_count >= 2 && (slot_count & (slot_count - 1)) == 0 && slot_count < view->slot_count)
        view->slot_count = slot_count;
}

void nm_view_close(const nm_folder *folder, nm_view *view)
{
    if (view->ring != NULL)
        nm_folder_unmap(folder, view->ring, view->map_bytes);
    if (view->spill.file != NULL)
        nm_folder_unmap(folder, view->spill.file, view->spill.map_bytes);
    *view = (nm_view){0};
}

/* acquire: pairs with the release of the writer's last step; who sees `valid` sees the words */
static uint64_t load_valid(const nm_view *view, uint64_t position)
{
    return atomic_load_explicit(&slot_at(view, position)->valid, memory_order_acquire);
}

static bool is_first(uint64_t valid, uint64_t position)
{
    unsigned count = valid >> 8 & 0xff;

    return valid >> 16 == ((position + 1) & (UINT64_MAX >> 16)) && count >= 1 && count <= NM_RING_RECORD_SLOTS_MAX &&
           (valid & 0xff) != NM_RING_MORE;
}

nm_view_state nm_view_read(const nm_view *view, uint64_t position, uint64_t head, uint64_t scratch[NM_VIEW_WORDS_MAX],
                           nm_view_record *record)
{
    uint64_t valid = load_valid(view, position);

    __builtin_prefetch(slot_at(view, position + READ_AHEAD_SLOTS)); /* a slot is a line, and few are in reach */
    assert(position < head);
    if (!is_first(valid, position))
        return NM_VIEW_OPEN;
    uint32_t slot_count = valid >> 8 & 0xff;
    *record = (nm_view_record){.position = position,
                               .slot_count = slot_count,
                               .kind = valid & 0xff,
                               .word_count = 7 * (size_t)slot_count,
                               .words = slot_at(view, position)->word};
    if (slot_count > head - position) {
        record->slot_count = (uint32_t)(head - position);
        return NM_VIEW_BAD;
    }
    if (slot_count == 1)
        return NM_VIEW_READY;

    for (uint32_t i = 0; i < slot_count; i++) {
        if (i > 0 && load_valid(view, position + i) != nm_slot_valid(position + i, 0, NM_RING_MORE)) {
            record->slot_count = i;
            return NM_VIEW_BAD;
        }
        memcpy(scratch + 7 * (size_t)i, slot_at(view, position + i)->word, 7 * sizeof *scratch);
    }
    record->words = scratch;
    return NM_VIEW_READY;
}

uint64_t nm_view_search(const nm_view *view, uint64_t from, uint64_t head)
{
    while (from < head && !is_first(load_valid(view, from), from))
        from++;
    return from;
}

uint64_t nm_view_pass_published(const nm_view *view, uint64_t from, uint64_t head)
{
    while (from < head) {
        uint64_t valid = load_valid(view, from), count = valid >> 8 & 0xff;

        if (!is_first(valid, from) || count > head - from)
            return from;
        from += count;
    }
    return from;
}

nm_bytes nm_view_text(const nm_view_record *record, size_t head_bytes, uint64_t text_bytes, size_t max_bytes)
{
    size_t room = record->word_count * sizeof *record->words;
    nm_bytes text = {(const uint8_t *)record->words + head_bytes, 0};

    room = room > head_bytes ? room - head_bytes : 0;
    text.len = text_bytes < room ? (size_t)text_bytes : room;
    if (text.len > max_bytes)
        text.len = max_bytes;
    return text;
}
