/* SPDX-License-Identifier: Apache-2.0
 *
 * The dearest allocation calls of each heap, by cost and then by age: a short list that is kept in order. Most calls are not
 * among them, and a look at the last of the list says so.
 */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/number.h"
#include "sums/by_heap.h"
#include "sums/pass.h"

#define CALLS_MAX 20 /* of a heap */

typedef struct slow_heap {
    nm_slowest_call_row calls[CALLS_MAX]; /* dearest first */
    size_t count;
} slow_heap;

typedef struct slowest_calls {
    slow_heap *heaps; /* owned; by number */
    size_t capacity;
    nm_by_heap numbers;
} slowest_calls;

static bool is_slower(const nm_slowest_call_row *a, const nm_slowest_call_row *b)
{
    return a->cost_ns != b->cost_ns ? a->cost_ns > b->cost_ns : a->allocation_id < b->allocation_id;
}

static nm_status find_heap(slowest_calls *slowest, uint64_t heap_id, slow_heap **out, nm_error *err)
{
    uint64_t index = 0;
    nm_status status = nm_by_heap_find(&slowest->numbers, heap_id, &index, err);

    if (status == NM_OK)
        status = nm_array_grow(&slowest->heaps, &slowest->capacity, index + 1, sizeof **out, err);
    if (status == NM_OK)
        *out = &slowest->heaps[index];
    return status;
}

static void keep(slow_heap *heap, const nm_slowest_call_row *call)
{
    size_t at = heap->count < CALLS_MAX ? heap->count++ : CALLS_MAX - 1;

    for (; at > 0 && is_slower(call, &heap->calls[at - 1]); at--)
        heap->calls[at] = heap->calls[at - 1];
    heap->calls[at] = *call;
}

static nm_status take_allocation(void *room, const void *told, nm_error *err)
{
    const nm_allocation_row *row = told;
    slow_heap *heap = NULL;

    if (row->cost_ns == 0)
        return NM_OK;
    nm_slowest_call_row call = {
        .heap_id = row->heap_id,
        .cost_ns = row->cost_ns < NM_SUM_MAX ? row->cost_ns : NM_SUM_MAX,
        .allocation_id = row->allocation_id,
        .size_bytes = row->size_bytes,
        .stack_id = row->stack_id,
        .thread_id = row->thread_id,
        .seq = row->alloc_seq,
        .ns = row->alloc_ns,
        .is_segment = row->is_segment,
    };
    nm_status status = find_heap(room, row->heap_id, &heap, err);
    if (status == NM_OK && (heap->count < CALLS_MAX || is_slower(&call, &heap->calls[CALLS_MAX - 1])))
        keep(heap, &call);
    return status;
}

static nm_status finish(const void *room, const nm_sink *sink, nm_error *err)
{
    const slowest_calls *slowest = room;
    nm_status status = NM_OK;

    for (size_t i = 0; i < slowest->numbers.of.count; i++)
        for (size_t at = 0; at < slowest->heaps[i].count && status == NM_OK; at++) {
            nm_slowest_call_row row = slowest->heaps[i].calls[at];

            row.place = at + 1;
            status = nm_give_slowest_call(sink, &row, err);
        }
    return status;
}

static void release(void *room)
{
    slowest_calls *slowest = room;

    free(slowest->heaps);
    nm_map_free(&slowest->numbers.of);
}

const nm_row_pass nm_slowest_calls = {NM_ROW_ALLOCATION, sizeof(slowest_calls), take_allocation, finish, release};
