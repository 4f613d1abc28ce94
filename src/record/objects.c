/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects of the runtime, which programs make for each operator: they are counted in the ring's header, which the drain reads, and
 * are no event each. Once many of a kind live, one of 64 that are made is told with its stack, and what becomes of it: at distances
 * that vary, so that none of several that are made in turn is passed over for ever.
 *
 * How many live in the process is a sum to which each thread adds what it has made and destroyed when it comes to a sample. So it lags behind, and
 * decides about samples alone.
 */
#include <string.h>

#include "record/attach.h"
#include "record/record.h"
#include "record/stack.h"
#include "record/writer.h"

#define LIVE_MIN 1000 /* of a kind, before samples are taken */

static _Atomic int64_t live_count[NM_RING_OBJECT_KINDS];

/* 1 to 127, 64 on average: the distance to the next sample. */
static uint32_t next_distance(nm_recorded_thread *thread)
{
    thread->sample_state = thread->sample_state * 1664525u + 1013904223u;
    return (thread->sample_state >> 8) % (2 * NM_RECORD_OBJECT_STEP - 1) + 1;
}

/* relaxed, all below: counts, of which the drain reads each by itself; the ring has one writer. */
static inline void count(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more, memory_order_relaxed);
}

static void add_up(nm_recorded_thread *thread)
{
    for (unsigned kind = 1; kind < NM_RING_OBJECT_KINDS; kind++) {
        int64_t live = (int64_t)(atomic_load_explicit(&thread->ring->made_count[kind], memory_order_relaxed) -
                                 atomic_load_explicit(&thread->ring->gone_count[kind], memory_order_relaxed));

        if (live == thread->told_objects[kind])
            continue;
        atomic_fetch_add_explicit(&live_count[kind], live - thread->told_objects[kind], memory_order_relaxed);
        thread->told_objects[kind] = live;
    }
}

bool nm_record_object_made(unsigned kind)
{
    nm_recorded_thread *thread = nm_attach_thread();

    if (nm_unlikely(thread == NULL))
        return false;
    count(&thread->ring->made_count[kind], 1);
    if (nm_likely(thread->made_left > 1)) {
        thread->made_left--;
        return false;
    }
    thread->made_left = next_distance(thread);
    add_up(thread);
    return atomic_load_explicit(&live_count[kind], memory_order_relaxed) >= LIVE_MIN && nm_state_pauses() == 0;
}

void nm_record_objects_gone(unsigned kind, uint64_t gone_count)
{
    nm_recorded_thread *thread = nm_attach_thread();

    if (nm_unlikely(thread == NULL))
        return;
    count(&thread->ring->gone_count[kind], gone_count);
    if (nm_likely(thread->gone_left > 1)) {
        thread->gone_left--;
        return;
    }
    thread->gone_left = NM_RECORD_OBJECT_STEP;
    add_up(thread);
}

void nm_record_object(nm_ring_objects *event, const void *frame)
{
    nm_recorded_thread *thread = nm_attach_event_thread();
    uint64_t words[NM_WRITER_SLOT_WORDS] = {0};

    if (thread == NULL || nm_state_pauses() != 0)
        return;
    event->where = nm_ring_where(0, 0, frame == NULL ? 0 : nm_stack_number(thread, frame));
    memcpy(words, event, sizeof *event);
    nm_writer_put_slot(thread, NM_EVENT_OBJECTS, words);
}
