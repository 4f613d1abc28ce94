/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread's ring and what the recorder keeps privately beside it. Both live until the process ends: a thread that ends
 * frees them for the next one, so the list only grows to the largest number of threads at one time. Any number of threads
 * is served.
 */
#ifndef NM_RECORD_THREAD_H
#define NM_RECORD_THREAD_H

#include "record/thread_state.h"

/* The first of the process's rings; walk by `next`. */
nm_recorded_thread *nm_thread_first(void);

/* Gives the calling thread a ring, with signals blocked: one that was given back, or a new one. NULL: none to be had. */
nm_recorded_thread *nm_thread_take(void);

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

/* At the first event of a thread in another recording of its process: the ring of the earlier one, which nobody reads any more, is
 * given back to the machine. With signals blocked. */
void nm_thread_detach_from_earlier(void);

#endif
