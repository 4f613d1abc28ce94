/* SPDX-License-Identifier: Apache-2.0
 *
 * A list of waiting rows a heap, looked through when it has doubled, so that each row is looked at a few times at most
 * and the lists stay as long as what is live. A row is packed when the next one comes, for its values are filled by the caller:
 * in front of these stand how many bytes they have and the two places by which it is judged.
 */
#include "store/retention.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "rows/packed.h"

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

/* ---- Rows that wait ------------------------------------------------------------------------------------------------ */

#define PACKED_BYTES_MAX NM_PACKED_BYTES_MAX(NM_COLUMNS_OF_ALLOCATION)
#define HEAD_BYTES_MAX   (3 * NM_VARINT_BYTES_MAX)

typedef struct head { /* of a packed row */
    int64_t alloc_seq, free_seq;
    size_t offset, bytes; /* of its values */
} head;

static head head_at(const nm_buffer *packed, size_t offset)
{
    nm_cursor cursor = nm_cursor_over(packed->data + offset, packed->len - offset);
    head out = {.bytes = (size_t)nm_read_varint(&cursor)};

    out.alloc_seq = nm_unzigzag(nm_read_varint(&cursor));
    out.free_seq = nm_unzigzag(nm_read_varint(&cursor));
    out.offset = offset + cursor.at;
    return out;
}

/* The row at hand is filled. */
static nm_status pack_latest(nm_retention_rows *rows, nm_error *err)
{
    uint8_t values[PACKED_BYTES_MAX];
    nm_waiting_rows *list = rows->latest_of;
    nm_status status = list == NULL ? NM_OK : nm_buffer_reserve(&list->packed, HEAD_BYTES_MAX + PACKED_BYTES_MAX, err);

    if (list == NULL || status != NM_OK)
        return status;
    size_t bytes = nm_packed_put(values, rows->latest.values, NM_COLUMNS_OF_ALLOCATION);
    nm_buffer *packed = &list->packed;

    packed->len += nm_put_varint(packed->data + packed->len, bytes);
    packed->len += nm_put_varint(packed->data + packed->len, nm_zigzag(rows->latest.alloc_seq));
    packed->len += nm_put_varint(packed->data + packed->len, nm_zigzag(rows->latest.free_seq));
    memcpy(packed->data + packed->len, values, bytes);
    packed->len += bytes;
    list->count++;
    rows->latest_of = NULL;
    return NM_OK;
}

static nm_status find_list(nm_retention_rows *rows, uint64_t heap_id, nm_waiting_rows **out, nm_error *err)
{
    uint64_t index = 0;
    nm_status status = nm_map_number(&rows->index_of, (nm_key){0, heap_id}, &index, err);

    if (status == NM_OK && index == rows->count) {
        status = nm_array_grow(&rows->heaps, &rows->capacity, index + 1, sizeof *rows->heaps, err);
        if (status == NM_OK)
            rows->heaps[rows->count++].heap_id = heap_id;
    }
    if (status == NM_OK)
        *out = &rows->heaps[index];
    return status;
}

/* Forgets what was live at no peak that stands, when the list has doubled: each row is looked at a few times at most. */
static void look_through(nm_waiting_rows *list, const nm_allocation_row *latest)
{
    nm_buffer *packed = &list->packed;
    size_t kept_count = 0, kept_bytes = 0;

    if (list->count < 2 * list->count_kept + LOOK_AFTER_ROWS)
        return;
    for (size_t at = 0; at < packed->len;) {
        head row = head_at(packed, at);
        size_t bytes = row.offset + row.bytes - at;

        if (is_met_by(row.alloc_seq, row.free_seq, latest)) {
            memmove(packed->data + kept_bytes, packed->data + at, bytes);
            kept_bytes += bytes;
            kept_count++;
        }
        at += bytes;
    }
    packed->len = kept_bytes;
    list->count = list->count_kept = kept_count;
}

nm_status nm_retention_wait(nm_retention_rows *rows, const nm_allocation_row *row, int64_t **values, nm_error *err)
{
    nm_waiting_rows *list = NULL;
    nm_status status = pack_latest(rows, err);

    if (status == NM_OK)
        status = find_list(rows, row->heap_id, &list, err);
    if (status != NM_OK)
        return status;
    look_through(list, row);
    rows->latest_of = list;
    rows->latest.alloc_seq = row->alloc_seq;
    rows->latest.free_seq = row->free_seq;
    *values = rows->latest.values;
    return NM_OK;
}

nm_status nm_retention_next(nm_retention_rows *rows, nm_waiting_cursor *cursor, nm_waiting_row *out, nm_error *err)
{
    nm_status status = pack_latest(rows, err);

    if (status != NM_OK)
        return status;
    while (cursor->heap_index < rows->count && cursor->offset == rows->heaps[cursor->heap_index].packed.len)
        *cursor = (nm_waiting_cursor){.heap_index = cursor->heap_index + 1};
    if (cursor->heap_index == rows->count)
        return NM_END;
    const nm_waiting_rows *list = &rows->heaps[cursor->heap_index];
    head row = head_at(&list->packed, cursor->offset);

    out->heap_id = list->heap_id;
    out->alloc_seq = row.alloc_seq;
    out->free_seq = row.free_seq;
    nm_packed_get(list->packed.data + row.offset, out->values, NM_COLUMNS_OF_ALLOCATION);
    cursor->offset = row.offset + row.bytes;
    return NM_OK;
}

/* ---- Moments --------------------------------------------------------------------------------------------------------- */

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
        nm_buffer_free(&rows->heaps[i].packed);
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
