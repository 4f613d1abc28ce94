/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens when the library is loaded, in a fork child, and when the process ends. A process joins what its
 * environment names; nothing else is done that a program would notice which never comes to an event.
 */
#include <pthread.h>
#include <stdlib.h>

#include "record/libc.h"
#include "record/record.h"
#include "record/session.h"
#include "record/thread.h"

#define THREAD_KEYS_IN_PLACE 32 /* pthread_setspecific takes memory for keys from here on */

/* Until the host's recording is joined: a hook without a guard may ask for the time before it puts its first event. */
static nm_ring_session awaited_session = {.clock_kind = NM_CLOCK_COUNTER};

static void note_exit(int status, void *unused)
{
    (void)unused;
    nm_record_exit(status);
}

/* Where the kernel cannot wipe pages; and whatever the fork interrupted must not end in the parent's ring. */
static void note_fork_child(void)
{
    /* relaxed: the child has one thread. */
    atomic_store_explicit(&nm_process_state.is_joining, 0, memory_order_relaxed);
    if (nm_process_state.generation == &nm_state_no_generation)
        return;
    nm_thread_detach_after_fork();
    atomic_store_explicit(nm_process_state.generation, 0, memory_order_relaxed); /* relaxed: as above */
}

static void make_thread_key(void)
{
    pthread_key_t key;

    if (nm_libc_key_create == NULL || nm_libc_setspecific == NULL || nm_libc_key_create(&key, nm_thread_end) != 0)
        return;
    nm_process_state.thread_key = key;
    nm_process_state.is_key_usable = key < THREAD_KEYS_IN_PLACE;
}

void nm_record_begin(void)
{
    static _Atomic bool has_begun;
    const char *folder;

    /* relaxed: whoever comes second records a moment later. */
    if (nm_system_is_privileged() || atomic_exchange_explicit(&has_begun, true, memory_order_relaxed))
        return;
    folder = secure_getenv(NM_RING_ENVIRONMENT);
    make_thread_key();
    pthread_atfork(NULL, NULL, note_fork_child);
    on_exit(note_exit, NULL);
    if (!nm_session_is_allowed() || (folder != NULL && nm_session_join(folder)))
        return;
    if (nm_session_host_output() != NULL) {
        nm_process_state.session = &awaited_session;
        /* relaxed: a flag */
        atomic_store_explicit(&nm_process_state.is_awaited, 1, memory_order_relaxed);
    }
}

__attribute__((constructor)) static void begin_at_load(void)
{
    nm_record_begin();
}
