/* SPDX-License-Identifier: Apache-2.0
 *
 * Which sizes of blocks are asked for again, and at how many addresses they were: a number for each heap, size and address that
 * leads to the sums of the size. Addresses may be without end, so that of a recording with very many of them nothing is said
 * of the heaps that they are of: whoever asks has the rows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/number.h"
#include "sums/pass.h"

#define PLACES_MAX   (1u << 20) /* of all heaps: 32 MiB */
#define RECENT_COUNT 1024       /* a power of two */

typedef struct block_place {
    uint64_t address, size; /* place in `sizes` */
} block_place;

typedef struct block_sizes {
    nm_map size_numbers; /* (heap_id, block_bytes) -> place in `sizes` */
    block_place *places; /* owned; those that were there before: open addressing. `size` as in `recent` */
    size_t slot_count;   /* a power of two, or 0 */
    size_t place_count;  /* at most PLACES_MAX */
    uint64_t secret[2];
    nm_block_size_row *sizes; /* owned */
    size_t capacity;
    block_place recent[RECENT_COUNT]; /* `size` plus one; 0: none */
} block_sizes;

static uint64_t bytes_of(const nm_allocation_row *row)
{
    return row->block_bytes != 0 ? row->block_bytes : (row->size_bytes + 511) / 512 * 512;
}

static nm_status find_size(block_sizes *all, uint64_t heap_id, uint64_t bytes, uint64_t *out, nm_error *err)
{
    nm_status status = nm_map_number(&all->size_numbers, (nm_key){heap_id, bytes}, out, err);

    if (status == NM_OK)
        status = nm_array_grow(&all->sizes, &all->capacity, *out + 1, sizeof *all->sizes, err);
    if (status == NM_OK) {
        all->sizes[*out].heap_id = heap_id;
        all->sizes[*out].block_bytes = bytes;
    }
    return status;
}

/* ---- Places ------------------------------------------------------------------------------------------------------- */

/* The slot of the place, or the empty one where it would go, of which there is at least one. Each word with a secret in it, as in
 * base/map.c: addresses come from files. */
static block_place *slot_for(const block_sizes *all, block_place place)
{
    uint64_t high = place.size * 0x9E3779B97F4A7C15u ^ all->secret[1];
    unsigned __int128 product = (unsigned __int128)(place.address ^ all->secret[0]) * (high | 1);
    size_t at = ((uint64_t)product ^ (uint64_t)(product >> 64)) & (all->slot_count - 1);

    while (all->places[at].size != 0 &&
           (all->places[at].address != place.address || all->places[at].size != place.size))
        at = (at + 1) & (all->slot_count - 1);
    return &all->places[at];
}

static nm_status grow_places(block_sizes *all, nm_error *err)
{
    block_sizes larger = *all;

    larger.slot_count = all->slot_count == 0 ? 1024 : all->slot_count * 2;
    larger.places = calloc(larger.slot_count, sizeof *larger.places);
    if (larger.places == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (all->slot_count == 0) {
        larger.secret[0] = nm_map_secret();
        larger.secret[1] = larger.secret[0] * 0x9E3779B97F4A7C15u;
    }
    for (size_t i = 0; i < all->slot_count; i++)
        if (all->places[i].size != 0)
            *slot_for(&larger, all->places[i]) = all->places[i];
    free(all->places);
    all->places = larger.places;
    all->slot_count = larger.slot_count;
    memcpy(all->secret, larger.secret, sizeof all->secret);
    return NM_OK;
}

/* A block of the size is at the place. */
static nm_status note_place(block_sizes *all, block_place place, nm_block_size_row *size, nm_error *err)
{
    nm_status status = all->place_count + 1 > all->slot_count / 4 * 3 ? grow_places(all, err) : NM_OK;
    block_place *slot = status == NM_OK ? slot_for(all, place) : NULL;

    if (slot == NULL || slot->size != 0)
        return status;
    if (all->place_count >= PLACES_MAX) {
        size->is_unknown = true;
        return NM_OK;
    }
    *slot = place;
    all->place_count++;
    size->place_count++;
    return NM_OK;
}

/* The place of the size, and whether it had been there before is counted. */
static nm_status find_place(block_sizes *all, const nm_allocation_row *row, nm_block_size_row **out, nm_error *err)
{
    uint64_t bytes = bytes_of(row), size = 0;
    block_place *recent = &all->recent[(row->address >> 9 ^ bytes >> 9) & (RECENT_COUNT - 1)];

    if (recent->size != 0 && recent->address == row->address) {
        *out = &all->sizes[recent->size - 1];
        if ((*out)->block_bytes == bytes && (*out)->heap_id == row->heap_id)
            return NM_OK;
    }
    nm_status status = find_size(all, row->heap_id, bytes, &size, err);
    if (status != NM_OK)
        return status;
    *out = &all->sizes[size];
    *recent = (block_place){row->address, size + 1};
    return note_place(all, *recent, *out, err);
}

static void add_signed(int64_t *sum, int64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = more < 0 ? -NM_SUM_MAX : NM_SUM_MAX;
}

static nm_status take_allocation(void *room, const void *told, nm_error *err)
{
    const nm_allocation_row *row = told;
    nm_block_size_row *size = NULL;

    if (row->alloc_seq == NM_NO_SEQ || row->is_segment || row->split_from_id != 0)
        return NM_OK;
    nm_status status = find_place(room, row, &size, err);
    if (status != NM_OK)
        return status;
    size->request_count++;
    if (row->alloc_ns != NM_NO_TIME && row->free_ns != NM_NO_TIME) {
        size->timed_count++;
        add_signed(&size->life_ns, row->free_ns - row->alloc_ns);
    }
    if (row->free_seq == NM_NO_SEQ && row->alloc_ns != NM_NO_TIME) {
        size->live_count++;
        add_signed(&size->live_begin_ns, row->alloc_ns);
    }
    return NM_OK;
}

/* Of a heap of which a place was not kept there is one row, which says so. */
static nm_status give_unknown(const block_sizes *all, nm_map *unknown, const nm_sink *sink, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < all->size_numbers.count && status == NM_OK; i++) {
        nm_block_size_row row = {.heap_id = all->sizes[i].heap_id, .is_unknown = true};

        if (!all->sizes[i].is_unknown || nm_map_get(unknown, (nm_key){0, row.heap_id}) != NULL)
            continue;
        status = nm_map_put(unknown, (nm_key){0, row.heap_id}, 1, err);
        if (status == NM_OK)
            status = nm_give_block_size(sink, &row, err);
    }
    return status;
}

static nm_status finish(const void *room, const nm_sink *sink, nm_error *err)
{
    const block_sizes *all = room;
    nm_map unknown = {0};
    nm_status status = give_unknown(all, &unknown, sink, err);

    for (size_t i = 0; i < all->size_numbers.count && status == NM_OK; i++) {
        const nm_block_size_row *row = &all->sizes[i];

        if (row->request_count > row->place_count && nm_map_get(&unknown, (nm_key){0, row->heap_id}) == NULL)
            status = nm_give_block_size(sink, row, err);
    }
    nm_map_free(&unknown);
    return status;
}

static void release(void *room)
{
    block_sizes *all = room;

    free(all->sizes);
    nm_map_free(&all->size_numbers);
    free(all->places);
}

const nm_row_pass nm_block_sizes = {NM_ROW_ALLOCATION, sizeof(block_sizes), take_allocation, finish, release};
