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

/* For what follows: a frame that is not known to be on the stack. Where it is open and goes down to there, its begin moves. */
bool nm_own_stack_reaches(nm_recorded_thread *thread, uintptr_t frame) __attribute__((noinline, cold));

static inline bool nm_own_stack_has(const nm_recorded_thread *thread, uintptr_t frame)
{
    return frame >= thread->stack_begin && frame < thread->stack_end &&
           thread->stack_end - frame >= 2 * sizeof(uintptr_t);
}

/* Is that the frame of a call on the stack: may its two words be read, and what they lead to? */
static inline bool nm_own_stack_holds(nm_recorded_thread *thread, uintptr_t frame)
{
    return nm_likely(nm_own_stack_has(thread, frame)) || nm_own_stack_reaches(thread, frame);
}

/* The bounds of another stack that the thread is on: one for signals, a coroutine's. Looked up in the text, and kept for a few of
 * them; false: it is not known, and `may_look` is false or it was looked often just now. Not from a handler that interrupted
 * that in the same thread. What is kept may be out of date: only what is known to be a frame may be read by it. */
bool nm_own_stack_other(nm_recorded_thread *thread, uintptr_t address, bool may_look, uintptr_t *begin, uintptr_t *end);

#endif
