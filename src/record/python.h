/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPython of this process, if there is one: where it is, whether its frames are where we look for them, and the thread
 * state of the calling thread. Its lock is never taken, and nothing is allocated, with one exception: once in the life of a
 * process, at a hook whose thread holds the lock anyway, the walk is compared with what the interpreter itself says.
 */
#ifndef NM_RECORD_PYTHON_H
#define NM_RECORD_PYTHON_H

#include <stdatomic.h>

#include "record/machine.h"
#include "record/python_walk.h"
#include "record/thread_state.h"

typedef enum nm_python_state {
    NM_PYTHON_NONE = 0,
    NM_PYTHON_UNKNOWN_VERSION = 1, /* native frames only */
    NM_PYTHON_UNCHECKED = 2,       /* walked; it has not been compared with what the interpreter says */
    NM_PYTHON_CHECKED = 3,         /* walked, and the interpreter agreed */
    NM_PYTHON_DIFFERS = 4,         /* the interpreter did not agree: native frames only */
} nm_python_state;

typedef struct nm_python {
    nm_python_model model;
    uintptr_t code_begin, code_end;      /* of the interpreter's own code */
    void *(*this_thread_state)(void);    /* PyGILState_GetThisThreadState: a look at a thread-local variable */
    void *(*running_thread_state)(void); /* of who holds the lock, as far as this thread can tell */
    int (*is_finalizing)(void);
    _Atomic uint32_t state;   /* nm_python_state */
    _Atomic uint32_t is_used; /* 1: a Python frame was put into a ring */
} nm_python;

extern nm_python nm_process_python;

static inline uint32_t nm_python_state_now(void)
{
    /* acquire: pairs with the release of who found the interpreter; what it wrote is visible with it. */
    return atomic_load_explicit(&nm_process_python.state, memory_order_acquire);
}

static inline bool nm_python_is_walkable(void)
{
    uint32_t state = nm_python_state_now();

    return state == NM_PYTHON_UNCHECKED || state == NM_PYTHON_CHECKED;
}

/* The calling thread's PyThreadState; 0: it has none, or the interpreter ends, or its frames are not to be walked. */
static inline uintptr_t nm_python_thread_state(void)
{
    const nm_python *python = &nm_process_python;

    if (!nm_python_is_walkable() || python->is_finalizing())
        return 0;
    return (uintptr_t)python->this_thread_state();
}

/* Looks for the interpreter in what is loaded. Not from a hook: it asks the dynamic loader. */
void nm_python_find(void);

/* Compares the walk with the interpreter's own answers if this thread holds the lock, once in the process. Not from what a
 * signal handler may call. */
void nm_python_check_now(void);

static inline void nm_python_check(void)
{
    if (nm_unlikely(nm_python_state_now() == NM_PYTHON_UNCHECKED))
        nm_python_check_now();
}

/* A frame was not what it should be. Until the walk has been compared, it is given up for good. */
void nm_python_give_up(void);

/* Puts a note into the calling thread's ring, once in a process, if Python frames are not read. */
void nm_python_note_trouble(nm_recorded_thread *thread);

/* The process ends: the interpreter's name, once, if frames were read and never compared; else NULL. */
const char *nm_python_take_unchecked(void);

/* A process joins a recording: what was noted before was noted elsewhere. */
void nm_python_begin(void);

#endif
