/* SPDX-License-Identifier: Apache-2.0 */
#include "store/cost_sums.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/number.h"

#define PART_BITS 5 /* NM_COST_PARTS is 2 to the power of it */

/* The row of the histogram that the cost belongs to. */
static nm_cost_bucket bucket_of(uint64_t heap_id, uint64_t cost_ns)
{
    int octave = nm_log2(cost_ns);
    int shift = octave < PART_BITS ? 0 : octave - PART_BITS;
    uint64_t min_ns = cost_ns >> shift << shift;

    return (nm_cost_bucket){
        .heap_id = heap_id, .octave = octave, .min_ns = min_ns, .max_ns = min_ns + (UINT64_C(1) << shift) - 1};
}

static nm_status count_call(nm_cost_sums *sums, uint64_t heap_id, uint64_t cost_ns, nm_error *err)
{
    nm_cost_bucket made = bucket_of(heap_id, cost_ns);
    uint64_t index = 0;
    nm_status status = nm_map_number(&sums->bucket_of, (nm_key){heap_id, made.min_ns}, &index, err);

    if (status == NM_OK && index == sums->buckets.count) {
        status = nm_array_grow(&sums->buckets.items, &sums->buckets.capacity, index + 1, sizeof made, err);
        if (status == NM_OK)
            sums->buckets.items[sums->buckets.count++] = made;
    }
    if (status == NM_OK) {
        sums->buckets.items[index].call_count++;
        nm_sum_add(&sums->buckets.items[index].cost_ns, cost_ns);
    }
    return status;
}

static nm_status find_heap(nm_cost_sums *sums, uint64_t heap_id, nm_heap_cost **out, nm_error *err)
{
    uint64_t index = sums->recent;
    nm_status status = NM_OK;

    if (sums->heaps.count == 0 || sums->heaps.items[index].heap_id != heap_id)
        status = nm_map_number(&sums->heap_of, (nm_key){0, heap_id}, &index, err);
    if (status == NM_OK && index == sums->heaps.count) {
        status = nm_array_grow(&sums->heaps.items, &sums->heaps.capacity, index + 1, sizeof **out, err);
        if (status == NM_OK)
            sums->heaps.items[sums->heaps.count++] = (nm_heap_cost){.heap_id = heap_id};
    }
    if (status == NM_OK) {
        sums->recent = index;
        *out = &sums->heaps.items[index];
    }
    return status;
}

static bool is_slower(const nm_slow_call *a, const nm_slow_call *b)
{
    return a->cost_ns != b->cost_ns ? a->cost_ns > b->cost_ns : a->allocation_id < b->allocation_id;
}

static nm_status keep_slow(nm_heap_cost *heap, const nm_allocation_row *row, uint64_t cost_ns, nm_error *err)
{
    nm_slow_call call = {
        .cost_ns = cost_ns,
        .allocation_id = row->allocation_id,
        .size_bytes = row->size_bytes,
        .stack_id = row->stack_id,
        .thread_id = row->thread_id,
        .seq = row->alloc_seq,
        .ns = row->alloc_ns,
        .is_segment = row->is_segment,
    };
    size_t at = heap->slowest_count;
    nm_status status;

    if (at == NM_SLOWEST_CALLS_MAX && !is_slower(&call, &heap->slowest[at - 1]))
        return NM_OK;
    if (at < NM_SLOWEST_CALLS_MAX) {
        status = nm_array_grow(&heap->slowest, &heap->slowest_capacity, at + 1, sizeof call, err);
        if (status != NM_OK)
            return status;
        heap->slowest_count++;
    } else {
        at--;
    }
    for (; at > 0 && is_slower(&call, &heap->slowest[at - 1]); at--)
        heap->slowest[at] = heap->slowest[at - 1];
    heap->slowest[at] = call;
    return NM_OK;
}

/* Most calls are not among the slowest, and never will be. */
static bool may_be_slow(const nm_heap_cost *heap, uint64_t cost_ns)
{
    return heap->slowest_count < NM_SLOWEST_CALLS_MAX || cost_ns >= heap->slowest[NM_SLOWEST_CALLS_MAX - 1].cost_ns;
}

nm_status nm_cost_sums_allocation(nm_cost_sums *sums, const nm_allocation_row *row, nm_error *err)
{
    uint64_t cost_ns = row->cost_ns < NM_SUM_MAX ? row->cost_ns : NM_SUM_MAX;
    nm_heap_cost *heap = NULL;
    nm_status status = find_heap(sums, row->heap_id, &heap, err);

    if (status != NM_OK)
        return status;
    heap->call_count++;
    nm_sum_add(&heap->cost_ns, cost_ns);
    if (may_be_slow(heap, cost_ns))
        status = keep_slow(heap, row, cost_ns, err);
    return status == NM_OK ? count_call(sums, row->heap_id, cost_ns, err) : status;
}

nm_heap_cost nm_cost_sums_of(const nm_cost_sums *sums, uint64_t heap_id)
{
    const uint64_t *known = nm_map_get(&sums->heap_of, (nm_key){0, heap_id});

    return known == NULL ? (nm_heap_cost){0} : sums->heaps.items[*known];
}

void nm_cost_sums_free(nm_cost_sums *sums)
{
    for (size_t index = 0; index < sums->heaps.count; index++)
        free(sums->heaps.items[index].slowest);
    free(sums->heaps.items);
    free(sums->buckets.items);
    nm_map_free(&sums->heap_of);
    nm_map_free(&sums->bucket_of);
    *sums = (nm_cost_sums){0};
}
