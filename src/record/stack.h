/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks: walked by frame pointers within the bounds of the thread's stack, so that no wild pointer is followed, and
 * described once per thread.
 */
#ifndef NM_RECORD_STACK_H
#define NM_RECORD_STACK_H

#include "record/thread_state.h"

/* The thread's number for the stack that `frame` (__builtin_frame_address(0) of the function that the program called)
 * returns into; 0: none. A stack met for the first time is put into the ring. */
uint32_t nm_stack_number(nm_recorded_thread *thread, const void *frame);

#endif
