/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring's file. It is made as long as the session wants rings to be, but most threads never fill one: at first it has memory
 * for its first slots alone, and twice as much each time when those have been used, up to all of it. That happens on the way
 * through the ring for the first time. So a position lies in the same slot before and after it, the drain need not know, and
 * where there is no more memory to be had the ring simply is as long as what it has by then.
 */
#ifndef NM_RECORD_RING_FILE_H
#define NM_RECORD_RING_FILE_H

#include "record/thread_state.h"

/* Makes the file of that number, and fills thread->ring and what says how long it is. On failure nothing is left, and the
 * process's file says why. */
bool nm_ring_file_make(nm_recorded_thread *thread, uint64_t ring_id);

/* Slots up to slot_backed are used up: doubles it, or else slot_count becomes what it is. */
void nm_ring_file_grow(nm_recorded_thread *thread);

#endif
