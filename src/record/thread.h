/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread's ring and what the recorder keeps privately beside it. Both live until the process ends: a thread that ends
 * frees them for the next one, so the list only grows to the largest number of threads at one time. Any number of threads
 * is served.
 */
#ifndef NM_RECORD_THREAD_H
#define NM_RECORD_THREAD_H

#include "record/intern.h"
#include "record/open_call.h"
#include "record/python_walk.h"
#include "record/state.h"

#define NM_THREAD_MODULES_MAX 8192
#define NM_THREAD_LAST_CALLS  256

typedef struct nm_module_table nm_module_table;

struct nm_thread {
    nm_ring *ring;
    uint64_t slot_count;
    volatile uint64_t room_end; /* positions below it may be claimed: the tail as last seen, plus slot_count */
    volatile uint32_t has_loss; /* 1: dropped events are not yet stated by a LOSS record */
    nm_open_calls opened;

    /* Stacks. */
    uint32_t stack_mode, stack_depth;
    uintptr_t stack_begin, stack_end; /* what may be read as frames; 0, 0: unknown */
    bool is_own_stack; /* it is the one that the thread was made with, not one that the program goes to */
    nm_intern intern;
    nm_open_frame interning; /* whose the tables and `addresses` are: a handler that interrupts it keeps off them */
    _Atomic uint64_t last_stack_id;
    uint64_t addresses[NM_RING_STACK_DEPTH_MAX];

    /* Python frames. */
    uint32_t has_sound_python; /* 1: its frames were found to be what they should be */
    uint32_t unsound_count;    /* times that they were not */
    nm_intern python_intern;   /* fingerprint of a place -> the thread's number of its PYTHON record */
    _Atomic uint64_t last_python_id;
    uintptr_t last_calls[NM_THREAD_LAST_CALLS]; /* return addresses beyond which frame pointers lead nowhere */
    nm_python_place places[NM_RING_STACK_DEPTH_MAX];
    nm_python_text python_text;

    /* Modules that stand in the ring, by their place in the table of that generation. Those past the last bit are put
     * again for every new stack. */
    uint64_t module_generation; /* 0: none */
    uint64_t sent_modules[NM_THREAD_MODULES_MAX / 64];

    /* Hazard pointer: the table of modules this thread is reading; see modules.c. */
    _Atomic(nm_module_table *) modules_in_use;

    /* Waiting for room. */
    int64_t wait_second_begin_ns;
    int64_t waited_ns;          /* since then */
    uint64_t stalled_heartbeat; /* the heartbeat at the last timeout; meaningful with is_stalled */
    uint32_t is_stalled;

    uint32_t is_announced; /* 1: the ring's owner stands in the ring */
    uint64_t number;       /* of the thread; 0: none owns it */
    int tid;
    _Atomic uint64_t last_range;

    nm_thread *next;    /* in the process's list; never changes */
    size_t owned_bytes; /* of this struct and its table */
};

/* The first of the process's rings; walk by `next`. */
nm_thread *nm_thread_first(void);

/* Slow path of nm_state_thread: joins the session after a fork, gives the thread a ring. NULL: none to be had. */
nm_thread *nm_thread_attach(void);

/* Counts one event of a thread that has no ring; in a fork child that another thread is still joining, for later. */
void nm_thread_count_lost(void);

/* Says in the process's file why events are lost: there is no memory. */
void nm_thread_note_no_memory(void);
/* The process has joined: what was counted until then is said. */
void nm_thread_tell_early(void);

/* pthread_key destructor: the thread ends. */
void nm_thread_end(void *thread);

/* After a fork or when another recording begins: every ring known so far is somebody else's. */
void nm_thread_forget_all(void);

/* In a fork child: takes the parent's ring away from a recording that the fork interrupted, so that it ends in private
 * memory. */
void nm_thread_detach_after_fork(void);

#endif
