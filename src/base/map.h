/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash map from a pair of 64-bit numbers to a 64-bit number (an index, an identifier or a pointer): open addressing,
 * linear probing, removal by shifting back, so that it never slows down with age. Keys that are one small number, as most
 * inputs number what they define, stand in an array by that number instead. Calls malloc: not for use inside the recorded
 * program.
 */
#ifndef NM_BASE_MAP_H
#define NM_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct nm_key {
    uint64_t high; /* 0 where one number is enough */
    uint64_t low;
} nm_key;

typedef struct nm_map_slot nm_map_slot;

typedef struct nm_map {
    nm_map_slot *slots; /* owned; a zeroed nm_map is an empty one */
    size_t count;       /* of keys in all */
    size_t capacity;    /* a power of two, or 0 */
    uint64_t secret[2];
    uint64_t *dense; /* owned; values of the keys {0, low} with a low below dense_limit, which stand nowhere else */
    uint64_t *dense_bits; /* owned; which of them are there */
    size_t dense_limit;   /* a multiple of 64; in proportion to dense_count */
    size_t dense_count;   /* of them, that are there */
} nm_map;

/* A number that is another one in each process: keys come from files, whose author must not know where in a table they
 * stand, or all of them stand in one place. */
uint64_t nm_map_secret(void);

uint64_t *nm_map_find(const nm_map *map, nm_key key); /* of a key that is not dense: for nm_map_get */

/* The place of the key's value, or NULL. Valid until the next put or remove. */
static inline uint64_t *nm_map_get(const nm_map *map, nm_key key)
{
    if (key.high != 0 || key.low >= map->dense_limit)
        return nm_map_find(map, key);
    return (map->dense_bits[key.low / 64] >> key.low % 64 & 1) == 0 ? NULL : &map->dense[key.low];
}

/* Adds the key or replaces its value. NM_ERR_MEMORY leaves the map as it was. */
nm_status nm_map_put(nm_map *map, nm_key key, uint64_t value, nm_error *err);

/*
 * Numbers keys from 0, in the order in which they first come; of a map to which nothing else puts, and that loses none. With
 * an array beside it: the key is new where *number is the array's count.
 */
nm_status nm_map_number(nm_map *map, nm_key key, uint64_t *number, nm_error *err);

/* Removes the key and gives its value in *value (NULL is fine); false when it is not there. */
bool nm_map_remove(nm_map *map, nm_key key, uint64_t *value);

/* Walks all pairs in no particular order: start with *at = 0; false at the end. No put or remove in between. */
bool nm_map_next(const nm_map *map, size_t *at, nm_key *key, uint64_t *value);

void nm_map_free(nm_map *map); /* leaves it empty and usable */

/* Of a map whose values are pointers: the one of the key, or NULL; and free() of each of them and of the map. */
static inline void *nm_map_pointer(const nm_map *map, nm_key key)
{
    const uint64_t *known = nm_map_get(map, key);

    return known == NULL ? NULL : (void *)(uintptr_t)*known;
}
void nm_map_free_pointers(nm_map *map);

#endif
