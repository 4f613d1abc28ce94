/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows by heap and group of steps. When they are too many, groups become twice as long and neighbours are joined in
 * place: sums add up, peaks are the larger, what is live is the later one's. What was before the first step is never
 * joined with a step.
 */
#include "watch/step_totals.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buffer.h"

#define SHIFT_MAX 32

/* What was before the first step (generation 0) stays apart. */
static nm_key key_of(const nm_step_totals *totals, const nm_step_total_row *row)
{
    uint64_t group = row->generation <= 0 ? 0 : ((uint64_t)(row->generation - 1) >> totals->shift) + 1;

    return (nm_key){row->heap_id, group};
}

/* `next` follows `row`. */
static void join(nm_step_total_row *row, const nm_step_total_row *next)
{
    assert(row->heap_id == next->heap_id && row->last_generation <= next->last_generation);
    row->last_generation = next->last_generation;
    row->end_seq = next->end_seq;
    row->end_ns = next->end_ns;
    row->allocation_count += next->allocation_count;
    row->free_count += next->free_count;
    row->allocated_bytes += next->allocated_bytes;
    row->freed_bytes += next->freed_bytes;
    row->miss_count += next->miss_count;
    if (next->peak_bytes > row->peak_bytes)
        row->peak_bytes = next->peak_bytes;
    if (next->peak_reserved_bytes > row->peak_reserved_bytes)
        row->peak_reserved_bytes = next->peak_reserved_bytes;
    row->driver_call_count += next->driver_call_count;
    row->live_bytes = next->live_bytes;
    row->live_count = next->live_count;
}

static nm_status add(nm_step_totals *totals, const nm_step_total_row *row, nm_error *err)
{
    nm_key key = key_of(totals, row);
    const uint64_t *known = nm_map_get(&totals->index, key);
    nm_status status;

    if (known != NULL) {
        join(&totals->items[*known], row);
        return NM_OK;
    }
    status = nm_array_grow(&totals->items, &totals->capacity, totals->count + 1, sizeof *totals->items, err);
    if (status == NM_OK)
        status = nm_map_put(&totals->index, key, totals->count, err);
    if (status == NM_OK)
        totals->items[totals->count++] = *row;
    return status;
}

/* Joins rows in place: what is written is never ahead of what is read. */
static nm_status halve(nm_step_totals *totals, nm_error *err)
{
    size_t count = totals->count;
    nm_status status = NM_OK;

    totals->shift++;
    totals->count = 0;
    nm_map_free(&totals->index);
    for (size_t i = 0; i < count && status == NM_OK; i++) {
        nm_step_total_row row = totals->items[i];

        status = add(totals, &row, err);
    }
    return status;
}

nm_status nm_step_totals_add(nm_step_totals *totals, const nm_step_total_row *row, nm_error *err)
{
    nm_status status = add(totals, row, err);

    while (status == NM_OK && totals->limit != 0 && totals->count > totals->limit && totals->shift < SHIFT_MAX)
        status = halve(totals, err);
    return status;
}

void nm_step_totals_free(nm_step_totals *totals)
{
    free(totals->items);
    nm_map_free(&totals->index);
    *totals = (nm_step_totals){0};
}
