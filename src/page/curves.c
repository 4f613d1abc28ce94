/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows come heap after heap, with how many there are of each: so the place of a row says which part of its curve it belongs to, and
 * one row at a time is held.
 */
#include "page/curves.h"

#include "page/gap_curves.sql.h"
#include "page/tables.h"
#include "page/usage_curves.sql.h"
#include "page/usage_heaps.sql.h"

#define ROWS_MAX       400000 /* of all heaps */
#define ROWS_OF_A_HEAP 64     /* at least */

static const char *const usage_columns[] = {"heap_id", "first_seq",      "last_seq",   "last_ns",    "max_seq",
                                            "max_ns",  "max_live_bytes", "live_bytes", "live_count", "reserved_bytes",
                                            NULL};
static const char *const gap_columns[] = {"heap_id",     "last_seq",           "ns", "reserved_bytes", "free_bytes",
                                          "stuck_bytes", "largest_free_bytes", NULL};

typedef struct curve {
    nm_page_columns columns;
    int64_t heap_id, place, part; /* of the row that is held, and its place in its heap */
    int64_t part_count;           /* of a heap, at most */
    bool is_held;
} curve;

static nm_status begin_curve(curve *c, sqlite3 *db, const char *const *names, nm_error *err)
{
    nm_usage_heaps_row row;
    nm_status status = nm_usage_heaps_get(db, &row, err);
    int64_t rows_max = row.heap_count == 0 ? 0 : ROWS_MAX / row.heap_count;

    nm_page_columns_name(&c->columns, names);
    c->part_count = rows_max < ROWS_OF_A_HEAP ? ROWS_OF_A_HEAP : rows_max;
    return status;
}

/* Does the next row begin a part, or is it of that of the row that is held? */
static bool begins_part(curve *c, int64_t heap_id, int64_t row_count)
{
    c->place = c->is_held && c->heap_id == heap_id ? c->place + 1 : 0;
    int64_t part = c->place * (row_count < c->part_count ? row_count : c->part_count) / row_count;
    bool is_next = c->place == 0 || part != c->part;

    c->heap_id = heap_id;
    c->part = part;
    return is_next;
}

static nm_status end_curve(nm_page *page, curve *c, const char *name, nm_status status, nm_error *err)
{
    if (status == NM_OK)
        status = nm_page_tables_put(page, &c->columns, name, err);
    nm_page_columns_free(&c->columns);
    return status;
}

/* What is held, where there is something. */
static nm_status put_usage(curve *c, const nm_usage_curves_row *held, nm_error *err)
{
    return !c->is_held
               ? NM_OK
               : nm_page_columns_add(&c->columns,
                                     (int64_t[]){NM_NUMBER_OF(held, heap_id), NM_NUMBER_OF(held, first_seq),
                                                 NM_NUMBER_OF(held, last_seq), NM_NUMBER_OF(held, last_ns),
                                                 NM_NUMBER_OF(held, max_seq), NM_NUMBER_OF(held, max_ns),
                                                 NM_NUMBER_OF(held, max_live_bytes), NM_NUMBER_OF(held, live_bytes),
                                                 NM_NUMBER_OF(held, live_count), NM_NUMBER_OF(held, reserved_bytes)},
                                     err);
}

/* `held` becomes the row, with what it has to keep of what it stood for. */
static void join_usage(nm_usage_curves_row *held, nm_usage_curves_row row)
{
    row.first_seq = held->first_seq;
    row.has.first_seq = held->has.first_seq;
    if (NM_NUMBER_OF(&row, max_live_bytes) <= NM_NUMBER_OF(held, max_live_bytes)) {
        row.max_seq = held->max_seq;
        row.has.max_seq = held->has.max_seq;
        row.max_ns = held->max_ns;
        row.has.max_ns = held->has.max_ns;
        row.max_live_bytes = held->max_live_bytes;
        row.has.max_live_bytes = held->has.max_live_bytes;
    }
    *held = row;
}

nm_status nm_page_usage_write(nm_page *page, sqlite3 *db, const char *name, nm_error *err)
{
    curve c = {0};
    sqlite3_stmt *rows = NULL;
    nm_usage_curves_row row, held = {0};
    nm_status status = begin_curve(&c, db, usage_columns, err);

    if (status == NM_OK)
        status = nm_usage_curves_ask(db, &rows, err);
    while (status == NM_OK && nm_usage_curves_next(rows, &row)) {
        if (!begins_part(&c, row.heap_id, row.row_count)) {
            join_usage(&held, row);
            continue;
        }
        status = put_usage(&c, &held, err);
        held = row;
        c.is_held = true;
    }
    status = nm_question_end(rows, status, err);
    if (status == NM_OK)
        status = put_usage(&c, &held, err);
    return end_curve(page, &c, name, status, err);
}

static nm_status put_gaps(curve *c, const nm_gap_curves_row *held, nm_error *err)
{
    return !c->is_held
               ? NM_OK
               : nm_page_columns_add(&c->columns,
                                     (int64_t[]){NM_NUMBER_OF(held, heap_id), NM_NUMBER_OF(held, last_seq),
                                                 NM_NUMBER_OF(held, last_ns), NM_NUMBER_OF(held, reserved_bytes),
                                                 NM_NUMBER_OF(held, free_bytes), NM_NUMBER_OF(held, stuck_bytes),
                                                 NM_NUMBER_OF(held, largest_free_bytes)},
                                     err);
}

nm_status nm_page_gaps_write(nm_page *page, nm_error *err)
{
    curve c = {0};
    sqlite3_stmt *rows = NULL;
    nm_gap_curves_row row, held = {0};
    nm_status status = begin_curve(&c, page->db, gap_columns, err);

    if (status == NM_OK)
        status = nm_gap_curves_ask(page->db, &rows, err);
    while (status == NM_OK && nm_gap_curves_next(rows, &row)) {
        if (begins_part(&c, row.heap_id, row.row_count))
            status = put_gaps(&c, &held, err);
        held = row;
        c.is_held = true;
    }
    status = nm_question_end(rows, status, err);
    if (status == NM_OK)
        status = put_gaps(&c, &held, err);
    return end_curve(page, &c, "gap", status, err);
}
