/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds live allocations by their address, and remembers for a while what ended at an address: a second free of it, or a
 * copy to it, can then be named. A place at which nothing is live stays until NM_FREED_PLACES_MAX later ones have come,
 * so that memory does not grow with the number of addresses ever used.
 */
#include "replay/places.h"

#include <stdlib.h>

#include "replay/lookup.h"
#include "replay/pass.h"

nm_place *nm_place_find(const nm_replay *replay, uint64_t process_id, uint64_t address)
{
    nm_place *place = replay->scratch->place;

    if (place != NULL && place->address == address && place->process_id == process_id)
        return place;
    const uint64_t *known = nm_map_get(&replay->places, (nm_key){process_id, address});
    if (known == NULL)
        return NULL;
    return replay->scratch->place = (nm_place *)(uintptr_t)*known;
}

nm_live *nm_place_live_of(const nm_place *place, const nm_heap *heap)
{
    nm_live *live = place == NULL ? NULL : place->live;

    while (live != NULL && live->heap != heap)
        live = live->next_here;
    return live;
}

static void unlist(nm_replay *replay, nm_place *place)
{
    if (!place->is_idle)
        return;
    if (place->older != NULL)
        place->older->newer = place->newer;
    else
        replay->oldest_idle = place->newer;
    if (place->newer != NULL)
        place->newer->older = place->older;
    else
        replay->newest_idle = place->older;
    place->is_idle = false;
    replay->idle_count--;
}

static void forget(nm_replay *replay, nm_place *place)
{
    unlist(replay, place);
    if (place->replaced != NULL)
        place->replaced->place = NULL;
    if (replay->scratch->place == place)
        replay->scratch->place = NULL;
    nm_map_remove(&replay->places, (nm_key){place->process_id, place->address}, NULL);
    free(place);
}

static void list_as_idle(nm_replay *replay, nm_place *place)
{
    place->older = replay->newest_idle;
    place->newer = NULL;
    if (replay->newest_idle != NULL)
        replay->newest_idle->newer = place;
    else
        replay->oldest_idle = place;
    replay->newest_idle = place;
    place->is_idle = true;
    replay->idle_count++;
    if (replay->idle_count > NM_FREED_PLACES_MAX)
        forget(replay, replay->oldest_idle);
}

static nm_place *make_place(nm_replay *replay, uint64_t process_id, uint64_t address, nm_error *err)
{
    nm_place *place = nm_replay_allocate(nm_runs_bytes_of(replay, NM_OWNER_PLACE), err);

    if (place == NULL)
        return NULL;
    place->process_id = process_id;
    place->address = address;
    place->freed_seq = NM_NO_SEQ;
    if (nm_map_put(&replay->places, (nm_key){process_id, address}, (uintptr_t)place, err) != NM_OK) {
        free(place);
        return NULL;
    }
    return place;
}

nm_status nm_place_put(nm_replay *replay, nm_live *live, nm_error *err)
{
    uint64_t process_id = live->heap->process->id;
    nm_place *place = nm_place_find(replay, process_id, nm_live_address(live));

    if (place == NULL)
        place = make_place(replay, process_id, nm_live_address(live), err);
    if (place == NULL)
        return NM_ERR_MEMORY;
    unlist(replay, place);
    if (place->freed_heap_id == live->heap->id)
        place->freed_allocation_id = 0;
    live->next_here = place->live;
    place->live = live;
    live->place = place;
    return NM_OK;
}

void nm_place_take(nm_replay *replay, nm_live *live)
{
    nm_place *place = live->place;
    nm_live **link = &place->live;

    while (*link != live)
        link = &(*link)->next_here;
    *link = live->next_here;
    live->next_here = NULL;
    live->place = NULL;
    if (place->live == NULL)
        list_as_idle(replay, place);
}

void nm_places_free(nm_replay *replay)
{
    size_t at = 0;
    uint64_t value;

    while (nm_map_next(&replay->places, &at, NULL, &value))
        free((nm_place *)(uintptr_t)value);
    nm_map_free(&replay->places);
}
