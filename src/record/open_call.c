/* SPDX-License-Identifier: Apache-2.0
 *
 * What is concluded from frames; see open_call.h. Every function here may be interrupted by a handler that records.
 *
 * Slots are marked only where no call of the thread that is noted below is alive, since that one might have claimed them: when
 * calls[0] ends, or is dead.
 */
#include "record/open_call.h"

#include <assert.h>
#include <signal.h>
#include <sys/syscall.h>

#include "record/own_stack.h"

/* ---- Is it alive? -------------------------------------------------------------------------------------------------- */

static bool is_own_stack(nm_recorded_thread *thread, uintptr_t frame)
{
    return thread->is_own_stack && nm_own_stack_holds(thread, frame);
}

/* The stack for signals, if the thread has one. */
static stack_t signal_stack(void)
{
    stack_t stack = {.ss_flags = SS_DISABLE}; /* the kernel's on both processors */

    nm_call(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0);
    return stack;
}

__attribute__((no_sanitize("address", "thread"))) static uintptr_t return_address_of(uintptr_t frame)
{
    return ((const uintptr_t *)frame)[1];
}

bool nm_open_frame_is_dead(nm_recorded_thread *thread, const nm_open_frame *noted, uintptr_t now)
{
    uintptr_t frame = noted->frame;
    stack_t stack;

    if (frame == 0 || !is_own_stack(thread, now) || thread->opened.is_over)
        return false;
    if (is_own_stack(thread, frame) && noted->return_address != 0 && return_address_of(frame) != noted->return_address)
        return true;
    if (is_own_stack(thread, frame) && now < frame)
        return false;
    /* The stack for signals may be an array on the thread's own. */
    stack = signal_stack();
    return (stack.ss_flags & SS_ONSTACK) == 0 &&
           (is_own_stack(thread, frame) || frame - (uintptr_t)stack.ss_sp < stack.ss_size);
}

/* ---- Slots that were left ------------------------------------------------------------------------------------------ */

/* The slots of the record that is published there; 0: none is. */
static uint64_t published_at(nm_ring *ring, uint64_t position)
{
    /* relaxed: only this thread and its handlers write it. */
    uint64_t valid = atomic_load_explicit(&nm_ring_slot(ring, position)->valid, memory_order_relaxed);
    uint64_t count = valid >> 8 & 0xff;

    return valid == nm_slot_valid(position, (unsigned)count, valid & 0xff) ? count : 0;
}

static void mark_abandoned(nm_ring *ring, uint64_t position, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) /* relaxed: the release below covers it. */
        atomic_store_explicit(&nm_ring_slot(ring, position + i)->valid, nm_slot_valid(position + i, 0, NM_RING_MORE),
                              memory_order_relaxed);
    /* release: as if it were published. */
    atomic_store_explicit(&nm_ring_slot(ring, position)->valid,
                          nm_slot_valid(position, (unsigned)count, NM_RING_ABANDONED), memory_order_release);
}

/* Marks what is claimed and not published. Nothing of this thread is at it. */
static void abandon_open_slots(nm_recorded_thread *thread)
{
    nm_ring *ring = thread->ring;
    /* relaxed: this thread alone writes it. */
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    /* acquire: pairs with the drain's release; what it has done with is not looked at. */
    uint64_t at = atomic_load_explicit(&ring->tail, memory_order_acquire);

    if (at < thread->opened.from)
        at = thread->opened.from;
    while (at < head) {
        uint64_t count = published_at(ring, at), open_count = 0;

        while (count == 0 && at + open_count < head && open_count < NM_RING_RECORD_SLOTS_MAX &&
               published_at(ring, at + open_count) == 0)
            open_count++;
        if (count == 0)
            mark_abandoned(ring, at, open_count);
        at += count + open_count;
    }
}

/* ---- Slow paths ---------------------------------------------------------------------------------------------------- */

static void forget_from(nm_open_calls *opened, unsigned first)
{
    for (unsigned i = NM_OPEN_CALLS_MAX; i-- > first;)
        nm_open_frame_forget(&opened->calls[i]);
}

static unsigned count_noted(const nm_open_calls *opened)
{
    unsigned count = NM_OPEN_CALLS_MAX;

    while (count > 0 && opened->calls[count - 1].frame == 0)
        count--;
    return count;
}

/* Has the drain done with all that was claimed when calls[0] was first met? It waits for open slots, and after its time limit
 * it does not; so no slot of that call is open any more. */
static bool is_passed(nm_recorded_thread *thread)
{
    nm_open_calls *opened = &thread->opened;

    if (opened->seen_head == 0)
        opened->seen_head = atomic_load_explicit(&thread->ring->head, memory_order_relaxed);     /* relaxed: our own */
    return atomic_load_explicit(&thread->ring->tail, memory_order_relaxed) >= opened->seen_head; /* relaxed: a number */
}

unsigned nm_open_call_begin_nested(nm_recorded_thread *thread, uintptr_t frame)
{
    nm_open_calls *opened = &thread->opened;
    unsigned count = count_noted(opened), before = count;

    while (count > 0 && nm_open_frame_is_dead(thread, &opened->calls[count - 1], frame))
        count--;
    if (count == 0 && before > 0)
        abandon_open_slots(thread);
    else if (count == 1 && is_passed(thread))
        count = 0;
    forget_from(opened, count);
    if (count == NM_OPEN_CALLS_MAX) {
        opened->is_over = 1;
        return count;
    }
    opened->is_nested = 1;
    if (count == 0) {
        opened->seen_head = 0;
        opened->from = atomic_load_explicit(&thread->ring->head, memory_order_relaxed); /* relaxed: our own */
    }
    nm_open_frame_note(&opened->calls[count], frame);
    return count;
}

void nm_open_call_end_nested(nm_recorded_thread *thread, unsigned at)
{
    nm_open_calls *opened = &thread->opened;

    assert(at <= NM_OPEN_CALLS_MAX);
    if (at == NM_OPEN_CALLS_MAX)
        return;
    if (at == 0) {
        opened->is_nested = 0; /* a handler that comes now sets it again */
        opened->seen_head = 0;
        if (!opened->is_over && is_own_stack(thread, (uintptr_t)__builtin_frame_address(0)))
            abandon_open_slots(thread);
    }
    forget_from(opened, at);
}

void nm_open_calls_forget(nm_recorded_thread *thread)
{
    nm_open_calls *opened = &thread->opened;

    if (count_noted(opened) > 0)
        abandon_open_slots(thread);
    forget_from(opened, 0);
    opened->is_nested = opened->is_over = 0;
    opened->seen_head = 0;
}
