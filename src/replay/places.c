/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds live allocations by their address, and remembers for a while what ended at an address: a second free of it, or a
 * copy to it, can then be named. A place at which nothing is live stays until NM_FREED_PLACES_MAX later ones have come,
 * so that memory does not grow with the number of addresses ever used. Where there are many, what is live takes little: a
 * past is dropped once nothing in it can be asked for, which a pass says by a room that is all zero.
 */
#include "replay/places.h"

#include "replay/lookup.h"
#include "replay/pass.h"

/* Fewer keep their pasts, which are made and dropped with each event otherwise; but for those who look for faults. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PLACES_MANY 1
#else
#define PLACES_MANY (1u << 16)
#endif

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

/* ---- What ended ---------------------------------------------------------------------------------------------------- */

/* What is behind a past, in words. */
static size_t room_words(const nm_replay *replay)
{
    return (replay->pasts.item_bytes - sizeof(nm_past)) / sizeof(uint64_t);
}

nm_status nm_place_make_past(nm_replay *replay, nm_place *place, nm_error *err)
{
    nm_past *past = place->past;

    if (past != NULL)
        return NM_OK;
    past = nm_slab_take_as_is(&replay->pasts, err);
    if (past == NULL)
        return NM_ERR_MEMORY;
    *past = (nm_past){.place = place};
    for (size_t i = 0; i < room_words(replay); i++)
        ((uint64_t *)(past + 1))[i] = 0;
    place->past = past;
    return NM_OK;
}

static bool has_empty_rooms(const nm_replay *replay, const nm_past *past)
{
    uint64_t all = 0;

    for (size_t i = 0; i < room_words(replay); i++)
        all |= ((const uint64_t *)(past + 1))[i];
    return all == 0;
}

void nm_place_drop_past(nm_replay *replay, nm_place *place)
{
    nm_past *past = place->past;

    if (replay->places.count < PLACES_MANY || past == NULL || past->allocation_id != 0 || past->replaced != NULL ||
        !has_empty_rooms(replay, past))
        return;
    nm_slab_give(&replay->pasts, past);
    place->past = NULL;
}

static void unlist(nm_replay *replay, nm_past *past)
{
    if (past->older != NULL)
        past->older->newer = past->newer;
    else
        replay->oldest_idle = past->newer;
    if (past->newer != NULL)
        past->newer->older = past->older;
    else
        replay->newest_idle = past->older;
    replay->idle_count--;
}

/* The place, which is in no list. */
static void forget(nm_replay *replay, nm_place *place)
{
    if (place->past != NULL && place->past->replaced != NULL)
        place->past->replaced->place = NULL;
    if (replay->scratch->place == place)
        replay->scratch->place = NULL;
    nm_map_remove(&replay->places, (nm_key){place->process_id, place->address}, NULL);
    nm_slab_give(&replay->pasts, place->past);
    nm_slab_give(&replay->place_items, place);
}

static void list_as_idle(nm_replay *replay, nm_past *past)
{
    past->older = replay->newest_idle;
    past->newer = NULL;
    if (replay->newest_idle != NULL)
        replay->newest_idle->newer = past;
    else
        replay->oldest_idle = past;
    replay->newest_idle = past;
    replay->idle_count++;
    if (replay->idle_count > NM_FREED_PLACES_MAX) {
        nm_past *oldest = replay->oldest_idle;

        unlist(replay, oldest);
        forget(replay, oldest->place);
    }
}

/* ---- What lives ---------------------------------------------------------------------------------------------------- */

static nm_place *make_place(nm_replay *replay, uint64_t process_id, uint64_t address, nm_error *err)
{
    nm_place *place = nm_slab_take_as_is(&replay->place_items, err);

    if (place == NULL)
        return NULL;
    *place = (nm_place){.process_id = process_id, .address = address, .freed_seq = NM_NO_SEQ};
    if (nm_map_put(&replay->places, (nm_key){process_id, address}, (uintptr_t)place, err) != NM_OK) {
        nm_slab_give(&replay->place_items, place);
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
    if (place->live == NULL && place->past != NULL)
        unlist(replay, place->past);
    if (place->past != NULL && place->past->heap_id == live->heap->id)
        place->past->allocation_id = 0;
    live->next_here = place->live;
    place->live = live;
    live->place = place;
    return NM_OK;
}

void nm_place_take(nm_replay *replay, nm_live *live, const nm_context *context)
{
    nm_place *place = live->place;
    nm_past *past = place->past;
    nm_live **link = &place->live;

    while (*link != live)
        link = &(*link)->next_here;
    *link = live->next_here;
    live->next_here = NULL;
    live->place = NULL;
    if (past != NULL) { /* else memory is out */
        past->allocation_id = live->row.allocation_id;
        past->heap_id = live->heap->id;
        past->stack_id = context->stack_id;
        past->thread_id = context->thread == NULL ? 0 : context->thread->id;
    }
    place->freed_seq = context->seq;
    if (place->live != NULL)
        return;
    if (past != NULL)
        list_as_idle(replay, past);
    else
        forget(replay, place);
}

/* ---- All ----------------------------------------------------------------------------------------------------------- */

void nm_places_begin(nm_replay *replay)
{
    size_t past_bytes = nm_runs_bytes_of(replay, NM_OWNER_PAST), word = sizeof(uint64_t);

    replay->place_items = (nm_slab){.item_bytes = sizeof(nm_place), .is_packed = true};
    replay->pasts = (nm_slab){.item_bytes = (past_bytes + word - 1) / word * word, .is_packed = true};
}

void nm_places_free(nm_replay *replay)
{
    size_t at = 0;
    uint64_t value;

    while (nm_map_next(&replay->places, &at, NULL, &value)) {
        nm_place *place = (nm_place *)(uintptr_t)value;

        nm_slab_give(&replay->pasts, place->past);
        nm_slab_give(&replay->place_items, place);
    }
    nm_map_free(&replay->places);
    nm_slab_free(&replay->place_items);
    nm_slab_free(&replay->pasts);
    if (replay->scratch != NULL)
        replay->scratch->place = NULL;
}
