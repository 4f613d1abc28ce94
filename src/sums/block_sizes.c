/* SPDX-License-Identifier: Apache-2.0
 *
 * Which sizes of blocks are asked for again, and at how many addresses they were: a number for each heap, size and address that
 * leads to the sums of the size. Addresses may be without end, so that of a recording with very many of them nothing is said
 * of the heaps that they are of: whoever asks has the rows.
 */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/number.h"
#include "sums/pass.h"

#define PLACES_MAX   (1u << 20) /* of all heaps: 64 MiB */
#define RECENT_COUNT 1024       /* a power of two */

typedef struct block_place {
    uint64_t address, size; /* place in `sizes` */
} block_place;

typedef struct block_sizes {
    nm_map size_numbers;      /* (heap_id, block_bytes) -> place in `sizes` */
    nm_map place_numbers;     /* (address, place in `sizes`) -> 1 */
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
    if (nm_map_get(&all->place_numbers, (nm_key){row->address, size}) != NULL)
        return NM_OK;
    if (all->place_numbers.count >= PLACES_MAX) {
        (*out)->is_unknown = true;
        return NM_OK;
    }
    (*out)->place_count++;
    return nm_map_put(&all->place_numbers, (nm_key){row->address, size}, 1, err);
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
    nm_map_free(&all->place_numbers);
}

const nm_row_pass nm_block_sizes = {NM_ROW_ALLOCATION, sizeof(block_sizes), take_allocation, finish, release};
