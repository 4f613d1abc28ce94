/* SPDX-License-Identifier: Apache-2.0
 *
 * A map from identifiers that count from 1, as those of nearly all inputs do, to places in an array: four bytes each, in an
 * array by identifier. One that is far from what has come so far goes into a hash map, so that memory grows with how many there
 * are and never with how large they are.
 */
#ifndef NM_BASE_ID_MAP_H
#define NM_BASE_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"

#define NM_ID_MAP_NONE SIZE_MAX /* no place: the identifier is not there */

typedef struct nm_id_map {
    uint32_t *near; /* owned, by identifier: the place plus one, 0 where there is none; a zeroed map is an empty one */
    size_t capacity;
    size_t count; /* of all identifiers */
    nm_map far;   /* the others */
} nm_id_map;

/* For nm_id_map_find: the identifier is not among those near. */
size_t nm_id_map_find_far(const nm_id_map *map, uint64_t id);

/* The place of the identifier, or NM_ID_MAP_NONE. */
static inline size_t nm_id_map_find(const nm_id_map *map, uint64_t id)
{
    if (id < map->capacity && map->near[id] != 0)
        return map->near[id] - 1;
    return map->far.count == 0 ? NM_ID_MAP_NONE : nm_id_map_find_far(map, id);
}

/* Adds the identifier or replaces its place. NM_ERR_LIMIT: the place is above four billion. Failure leaves the map as it was. */
nm_status nm_id_map_put(nm_id_map *map, uint64_t id, size_t place, nm_error *err);

/* Walks all identifiers, those near in their order and the others in no particular one: start with *at = 0; false at the
 * end. No put in between. */
bool nm_id_map_next(const nm_id_map *map, size_t *at, uint64_t *id);

void nm_id_map_free(nm_id_map *map); /* leaves it empty and usable */

#endif
