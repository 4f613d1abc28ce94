/* SPDX-License-Identifier: Apache-2.0
 *
 * How large the allocations of each heap are and how long they live, by the binary digits of it: a number is its own place in
 * an array, so that a row costs a few additions.
 */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/number.h"
#include "sums/by_heap.h"
#include "sums/pass.h"

#define BITS 65 /* 0 to 64 */

enum { SIZE, LIFE_SEQ, LIFE_NS, MEASURES };

static const char *const words[MEASURES] = {"size_bytes", "life_events", "life_ns"};

typedef struct bar {
    uint64_t allocation_count, size_bytes, miss_count;
} bar;

typedef struct heap_bars {
    uint64_t heap_id;
    bar bars[MEASURES][BITS];
} heap_bars;

typedef struct histograms {
    heap_bars *heaps; /* owned; by number */
    size_t capacity;
    nm_by_heap numbers;
} histograms;

static nm_status find_heap(histograms *all, uint64_t heap_id, heap_bars **out, nm_error *err)
{
    uint64_t index = 0;
    nm_status status = nm_by_heap_find(&all->numbers, heap_id, &index, err);

    if (status == NM_OK)
        status = nm_array_grow(&all->heaps, &all->capacity, index + 1, sizeof **out, err);
    if (status == NM_OK) {
        *out = &all->heaps[index];
        (*out)->heap_id = heap_id;
    }
    return status;
}

static void add(bar *to, const nm_allocation_row *row)
{
    to->allocation_count++;
    nm_sum_add(&to->size_bytes, row->size_bytes);
    to->miss_count += row->is_miss == 1;
}

/* The distance between two places or times; nothing where one is not known, or it runs backwards. */
static void add_life(bar bars[BITS], int64_t begin, int64_t end, const nm_allocation_row *row)
{
    if (begin != NM_NO_TIME && end != NM_NO_TIME && end >= begin)
        add(&bars[nm_bits_of((uint64_t)end - (uint64_t)begin)], row);
}

/* Neither the baseline nor, for sizes, what is left of a cut mapping was asked for. */
static nm_status take_allocation(void *room, const void *told, nm_error *err)
{
    const nm_allocation_row *row = told;
    heap_bars *heap = NULL;
    nm_status status = row->alloc_seq == NM_NO_SEQ ? NM_OK : find_heap(room, row->heap_id, &heap, err);

    if (heap == NULL)
        return status;
    if (row->split_from_id == 0)
        add(&heap->bars[SIZE][nm_bits_of(row->size_bytes)], row);
    if (row->end_kind != NM_END_NONE) {
        add_life(heap->bars[LIFE_SEQ], row->alloc_seq, row->free_seq, row);
        add_life(heap->bars[LIFE_NS], row->alloc_ns, row->free_ns, row);
    }
    return NM_OK;
}

static nm_status give(const heap_bars *heap, int measure, const nm_sink *sink, nm_error *err)
{
    nm_status status = NM_OK;

    for (uint64_t bits = 0; bits < BITS && status == NM_OK; bits++) {
        const bar *from = &heap->bars[measure][bits];
        nm_histogram_row row = {.heap_id = heap->heap_id,
                                .measure = words[measure],
                                .bits = bits,
                                .allocation_count = from->allocation_count,
                                .size_bytes = from->size_bytes,
                                .miss_count = from->miss_count};

        if (row.allocation_count > 0)
            status = nm_give_histogram(sink, &row, err);
    }
    return status;
}

static nm_status finish(const void *room, const nm_sink *sink, nm_error *err)
{
    const histograms *all = room;
    nm_status status = NM_OK;

    for (size_t i = 0; i < all->numbers.of.count; i++)
        for (int measure = 0; measure < MEASURES && status == NM_OK; measure++)
            status = give(&all->heaps[i], measure, sink, err);
    return status;
}

static void release(void *room)
{
    histograms *all = room;

    free(all->heaps);
    nm_map_free(&all->numbers.of);
}

const nm_row_pass nm_histograms = {NM_ROW_ALLOCATION, sizeof(histograms), take_allocation, finish, release};
