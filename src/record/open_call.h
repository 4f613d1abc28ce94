/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that record and have not returned. A signal handler may interrupt one and leave it for ever by siglongjmp, and a slot
 * that it had claimed would stay open: the drain, which cannot know, would wait for it for a second, and the ring fill up. So
 * each call notes its frame before it claims and forgets it when it has published; and the next call of the thread looks
 * whether a frame that is still noted can be alive. It is not, when
 *
 *     - the new call's frame lies above it on the same stack: who is called lies below, and so does a handler
 *     - or its return address is not where it was: something else lies there now
 *     - or it lay on the stack for signals and the new call is back on the thread's own
 *
 * Then the slots that were left are marked as abandoned, and the drain goes on. Only frames of the thread's own stack prove
 * anything: a program that moves between stacks of its own may come back to any of them. What cannot be proved is left to
 * the drain's time limit.
 */
#ifndef NM_RECORD_OPEN_CALL_H
#define NM_RECORD_OPEN_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "record/thread_state.h"

/* Is that frame of the thread dead? `now`: the frame that asks. Not certain: false. */
bool nm_open_frame_is_dead(nm_recorded_thread *thread, const nm_open_frame *noted, uintptr_t now);

/* The slow paths of the two below. */
unsigned nm_open_call_begin_nested(nm_recorded_thread *thread, uintptr_t frame);
void nm_open_call_end_nested(nm_recorded_thread *thread, unsigned at);

/* The ring gets another owner: nothing that was noted is alive. */
void nm_open_calls_forget(nm_recorded_thread *thread);

#endif
