/* SPDX-License-Identifier: Apache-2.0
 *
 * Claim, stamp, write, publish; and what happens when a ring is full: a bounded wait, then a counted drop.
 */
#include "record/writer.h"

#include <assert.h>
#include <string.h>

#include "record/open_call.h"
#include "record/ring_file.h"
#include "trace/event.h"

#define SECOND_NS           INT64_C(1000000000)
#define PREFETCH_SLOTS      8
#define WAIT_FIRST_PAUSE_US 5
#define WAIT_LAST_PAUSE_US  200

typedef struct nm_payload {
    const void *record;
    size_t record_bytes; /* a multiple of 8 */
    const void *text;
    size_t text_bytes;
} nm_payload;

static uint64_t slots_of(const nm_payload *payload)
{
    size_t word_count = (payload->record_bytes + payload->text_bytes + 7) / 8;

    return (word_count + NM_WRITER_SLOT_WORDS - 1) / NM_WRITER_SLOT_WORDS;
}

/* Positions up to `end` are wanted, and are behind all that was known to be free. Apart, so that claim stays small. */
static __attribute__((noinline, cold)) bool find_room(nm_recorded_thread *thread, uint64_t end)
{
    while (end > thread->slot_backed && thread->slot_backed < thread->slot_count)
        nm_ring_file_grow(thread);
    /* acquire: pairs with the drain's release of tail; it has read the slots that are written anew now. */
    thread->room_end = thread->slot_backed < thread->slot_count
                           ? thread->slot_backed
                           : atomic_load_explicit(&thread->ring->tail, memory_order_acquire) + thread->slot_count;
    return end <= thread->room_end;
}

static inline bool claim(nm_recorded_thread *thread, uint64_t count, uint64_t *position)
{
    nm_ring *ring = thread->ring;
    /* relaxed: this thread and its handlers alone write it. */
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    do {
        if (nm_unlikely(head + count > thread->room_end) && !find_room(thread, head + count))
            return false;
    } while (!nm_local_swap(&ring->head, &head, head + count));
    *position = head;
    return true;
}

static inline void publish(nm_slot *slot, uint64_t position, uint64_t count, unsigned kind)
{
    /* release: pairs with the drain's acquire of `valid`. From here on the record survives the death of the program. */
    atomic_store_explicit(&slot->valid, nm_slot_valid(position, (unsigned)count, kind), memory_order_release);
}

static uint64_t payload_word(const nm_payload *payload, size_t index)
{
    size_t offset = index * 8;
    uint64_t word = 0;

    if (offset < payload->record_bytes) {
        memcpy(&word, (const char *)payload->record + offset, 8);
    } else if (offset < payload->record_bytes + payload->text_bytes) {
        size_t left = payload->record_bytes + payload->text_bytes - offset;

        memcpy(&word, (const char *)payload->text + (offset - payload->record_bytes), left < 8 ? left : 8);
    }
    return word;
}

/* Writes a claimed record. The first slot's `valid` goes last. */
static void write_record(nm_recorded_thread *thread, uint64_t position, unsigned kind, const nm_payload *payload)
{
    uint64_t count = slots_of(payload);
    nm_slot *first = nm_ring_slot(thread->ring, position);
    uint64_t ticks = nm_state_ticks();

    for (uint64_t i = 0; i < count; i++) {
        nm_slot *slot = nm_ring_slot(thread->ring, position + i);

        for (size_t word = 0; word < NM_WRITER_SLOT_WORDS; word++)
            slot->word[word] = payload_word(payload, i * NM_WRITER_SLOT_WORDS + word);
        /* relaxed: the release of the first slot's `valid` covers it. */
        if (i > 0)
            atomic_store_explicit(&slot->valid, nm_slot_valid(position + i, 0, NM_RING_MORE), memory_order_relaxed);
    }
    /* A LOSS keeps the stamp of the first event dropped. */
    if (kind != NM_EVENT_LOSS)
        first->word[0] = ticks;
    publish(first, position, count, kind);
}

/* ---- A full ring --------------------------------------------------------------------------------------------------- */

/* What this event may wait, by what the thread has waited in this second. */
static int64_t wait_budget_ns(nm_recorded_thread *thread, int64_t now_ns)
{
    const nm_ring_session *session = nm_process_state.session;
    int64_t event_ns = (int64_t)session->wait_event_us * 1000;
    int64_t left_ns;

    if (now_ns - thread->wait_second_begin_ns >= SECOND_NS) {
        thread->wait_second_begin_ns = now_ns;
        thread->waited_ns = 0;
    }
    left_ns = (int64_t)session->wait_second_us * 1000 - thread->waited_ns;
    return left_ns < event_ns ? left_ns : event_ns;
}

static uint64_t heartbeat(void)
{
    /* relaxed: a number that moves, nothing hangs on it. */
    return atomic_load_explicit(&nm_process_state.session->heartbeat, memory_order_relaxed);
}

static bool may_wait(const nm_recorded_thread *thread)
{
    const nm_ring_session *session = nm_process_state.session;

    if (session->on_full == NM_ON_FULL_DROP)
        return false;
    /* relaxed: a late view costs one bounded wait. */
    if (atomic_load_explicit(&session->is_closed, memory_order_relaxed) != 0)
        return false;
    return !thread->is_stalled || thread->stalled_heartbeat != heartbeat();
}

/* Claims as soon as the drain makes room; false when the time is over. */
static bool claim_waiting(nm_recorded_thread *thread, uint64_t count, uint64_t *position)
{
    int64_t begin_ns, now_ns, budget_ns;
    unsigned pause_us = WAIT_FIRST_PAUSE_US;
    bool is_claimed = false;

    if (count > thread->slot_count || !may_wait(thread))
        return false;
    begin_ns = now_ns = nm_system_now_ns();
    budget_ns = wait_budget_ns(thread, begin_ns);
    while (!is_claimed && now_ns - begin_ns < budget_ns) {
        nm_system_sleep_us(pause_us);
        pause_us = pause_us < WAIT_LAST_PAUSE_US ? pause_us * 2 : WAIT_LAST_PAUSE_US;
        is_claimed = claim(thread, count, position);
        now_ns = nm_system_now_ns();
    }
    thread->waited_ns += now_ns - begin_ns;
    thread->is_stalled = !is_claimed;
    if (!is_claimed)
        thread->stalled_heartbeat = heartbeat();
    return is_claimed;
}

static void count_drop(nm_recorded_thread *thread)
{
    nm_ring *ring = thread->ring;
    uint64_t ticks = nm_state_ticks(), none = 0;

    nm_local_add(&ring->dropped_count, 1);
    nm_local_swap(&ring->drop_first_ticks, &none, ticks);
    /* relaxed: the drain reads it after the publication of a LOSS record, or when the thread is dead. */
    atomic_store_explicit(&ring->drop_last_ticks, ticks, memory_order_relaxed);
    thread->has_loss = 1;
}

/* States the dropped events in the ring, if there is room for it now. A handler that drops in between sets has_loss
 * again; the count is read after the claim, so that it never falls from one record to the next by more than that. */
static void report_loss(nm_recorded_thread *thread)
{
    nm_ring *ring = thread->ring;
    nm_ring_loss loss = {.detail = NM_LOSS_RING_FULL};
    uint64_t position, none = 0;

    if (!claim(thread, 1, &position))
        return;
    thread->has_loss = 0;
    /* relaxed, all three: only this thread and its handlers write them. */
    loss.ticks = atomic_exchange_explicit(&ring->drop_first_ticks, none, memory_order_relaxed);
    loss.until_ticks = atomic_load_explicit(&ring->drop_last_ticks, memory_order_relaxed);
    loss.dropped_count = atomic_load_explicit(&ring->dropped_count, memory_order_relaxed);
    if (loss.ticks == 0)
        loss.ticks = loss.until_ticks;
    write_record(thread, position, NM_EVENT_LOSS, &(nm_payload){.record = &loss, .record_bytes = sizeof loss});
}

/* ---- Records ------------------------------------------------------------------------------------------------------- */

/* Around all that claims: see open_call.h. `frame` is the caller's own. */
static inline unsigned begin_call(nm_recorded_thread *thread, const void *frame)
{
    nm_open_calls *opened = &thread->opened;
    /* relaxed: this thread and its handlers alone write it. Read first: what is claimed from here on lies behind it. */
    uint64_t head = atomic_load_explicit(&thread->ring->head, memory_order_relaxed);

    if (nm_unlikely(opened->calls[0].frame != 0))
        return nm_open_call_begin_nested(thread, (uintptr_t)frame);
    opened->from = head;
    nm_open_frame_note(&opened->calls[0], (uintptr_t)frame);
    /* A handler that came before it was noted may have been left in the middle. */
    if (nm_unlikely(atomic_load_explicit(&thread->ring->head, memory_order_relaxed) != head))
        opened->is_nested = 1;
    return 0;
}

static inline void end_call(nm_recorded_thread *thread, unsigned at)
{
    if (nm_likely(!thread->opened.is_nested)) {
        nm_open_frame_forget(&thread->opened.calls[0]);
        if (nm_likely(!thread->opened.is_nested))
            return;
    }
    nm_open_call_end_nested(thread, at);
}

/* Says whose records follow, before the first record of an owner. Done while the ring is given to the thread, and here
 * only where a ring that is used again was full at that moment. */
static bool announce_blocked(nm_recorded_thread *thread)
{
    char name[NM_THREAD_NAME_BYTES];
    nm_ring_thread record = {.thread_number = thread->number, .tid = thread->tid};
    nm_payload payload = {.record = &record, .record_bytes = sizeof record, .text = name};
    uint64_t position;

    nm_system_thread_name(name);
    record.text_bytes = payload.text_bytes = strnlen(name, sizeof name);
    if (!claim(thread, slots_of(&payload), &position) && !claim_waiting(thread, slots_of(&payload), &position))
        return false;
    write_record(thread, position, NM_RING_THREAD, &payload);
    thread->is_announced = 1;
    return true;
}

bool nm_writer_announce(nm_recorded_thread *thread)
{
    /* A handler in between would put a record before the ring says whose it is. */
    uint64_t mask = nm_system_block_signals();
    bool is_announced = thread->is_announced || announce_blocked(thread);

    nm_system_restore_signals(mask);
    return is_announced;
}

static bool claim_any_way(nm_recorded_thread *thread, uint64_t count, uint64_t *position)
{
    if (nm_unlikely(!thread->is_announced) && !nm_writer_announce(thread))
        return false;
    if (nm_unlikely(thread->has_loss))
        report_loss(thread);
    return nm_likely(claim(thread, count, position)) || claim_waiting(thread, count, position);
}

bool nm_writer_define(nm_recorded_thread *thread, unsigned kind, const void *record, size_t record_bytes,
                      const void *text, size_t text_bytes)
{
    nm_payload payload = {record, record_bytes, text, text_bytes};

    assert(record_bytes % 8 == 0 && slots_of(&payload) <= NM_RING_RECORD_SLOTS_MAX);
    unsigned call = begin_call(thread, __builtin_frame_address(0));
    uint64_t position;
    bool is_claimed = claim_any_way(thread, slots_of(&payload), &position);

    if (is_claimed)
        write_record(thread, position, kind, &payload);
    end_call(thread, call);
    return is_claimed;
}

bool nm_writer_put(nm_recorded_thread *thread, unsigned kind, const void *record, size_t record_bytes, const void *text,
                   size_t text_bytes)
{
    if (nm_writer_define(thread, kind, record, record_bytes, text, text_bytes))
        return true;
    count_drop(thread);
    return false;
}

bool nm_writer_put_slot(nm_recorded_thread *thread, unsigned kind, const uint64_t words[NM_WRITER_SLOT_WORDS])
{
    unsigned call = begin_call(thread, __builtin_frame_address(0));
    uint64_t position;
    nm_slot *slot;

    if (nm_unlikely(!claim_any_way(thread, 1, &position))) {
        end_call(thread, call);
        count_drop(thread);
        return false;
    }
    slot = nm_ring_slot(thread->ring, position);
    /* The drain has read these lines on another processor; ask for them back before they are needed. */
    nm_prefetch_to_write(nm_ring_slot(thread->ring, position + PREFETCH_SLOTS));
    slot->word[0] = nm_state_ticks();
    for (size_t i = 1; i < NM_WRITER_SLOT_WORDS; i++)
        slot->word[i] = words[i];
    publish(slot, position, 1, kind);
    end_call(thread, call);
    return true;
}
