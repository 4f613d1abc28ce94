/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings of the process that decide how its memory behaves: told once, when it first records something. Only variables
 * on a list are read; nothing else of the environment leaves the process, and of one that holds a secret the name alone.
 */
#ifndef NM_RECORD_ATTRIBUTES_H
#define NM_RECORD_ATTRIBUTES_H

#include "record/thread_state.h"

/* Puts them into the thread's ring. By one thread of a process. */
void nm_attributes_tell(nm_recorded_thread *thread);

#endif
