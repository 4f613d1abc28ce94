/* SPDX-License-Identifier: Apache-2.0
 *
 * Each allocation is held against the moments of its heap. What is NULL compares with nothing, as in SQL: an allocation without
 * a time was not live at a moment that is told by its time.
 */
#include "export/profile_live.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "export/profile_spans.sql.h"
#include "store/allocation_rows.h"

nm_status nm_profile_live_add(nm_profile_live *live, sqlite3 *db, const char *word, uint32_t moment, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_profile_spans_row row;
    nm_status status = nm_profile_spans_ask(db, word, true, &rows, err);

    while (status == NM_OK && nm_profile_spans_next(rows, &row)) {
        status = nm_array_grow(&live->spans.items, &live->spans.capacity, live->spans.count + 1,
                               sizeof *live->spans.items, err);
        if (status == NM_OK)
            live->spans.items[live->spans.count++] =
                (nm_profile_span){row.heap_id, NM_NUMBER_OF(&row, seq), NM_NUMBER_OF(&row, ns), row.shown_ns, moment};
    }
    return nm_question_end(rows, status, err);
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_heap(const void *left, const void *right)
{
    const nm_profile_span *a = left, *b = right;
    int order = compare(a->heap_id, b->heap_id);

    return order != 0 ? order : compare(a->moment, b->moment);
}

static int by_moment(const void *left, const void *right)
{
    const nm_profile_sum *a = left, *b = right;
    int order = compare(a->moment, b->moment);

    order = order != 0 ? order : compare(a->heap_id, b->heap_id);
    order = order != 0 ? order : compare(a->stack_id, b->stack_id);
    return order != 0 ? order : a->is_baseline - b->is_baseline;
}

static nm_status find_heaps(nm_profile_live *live, nm_error *err)
{
    const nm_profile_span *spans = live->spans.items;
    nm_status status = NM_OK;

    if (live->spans.count > 1)
        qsort(live->spans.items, live->spans.count, sizeof *spans, by_heap);
    for (size_t i = 0; i < live->spans.count && status == NM_OK; i++)
        if (i == 0 || spans[i].heap_id != spans[i - 1].heap_id)
            status = nm_map_put(&live->span_of, (nm_key){0, (uint64_t)spans[i].heap_id}, i, err);
    return status;
}

static bool was_live(const nm_profile_span *span, const nm_allocation_values *row)
{
    bool is_by_time = span->seq == NM_NULL;
    bool has_begun = row->alloc_seq == NM_NULL ||
                     (is_by_time ? row->alloc_ns != NM_NULL && row->alloc_ns <= span->ns : row->alloc_seq <= span->seq);

    return has_begun && (row->end_kind == 0 || (is_by_time ? row->free_ns != NM_NULL && row->free_ns > span->ns
                                                           : row->free_seq != NM_NULL && row->free_seq > span->seq));
}

static nm_status add_up(nm_profile_live *live, size_t span, const nm_allocation_values *row, nm_error *err)
{
    nm_profile_sum sum = {.heap_id = row->heap_id,
                          .stack_id = row->stack_id,
                          .shown_ns = live->spans.items[span].shown_ns,
                          .moment = live->spans.items[span].moment,
                          .is_baseline = row->alloc_seq == NM_NULL && row->stack_id == NM_NULL};
    uint64_t at = 0;
    nm_status status =
        nm_map_number(&live->sum_of, (nm_key){span << 1 | sum.is_baseline, (uint64_t)sum.stack_id}, &at, err);

    if (status == NM_OK && at == live->sums.count) {
        status = nm_array_grow(&live->sums.items, &live->sums.capacity, live->sums.count + 1, sizeof sum, err);
        if (status == NM_OK)
            live->sums.items[live->sums.count++] = sum;
    }
    if (status != NM_OK)
        return status;
    live->sums.items[at].live_count++;
    live->sums.items[at].live_bytes += row->size_bytes;
    return NM_OK;
}

static nm_status take_row(void *context, const nm_allocation_values *row, nm_error *err)
{
    nm_profile_live *live = context;
    const uint64_t *first = nm_map_get(&live->span_of, (nm_key){0, (uint64_t)row->heap_id});
    nm_status status = NM_OK;

    for (size_t i = first == NULL ? live->spans.count : (size_t)*first;
         i < live->spans.count && live->spans.items[i].heap_id == row->heap_id && status == NM_OK; i++)
        if (was_live(&live->spans.items[i], row))
            status = add_up(live, i, row, err);
    return status;
}

nm_status nm_profile_live_read(nm_profile_live *live, sqlite3 *db, nm_error *err)
{
    static const nm_allocation_request all = {
        NM_ALLOCATIONS_ALL, "heap_id stack_id size_bytes alloc_seq alloc_ns end_kind free_seq free_ns "};
    nm_status status = find_heaps(live, err);

    if (status != NM_OK || live->spans.count == 0)
        return status;
    status = nm_allocation_rows_each(db, &all, take_row, live, err);
    if (live->sums.count > 1)
        qsort(live->sums.items, live->sums.count, sizeof *live->sums.items, by_moment);
    return status;
}

void nm_profile_live_free(nm_profile_live *live)
{
    free(live->spans.items);
    free(live->sums.items);
    nm_map_free(&live->span_of);
    nm_map_free(&live->sum_of);
    *live = (nm_profile_live){0};
}
