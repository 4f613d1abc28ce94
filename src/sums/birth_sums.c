/* SPDX-License-Identifier: Apache-2.0
 *
 * What was allocated of each heap by each stack, as its rows have it: what cuts of mappings left over counts, segments do not.
 * A row costs a look into a small table of the sums used last; a map finds the others.
 */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/number.h"
#include "sums/pass.h"

#define RECENT_COUNT 256 /* a power of two */

typedef struct birth_sums {
    nm_map numbers;         /* (heap_id, stack_id) -> place in `sums` */
    nm_birth_sum_row *sums; /* owned */
    size_t capacity;
    uint32_t recent[RECENT_COUNT]; /* place in `sums` plus one; 0: none */
} birth_sums;

static nm_status find_sum(birth_sums *all, const nm_allocation_row *row, nm_birth_sum_row **out, nm_error *err)
{
    uint32_t *recent = &all->recent[(row->stack_id ^ row->heap_id << 5) & (RECENT_COUNT - 1)];
    uint64_t number = 0;

    if (*recent != 0) {
        *out = &all->sums[*recent - 1];
        if ((*out)->stack_id == row->stack_id && (*out)->heap_id == row->heap_id)
            return NM_OK;
    }
    nm_status status = nm_map_number(&all->numbers, (nm_key){row->heap_id, row->stack_id}, &number, err);
    if (status == NM_OK)
        status = nm_array_grow(&all->sums, &all->capacity, number + 1, sizeof *all->sums, err);
    if (status != NM_OK)
        return status;
    *recent = number < UINT32_MAX ? (uint32_t)number + 1 : 0;
    *out = &all->sums[number];
    (*out)->heap_id = row->heap_id;
    (*out)->stack_id = row->stack_id;
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

    for (size_t i = 0; i < all->numbers.count && status == NM_OK; i++)
        status = nm_give_birth_sum(sink, &all->sums[i], err);
    return status;
}

static void release(void *room)
{
    birth_sums *all = room;

    free(all->sums);
    nm_map_free(&all->numbers);
}

const nm_row_pass nm_birth_sums = {NM_ROW_ALLOCATION, sizeof(birth_sums), take_allocation, finish, release};
