/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges are collected, and merged from time to time, so that a driver's heap which is asked for the same memory a million
 * times holds each range but once or twice.
 */
#include "page/axis.h"

#include <stdlib.h>

#include "base/buffer.h"

#define LANES_AT_LEAST 64

static int compare_lanes(const void *a, const void *b)
{
    const nm_page_lane *first = a, *second = b;

    return (first->begin > second->begin) - (first->begin < second->begin);
}

static void merge(nm_page_axis *axis)
{
    size_t kept = 0;

    if (axis->count > 0)
        qsort(axis->lanes, axis->count, sizeof *axis->lanes, compare_lanes);
    for (size_t i = 0; i < axis->count; i++) {
        nm_page_lane *last = kept == 0 ? NULL : &axis->lanes[kept - 1], next = axis->lanes[i];

        if (last == NULL || next.begin > last->end)
            axis->lanes[kept++] = next;
        else if (next.end > last->end)
            last->end = next.end;
    }
    axis->count = kept;
}

nm_status nm_page_axis_add(nm_page_axis *axis, int64_t address, int64_t size_bytes, nm_error *err)
{
    uint64_t begin = (uint64_t)address;
    size_t needed = axis->count + 1;
    nm_status status;

    if (size_bytes <= 0 || begin + (uint64_t)size_bytes < begin)
        return NM_OK;
    if (axis->count == axis->capacity) {
        merge(axis);
        /* Half of it is free then, or it grows: else each range would merge anew. */
        needed = 2 * axis->count + LANES_AT_LEAST;
    }
    status = nm_array_grow(&axis->lanes, &axis->capacity, needed, sizeof *axis->lanes, err);
    if (status == NM_OK)
        axis->lanes[axis->count++] = (nm_page_lane){.begin = begin, .end = begin + (uint64_t)size_bytes};
    return status;
}

void nm_page_axis_settle(nm_page_axis *axis)
{
    merge(axis);
    axis->bytes = 0;
    for (size_t i = 0; i < axis->count; i++) {
        axis->lanes[i].offset = axis->bytes;
        axis->bytes += axis->lanes[i].end - axis->lanes[i].begin;
    }
}

bool nm_page_axis_find(const nm_page_axis *axis, uint64_t address, uint64_t *offset)
{
    size_t low = 0, high = axis->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (axis->lanes[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= axis->lanes[low - 1].end)
        return false;
    *offset = axis->lanes[low - 1].offset + (address - axis->lanes[low - 1].begin);
    return true;
}

void nm_page_axis_free(nm_page_axis *axis)
{
    free(axis->lanes);
    *axis = (nm_page_axis){0};
}
