/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash table of numbers whose keys lie elsewhere, in eight bytes a slot: half of a hash, and the number. Numbers count from
 * 1, and none is taken out again.
 *
 *     for (nm_probe probe = nm_slots_begin(&slots, hash); (number = nm_slots_next(&slots, &probe)) != 0;)
 *         if (the key of `number` is the one that is looked for) return number;
 *     status = nm_slots_add(&slots, hash, number, err);
 *
 * Hashes have a secret of the process in them (nm_map_secret), for keys come from files.
 */
#ifndef NM_BASE_SLOTS_H
#define NM_BASE_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct nm_slots {
    uint64_t *items; /* owned; a zeroed nm_slots is an empty one */
    size_t count;
    size_t capacity; /* a power of two, or 0 */
} nm_slots;

typedef struct nm_probe {
    uint32_t hash;
    size_t at;
} nm_probe;

static inline nm_probe nm_slots_begin(const nm_slots *slots, uint64_t hash)
{
    return (nm_probe){(uint32_t)(hash ^ hash >> 32), (uint32_t)(hash ^ hash >> 32) & (slots->capacity - 1)};
}

/* The next number whose key may be the one; 0: there is none any more. */
static inline uint32_t nm_slots_next(const nm_slots *slots, nm_probe *probe)
{
    uint64_t slot;

    if (slots->count == 0)
        return 0;
    while ((slot = slots->items[probe->at]) != 0) {
        probe->at = (probe->at + 1) & (slots->capacity - 1);
        if (slot >> 32 == probe->hash)
            return (uint32_t)slot;
    }
    return 0;
}

/* NM_ERR_MEMORY leaves the table as it was. */
nm_status nm_slots_add(nm_slots *slots, uint64_t hash, uint32_t number, nm_error *err);

void nm_slots_free(nm_slots *slots); /* leaves it empty and usable */

#endif
