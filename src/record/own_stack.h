/* SPDX-License-Identifier: Apache-2.0
 *
 * What of a thread's stack may be read as frames. The kernel's text of all mappings says it, but that is as long as the program
 * has threads, and each of them would read it. A thread that libc made has its control block above its frames in the same stack:
 * what can be read from a frame up to there, page by page, is its stack, and how far that reaches down is found as calls go
 * deeper. Only who runs elsewhere (the main thread, a stack of the program's own) is looked up in the text, once.
 */
#ifndef NM_RECORD_OWN_STACK_H
#define NM_RECORD_OWN_STACK_H

#include "record/thread_state.h"

/* At a thread's first event: fills stack_begin, stack_end, is_own_stack and is_stack_open. `frame` is the caller's own. */
void nm_own_stack_find(nm_recorded_thread *thread, uintptr_t frame);

/* A frame below the begin of a stack that is open: moves the begin down to it, or to where the stack ends. */
void nm_own_stack_reach(nm_recorded_thread *thread, uintptr_t frame);

/* Is that the frame of a call on the stack: may its two words be read, and what they lead to? */
static inline bool nm_own_stack_holds(nm_recorded_thread *thread, uintptr_t frame)
{
    if (frame < thread->stack_begin) {
        if (nm_likely(!thread->is_stack_open))
            return false;
        nm_own_stack_reach(thread, frame);
    }
    return frame >= thread->stack_begin && frame < thread->stack_end &&
           thread->stack_end - frame >= 2 * sizeof(uintptr_t);
}

#endif
