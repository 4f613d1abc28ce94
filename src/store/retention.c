/* SPDX-License-Identifier: Apache-2.0
 *
 * A list of waiting rows a heap, looked through when it has doubled, so that each row is looked at a few times at most
 * and the lists stay as long as what is live.
 */
#include "store/retention.h"

#include <stdlib.h>

#include "base/buffer.h"

#define LOOK_AFTER_ROWS 1024 /* how many more there are at least before a list is looked through again */

const char *nm_retention_name(nm_retention retention)
{
    static const char *const names[] = {[NM_RETENTION_ALL] = "all",
                                        [NM_RETENTION_LIVE] = "live",
                                        [NM_RETENTION_NONE] = "none",
                                        [NM_RETENTION_WINDOW] = "window"};

    return names[retention];
}

/* NM_NO_SEQ is the smallest number: the baseline is live at any moment before its end, also before the first event. */
static bool is_live_at(int64_t alloc_seq, int64_t free_seq, int64_t seq)
{
    return alloc_seq <= seq && free_seq > seq;
}

/* By one of the peaks that stood when `at` ended. */
static bool is_met_by(int64_t alloc_seq, int64_t free_seq, const nm_allocation_row *at)
{
    return is_live_at(alloc_seq, free_seq, at->peak_seq) || is_live_at(alloc_seq, free_seq, at->device_peak_seq) ||
           is_live_at(alloc_seq, free_seq, at->reserve_seq);
}

/* Of those that moments met. */
static nm_retention_choice judge_moments(const nm_retention_rows *rows, const nm_allocation_row *row)
{
    if (nm_id_set_has(&rows->segments, row->allocation_id))
        return NM_RETENTION_WRITE;
    if (row->moment_seq != NM_NO_SEQ && is_live_at(row->alloc_seq, row->free_seq, row->moment_seq))
        return NM_RETENTION_WRITE;
    if (is_met_by(row->alloc_seq, row->free_seq, row))
        return NM_RETENTION_WAIT;
    return NM_RETENTION_DROP;
}

/* Of what is no allocation, by the window. */
static nm_retention_choice judge_event(const nm_retention_rows *rows, nm_row_kind kind, const void *row)
{
    int64_t seq = kind == NM_ROW_COPY        ? ((const nm_copy_row *)row)->seq
                  : kind == NM_ROW_WORKSPACE ? ((const nm_workspace_row *)row)->seq
                                             : ((const nm_stream_call_row *)row)->seq;

    return rows->retention == NM_RETENTION_WINDOW && nm_window_meets(&rows->window, seq, seq) ? NM_RETENTION_WRITE
                                                                                              : NM_RETENTION_DROP;
}

static nm_retention_choice judge_allocation(const nm_retention_rows *rows, const nm_allocation_row *row)
{
    if (nm_allocation_is_kept(row))
        return NM_RETENTION_WRITE;
    if (rows->retention == NM_RETENTION_WINDOW && nm_window_meets(&rows->window, row->alloc_seq, row->free_seq))
        return NM_RETENTION_WRITE;
    return rows->retention == NM_RETENTION_NONE ? NM_RETENTION_DROP : judge_moments(rows, row);
}

nm_status nm_retention_choose(nm_retention_rows *rows, nm_row_kind kind, const void *row, nm_retention_choice *choice,
                              nm_error *err)
{
    const nm_allocation_row *allocation = row;

    if (rows->retention == NM_RETENTION_ALL || kind == NM_ROW_MISS)
        *choice = NM_RETENTION_WRITE;
    else
        *choice = kind == NM_ROW_ALLOCATION ? judge_allocation(rows, allocation) : judge_event(rows, kind, row);
    if (rows->retention == NM_RETENTION_ALL || kind != NM_ROW_ALLOCATION || *choice == NM_RETENTION_DROP ||
        allocation->segment_id == 0)
        return NM_OK;
    return nm_id_set_add(&rows->segments, allocation->segment_id, err);
}

static nm_status find_list(nm_retention_rows *rows, uint64_t heap_id, nm_waiting_rows **out, nm_error *err)
{
    uint64_t index = 0;
    nm_status status = nm_map_number(&rows->index_of, (nm_key){0, heap_id}, &index, err);

    if (status == NM_OK && index == rows->count) {
        status = nm_array_grow(&rows->heaps, &rows->capacity, index + 1, sizeof *rows->heaps, err);
        if (status == NM_OK)
            rows->count++;
    }
    if (status == NM_OK)
        *out = &rows->heaps[index];
    return status;
}

/* Forgets what was live at no peak that stands, when the list has doubled: each row is looked at a few times at most. */
static void look_through(nm_waiting_rows *list, const nm_allocation_row *latest)
{
    size_t kept = 0;

    if (list->count < 2 * list->count_kept + LOOK_AFTER_ROWS)
        return;
    for (size_t i = 0; i < list->count; i++) {
        const nm_waiting_row *row = &list->items[i];

        if (is_met_by(row->alloc_seq, row->free_seq, latest))
            list->items[kept++] = *row;
    }
    list->count = list->count_kept = kept;
}

nm_status nm_retention_wait(nm_retention_rows *rows, const nm_allocation_row *row, int64_t **values, nm_error *err)
{
    nm_waiting_rows *list = NULL;
    nm_status status = find_list(rows, row->heap_id, &list, err);

    if (status != NM_OK)
        return status;
    look_through(list, row);
    status = nm_array_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items, err);
    if (status != NM_OK)
        return status;
    nm_waiting_row *waiting = &list->items[list->count++];
    waiting->heap_id = row->heap_id;
    waiting->alloc_seq = row->alloc_seq;
    waiting->free_seq = row->free_seq;
    *values = waiting->values;
    return NM_OK;
}

nm_status nm_retention_heap_peak(nm_retention_rows *rows, uint64_t heap_id, int64_t seq, nm_error *err)
{
    return nm_map_put(&rows->peak_of, (nm_key){0, heap_id}, (uint64_t)seq, err);
}

nm_status nm_retention_moment(nm_retention_rows *rows, const nm_moment_row *row, nm_error *err)
{
    if (row->kind == NM_MOMENT_RESERVE)
        return nm_map_put(&rows->reserve_of, (nm_key){0, row->heap_id}, (uint64_t)row->seq, err);
    return row->kind != NM_MOMENT_DEVICE_PEAK
               ? NM_OK
               : nm_map_put(&rows->device_of_moment, (nm_key){0, row->moment_id}, (uint64_t)row->seq, err);
}

nm_status nm_retention_device(nm_retention_rows *rows, const nm_device_sample_row *row, nm_error *err)
{
    const uint64_t *seq = nm_map_get(&rows->device_of_moment, (nm_key){0, row->moment_id});

    return seq == NULL ? NM_OK : nm_map_put(&rows->device_peak_of, (nm_key){0, row->device_id}, *seq, err);
}

bool nm_retention_is_live(const nm_retention_rows *rows, const nm_waiting_row *row, uint64_t device_id)
{
    const uint64_t *seqs[] = {
        nm_map_get(&rows->peak_of, (nm_key){0, row->heap_id}),
        nm_map_get(&rows->reserve_of, (nm_key){0, row->heap_id}),
        device_id == 0 ? NULL : nm_map_get(&rows->device_peak_of, (nm_key){0, device_id}),
    };

    for (size_t i = 0; i < sizeof seqs / sizeof *seqs; i++)
        if (seqs[i] != NULL && is_live_at(row->alloc_seq, row->free_seq, (int64_t)*seqs[i]))
            return true;
    return false;
}

void nm_retention_rows_free(nm_retention_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->heaps[i].items);
    free(rows->heaps);
    nm_map_free(&rows->index_of);
    nm_map_free(&rows->peak_of);
    nm_map_free(&rows->reserve_of);
    nm_map_free(&rows->device_peak_of);
    nm_map_free(&rows->device_of_moment);
    nm_id_set_free(&rows->segments);
    nm_window_free(&rows->window);
    *rows = (nm_retention_rows){0};
}
