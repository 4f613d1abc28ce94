/* SPDX-License-Identifier: Apache-2.0
 *
 * The way of an event to its thread's ring: the process joins what it waits for, the thread is given a ring. All of it
 * stands above session and threads; the fast path is one test of a flag and one comparison of a generation.
 */
#ifndef NM_RECORD_ATTACH_H
#define NM_RECORD_ATTACH_H

#include "record/host.h"
#include "record/state.h"
#include "record/thread.h"

/* Slow path of nm_attach_thread: joins the session after a fork, gives the thread a ring. NULL: none to be had. */
nm_recorded_thread *nm_attach_now(void);

/* An event is at hand: does it get recorded? */
static inline bool nm_attach_is_wanted(void)
{
    /* relaxed: both are flags, what they guard is published by the generation. */
    return nm_likely(nm_state_is_recording()) ||
           (nm_unlikely(atomic_load_explicit(&nm_process_state.is_awaited, memory_order_relaxed) != 0) &&
            nm_host_join());
}

/* The calling thread's ring and all that belongs to it; NULL when nothing can be recorded. */
static inline nm_recorded_thread *nm_attach_thread(void)
{
    if (!nm_attach_is_wanted())
        return NULL;
    if (nm_likely(nm_thread_local.generation == nm_state_generation()))
        return nm_thread_local.thread;
    return nm_attach_now();
}

/* The same, once for each event: one that is lost because the thread has no ring is counted. */
static inline nm_recorded_thread *nm_attach_event_thread(void)
{
    nm_recorded_thread *thread = nm_attach_thread();

    if (nm_unlikely(thread == NULL) && nm_state_is_recording())
        nm_thread_count_lost();
    return thread;
}

#endif
