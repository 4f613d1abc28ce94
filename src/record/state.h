/* SPDX-License-Identifier: Apache-2.0
 *
 * What one process and one thread of the recorded program know of the recording. Written rarely, read at every event:
 * the fast path is one test of a flag and one comparison of a generation.
 *
 * The generation lies on a page that the kernel wipes on fork, so that a child notices at its first event, by that one
 * comparison, that the rings it inherited are its parent's. A new process, a new recording and a fork all give a
 * generation that no thread has yet.
 */
#ifndef NM_RECORD_STATE_H
#define NM_RECORD_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/inner.h"
#include "record/machine.h"
#include "record/system.h"
#include "trace/ring.h"

#define NM_GENERATION_NONE UINT64_MAX /* of a thread that has no ring; never a process's */

typedef struct nm_recorded_thread nm_recorded_thread; /* thread_state.h */

typedef struct nm_state {
    _Atomic uint32_t is_recording; /* 1 from join to leave; a fork child inherits it and joins at its first event */
    _Atomic uint32_t is_awaited;   /* 1: the host's recording is to be joined at the first event (host.h) */
    _Atomic uint32_t is_joining;   /* 1 while one thread of the process joins; the others wait a little, or drop */
    _Atomic uint64_t *generation;  /* on the wiped page, or &nm_state_no_generation; 0: this process has not joined */
    uint64_t last_generation;      /* the last one given in this process or in an ancestor */
    nm_ring_session *session;
    nm_ring_process *process;
    uint64_t process_number;
    int pid;                 /* of the process that joined: a vfork child shares this memory and is another */
    uint32_t is_late;        /* 1: it runs already when it joins; its fork children too have what it had */
    uint32_t is_by_rules;    /* 1: stacks are walked by .eh_frame (unwind.h), 0: by frame pointers */
    uint32_t is_key_usable;  /* 1: thread_key tells of the end of threads */
    unsigned thread_key;     /* pthread_key_t */
    _Atomic uint32_t pauses; /* NM_PAUSED_BY_STEPS, NM_PAUSED_BY_PROGRAM */
    _Atomic uint32_t heeded; /* which of the session's pauses count here: not NM_PAUSED_AT_START after npumem_resume */
    uint64_t started_number; /* the process_number that npumem_start joined as; 0: npumem-record is around */
    char folder[NM_FOLDER_BYTES_MAX];
} nm_state;

typedef struct nm_local {
    nm_recorded_thread *thread; /* valid while `generation` is the process's */
    uint64_t generation;        /* NM_GENERATION_NONE before the first event */
    const void *guard_frame;    /* frame of the outermost hook that runs; NULL: none */
    uintptr_t guard_return;     /* its return address: tells whether that frame still stands */
    uint32_t guard_layer;       /* nm_layer of the innermost hook that holds a guard */
    int32_t next_device; /* 1 more than the device that the runtime named last; 0: none, or it may have changed */
    nm_inner inner;      /* of the memory call that the thread is in */
} nm_local;

extern nm_state nm_process_state;
extern _Atomic uint64_t nm_state_no_generation; /* always 0: where `generation` points before there is a page */
extern __thread nm_local nm_thread_local __attribute__((tls_model("initial-exec")));

static inline bool nm_state_is_recording(void)
{
    /* relaxed: what it guards is published by the generation. */
    return atomic_load_explicit(&nm_process_state.is_recording, memory_order_relaxed) != 0;
}

/* Does it record, or would it with its next event? */
static inline bool nm_state_is_on(void)
{
    return nm_state_is_recording() ||
           atomic_load_explicit(&nm_process_state.is_awaited, memory_order_relaxed) != 0; /* relaxed: as above */
}

/* 0 in a fork child that has not joined. */
static inline uint64_t nm_state_generation(void)
{
    /* acquire: pairs with the release in publish_generation; what joining wrote is visible with it. */
    return atomic_load_explicit(nm_process_state.generation, memory_order_acquire);
}

/* Ends the recording of this process for good, or until it joins again. */
static inline void nm_state_leave(void)
{
    /* relaxed: a thread that is in the middle of an event ends it in memory that stays mapped. */
    atomic_store_explicit(&nm_process_state.is_recording, 0, memory_order_relaxed);
}

/* 0 while everything is recorded; else why memory alone is, without stacks, or nothing (NM_PAUSED_*). */
static inline uint32_t nm_state_pauses(void)
{
    const nm_state *state = &nm_process_state;

    /* relaxed, all: flags; the drain draws the line by the order of events, not by them. */
    return (atomic_load_explicit(&state->session->is_paused, memory_order_relaxed) &
            atomic_load_explicit(&state->heeded, memory_order_relaxed)) |
           atomic_load_explicit(&state->pauses, memory_order_relaxed);
}

static inline uint64_t nm_state_ticks(void)
{
    if (nm_likely(nm_process_state.session->clock_kind == NM_CLOCK_COUNTER))
        return nm_counter_ordered();
    return (uint64_t)nm_system_now_ns();
}

/* For durations alone. */
static inline uint64_t nm_state_ticks_unordered(void)
{
    if (nm_likely(nm_process_state.session->clock_kind == NM_CLOCK_COUNTER))
        return nm_counter();
    return (uint64_t)nm_system_now_ns();
}

#endif
