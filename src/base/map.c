/* SPDX-License-Identifier: Apache-2.0
 *
 * At most three quarters full. An empty slot ends every probe, and removal moves later members of the same run back, so
 * that no markers of removed keys pile up.
 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

struct nm_map_slot {
    nm_key key;
    uint64_t value;
    bool is_used;
};

/* The kernel gives every process 16 random bytes. */
static void take_secret(uint64_t secret[2])
{
    unsigned long random = getauxval(AT_RANDOM);

    if (random != 0)
        memcpy(secret, (const void *)random, 2 * sizeof *secret);
    secret[1] |= 1; /* keys in a row stand in a row of their own, if nothing else mixes them */
}

uint64_t nm_map_secret(void)
{
    uint64_t secret[2] = {0};

    take_secret(secret);
    return secret[0] ^ secret[1];
}

/* Both halves of a product of 128 bits, each factor with a secret in it. */
static size_t home_of(const nm_map *map, nm_key key)
{
    uint64_t high = key.high * 0x9E3779B97F4A7C15u ^ map->secret[1];
    unsigned __int128 product = (unsigned __int128)(key.low ^ map->secret[0]) * high;

    return ((uint64_t)product ^ (uint64_t)(product >> 64)) & (map->capacity - 1);
}

static bool same_key(nm_key a, nm_key b)
{
    return a.high == b.high && a.low == b.low;
}

/* The slot that holds the key, or the empty one where it would go. The map has at least one empty slot. */
static nm_map_slot *slot_for(const nm_map *map, nm_key key)
{
    size_t at = home_of(map, key);

    while (map->slots[at].is_used && !same_key(map->slots[at].key, key))
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

static nm_status grow(nm_map *map, nm_error *err)
{
    nm_map larger = {.count = map->count, .capacity = map->capacity == 0 ? 16 : map->capacity * 2};

    take_secret(larger.secret);
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a map of %zu keys", map->count);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].is_used)
            *slot_for(&larger, map->slots[i].key) = map->slots[i];
    free(map->slots);
    *map = larger;
    return NM_OK;
}

uint64_t *nm_map_get(const nm_map *map, nm_key key)
{
    if (map->count == 0)
        return NULL;

    nm_map_slot *slot = slot_for(map, key);
    return slot->is_used ? &slot->value : NULL;
}

nm_status nm_map_put(nm_map *map, nm_key key, uint64_t value, nm_error *err)
{
    if (map->count + 1 > map->capacity / 4 * 3) {
        nm_status status = grow(map, err);
        if (status != NM_OK)
            return status;
    }

    nm_map_slot *slot = slot_for(map, key);
    map->count += !slot->is_used;
    *slot = (nm_map_slot){key, value, true};
    return NM_OK;
}

nm_status nm_map_number(nm_map *map, nm_key key, uint64_t *number, nm_error *err)
{
    const uint64_t *known = nm_map_get(map, key);

    *number = known == NULL ? map->count : *known;
    return known == NULL ? nm_map_put(map, key, *number, err) : NM_OK;
}

/* Moves later members of the run into the hole at `hole` where that keeps them reachable from their home. */
static void close_hole(nm_map *map, size_t hole)
{
    size_t mask = map->capacity - 1;

    for (size_t at = (hole + 1) & mask; map->slots[at].is_used; at = (at + 1) & mask) {
        size_t home = home_of(map, map->slots[at].key);

        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole].is_used = false;
}

bool nm_map_remove(nm_map *map, nm_key key, uint64_t *value)
{
    if (map->count == 0)
        return false;

    nm_map_slot *slot = slot_for(map, key);
    if (!slot->is_used)
        return false;
    if (value != NULL)
        *value = slot->value;
    close_hole(map, (size_t)(slot - map->slots));
    map->count--;
    return true;
}

bool nm_map_next(const nm_map *map, size_t *at, nm_key *key, uint64_t *value)
{
    for (; *at < map->capacity; ++*at) {
        const nm_map_slot *slot = &map->slots[*at];
        if (!slot->is_used)
            continue;
        if (key != NULL)
            *key = slot->key;
        if (value != NULL)
            *value = slot->value;
        ++*at;
        return true;
    }
    return false;
}

void nm_map_free(nm_map *map)
{
    free(map->slots);
    *map = (nm_map){0};
}

void *nm_map_pointer(const nm_map *map, nm_key key)
{
    const uint64_t *known = nm_map_get(map, key);

    return known == NULL ? NULL : (void *)(uintptr_t)*known;
}

void nm_map_free_pointers(nm_map *map)
{
    size_t at = 0;
    uint64_t value;

    while (nm_map_next(map, &at, NULL, &value))
        free((void *)(uintptr_t)value);
    nm_map_free(map);
}
