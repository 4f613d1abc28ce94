/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread's first event, and the first one after a fork: the only place where an event may take more than a few
 * instructions of its own. Signals are blocked meanwhile: a handler that records would find the thread half attached.
 */
#include "record/attach.h"

#include "record/attributes.h"
#include "record/libc.h"
#include "record/session.h"
#include "record/writer.h"

static nm_recorded_thread *attach_blocked(void)
{
    nm_state *state = &nm_process_state;
    nm_recorded_thread *thread;
    uint64_t generation;

    if (nm_state_generation() == 0 && !nm_session_join_after_fork())
        return NULL;
    generation = nm_state_generation();
    if (nm_thread_local.generation == generation)
        return nm_thread_local.thread; /* a signal handler was faster */
    /* relaxed: a look in time is enough. */
    if (atomic_load_explicit(&state->session->is_closed, memory_order_relaxed) != 0) {
        nm_state_leave();
        return NULL;
    }
    nm_thread_detach_from_earlier();
    thread = nm_thread_take();
    if (thread == NULL)
        return NULL;
    nm_thread_local.thread = thread;
    nm_thread_local.generation = generation; /* of before: a ring of a recording that has ended is no other's */
    nm_writer_announce(thread);
    if (state->is_key_usable)
        nm_libc_setspecific(state->thread_key, thread);
    /* relaxed: a flag; whoever sets it is the one thread that tells. */
    if (atomic_exchange_explicit(&state->process->is_device_user, 1, memory_order_relaxed) == 0) {
        nm_session_note_ranks();
        nm_attributes_tell(thread);
    }
    return thread;
}

nm_recorded_thread *nm_attach_now(void)
{
    uint64_t mask = nm_system_block_signals();
    nm_recorded_thread *thread = attach_blocked();

    nm_system_restore_signals(mask);
    return thread;
}
