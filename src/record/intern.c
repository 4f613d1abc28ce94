/* SPDX-License-Identifier: Apache-2.0
 *
 * Growth of a thread's table of stacks; see intern.h.
 */
#include "record/intern.h"

#include <assert.h>

#include "record/system.h"

static uint64_t slots_of_level(uint32_t level)
{
    return UINT64_C(1) << (NM_INTERN_FIRST_BITS + 2 * level);
}

static size_t bytes_of_level(uint32_t level)
{
    return slots_of_level(level) * sizeof(nm_intern_slot);
}

static void put(nm_intern_slot *slots, uint64_t slot_count, uint64_t hash, uint64_t id)
{
    uint64_t index = hash & (slot_count - 1);

    while (slots[index].hash != 0)
        index = (index + 1) & (slot_count - 1);
    slots[index].id = id;
    slots[index].hash = hash; /* last: a handler that sees it sees the id */
}

/* The old level stays as it is: an interrupted search may still be in it. False: there is no next one. */
static bool grow(nm_intern *intern)
{
    uint32_t level = intern->level;
    const nm_intern_slot *from = intern->levels[level];
    uint64_t count = slots_of_level(level);
    nm_intern_slot *to;

    if (level + 1 == NM_INTERN_LEVELS)
        return false;
    if (intern->levels[level + 1] == NULL)
        intern->levels[level + 1] = nm_system_memory(bytes_of_level(level + 1));
    to = intern->levels[level + 1];
    if (to == NULL)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (from[i].hash != 0)
            put(to, count * 4, from[i].hash, from[i].id);
    }
    intern->level = level + 1;
    return true;
}

void nm_intern_insert(nm_intern *intern, uint64_t hash, uint32_t id)
{
    assert(intern->levels[0] != NULL && hash != 0);
    if (intern->used_count >= slots_of_level(intern->level) / 4 * 3 && !grow(intern))
        nm_intern_clear(intern);
    put(intern->levels[intern->level], slots_of_level(intern->level), hash, id);
    intern->used_count++;
}

void nm_intern_clear(nm_intern *intern)
{
    for (uint32_t level = 0; level < NM_INTERN_LEVELS && intern->levels[level] != NULL; level++)
        nm_system_forget(intern->levels[level], bytes_of_level(level));
    intern->level = 0;
    intern->used_count = 0;
}
