/* SPDX-License-Identifier: Apache-2.0
 *
 * What was allocated of each heap by each stack, as its rows have it: what cuts of mappings left over counts, segments do not.
 * A row costs a look into a small table of the sums used last; a map of each heap's stacks finds the others.
 */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/id_map.h"
#include "base/map.h"
#include "base/number.h"
#include "sums/pass.h"

#define RECENT_COUNT 256 /* a power of two */

typedef struct birth_sums {
    nm_map heap_numbers; /* heap_id -> place in `heaps` */
    nm_id_map *heaps;    /* owned; of each its stacks: stack_id -> place in `sums` */
    size_t heap_capacity;
    nm_birth_sum_row *sums; /* owned */
    size_t count, capacity;
    uint32_t recent[RECENT_COUNT]; /* place in `sums` plus one; 0: none */
} birth_sums;

static nm_status add_sum(birth_sums *all, nm_id_map *stacks, const nm_allocation_row *row, nm_error *err)
{
    nm_status status = nm_array_grow(&all->sums, &all->capacity, all->count + 1, sizeof *all->sums, err);

    if (status == NM_OK)
        status = nm_id_map_put(stacks, row->stack_id, all->count, err);
    if (status == NM_OK)
        all->sums[all->count++] = (nm_birth_sum_row){.heap_id = row->heap_id, .stack_id = row->stack_id};
    return status;
}

static nm_status find_sum(birth_sums *all, const nm_allocation_row *row, nm_birth_sum_row **out, nm_error *err)
{
    uint32_t *recent = &all->recent[(row->stack_id ^ row->heap_id << 5) & (RECENT_COUNT - 1)];
    uint64_t heap = 0;

    if (*recent != 0) {
        *out = &all->sums[*recent - 1];
        if ((*out)->stack_id == row->stack_id && (*out)->heap_id == row->heap_id)
            return NM_OK;
    }
    nm_status status = nm_map_number(&all->heap_numbers, (nm_key){0, row->heap_id}, &heap, err);
    if (status == NM_OK)
        status = nm_array_grow(&all->heaps, &all->heap_capacity, heap + 1, sizeof *all->heaps, err);
    size_t place = status == NM_OK ? nm_id_map_find(&all->heaps[heap], row->stack_id) : NM_ID_MAP_NONE;
    if (status == NM_OK && place == NM_ID_MAP_NONE) {
        place = all->count;
        status = add_sum(all, &all->heaps[heap], row, err);
    }
    if (status != NM_OK)
        return status;
    *recent = (uint32_t)place + 1;
    *out = &all->sums[place];
    return NM_OK;
}

static nm_status take_allocation(void *room, const void *told, nm_error *err)
{
    const nm_allocation_row *row = told;
    nm_birth_sum_row *sum = NULL;

    if (row->alloc_seq == NM_NO_SEQ || row->is_segment)
        return NM_OK;
    nm_status status = find_sum(room, row, &sum, err);
    if (status == NM_OK) {
        sum->allocation_count++;
        nm_sum_add(&sum->allocated_bytes, row->size_bytes);
    }
    return status;
}

static nm_status finish(const void *room, const nm_sink *sink, nm_error *err)
{
    const birth_sums *all = room;
    nm_status status = NM_OK;

    for (size_t i = 0; i < all->count && status == NM_OK; i++)
        status = nm_give_birth_sum(sink, &all->sums[i], err);
    return status;
}

static void release(void *room)
{
    birth_sums *all = room;

    for (size_t i = 0; i < all->heap_capacity; i++)
        nm_id_map_free(&all->heaps[i]);
    free(all->heaps);
    nm_map_free(&all->heap_numbers);
    free(all->sums);
}

const nm_row_pass nm_birth_sums = {NM_ROW_ALLOCATION, sizeof(birth_sums), take_allocation, finish, release};
