/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests come in the order of events but for a few that are late, so a request's row is nearly always among the last
 * ones: it is looked for from the end.
 */
#include "analysis/hit_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

#define ROWS_MAX 3072 /* of a pool: at least 512 parts where there are 3 buckets in each */

static int64_t begin_of(int64_t seq, unsigned shift)
{
    return (int64_t)((uint64_t)seq >> shift << shift);
}

static void join(nm_hit_part_row *row, const nm_hit_part_row *next)
{
    if (next->first_seq < row->first_seq) {
        row->first_seq = next->first_seq;
        row->first_ns = next->first_ns;
    }
    row->allocation_count += next->allocation_count;
    row->miss_count += next->miss_count;
}

/* Where the row of the part and bucket is, or else where it has to be. */
static size_t find(const nm_hit_parts *parts, size_t count, int64_t begin_seq, uint64_t bucket, bool *is_there)
{
    size_t at = count;

    *is_there = false;
    while (at > 0 && parts->items[at - 1].begin_seq > begin_seq)
        at--;
    for (size_t i = at; i > 0 && parts->items[i - 1].begin_seq == begin_seq; i--)
        if (parts->items[i - 1].bucket == bucket) {
            *is_there = true;
            return i - 1;
        }
    return at;
}

/* Parts of twice as many events, in place: what is written is never ahead of what is read. */
static void halve(nm_hit_parts *parts)
{
    size_t count = 0;

    parts->shift++;
    for (size_t i = 0; i < parts->count; i++) {
        nm_hit_part_row row = parts->items[i];
        bool is_there;
        size_t at;

        row.begin_seq = begin_of(row.begin_seq, parts->shift);
        at = find(parts, count, row.begin_seq, row.bucket, &is_there);
        if (is_there)
            join(&parts->items[at], &row);
        else
            parts->items[count++] = row;
    }
    parts->count = count;
}

nm_status nm_hit_parts_add(nm_hit_parts *parts, const nm_live *request, int bucket, nm_error *err)
{
    nm_hit_part_row row = {
        .heap_id = request->heap->id,
        .begin_seq = begin_of(request->row.alloc_seq, parts->shift),
        .bucket = (uint64_t)bucket,
        .first_seq = request->row.alloc_seq,
        .first_ns = request->row.alloc_ns,
        .allocation_count = 1,
        .miss_count = request->row.is_miss == 1,
    };
    bool is_there;
    size_t at = find(parts, parts->count, row.begin_seq, row.bucket, &is_there);
    nm_status status;

    if (is_there) {
        join(&parts->items[at], &row);
        return NM_OK;
    }
    status = nm_array_grow(&parts->items, &parts->capacity, parts->count + 1, sizeof *parts->items, err);
    if (status != NM_OK)
        return status;
    memmove(&parts->items[at + 1], &parts->items[at], (parts->count - at) * sizeof *parts->items);
    parts->items[at] = row;
    parts->count++;
    while (parts->count > ROWS_MAX)
        halve(parts);
    return NM_OK;
}

nm_status nm_hit_parts_give(const nm_hit_parts *parts, const nm_sink *sink, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < parts->count && status == NM_OK; i++) {
        nm_hit_part_row row = parts->items[i];

        row.event_count = INT64_C(1) << parts->shift;
        status = nm_give_hit_part(sink, &row, err);
    }
    return status;
}

void nm_hit_parts_free(nm_hit_parts *parts)
{
    free(parts->items);
    *parts = (nm_hit_parts){0};
}
