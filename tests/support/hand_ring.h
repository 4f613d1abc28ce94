/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes and rings made by hand from trace/ring.h alone, in a session folder: a second writer of that layout, which can
 * also stop in the middle of a record.
 */
#ifndef TESTS_SUPPORT_HAND_RING_H
#define TESTS_SUPPORT_HAND_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/ring.h"

typedef struct hand_process {
    nm_ring_process *shared;
    nm_ring_session *session;
    char folder[256];
    uint64_t number;
} hand_process;

typedef struct hand_ring {
    nm_ring *ring;
    nm_ring_session *session;
    size_t bytes;
    uint64_t thread; /* number of its owner */
} hand_ring;

/* Joins the session in `folder` as the process `pid` that started at `start_time` (field 22 of its stat). */
void hand_process_join(hand_process *process, const char *folder, int64_t pid, uint64_t start_time);
void hand_process_leave(hand_process *process); /* unmaps */
uint64_t hand_start_time(int64_t pid);

/* A process that does nothing but live until hand_mortal_end. */
typedef struct hand_mortal {
    int64_t pid;
    uint64_t start_time;
    int hold_fd;
} hand_mortal;

void hand_mortal_begin(hand_mortal *mortal);
void hand_mortal_end(hand_mortal *mortal);

/* Makes a ring with a thread of its own; `tid` is only said. */
void hand_ring_make(hand_ring *ring, hand_process *process, uint64_t slot_count, int64_t tid, const char *name);
void hand_ring_unmap(hand_ring *ring);

/* Says that another thread has the ring now. */
void hand_ring_own(hand_ring *ring, int64_t tid, const char *name);

/* The steps of a record, one by one: claim (waits for room), then publish. */
uint64_t hand_claim(hand_ring *ring, unsigned slot_count);
void hand_publish(hand_ring *ring, uint64_t position, unsigned kind, const void *payload, size_t bytes);
unsigned hand_slots(size_t bytes);

uint64_t hand_ticks(const hand_ring *ring); /* a stamp of now */

/* Whole records. A stamp of 0 is now, taken after the claim. */
uint64_t hand_alloc(hand_ring *ring, uint64_t ticks, uint32_t heap, uint64_t address, uint64_t bytes, uint32_t stack);
uint64_t hand_free(hand_ring *ring, uint64_t ticks, uint32_t heap, uint64_t address);
void hand_heap(hand_ring *ring, uint64_t local_id, uint64_t level, uint64_t device, const char *name);
void hand_module(hand_ring *ring, uint64_t base, uint64_t bytes, const char *path);
void hand_stack(hand_ring *ring, uint64_t local_id, const uint64_t *addresses, size_t depth);
void hand_loss(hand_ring *ring, uint64_t first_ticks, uint64_t last_ticks, uint64_t dropped_count);
void hand_mark(hand_ring *ring, const char *name);
void hand_put(hand_ring *ring, unsigned kind, void *payload, size_t bytes); /* sets its first word to a stamp of now */

#endif
