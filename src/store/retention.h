/* SPDX-License-Identifier: Apache-2.0
 *
 * Which allocations get a row where not all do: those that were live at the peak of their heap or of its device, when it
 * held most, at a mark or a failed allocation of their process, or at the end. Rows come when allocations end, and a peak is only known to be
 * the last one at the very end: what was live at the last peak so far waits here, and goes when the peak has moved on. So
 * memory is in proportion to what is live. Beside them all rows of a stretch of the recording may be wanted (window.h).
 */
#ifndef NM_STORE_RETENTION_H
#define NM_STORE_RETENTION_H

#include "base/buffer.h"
#include "base/id_set.h"
#include "base/map.h"
#include "rows/rows.h"
#include "store/window.h"

typedef enum nm_retention {
    NM_RETENTION_ALL = 0, /* every allocation */
    NM_RETENTION_LIVE,    /* those that were live at moments */
    NM_RETENTION_NONE,    /* the answers alone */
    NM_RETENTION_WINDOW,  /* as NM_RETENTION_LIVE, and all of a stretch of the recording */
} nm_retention;

const char *nm_retention_name(nm_retention retention); /* "all", "live", "none", "window" */

typedef struct nm_waiting_row {
    int64_t values[NM_COLUMNS_OF_ALLOCATION]; /* as they go into the table */
    uint64_t heap_id;
    int64_t alloc_seq, free_seq;
} nm_waiting_row;

typedef struct nm_waiting_rows { /* of one heap; a zeroed one is empty */
    uint64_t heap_id;
    nm_buffer packed; /* 60 to 80 bytes a row (rows/packed.h) */
    size_t count;
    size_t count_kept; /* after the last look through them */
} nm_waiting_rows;

typedef struct nm_retention_rows { /* zeroed but for `retention` and `window` it is empty */
    nm_retention retention;
    nm_waiting_rows *heaps; /* owned */
    size_t count, capacity;
    nm_waiting_row latest;      /* what is filled now, */
    nm_waiting_rows *latest_of; /* to be packed into this list; NULL: nothing is */
    nm_map index_of;            /* heap_id -> index into heaps */
    nm_map peak_of;             /* heap_id -> place of its last peak, */
    nm_map reserve_of;          /* and of the moment when it held most, where that is another, */
    nm_map device_peak_of;      /* device_id -> the same; both as uint64_t of an int64_t */
    nm_map device_of_moment;    /* moment_id of a device's peak -> its place */
    nm_id_set segments;         /* numbers of segments that carried such rows */
    nm_window window;           /* of NM_RETENTION_WINDOW */
} nm_retention_rows;

typedef struct nm_waiting_cursor { /* a zeroed one is before the first row */
    size_t heap_index, offset;
} nm_waiting_cursor;

typedef enum nm_retention_choice {
    NM_RETENTION_DROP, /* no moment met it */
    NM_RETENTION_WRITE,
    NM_RETENTION_WAIT, /* a peak met it that may be the last one */
} nm_retention_choice;

/* What becomes of a row of a large table. Where not all are kept, the segment of an allocation that is gets a row, too. What
 * is outstanding is written however little is kept, and summed up from there: store/prune.c takes it away again. */
nm_status nm_retention_choose(nm_retention_rows *rows, nm_row_kind kind, const void *row, nm_retention_choice *choice,
                              nm_error *err);

/* Keeps a row that waits: *values is to be filled by the caller before the next call. */
nm_status nm_retention_wait(nm_retention_rows *rows, const nm_allocation_row *row, int64_t **values, nm_error *err);

/* The rows that wait, heap by heap: start with a zeroed cursor; NM_END behind the last. No other waits in between. */
nm_status nm_retention_next(nm_retention_rows *rows, nm_waiting_cursor *cursor, nm_waiting_row *out, nm_error *err);

/* The last peaks: of a heap; of what it held, or of a device, by the rows of their moments. */
nm_status nm_retention_heap_peak(nm_retention_rows *rows, uint64_t heap_id, int64_t seq, nm_error *err);
nm_status nm_retention_moment(nm_retention_rows *rows, const nm_moment_row *row, nm_error *err);
nm_status nm_retention_device(nm_retention_rows *rows, const nm_device_sample_row *row, nm_error *err);

/* Once those are told: was the row live at one of them? `device_id` is that of its heap. */
bool nm_retention_is_live(const nm_retention_rows *rows, const nm_waiting_row *row, uint64_t device_id);

void nm_retention_rows_free(nm_retention_rows *rows);

#endif
