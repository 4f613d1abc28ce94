/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread's table of the stacks that it has already described in its ring: hash of the return addresses -> number. Five
 * levels of growing size, each mapped when the one before is full; past the last, or without memory for the next, the table
 * starts anew and stacks are described again, which the drain unifies. So memory and time are bounded, and nothing is ever
 * freed while a signal handler's victim may be reading it.
 */
#ifndef NM_RECORD_INTERN_H
#define NM_RECORD_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_INTERN_LEVELS     5
#define NM_INTERN_FIRST_BITS 8 /* slots of level 0 as a power of two; each level has four times as many */

typedef struct nm_intern_slot {
    volatile uint64_t hash; /* 0: empty; written after `id` */
    volatile uint64_t id;
} nm_intern_slot;

typedef struct nm_intern {
    nm_intern_slot *levels[NM_INTERN_LEVELS]; /* NULL: not needed yet */
    volatile uint32_t level;
    uint32_t used_count; /* in the current level */
} nm_intern;

/* Of zeroed pages that levels[0] must have. */
#define NM_INTERN_FIRST_BYTES (sizeof(nm_intern_slot) << NM_INTERN_FIRST_BITS)

/* The number of a stack, 0 when it has none. May run while a handler of the same thread inserts. */
static inline uint32_t nm_intern_find(const nm_intern *intern, uint64_t hash)
{
    uint32_t level = intern->level;
    uint64_t mask = (UINT64_C(1) << (NM_INTERN_FIRST_BITS + 2 * level)) - 1;
    const nm_intern_slot *slots = intern->levels[level];
    uint64_t index = hash & mask;

    while (slots[index].hash != 0) {
        if (slots[index].hash == hash)
            return (uint32_t)slots[index].id;
        index = (index + 1) & mask;
    }
    return 0;
}

/* One at a time: the caller keeps handlers of the same thread out. `hash` is not 0. */
void nm_intern_insert(nm_intern *intern, uint64_t hash, uint32_t id);

void nm_intern_clear(nm_intern *intern);

#endif
