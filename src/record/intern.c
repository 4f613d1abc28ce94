/* SPDX-License-Identifier: Apache-2.0
 *
 * Growth of a thread's table of stacks; see intern.h.
 */
#include "record/intern.h"

#include "record/system.h"

static uint64_t slots_of_level(uint32_t level)
{
    return UINT64_C(1) << (NM_INTERN_FIRST_BITS + 2 * level);
}

static nm_intern_slot *level_slots(const nm_intern *intern, uint32_t level)
{
    return intern->slots + (slots_of_level(level) - slots_of_level(0)) / 3;
}

size_t nm_intern_bytes(void)
{
    return (slots_of_level(NM_INTERN_LEVELS) - slots_of_level(0)) / 3 * sizeof(nm_intern_slot);
}

static void put(nm_intern_slot *slots, uint64_t slot_count, uint64_t hash, uint64_t id)
{
    uint64_t index = hash & (slot_count - 1);

    while (slots[index].hash != 0)
        index = (index + 1) & (slot_count - 1);
    slots[index].id = id;
    slots[index].hash = hash; /* last: a handler that sees it sees the id */
}

/* The old level stays as it is: an interrupted search may still be in it. */
static void grow(nm_intern *intern)
{
    uint32_t level = intern->level;
    const nm_intern_slot *from = level_slots(intern, level);
    nm_intern_slot *to = level_slots(intern, level + 1);
    uint64_t count = slots_of_level(level);

    for (uint64_t i = 0; i < count; i++) {
        if (from[i].hash != 0)
            put(to, count * 4, from[i].hash, from[i].id);
    }
    intern->level = level + 1;
}

void nm_intern_insert(nm_intern *intern, uint64_t hash, uint32_t id)
{
    if (intern->used_count >= slots_of_level(intern->level) / 4 * 3) {
        if (intern->level + 1 < NM_INTERN_LEVELS)
            grow(intern);
        else
            nm_intern_clear(intern);
    }
    put(level_slots(intern, intern->level), slots_of_level(intern->level), hash, id);
    intern->used_count++;
}

void nm_intern_clear(nm_intern *intern)
{
    nm_system_forget(intern->slots, nm_intern_bytes());
    intern->level = 0;
    intern->used_count = 0;
}
