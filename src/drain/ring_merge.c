/* SPDX-License-Identifier: Apache-2.0
 *
 * A k-way merge by time stamp. Each ring keeps a queue of what was read from it; a heap over the fronts of the queues
 * gives the oldest record up to the watermark. A slot that stays claimed holds the watermark back for a second at most;
 * what then comes late is marked so. Nothing in a ring is believed: a position, a stamp or a length that cannot be is
 * counted and passed over.
 */
#include "drain/ring_merge.h"

#include <stdlib.h>
#include <string.h>

#include "drain/clock.h"
#include "drain/decode.h"

#define NEW_RINGS_MAX   (1u << 20)  /* between two looks; more is nonsense in the session file */
#define AHEAD_NS_MAX    1000000000u /* a stamp further in the future is nonsense in a ring */
#define PATIENCE_NS     1000000000u
#define READ_AHEAD      16384 /* records of a ring that was spilled which wait to be released at once */
#define PREFETCH_ITEMS  8
#define ROOM_NS         100000000u /* between two looks at how much may be spilled */
#define UNKNOWN_HAPPENS 1          /* events that an unreadable run of slots stands for: it was one call at least */

void nm_ring_merge_init(nm_ring_merge *merge, nm_folder *folder, nm_trace_writer *writer, const nm_namer *namer)
{
    memset(merge, 0, sizeof *merge);
    merge->folder = folder;
    merge->writer = writer;
    merge->patience_ticks = nm_clock_span_ticks(folder->session, PATIENCE_NS);
    merge->margin_ticks = nm_clock_span_ticks(folder->session, NM_RING_MARGIN_NS);
    merge->numbers_ticks = nm_clock_ticks(folder->session->clock_kind);
    nm_unify_init(&merge->unify, writer, namer);
    nm_pause_init(&merge->pause, folder->session);
}

static void free_ring(nm_ring_merge *merge, nm_ring_merge_ring *ring)
{
    nm_view_close(merge->folder, &ring->view);
    nm_stack_table_free(&ring->stacks);
    nm_stack_table_free(&ring->python_frames);
    free(ring->marks);
    free(ring->items);
    free(ring->taken);
    free(ring->skips);
    free(ring);
}

void nm_ring_merge_fini(nm_ring_merge *merge)
{
    for (size_t i = 0; i < merge->ring_count; i++)
        free_ring(merge, merge->rings[i]);
    free(merge->rings);
    free(merge->missing);
    free(merge->heap);
    free(merge->discards);
    nm_map_free(&merge->discard_index);
    nm_unify_fini(&merge->unify);
    nm_pause_fini(&merge->pause);
}

static uint64_t now_ticks(const nm_ring_merge *merge)
{
    return nm_clock_ticks(merge->folder->session->clock_kind);
}

/* ---- Finding rings ------------------------------------------------------------------------------------------------- */

/* NM_END: not there yet. */
static nm_status open_ring(nm_ring_merge *merge, uint64_t number, uint64_t since_ticks, nm_ring_merge_begin *begin,
                           void *context, nm_error *err)
{
    nm_view view;
    nm_status status = nm_view_open(merge->folder, number, &view, err);

    if (status != NM_OK)
        return status;
    nm_ring_merge_ring *ring = calloc(1, sizeof *ring);
    status = nm_array_grow(&merge->rings, &merge->ring_capacity, merge->ring_count + 1, sizeof *merge->rings, err);
    if (ring == NULL || status != NM_OK) {
        free(ring);
        nm_view_close(merge->folder, &view);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory for a ring");
    }
    ring->view = view;
    ring->look_ticks = since_ticks;
    merge->rings[merge->ring_count++] = ring;
    return begin != NULL ? begin(context, ring, err) : NM_OK;
}

static nm_status retry_missing(nm_ring_merge *merge, nm_ring_merge_begin *begin, void *context, nm_error *err)
{
    size_t kept = 0;
    nm_status status = NM_OK;

    for (size_t i = 0; i < merge->missing_count; i++) {
        nm_ring_merge_missing missing = merge->missing[i];
        nm_status found = status;

        if (status == NM_OK)
            found = open_ring(merge, missing.number, missing.since_ticks, begin, context, err);
        if (found != NM_OK)
            merge->missing[kept++] = missing;
        if (found != NM_OK && found != NM_END)
            status = found;
    }
    merge->missing_count = kept;
    return status;
}

void nm_ring_merge_count_rings(nm_ring_merge *merge)
{
    merge->counted_ticks = now_ticks(merge);
    /* acquire: keeps the time in front, and pairs with the release of the process that took the number, whose own number
     * is older */
    merge->counted = atomic_load_explicit(&merge->folder->session->ring_count, memory_order_acquire);
}

nm_status nm_ring_merge_find_rings(nm_ring_merge *merge, nm_ring_merge_begin *begin, void *context, nm_error *err)
{
    uint64_t before_ticks = merge->numbers_ticks, last = merge->counted;
    nm_status status = retry_missing(merge, begin, context, err);

    if (last - merge->numbers_seen > NEW_RINGS_MAX)
        last = merge->numbers_seen;
    while (merge->numbers_seen < last && status == NM_OK) {
        uint64_t number = merge->numbers_seen + 1;

        status = open_ring(merge, number, before_ticks, begin, context, err);
        if (status == NM_END) {
            status = nm_array_grow(&merge->missing, &merge->missing_capacity, merge->missing_count + 1,
                                   sizeof *merge->missing, err);
            if (status == NM_OK)
                merge->missing[merge->missing_count++] = (nm_ring_merge_missing){number, before_ticks};
        }
        if (status == NM_OK)
            merge->numbers_seen = number;
    }
    merge->numbers_ticks = merge->counted_ticks;
    return status;
}

/* ---- Looking ------------------------------------------------------------------------------------------------------- */

static bool is_event(uint32_t kind)
{
    return kind < NM_RING_THREAD && kind != NM_EVENT_LOSS;
}

/* Room for one more at the end: slides what is left to the front when at least half has been released. */
static nm_status reserve_item(nm_ring_merge_ring *ring, nm_error *err)
{
    if (ring->count < ring->capacity)
        return NM_OK;
    if (ring->first > ring->count / 2) {
        memmove(ring->items, ring->items + ring->first, (ring->count - ring->first) * sizeof *ring->items);
        ring->count -= ring->first;
        ring->first = 0;
    }
    return nm_array_grow(&ring->items, &ring->capacity, ring->count + 1, sizeof *ring->items, err);
}

/* A thread's stamps rise with its positions, but for a signal handler between another record's claim and stamp: so the
 * place is nearly always the end. */
static nm_status push_item(nm_ring_merge_ring *ring, nm_ring_merge_item item, nm_error *err)
{
    nm_status status = reserve_item(ring, err);

    if (status != NM_OK)
        return status;
    size_t at = ring->count++;
    for (; at > ring->first && ring->items[at - 1].ticks > item.ticks; at--)
        ring->items[at] = ring->items[at - 1];
    if (at + 1 < ring->count)
        ring->disordered_end = item.position + 1;
    ring->waiting_events += is_event(item.kind);
    ring->items[at] = item;
    if (item.ticks > ring->max_ticks)
        ring->max_ticks = item.ticks;
    return NM_OK;
}

static nm_status push_unreadable(nm_ring_merge_ring *ring, uint32_t slot_count, nm_error *err)
{
    nm_ring_merge_item item = {.ticks = ring->max_ticks != 0 ? ring->max_ticks : ring->look_ticks,
                               .position = ring->cursor,
                               .thread_id = ring->thread_id,
                               .slot_count = slot_count,
                               .kind = NM_RING_MERGE_UNREADABLE};

    ring->known_runs += slot_count == 0 || ring->cursor < ring->known_end;
    ring->cursor += slot_count;
    return push_item(ring, item, err);
}

static nm_status push_record(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                             uint64_t newest_ticks, nm_error *err)
{
    nm_status status = nm_decode_early(merge, ring, record, err);
    uint64_t ticks = nm_decode_ticks(record);

    if ((int64_t)(ticks - newest_ticks) > 0)
        ticks = newest_ticks;
    if (record->kind == NM_EVENT_LOSS && ticks < ring->max_ticks)
        ticks = ring->max_ticks; /* it names a time before its own */
    nm_ring_merge_item item = {.ticks = ticks,
                               .position = record->position,
                               .thread_id = ring->thread_id,
                               .slot_count = record->slot_count,
                               .kind = record->kind};
    if (record->position < ring->known_end && is_event(record->kind) && ring->known_left > 0)
        ring->known_left--;
    ring->cursor += record->slot_count;
    return status == NM_OK ? push_item(ring, item, err) : status;
}

/* `before`: head and time of the look before this one. */
static void note_open_slot(nm_ring_merge *merge, nm_ring_merge_ring *ring, uint64_t head_before, uint64_t ticks_before)
{
    bool was_claimed = ring->cursor < head_before;

    if (!ring->is_open || !was_claimed) {
        /* Claimed since the look before this one, or behind a slot that was open then: by its own or by that one's bound. */
        if (!was_claimed || ring->open_ticks == 0)
            ring->open_ticks = ticks_before;
        ring->open_since = ring->look_ticks;
    }
    ring->is_open = true;
    ring->is_overdue = ring->look_ticks - ring->open_since > merge->patience_ticks;
}

/* Moves the cursor past what stands in the trace already; the first position from it on that does. */
static uint64_t skip_known(nm_ring_merge_ring *ring)
{
    while (ring->skip_at < ring->skip_count && ring->skips[ring->skip_at].first_position <= ring->cursor) {
        if (ring->skips[ring->skip_at].last_position >= ring->cursor)
            ring->cursor = ring->skips[ring->skip_at].last_position + 1;
        ring->thread_id = ring->skips[ring->skip_at].thread_id;
        ring->skip_at++;
    }
    return ring->skip_at < ring->skip_count ? ring->skips[ring->skip_at].first_position : UINT64_MAX;
}

/* Will the open slot at the cursor never be published? Its process is dead; or its thread has recorded on for more than a
 * second, so that it left the record by a longjmp, or was cancelled and another thread has the ring now. A thread that is
 * stopped records nothing behind it, and is waited for without end. */
static bool is_given_up(const nm_ring_merge_ring *ring)
{
    if (ring->is_dead)
        return true;
    return ring->is_open && ring->is_overdue && nm_view_search(&ring->view, ring->cursor + 1, ring->head) < ring->head;
}

/* Slots that will never be published, up to the next record. */
static nm_status skip_unpublished(nm_ring_merge_ring *ring, uint64_t known_from, nm_error *err)
{
    uint64_t next = nm_view_search(&ring->view, ring->cursor + 1, ring->head);

    if (next > known_from)
        next = known_from;
    return push_unreadable(ring, (uint32_t)(next - ring->cursor), err);
}

static nm_status read_ring(nm_ring_merge *merge, nm_ring_merge_ring *ring, uint64_t head_before, uint64_t ticks_before,
                           nm_error *err)
{
    uint64_t newest_ticks = now_ticks(merge) + nm_clock_span_ticks(merge->folder->session, AHEAD_NS_MAX);
    uint64_t first = ring->cursor;
    nm_status status = NM_OK;

    while (status == NM_OK) {
        nm_view_record record;
        uint64_t known_from = skip_known(ring);

        if (ring->cursor >= ring->head)
            break;
        nm_view_state state = nm_view_read(&ring->view, ring->cursor, ring->head, merge->scratch, &record);

        if (ring->cursor != first)
            ring->is_open = false;
        if (state == NM_VIEW_OPEN && is_given_up(ring)) {
            status = skip_unpublished(ring, known_from, err);
        } else if (state == NM_VIEW_OPEN) {
            note_open_slot(merge, ring, head_before, ticks_before);
            return NM_OK;
        } else if (state == NM_VIEW_BAD || !nm_decode_is_whole(&record)) {
            status = push_unreadable(ring, record.slot_count, err);
        } else {
            status = push_record(merge, ring, &record, newest_ticks, err);
        }
    }
    ring->is_open = false;
    ring->open_ticks = 0;
    return status;
}

/* The look that was put off and is made next: as far as READ_AHEAD allows, one at least. NULL: it is the ring's turn as it is
 * now. An open slot is looked at as it is, and what is behind it was not spilled. */
static const nm_ring_merge_mark *next_mark(nm_ring_merge_ring *ring)
{
    const nm_ring_merge_mark *mark = NULL;

    while (ring->first_mark < ring->mark_count &&
           (ring->is_open || ring->marks[ring->first_mark].position <= ring->cursor))
        ring->first_mark++;
    if (ring->first_mark == ring->mark_count) {
        ring->first_mark = ring->mark_count = 0;
        return NULL;
    }
    do
        mark = &ring->marks[ring->first_mark++];
    while (ring->first_mark < ring->mark_count && ring->marks[ring->first_mark].position - ring->cursor <= READ_AHEAD);
    ring->first_mark--; /* kept until it has been read up to there */
    return mark;
}

/* Enough of it waits to be released, and is going to be. */
static bool is_read_ahead(const nm_ring_merge *merge, const nm_ring_merge_ring *ring)
{
    return ring->first_mark < ring->mark_count && !ring->is_open && ring->count - ring->first >= READ_AHEAD &&
           ring->items[ring->first].ticks + merge->margin_ticks < ring->look_ticks;
}

static nm_status look_at_ring(nm_ring_merge *merge, nm_ring_merge_ring *ring, bool *is_busy, nm_error *err)
{
    uint64_t head_before = ring->head, ticks_before = ring->look_ticks, cursor_before = ring->cursor;

    if (ring->is_broken || is_read_ahead(merge, ring))
        return NM_OK;
    const nm_ring_merge_mark *mark = next_mark(ring);
    ring->look_ticks = now_ticks(merge);
    /* acquire: keeps the time in front of the look; the records have their own in `valid` */
    ring->head = ring->seen_head = atomic_load_explicit(&ring->view.ring->head, memory_order_acquire);
    nm_view_refresh(&ring->view);
    uint64_t from = ring->cursor > ring->view.spill.end ? ring->cursor : ring->view.spill.end;
    if (ring->head < from || ring->head - from > ring->view.slot_count) {
        ring->is_broken = true;
        ring->is_open = false;
        return push_unreadable(ring, 0, err);
    }
    if (mark != NULL) {
        ring->head = mark->position;
        ring->look_ticks = mark->ticks;
    }
    nm_status status = read_ring(merge, ring, head_before, ticks_before, err);
    *is_busy = *is_busy || ring->cursor != cursor_before;
    return status;
}

/* What was published since the look that was made last has not been read. */
static bool is_behind(const nm_ring_merge_ring *ring)
{
    return ring->first_mark < ring->mark_count && !ring->is_broken;
}

bool nm_ring_merge_is_behind(const nm_ring_merge *merge)
{
    for (size_t i = 0; i < merge->ring_count; i++)
        if (is_behind(merge->rings[i]))
            return true;
    return false;
}

nm_status nm_ring_merge_look(nm_ring_merge *merge, uint64_t *watermark, bool *is_busy, nm_error *err)
{
    uint64_t now = now_ticks(merge), bound = now;
    nm_status status = NM_OK;

    for (size_t i = 0; i < merge->ring_count && status == NM_OK; i++) {
        nm_ring_merge_ring *ring = merge->rings[i];

        status = look_at_ring(merge, ring, is_busy, err);
        if (is_behind(ring) && ring->look_ticks < bound)
            bound = ring->look_ticks;
        if (ring->is_open && !ring->is_overdue && ring->open_ticks < bound)
            bound = ring->open_ticks;
    }
    for (size_t i = 0; i < merge->missing_count; i++)
        if (now - merge->missing[i].since_ticks < merge->patience_ticks && merge->missing[i].since_ticks < bound)
            bound = merge->missing[i].since_ticks;
    /* A ring that nobody has heard of was made after the last search for rings. */
    if (merge->numbers_ticks != 0 && merge->numbers_ticks < bound)
        bound = merge->numbers_ticks;
    *watermark = bound > merge->margin_ticks ? bound - merge->margin_ticks : 0;
    return status;
}

/* ---- Spilling ------------------------------------------------------------------------------------------------------ */

bool nm_ring_merge_is_disordered(const nm_ring_merge_ring *ring)
{
    return ring->first < ring->count && ring->items[ring->first].position < ring->disordered_end;
}

static uint64_t first_kept_position(const nm_ring_merge_ring *ring)
{
    uint64_t first = ring->first < ring->count ? ring->items[ring->first].position : ring->cursor;

    for (size_t i = ring->first; nm_ring_merge_is_disordered(ring) && i < ring->count; i++)
        if (ring->items[i].position < first)
            first = ring->items[i].position;
    return first;
}

/* Half full from `from` on and written to meanwhile, or so full that its thread may be waiting. */
static bool is_filling(const nm_ring_merge_ring *ring, uint64_t head, uint64_t from)
{
    uint64_t slots = ring->view.slot_count, held = head - from;

    if (ring->is_broken || held > slots || held < slots / 2)
        return false;
    return head != ring->seen_head || held >= slots - slots / 8;
}

static bool has_spill_room(nm_ring_merge *merge, uint64_t now, uint64_t slots)
{
    if (now - merge->spill_room_ticks >= nm_clock_span_ticks(merge->folder->session, ROOM_NS)) {
        merge->spill_room_slots = nm_spill_room(merge->folder, merge->spilled_slots);
        merge->spill_room_ticks = now;
    }
    return slots <= merge->spill_room_slots;
}

/* Notes the look that is put off: `now` is from before head was read. */
static bool put_off(nm_ring_merge_ring *ring, uint64_t head, uint64_t now)
{
    if (ring->mark_count == ring->mark_capacity && ring->first_mark > ring->mark_count / 2) {
        memmove(ring->marks, ring->marks + ring->first_mark,
                (ring->mark_count - ring->first_mark) * sizeof *ring->marks);
        ring->mark_count -= ring->first_mark;
        ring->first_mark = 0;
    }
    if (nm_array_grow(&ring->marks, &ring->mark_capacity, ring->mark_count + 1, sizeof *ring->marks, NULL) != NM_OK)
        return false;
    ring->marks[ring->mark_count++] = (nm_ring_merge_mark){head, now};
    return true;
}

/* What has been read is copied too, unless nothing else would be: then there is only to wait, for an open slot. */
static void spill_ring(nm_ring_merge *merge, nm_ring_merge_ring *ring, uint64_t head, uint64_t tail, uint64_t now)
{
    uint64_t to = nm_view_pass_published(&ring->view, ring->cursor > tail ? ring->cursor : tail, head);

    if (to - tail < ring->view.slot_count / 4 || !has_spill_room(merge, now, to - tail) || !put_off(ring, head, now))
        return;
    if (!nm_spill_put(merge->folder, &ring->view, tail, to)) {
        ring->mark_count--;
        return;
    }
    merge->spilled_slots += to - tail;
    merge->spill_room_slots -= to - tail;
    /* release: pairs with the acquire of the writer that looks for room; the slots are copied */
    atomic_store_explicit(&ring->view.ring->tail, to, memory_order_release);
}

bool nm_ring_merge_spill(nm_ring_merge *merge, bool has_more)
{
    uint64_t spilled_before = merge->spilled_slots;

    for (size_t i = 0; i < merge->ring_count; i++) {
        nm_ring_merge_ring *ring = merge->rings[i];
        uint64_t now = now_ticks(merge);
        /* acquire: keeps the time in front; the records have their own in `valid` */
        uint64_t head = atomic_load_explicit(&ring->view.ring->head, memory_order_acquire);
        /* relaxed: only the drain writes tail */
        uint64_t tail = atomic_load_explicit(&ring->view.ring->tail, memory_order_relaxed);
        uint64_t kept = has_more ? tail : first_kept_position(ring);

        nm_view_refresh(&ring->view);
        if (is_filling(ring, head, kept > tail ? kept : tail))
            spill_ring(merge, ring, head, tail, now);
        ring->seen_head = head;
    }
    return merge->spilled_slots > spilled_before && merge->spilled_slots < merge->spill_room_slots;
}

/* ---- Releasing ----------------------------------------------------------------------------------------------------- */

/* In one thread the order of the program holds, so a free that shares its stamp with what its thread did before it takes
 * that along to the front. */
static bool front_is_free(const nm_ring_merge_ring *ring)
{
    uint64_t ticks = ring->items[ring->first].ticks;

    for (size_t i = ring->first; i < ring->count && ring->items[i].ticks == ticks; i++)
        if (nm_decode_is_free(ring->items[i].kind))
            return true;
    return false;
}

static bool comes_before(const nm_ring_merge_ring *a, const nm_ring_merge_ring *b)
{
    const nm_ring_merge_item *left = &a->items[a->first], *right = &b->items[b->first];

    if (left->ticks != right->ticks)
        return left->ticks < right->ticks;
    bool left_is_free = front_is_free(a), right_is_free = front_is_free(b);
    if (left_is_free != right_is_free)
        return left_is_free;
    return left->thread_id != right->thread_id ? left->thread_id < right->thread_id : a->view.ring_id < b->view.ring_id;
}

static void sift_down(nm_ring_merge *merge, size_t at)
{
    for (;;) {
        size_t smallest = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < merge->heap_count; child++)
            if (comes_before(merge->heap[child], merge->heap[smallest]))
                smallest = child;
        if (smallest == at)
            return;
        nm_ring_merge_ring *ring = merge->heap[at];
        merge->heap[at] = merge->heap[smallest];
        merge->heap[smallest] = ring;
        at = smallest;
    }
}

static bool has_older(const nm_ring_merge_ring *ring, uint64_t watermark)
{
    return ring->first < ring->count && ring->items[ring->first].ticks < watermark;
}

static nm_status build_heap(nm_ring_merge *merge, uint64_t watermark, nm_error *err)
{
    nm_status status =
        nm_array_grow(&merge->heap, &merge->heap_capacity, merge->ring_count + 1, sizeof *merge->heap, err);

    merge->heap_count = 0;
    for (size_t i = 0; i < merge->ring_count && status == NM_OK; i++)
        if (has_older(merge->rings[i], watermark))
            merge->heap[merge->heap_count++] = merge->rings[i];
    for (size_t i = merge->heap_count / 2; i-- > 0;)
        sift_down(merge, i);
    return status;
}

static nm_status take_position(nm_ring_merge_ring *ring, const nm_ring_merge_item *item, nm_error *err)
{
    nm_block_range *last = ring->taken_count > 0 ? &ring->taken[ring->taken_count - 1] : NULL;

    if (item->slot_count == 0)
        return NM_OK;
    ring->released =
        (nm_block_range){item->thread_id, item->position + item->slot_count - 1, item->position + item->slot_count - 1};
    if (last != NULL && last->thread_id == item->thread_id && last->last_position + 1 == item->position) {
        last->last_position += item->slot_count;
        return NM_OK;
    }
    nm_status status =
        nm_array_grow(&ring->taken, &ring->taken_capacity, ring->taken_count + 1, sizeof *ring->taken, err);
    if (status == NM_OK)
        ring->taken[ring->taken_count++] =
            (nm_block_range){item->thread_id, item->position, item->position + item->slot_count - 1};
    return status;
}

/* The trace's disk is full: counts instead of writing. */
static nm_status discard(nm_ring_merge *merge, nm_ring_merge_discard more, nm_error *err)
{
    uint64_t *index = nm_map_get(&merge->discard_index, (nm_key){0, more.thread_id});
    nm_status status = NM_OK;

    merge->discarded_events += more.count;
    if (index != NULL) {
        nm_ring_merge_discard *sum = &merge->discards[*index];

        sum->count += more.count;
        sum->last_ticks = more.last_ticks;
        sum->is_at_least |= more.is_at_least;
        return NM_OK;
    }
    status = nm_array_grow(&merge->discards, &merge->discard_capacity, merge->discard_count + 1,
                           sizeof *merge->discards, err);
    if (status == NM_OK)
        status = nm_map_put(&merge->discard_index, (nm_key){0, more.thread_id}, merge->discard_count, err);
    if (status == NM_OK)
        merge->discards[merge->discard_count++] = more;
    return status;
}

static nm_status say(nm_ring_merge *merge, const nm_ring_merge_discard *lost, nm_loss loss, nm_error *err)
{
    nm_event event = {.kind = NM_EVENT_LOSS,
                      .flags = lost->is_at_least ? NM_FLAG_AT_LEAST : 0,
                      .thread_id = lost->thread_id,
                      .time_ns = nm_clock_to_ns(merge->folder->session, lost->first_ticks),
                      .until_ns = nm_clock_to_ns(merge->folder->session, lost->last_ticks),
                      .number = (int64_t)lost->count,
                      .detail = loss};

    if (merge->is_discarding)
        return discard(merge, *lost, err);
    *(loss == NM_LOSS_UNREADABLE ? &merge->unreadable_count : &merge->dropped_count) += lost->count;
    merge->is_at_least |= lost->is_at_least;
    return nm_trace_writer_event(merge->writer, &event, err);
}

nm_status nm_ring_merge_say_discards(nm_ring_merge *merge, nm_error *err)
{
    nm_status status = NM_OK;

    merge->is_discarding = false;
    for (size_t i = 0; i < merge->discard_count && status == NM_OK; i++)
        status = say(merge, &merge->discards[i], NM_LOSS_UNWRITTEN, err);
    merge->discard_count = 0;
    merge->discarded_events = 0;
    nm_map_free(&merge->discard_index);
    return status;
}

nm_status nm_ring_merge_say_loss(nm_ring_merge *merge, uint64_t thread_id, uint64_t first_ticks, uint64_t last_ticks,
                                 uint64_t count, nm_loss loss, nm_error *err)
{
    return say(merge, &(nm_ring_merge_discard){thread_id, first_ticks, last_ticks, count, false}, loss, err);
}

nm_status nm_ring_merge_say_unreadable(nm_ring_merge *merge, uint64_t thread_id, uint64_t first_ticks,
                                       uint64_t last_ticks, uint64_t count, bool is_at_least, nm_error *err)
{
    return say(merge, &(nm_ring_merge_discard){thread_id, first_ticks, last_ticks, count, is_at_least},
               NM_LOSS_UNREADABLE, err);
}

nm_status nm_ring_merge_say_drops(nm_ring_merge *merge, nm_ring_merge_ring *ring, nm_error *err)
{
    nm_ring *shared = ring->view.ring;
    uint64_t dropped = atomic_load_explicit(&shared->dropped_count, memory_order_relaxed); /* the owner is gone */
    uint64_t first_ticks = atomic_load_explicit(&shared->drop_first_ticks, memory_order_relaxed);
    uint64_t last_ticks = atomic_load_explicit(&shared->drop_last_ticks, memory_order_relaxed);
    uint64_t count = dropped - ring->said_drops;

    if (dropped <= ring->said_drops)
        return NM_OK;
    ring->said_drops = dropped;
    return nm_ring_merge_say_loss(merge, ring->thread_id, first_ticks, last_ticks, count, NM_LOSS_RING_FULL, err);
}

/* A LOSS record states its ring's count so far; an event, what is new in it. */
static nm_status write_loss(nm_ring_merge *merge, nm_ring_merge_ring *ring, uint64_t thread_id,
                            const nm_view_record *record, nm_error *err)
{
    const nm_ring_loss *loss = (const nm_ring_loss *)record->words;
    uint64_t count = loss->dropped_count - ring->said_drops;

    if (loss->dropped_count <= ring->said_drops)
        return NM_OK;
    ring->said_drops = loss->dropped_count;
    return nm_ring_merge_say_loss(merge, thread_id, loss->ticks, loss->until_ticks, count, (nm_loss)loss->detail, err);
}

/* ---- Pauses -------------------------------------------------------------------------------------------------------- */

static nm_status write_pause(nm_ring_merge *merge, uint64_t process, nm_pause_detail detail, nm_error *err)
{
    nm_event event = {.kind = NM_EVENT_PAUSE,
                      .time_ns = nm_clock_to_ns(merge->folder->session,
                                                merge->last_ticks != 0 ? merge->last_ticks : now_ticks(merge)),
                      .number = (int64_t)process,
                      .detail = detail};
    nm_status status;

    if (merge->is_discarding) /* what will be said is a loss, and all is in doubt */
        return NM_OK;
    status = nm_trace_writer_event(merge->writer, &event, err);
    merge->event_count += status == NM_OK;
    return status;
}

static nm_status begin_pause(nm_ring_merge *merge, uint64_t process, nm_error *err)
{
    const nm_pauser *pauser = merge->pause.pauser;
    bool is_silent = pauser != NULL || (merge->pause.is_recovery && merge->folder->session->is_live_set_known);
    nm_status status = pauser == NULL ? NM_OK : pauser->begin(pauser->context, process, err);

    merge->pause.is_used = true;
    return status == NM_OK ? write_pause(merge, process, is_silent ? NM_PAUSE_BEGIN : NM_PAUSE_BEGIN_MEMORY, err)
                           : status;
}

static nm_status end_pause(nm_ring_merge *merge, uint64_t process, nm_error *err)
{
    const nm_pauser *pauser = merge->pause.pauser;
    bool is_known = pauser == NULL ? !merge->pause.is_recovery || !merge->folder->session->is_live_set_known
                                   : merge->pause.caught_up == process && merge->pause.is_known;

    if (pauser != NULL)
        pauser->end(pauser->context, process);
    return write_pause(merge, process, is_known ? NM_PAUSE_END : NM_PAUSE_END_UNKNOWN, err);
}

/* The place of a process, which may be paused from its first event on. */
static nm_pause_process *pause_place(nm_ring_merge *merge, uint64_t process, nm_error *err)
{
    size_t count_before = merge->pause.count;
    nm_pause_process *place = nm_pause_of(&merge->pause, process, err);

    if (place != NULL && merge->pause.count > count_before && place->reasons != 0 &&
        begin_pause(merge, process, err) != NM_OK)
        return NULL;
    return place;
}

nm_status nm_ring_merge_set_pause(nm_ring_merge *merge, uint64_t process, uint32_t reasons, nm_error *err)
{
    nm_pause_process *place = pause_place(merge, process, err);
    uint32_t before = place == NULL ? 0 : place->reasons;

    if (place == NULL)
        return NM_ERR_MEMORY;
    place->reasons = reasons;
    if (before == 0 && reasons != 0)
        return begin_pause(merge, process, err);
    return before != 0 && reasons == 0 ? end_pause(merge, process, err) : NM_OK;
}

static bool is_snapshot(const nm_view_record *record)
{
    return record->kind == NM_EVENT_MARK && ((const nm_ring_text *)record->words)->detail != 0;
}

/* Moves the state of the event's process on, and decides what becomes of the event. */
static nm_status pass_pause(nm_ring_merge *merge, const nm_ring_merge_ring *ring, const nm_view_record *record,
                            const nm_event *event, bool *is_written, nm_error *err)
{
    uint64_t process = ring->view.process_number;
    nm_pause_process *place = pause_place(merge, process, err);
    nm_pause_verdict verdict;
    nm_status status = NM_OK;

    *is_written = false;
    if (place == NULL)
        return NM_ERR_MEMORY;
    verdict = nm_pause_judge(&merge->pause, place->reasons, event, is_snapshot(record));
    status = nm_ring_merge_set_pause(
        merge, process,
        nm_pause_reasons_after(&merge->pause, place->reasons, event->kind, event->detail, event->number), err);
    if (verdict == NM_PAUSE_WITHHOLD)
        merge->pause.pauser->unwritten(merge->pause.pauser->context,
                                       &(nm_record){.kind = NM_RECORD_EVENT, .event = *event});
    *is_written = verdict == NM_PAUSE_WRITE && event->kind != NM_EVENT_PAUSE;
    return status;
}

/* Reads the item at the front of the ring: must the trace be brought up to date first? */
static bool is_catch_up_due(nm_ring_merge *merge, const nm_ring_merge_ring *ring)
{
    const nm_ring_merge_item *item = &ring->items[ring->first];
    const nm_pause *pause = &merge->pause;
    uint32_t reasons = nm_pause_reasons(pause, ring->view.process_number);
    nm_view_record record;
    bool is_text = item->kind == NM_EVENT_MARK;

    if (reasons == 0 || pause->caught_up == ring->view.process_number || merge->is_discarding ||
        (item->kind != NM_EVENT_STEP && item->kind != NM_EVENT_PAUSE && item->kind != NM_EVENT_ALLOC_FAILED &&
         !is_text) ||
        nm_view_read(&ring->view, item->position, item->position + item->slot_count, merge->scratch, &record) !=
            NM_VIEW_READY)
        return false;
    return nm_pause_is_catch_up_due(pause, reasons, item->kind,
                                    is_text ? ((const nm_ring_text *)record.words)->detail
                                            : ((const nm_ring_number *)record.words)->detail,
                                    is_text ? 0 : ((const nm_ring_number *)record.words)->number);
}

/* ---- Events -------------------------------------------------------------------------------------------------------- */

/* Counts it, and says where it is late. */
static void note_order(nm_ring_merge *merge, const nm_ring_merge_item *item, nm_event *event, bool is_written)
{
    merge->event_count += is_written;
    if (item->ticks >= merge->last_ticks) {
        merge->last_ticks = item->ticks;
        return;
    }
    event->flags |= NM_FLAG_LATE;
    merge->late_count += is_written;
}

static nm_ring_merge_discard event_of(const nm_ring_merge_item *item)
{
    return (nm_ring_merge_discard){item->thread_id, item->ticks, item->ticks, 1, false};
}

static nm_status write_event(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_ring_merge_item *item,
                             const nm_view_record *record, nm_error *err)
{
    bool is_written = true;
    nm_event event;

    if (record->kind == NM_EVENT_LOSS)
        return write_loss(merge, ring, item->thread_id, record, err);
    if (merge->is_discarding && record->kind != NM_EVENT_STEP && record->kind != NM_EVENT_PAUSE)
        return discard(merge, event_of(item), err);
    nm_status status = nm_decode_event(merge, ring, item, record, &event, err);
    if (status == NM_OK && (merge->pause.is_used || record->kind == NM_EVENT_PAUSE))
        status = pass_pause(merge, ring, record, &event, &is_written, err);
    if (status != NM_OK)
        return status;
    event.flags &= ~(uint64_t)NM_FLAG_PAUSED; /* in a trace it says something else */
    merge->has_failure |= record->kind == NM_EVENT_ALLOC_FAILED;
    merge->is_flush_wanted |= is_snapshot(record);
    if (merge->is_discarding)
        return is_written ? discard(merge, event_of(item), err) : NM_OK;
    note_order(merge, item, &event, is_written);
    return is_written ? nm_trace_writer_event(merge->writer, &event, err) : NM_OK;
}

/* One slot is one event at most; a run of them may be many. Where the trace says how many there were, that is said apart. */
static bool may_be_more(const nm_ring_merge_ring *ring, const nm_ring_merge_item *item)
{
    return item->slot_count == 0 || (item->slot_count > 1 && item->position + item->slot_count > ring->known_end);
}

static nm_status release_item(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_ring_merge_item *item,
                              nm_error *err)
{
    nm_view_record record;

    if (item->kind == NM_RING_MERGE_UNREADABLE ||
        nm_view_read(&ring->view, item->position, item->position + item->slot_count, merge->scratch, &record) !=
            NM_VIEW_READY)
        return nm_ring_merge_say_unreadable(merge, item->thread_id, item->ticks, item->ticks, UNKNOWN_HAPPENS,
                                            may_be_more(ring, item), err);

    if (item->kind == NM_RING_STACK || item->kind == NM_RING_PYTHON)
        ring->stacks_thread = item->thread_id;
    if (item->kind == NM_RING_STACK)
        return nm_decode_stack(merge, ring, item, &record, err);
    if (item->kind == NM_RING_PYTHON)
        return nm_decode_python(merge, ring, item, &record, err);
    if (item->kind == NM_RING_THREAD) { /* another thread counts its stacks and frames from 1 again */
        nm_stack_table_free(&ring->stacks);
        nm_stack_table_free(&ring->python_frames);
    }
    return item->kind < NM_RING_THREAD ? write_event(merge, ring, item, &record, err) : NM_OK;
}

/* Up to these ticks the first ring's records come before those of every other ring, and are older than the watermark. */
static uint64_t run_end(const nm_ring_merge *merge, uint64_t watermark)
{
    uint64_t end = watermark;

    for (size_t child = 1; child <= 2 && child < merge->heap_count; child++) {
        uint64_t ticks = merge->heap[child]->items[merge->heap[child]->first].ticks;

        end = ticks < end ? ticks : end;
    }
    return end;
}

/* The front of the ring goes into the trace. */
static nm_status release_front(nm_ring_merge *merge, nm_ring_merge_ring *ring, nm_error *err)
{
    nm_ring_merge_item item = ring->items[ring->first++];

    __builtin_prefetch(&ring->items[ring->first + PREFETCH_ITEMS]);
    ring->waiting_events -= is_event(item.kind);
    merge->has_released = true;
    nm_status status = release_item(merge, ring, &item, err);
    merge->pause.caught_up = 0;
    if (status == NM_OK)
        status = take_position(ring, &item, err);
    if (ring->first == ring->count)
        ring->first = ring->count = 0;
    return status;
}

/* Must the loop stop before the front of the ring is released? */
static bool is_at_border(nm_ring_merge *merge, const nm_ring_merge_ring *ring, uint32_t event_max, bool *is_full)
{
    *is_full = nm_trace_writer_event_count(merge->writer) >= event_max || merge->wants_border;
    if (*is_full)
        return true;
    if (merge->pause.pauser == NULL || !merge->pause.is_used || !is_catch_up_due(merge, ring))
        return false;
    merge->pause.due = ring->view.process_number;
    return true;
}

/* A run of records of one ring that are older than what all others have needs no look at those. */
nm_status nm_ring_merge_release(nm_ring_merge *merge, uint64_t watermark, uint32_t event_max, bool *is_full,
                                nm_error *err)
{
    nm_status status = build_heap(merge, watermark, err);
    bool is_over = false;

    *is_full = false;
    while (merge->heap_count > 0 && status == NM_OK) {
        nm_ring_merge_ring *ring = merge->heap[0];
        uint64_t end = run_end(merge, watermark);

        do {
            is_over = is_at_border(merge, ring, event_max, is_full);
            if (!is_over)
                status = release_front(merge, ring, err);
        } while (!is_over && status == NM_OK && has_older(ring, end));
        if (is_over)
            break;
        if (!has_older(ring, watermark))
            merge->heap[0] = merge->heap[--merge->heap_count];
        sift_down(merge, 0);
    }
    return status;
}

/* ---- Blocks -------------------------------------------------------------------------------------------------------- */

/* What of a paused process is kept elsewhere is not going to be written. A list that has no room is one line shorter. */
static nm_status state_pending(nm_ring_merge *merge, const nm_ring_merge_ring *ring, nm_error *err)
{
    /* relaxed: a number of its own */
    uint64_t dropped = atomic_load_explicit(&ring->view.ring->dropped_count, memory_order_relaxed);
    nm_block_pending pending = {.ring_id = ring->view.ring_id,
                                .tail_position = first_kept_position(ring),
                                .read_position = ring->cursor,
                                .dropped_count = dropped > ring->said_drops ? dropped - ring->said_drops : 0};

    if (merge->pause.pauser != NULL && nm_pause_reasons(&merge->pause, ring->view.process_number) != 0)
        return NM_OK;
    pending.event_count = ring->waiting_events;
    if (pending.event_count + pending.dropped_count == 0)
        return NM_OK;
    nm_status status = nm_trace_writer_pending(merge->writer, &pending, err);
    return status == NM_ERR_LIMIT ? NM_OK : status;
}

nm_status nm_ring_merge_state_positions(nm_ring_merge *merge, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < merge->ring_count && status == NM_OK; i++) {
        nm_ring_merge_ring *ring = merge->rings[i];

        for (size_t j = 0; j < ring->taken_count && status == NM_OK; j++)
            status = nm_trace_writer_position(merge->writer, ring->taken[j], err);
        ring->taken_count = 0;
        if (status == NM_OK)
            status = state_pending(merge, ring, err);
    }
    merge->has_released = false;
    return status;
}

void nm_ring_merge_forget_positions(nm_ring_merge *merge)
{
    for (size_t i = 0; i < merge->ring_count; i++)
        merge->rings[i]->taken_count = 0;
    merge->has_released = false;
}

static nm_status repeat_ring(nm_ring_merge *merge, const nm_ring_merge_ring *ring, nm_error *err)
{
    nm_status status = NM_OK;

    if (ring->released.thread_id == 0)
        return NM_OK;
    status = nm_unify_repeat_thread(&merge->unify, ring->released.thread_id, err);
    if (status == NM_OK)
        status = nm_trace_writer_position(merge->writer, ring->released, err);
    if (status == NM_OK)
        status = nm_unify_repeat_aliases(&merge->unify, ring->stacks_thread, 0, &ring->stacks, err);
    if (status == NM_OK)
        status = nm_unify_repeat_aliases(&merge->unify, ring->stacks_thread, NM_ALIAS_FRAME, &ring->python_frames, err);
    return status;
}

nm_status nm_ring_merge_repeat(nm_ring_merge *merge, nm_error *err)
{
    nm_status status = nm_unify_repeat(&merge->unify, err);

    for (size_t i = 0; i < merge->ring_count && status == NM_OK; i++)
        status = repeat_ring(merge, merge->rings[i], err);
    return status;
}

bool nm_ring_merge_is_pending(const nm_ring_merge *merge)
{
    for (size_t i = 0; i < merge->ring_count; i++)
        if (merge->rings[i]->first < merge->rings[i]->count)
            return true;
    return false;
}

void nm_ring_merge_written(nm_ring_merge *merge)
{
    for (size_t i = 0; i < merge->ring_count; i++) {
        nm_ring_merge_ring *ring = merge->rings[i];
        uint64_t kept = first_kept_position(ring), held_before = nm_spill_held(&ring->view);

        atomic_store_explicit(&ring->view.ring->lost_count, ring->said_drops, memory_order_relaxed); /* only ours */
        /* release: pairs with the acquire of the writer that looks for room; we have done with the slots */
        if (nm_spill_written(merge->folder, &ring->view, kept))
            atomic_store_explicit(&ring->view.ring->tail, kept, memory_order_release);
        merge->spilled_slots -= held_before - nm_spill_held(&ring->view);
    }
}

bool nm_ring_merge_is_empty(const nm_ring_merge_ring *ring)
{
    return ring->first == ring->count && ((ring->cursor == ring->head && !is_behind(ring)) || ring->is_broken);
}

void nm_ring_merge_drop_rings(nm_ring_merge *merge, uint64_t process_number)
{
    size_t kept = 0;

    for (size_t i = 0; i < merge->ring_count; i++) {
        nm_ring_merge_ring *ring = merge->rings[i];

        if (ring->view.process_number != process_number || !nm_ring_merge_is_empty(ring)) {
            merge->rings[kept++] = ring;
            continue;
        }
        nm_folder_remove_file(merge->folder, 'r', ring->view.ring_id);
        if (ring->view.spill.file != NULL)
            nm_folder_remove_file(merge->folder, NM_RING_SPILL_PREFIX, ring->view.ring_id);
        merge->spilled_slots -= nm_spill_held(&ring->view);
        free_ring(merge, ring);
    }
    merge->ring_count = kept;
}

unsigned nm_ring_merge_pressure(const nm_ring_merge *merge)
{
    uint64_t most = 0;

    for (size_t i = 0; i < merge->ring_count; i++) {
        const nm_ring_merge_ring *ring = merge->rings[i];
        /* relaxed: only the drain writes tail */
        uint64_t tail = atomic_load_explicit(&ring->view.ring->tail, memory_order_relaxed);
        uint64_t held = ring->cursor > tail ? ring->cursor - tail : 0; /* what was spilled holds no slots */
        uint64_t share = held * 256 / ring->view.slot_count;

        if (share > most)
            most = share;
    }
    return most > 256 ? 256 : (unsigned)most;
}
