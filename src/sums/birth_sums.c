/* SPDX-License-Identifier: Apache-2.0
 *
 * What was allocated of each heap by each stack, as its rows have it: what cuts of mappings left over counts, segments do not.
 * A row costs a look into a small table of the sums used last; a map of each heap's stacks finds the others.
 */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/number.h"
#include "sites/heap_stacks.h"
#include "sums/pass.h"

#define RECENT_COUNT 256 /* a power of two */

typedef struct birth_sums {
    nm_heap_stacks stacks;  /* their numbers are places in `sums` */
    nm_birth_sum_row *sums; /* owned */
    size_t capacity;
    uint32_t recent[RECENT_COUNT]; /* place in `sums` plus one; 0: none */
} birth_sums;

static nm_status find_sum(birth_sums *all, const nm_allocation_row *row, nm_birth_sum_row **out, nm_error *err)
{
    uint32_t *recent = &all->recent[(row->stack_id ^ row->heap_id << 5) & (RECENT_COUNT - 1)];
    size_t place = 0;

    if (*recent != 0) {
        *out = &all->sums[*recent - 1];
        if ((*out)->stack_id == row->stack_id && (*out)->heap_id == row->heap_id)
            return NM_OK;
    }
    nm_status status = nm_array_grow(&all->sums, &all->capacity, all->stacks.pair_count + 1, sizeof *all->sums, err);
    if (status == NM_OK)
        status = nm_heap_stacks_number(&all->stacks, row->heap_id, row->stack_id, &place, err);
    if (status != NM_OK)
        return status;
    *recent = (uint32_t)place + 1;
    *out = &all->sums[place];
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

    for (size_t i = 0; i < all->stacks.pair_count && status == NM_OK; i++)
        status = nm_give_birth_sum(sink, &all->sums[i], err);
    return status;
}

static void release(void *room)
{
    birth_sums *all = room;

    nm_heap_stacks_free(&all->stacks);
    free(all->sums);
}

const nm_row_pass nm_birth_sums = {NM_ROW_ALLOCATION, sizeof(birth_sums), take_allocation, finish, release};
