/* SPDX-License-Identifier: Apache-2.0
 *
 * What is near is decided when an identifier comes: at most four times as many as there are. Where it went it stays, so that
 * whoever looks for it looks there first, and in the hash map only where that has anything.
 */
#include "base/id_map.h"

#include <stdlib.h>

#include "base/buffer.h"

#define NEAR_AT_LEAST 1024

size_t nm_id_map_find_far(const nm_id_map *map, uint64_t id)
{
    const uint64_t *place = nm_map_get(&map->far, (nm_key){0, id});

    return place == NULL ? NM_ID_MAP_NONE : (size_t)*place;
}

static bool is_near(const nm_id_map *map, uint64_t id)
{
    return id < NEAR_AT_LEAST || id / 4 <= map->count;
}

static nm_status put_near(nm_id_map *map, uint64_t id, size_t place, nm_error *err)
{
    nm_status status = nm_array_grow(&map->near, &map->capacity, (size_t)id + 1, sizeof *map->near, err);

    if (status != NM_OK)
        return status;
    map->count += map->near[id] == 0;
    map->near[id] = (uint32_t)place + 1;
    return NM_OK;
}

nm_status nm_id_map_put(nm_id_map *map, uint64_t id, size_t place, nm_error *err)
{
    bool is_far = map->far.count > 0 && nm_map_get(&map->far, (nm_key){0, id}) != NULL;
    bool is_new_far = !is_far && !is_near(map, id);

    if (place >= UINT32_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than 4 billion places");
    if (!is_far && !is_new_far)
        return put_near(map, id, place, err);
    nm_status status = nm_map_put(&map->far, (nm_key){0, id}, place, err);
    map->count += status == NM_OK && is_new_far;
    return status;
}

bool nm_id_map_next(const nm_id_map *map, size_t *at, uint64_t *id)
{
    size_t slot = *at < map->capacity ? 0 : *at - map->capacity;
    nm_key key;

    for (; *at < map->capacity; ++*at) {
        if (map->near[*at] == 0)
            continue;
        *id = (*at)++;
        return true;
    }
    if (!nm_map_next(&map->far, &slot, &key, NULL))
        return false;
    *at = map->capacity + slot;
    *id = key.low;
    return true;
}

void nm_id_map_free(nm_id_map *map)
{
    free(map->near);
    nm_map_free(&map->far);
    *map = (nm_id_map){0};
}
