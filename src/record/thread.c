/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives threads their rings and takes them back; see thread.h. The list of rings is a stack that is only pushed to, so it
 * needs no lock; who owns a ring is decided by a swap of its `owner`.
 */
#include "record/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "record/open_call.h"
#include "record/own_stack.h"
#include "record/ring_file.h"
#include "record/text.h"
#include "record/writer.h"
#include "trace/event.h"

#define RETRY_NS INT64_C(100000000) /* a ring that could not be made is not tried again for so long */

static _Atomic(nm_recorded_thread *) first_thread;
static _Atomic uint64_t free_count;    /* rings given back and not taken again: saves the search */
static _Atomic uint64_t spare_ring_id; /* given, but without a ring; 0: none */
static _Atomic int64_t retry_at_ns;    /* no new ring before */
static _Atomic uint64_t early_count;   /* events lost before the process had a file to count them in */

nm_recorded_thread *nm_thread_first(void)
{
    /* acquire: pairs with the release in push_thread. */
    return atomic_load_explicit(&first_thread, memory_order_acquire);
}

void nm_thread_forget_all(void)
{
    /* relaxed: the generation publishes it. */
    atomic_store_explicit(&first_thread, NULL, memory_order_relaxed);
    atomic_store_explicit(&free_count, 0, memory_order_relaxed);
    atomic_store_explicit(&spare_ring_id, 0, memory_order_relaxed);
    atomic_store_explicit(&retry_at_ns, 0, memory_order_relaxed);
}

static void push_thread(nm_recorded_thread *thread)
{
    /* relaxed: the swap looks again. */
    nm_recorded_thread *first = atomic_load_explicit(&first_thread, memory_order_relaxed);

    do
        thread->next = first;
    /* release: who finds it finds it filled. */
    while (!atomic_compare_exchange_weak_explicit(&first_thread, &first, thread, memory_order_release,
                                                  memory_order_relaxed));
}

/* ---- Making a ring ------------------------------------------------------------------------------------------------- */

static nm_recorded_thread *make_private(void)
{
    size_t own_bytes = (sizeof(nm_recorded_thread) + 4095) / 4096 * 4096;
    nm_recorded_thread *thread = nm_system_memory(own_bytes + 2 * NM_INTERN_FIRST_BYTES);

    if (thread == NULL)
        return NULL;
    thread->owned_bytes = own_bytes + 2 * NM_INTERN_FIRST_BYTES;
    thread->intern.levels[0] = (nm_intern_slot *)((char *)thread + own_bytes);
    thread->python_intern.levels[0] = (nm_intern_slot *)((char *)thread + own_bytes + NM_INTERN_FIRST_BYTES);
    return thread;
}

void nm_thread_note_no_memory(void)
{
    /* relaxed: a number */
    atomic_store_explicit(&nm_process_state.process->ring_errno, ENOMEM, memory_order_relaxed);
}

/* A number whose ring could not be made is kept for the next try: the drain looks for every number that was given. */
static bool make_ring(nm_recorded_thread *thread, uint64_t *ring_id)
{
    /* relaxed: a number of its own is all that is wanted. */
    uint64_t id = atomic_exchange_explicit(&spare_ring_id, 0, memory_order_relaxed);

    if (id == 0)
        /* release: pairs with nm_ring_merge_count_rings, which looks for this process after it */
        id = atomic_fetch_add_explicit(&nm_process_state.session->ring_count, 1, memory_order_release) + 1;
    *ring_id = id;
    if (nm_ring_file_make(thread, id))
        return true;
    atomic_store_explicit(&spare_ring_id, id, memory_order_relaxed);
    return false;
}

static nm_recorded_thread *make_thread(uint64_t number)
{
    nm_state *state = &nm_process_state;
    uint64_t ring_id;
    nm_recorded_thread *thread = make_private();

    if (thread == NULL) {
        nm_thread_note_no_memory();
        return NULL;
    }
    if (!make_ring(thread, &ring_id)) {
        nm_system_unmap(thread, thread->owned_bytes);
        return NULL;
    }
    nm_ring *ring = thread->ring;
    ring->ring_id = ring_id;
    ring->process_number = state->process_number;
    /* relaxed: the magic publishes them. */
    atomic_store_explicit(&ring->owner_tid, nm_system_tid(), memory_order_relaxed);
    atomic_store_explicit(&ring->owner, number, memory_order_relaxed);
    /* release: the drain takes a ring for whole when it has its magic. */
    __atomic_store_n(&ring->magic, NM_RING_MAGIC, __ATOMIC_RELEASE);
    push_thread(thread);
    atomic_fetch_add_explicit(&state->process->ring_count, 1, memory_order_relaxed); /* relaxed: a number */
    return thread;
}

/* ---- A ring for the calling thread --------------------------------------------------------------------------------- */

/* Their memory goes back to the machine until they are used again. */
static void forget_stacks(nm_recorded_thread *thread)
{
    nm_intern_clear(&thread->intern);
    nm_intern_clear(&thread->python_intern);
    nm_memo_clear(&thread->memo);
}

static nm_recorded_thread *take_free_thread(uint64_t number)
{
    nm_recorded_thread *thread = nm_thread_first();

    /* relaxed: a ring missed is a ring more. Without the key nobody counts, and the drain frees rings. */
    if (nm_process_state.is_key_usable && atomic_load_explicit(&free_count, memory_order_relaxed) == 0)
        return NULL;
    for (; thread != NULL; thread = thread->next) {
        uint64_t nobody = 0;

        /* acquire: pairs with the release of the thread that ended; its private part is ours now. */
        if (atomic_load_explicit(&thread->ring->owner, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong_explicit(&thread->ring->owner, &nobody, number, memory_order_acquire,
                                                    memory_order_relaxed)) {
            atomic_fetch_sub_explicit(&free_count, 1, memory_order_relaxed);
            atomic_store_explicit(&thread->ring->owner_tid, nm_system_tid(), memory_order_relaxed);
            forget_stacks(thread);
            return thread;
        }
    }
    return NULL;
}

static void prepare_thread(nm_recorded_thread *thread, uint64_t number)
{
    const nm_ring_session *session = nm_process_state.session;

    thread->number = number;
    thread->tid = nm_system_tid();
    thread->is_announced = 0;
    nm_open_frame_forget(&thread->interning);
    nm_open_calls_forget(thread);
    thread->is_stalled = 0;
    thread->waited_ns = 0;
    thread->stack_mode = session->stack_mode;
    thread->has_sound_python = thread->unsound_count = 0;
    thread->stack_depth = session->stack_depth;
    thread->module_generation = 0;
    thread->is_by_rules = nm_process_state.is_by_rules;
    thread->look_count = 0;
    memset(thread->other_stacks, 0, sizeof thread->other_stacks);
    nm_own_stack_find(thread, (uintptr_t)__builtin_frame_address(0));
    /* relaxed: this thread alone. A new owner counts its stacks from 1. */
    atomic_store_explicit(&thread->last_stack_id, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->last_python_id, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->last_range, 0, memory_order_relaxed);
}

nm_recorded_thread *nm_thread_take(void)
{
    nm_ring_session *session = nm_process_state.session;
    int64_t now_ns = nm_system_now_ns();
    uint64_t number;
    nm_recorded_thread *thread;

    /* relaxed: a thread more or less that tries does no harm. */
    if (now_ns < atomic_load_explicit(&retry_at_ns, memory_order_relaxed))
        return NULL;
    number = atomic_fetch_add_explicit(&session->thread_count, 1, memory_order_relaxed) + 1;
    thread = take_free_thread(number);
    if (thread == NULL)
        thread = make_thread(number);
    if (thread == NULL) {
        atomic_store_explicit(&retry_at_ns, now_ns + RETRY_NS, memory_order_relaxed);
        return NULL;
    }
    prepare_thread(thread, number);
    return thread;
}

static void count_lost(uint64_t count)
{
    nm_ring_process *process = nm_process_state.process;
    uint64_t ticks = nm_state_ticks(), none = 0;

    /* relaxed, all: counters that the drain reads when it likes; threads share them, so no local operation. */
    atomic_compare_exchange_strong_explicit(&process->drop_first_ticks, &none, ticks, memory_order_relaxed,
                                            memory_order_relaxed);
    atomic_store_explicit(&process->drop_last_ticks, ticks, memory_order_relaxed);
    atomic_fetch_add_explicit(&process->dropped_count, count, memory_order_relaxed);
}

void nm_thread_tell_early(void)
{
    uint64_t count = atomic_exchange_explicit(&early_count, 0, memory_order_seq_cst);

    if (count != 0)
        count_lost(count);
}

void nm_thread_count_lost(void)
{
    if (nm_state_generation() != 0) {
        count_lost(1);
        return;
    }
    /* seq_cst, with the generation's: either it is seen here that the process has joined, or there that this was counted. */
    atomic_fetch_add_explicit(&early_count, 1, memory_order_seq_cst);
    if (atomic_load_explicit(nm_process_state.generation, memory_order_seq_cst) != 0)
        nm_thread_tell_early();
}

/* ---- The end of a thread ------------------------------------------------------------------------------------------- */

void nm_thread_end(void *value)
{
    nm_recorded_thread *thread = value;
    nm_ring_number record = {.number = (int64_t)thread->number};
    uint64_t mask;

    /* In a fork child, and after another recording began, the ring is somebody else's. */
    if (nm_thread_local.thread != thread || nm_thread_local.generation != nm_state_generation())
        return;
    mask = nm_system_block_signals();
    nm_writer_define(thread, NM_RING_THREAD_END, &record, sizeof record, NULL, 0);
    nm_thread_local.thread = NULL;
    nm_thread_local.generation = NM_GENERATION_NONE;
    /* relaxed: the release of `owner` covers it. */
    atomic_store_explicit(&thread->ring->owner_tid, 0, memory_order_relaxed);
    /* release: pairs with take_free_thread, and with the drain, which then knows that no slot is open any more. */
    atomic_store_explicit(&thread->ring->owner, 0, memory_order_release);
    atomic_fetch_add_explicit(&free_count, 1, memory_order_relaxed);
    nm_system_restore_signals(mask);
}

/* Memory of this process alone over the old mapping: a record that a signal's handler has cut in two is finished in it. */
static void detach(nm_recorded_thread *thread)
{
    nm_call(SYS_mmap, (long)thread->ring, (long)thread->map_bytes, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    thread->ring->slot_count = thread->slot_count;
}

void nm_thread_detach_after_fork(void)
{
    nm_recorded_thread *thread = nm_thread_local.thread;

    if (thread != NULL && nm_thread_local.generation == nm_process_state.last_generation)
        detach(thread);
}

/* In a child after fork the thread has another number, and is detached already. */
void nm_thread_detach_from_earlier(void)
{
    nm_recorded_thread *thread = nm_thread_local.thread;

    if (thread == NULL || thread->tid != nm_system_tid())
        return;
    nm_thread_local.thread = NULL;
    detach(thread);
    if (thread->interning.frame == 0) /* no call that was interrupted is at them */
        forget_stacks(thread);
}
