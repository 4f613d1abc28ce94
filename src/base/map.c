/* SPDX-License-Identifier: Apache-2.0
 *
 * At most three quarters full. An empty slot ends every probe, and removal moves later members of the same run back, so
 * that no markers of removed keys pile up.
 *
 * A slot has its key XORed with a secret, so that an empty one is all zero: one of 2^128 keys would look like that, and nobody
 * knows which.
 *
 * The array of dense keys grows when a key comes that is at most DENSE_RATIO times as large as the number of those that are
 * there: keys 1, 2, 3, ... all go into it, and keys that anybody may choose cost no more than in the table.
 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define DENSE_RATIO 4
#define DENSE_LEAST 128 /* keys; a multiple of the bits of a word */

struct nm_map_slot {
    nm_key hidden; /* as hide() makes it; all zero: empty */
    uint64_t value;
};

/* The kernel gives every process 16 random bytes. */
static void take_secret(uint64_t secret[2])
{
    unsigned long random = getauxval(AT_RANDOM);

    secret[0] = UINT64_C(0xA0761D6478BD642F); /* should it give none; zeros would make keys of zeros look empty */
    secret[1] = UINT64_C(0xE7037ED1A0B428DB);
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

/* And the key again. */
static nm_key hide(const nm_map *map, nm_key key)
{
    return (nm_key){key.high ^ map->secret[1], key.low ^ map->secret[0]};
}

static bool is_empty(const nm_map_slot *slot)
{
    return (slot->hidden.high | slot->hidden.low) == 0;
}

/* Both halves of a product of 128 bits, each factor with a secret in it. */
static size_t home_of(const nm_map *map, nm_key hidden)
{
    unsigned __int128 product = (unsigned __int128)hidden.low * hidden.high;

    return ((uint64_t)product ^ (uint64_t)(product >> 64)) & (map->capacity - 1);
}

/* The slot that holds the key, or the empty one where it would go. The map has at least one empty slot. */
static inline nm_map_slot *slot_for(const nm_map *map, nm_key hidden)
{
    size_t at = home_of(map, hidden);

    while ((map->slots[at].hidden.low != hidden.low || map->slots[at].hidden.high != hidden.high) &&
           !is_empty(&map->slots[at]))
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

__attribute__((noinline, cold)) static nm_status grow(nm_map *map, nm_error *err)
{
    nm_map larger = *map;

    larger.capacity = map->capacity == 0 ? 16 : map->capacity * 2;
    if (map->capacity == 0)
        take_secret(larger.secret);
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a map of %zu keys", map->count);
    for (size_t i = 0; i < map->capacity; i++)
        if (!is_empty(&map->slots[i]))
            *slot_for(&larger, map->slots[i].hidden) = map->slots[i];
    free(map->slots);
    *map = larger;
    return NM_OK;
}

/* Moves later members of the run into the hole at `hole` where that keeps them reachable from their home. */
static void close_hole(nm_map *map, size_t hole)
{
    size_t mask = map->capacity - 1;

    for (size_t at = (hole + 1) & mask; !is_empty(&map->slots[at]); at = (at + 1) & mask) {
        size_t home = home_of(map, map->slots[at].hidden);

        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole] = (nm_map_slot){0};
}

/* ---- Dense keys ---- */

static bool is_dense(const nm_map *map, nm_key key)
{
    return key.high == 0 && key.low < map->dense_limit;
}

static void put_dense(nm_map *map, uint64_t low, uint64_t value)
{
    uint64_t *bits = &map->dense_bits[low / 64], bit = UINT64_C(1) << low % 64;

    map->dense_count += (*bits & bit) == 0;
    map->count += (*bits & bit) == 0;
    *bits |= bit;
    map->dense[low] = value;
}

/* Those of the table that have become dense. */
static void move_to_dense(nm_map *map)
{
    for (size_t at = 0; at < map->capacity && map->count > map->dense_count;) {
        const nm_map_slot slot = map->slots[at];
        nm_key key = hide(map, slot.hidden);

        if (is_empty(&slot) || !is_dense(map, key)) {
            at++;
            continue;
        }
        close_hole(map, at); /* what it moves here is looked at next */
        map->count--;
        put_dense(map, key.low, slot.value);
    }
}

/* Makes room for a key that is no larger than those there are let expect. NM_ERR_MEMORY leaves the map as it was. */
static nm_status grow_dense(nm_map *map, uint64_t low, nm_error *err)
{
    size_t limit = map->dense_limit == 0 ? DENSE_LEAST : map->dense_limit;

    if (low >= DENSE_LEAST && low >= DENSE_RATIO * (map->dense_count + 1))
        return NM_OK;
    while (limit <= low)
        limit *= 2;
    uint64_t *dense = realloc(map->dense, limit * sizeof *dense);
    if (dense != NULL)
        map->dense = dense;
    uint64_t *bits = dense == NULL ? NULL : realloc(map->dense_bits, limit / 8);
    if (bits == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a map of %zu keys", map->count);
    memset((char *)bits + map->dense_limit / 8, 0, (limit - map->dense_limit) / 8);
    map->dense_bits = bits;
    map->dense_limit = limit;
    move_to_dense(map);
    return NM_OK;
}

/* ---- All keys ---- */

uint64_t *nm_map_find(const nm_map *map, nm_key key)
{
    if (map->capacity == 0)
        return NULL;

    nm_map_slot *slot = slot_for(map, hide(map, key));
    return is_empty(slot) ? NULL : &slot->value;
}

nm_status nm_map_put(nm_map *map, nm_key key, uint64_t value, nm_error *err)
{
    nm_status status = NM_OK;

    if (key.high == 0 && key.low >= map->dense_limit)
        status = grow_dense(map, key.low, err);
    if (status == NM_OK && is_dense(map, key)) {
        put_dense(map, key.low, value);
        return NM_OK;
    }
    if (status == NM_OK && map->count - map->dense_count + 1 > map->capacity / 4 * 3)
        status = grow(map, err);
    if (status != NM_OK)
        return status;

    nm_key hidden = hide(map, key);
    nm_map_slot *slot = slot_for(map, hidden);
    map->count += is_empty(slot);
    *slot = (nm_map_slot){hidden, value};
    return NM_OK;
}

nm_status nm_map_number(nm_map *map, nm_key key, uint64_t *number, nm_error *err)
{
    const uint64_t *known = nm_map_get(map, key);

    *number = known == NULL ? map->count : *known;
    return known == NULL ? nm_map_put(map, key, *number, err) : NM_OK;
}

static bool remove_dense(nm_map *map, uint64_t low, uint64_t *value)
{
    uint64_t *bits = &map->dense_bits[low / 64], bit = UINT64_C(1) << low % 64;

    if ((*bits & bit) == 0)
        return false;
    if (value != NULL)
        *value = map->dense[low];
    *bits &= ~bit;
    map->dense_count--;
    map->count--;
    return true;
}

bool nm_map_remove(nm_map *map, nm_key key, uint64_t *value)
{
    if (is_dense(map, key))
        return remove_dense(map, key.low, value);
    if (map->capacity == 0)
        return false;

    nm_map_slot *slot = slot_for(map, hide(map, key));
    if (is_empty(slot))
        return false;
    if (value != NULL)
        *value = slot->value;
    close_hole(map, (size_t)(slot - map->slots));
    map->count--;
    return true;
}

/* Dense keys come first, then slots. */
bool nm_map_next(const nm_map *map, size_t *at, nm_key *key, uint64_t *value)
{
    for (; *at < map->dense_limit + map->capacity; ++*at) {
        bool is_slot = *at >= map->dense_limit;
        const nm_map_slot *slot = is_slot ? &map->slots[*at - map->dense_limit] : NULL;

        if (is_slot ? is_empty(slot) : (map->dense_bits[*at / 64] >> *at % 64 & 1) == 0)
            continue;
        if (key != NULL)
            *key = is_slot ? hide(map, slot->hidden) : (nm_key){0, *at};
        if (value != NULL)
            *value = is_slot ? slot->value : map->dense[*at];
        ++*at;
        return true;
    }
    return false;
}

void nm_map_free(nm_map *map)
{
    free(map->slots);
    free(map->dense);
    free(map->dense_bits);
    *map = (nm_map){0};
}

void nm_map_free_pointers(nm_map *map)
{
    size_t at = 0;
    uint64_t value;

    while (nm_map_next(map, &at, NULL, &value))
        free((void *)(uintptr_t)value);
    nm_map_free(map);
}
