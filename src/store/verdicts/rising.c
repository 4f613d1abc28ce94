/* SPDX-License-Identifier: Apache-2.0
 *
 * The floors of a site come in one order with their heaps, and are put into ten windows as they are read; only of a
 * site whose floors rise is the load of its heap read as well.
 */
#include "store/verdicts/rising.h"

#include <stdbool.h>

#include "store/database.h"

#define WINDOWS   10
#define LATE      4   /* of them: the last two fifths */
#define FALL_PART 0.1 /* of the heap's peak */
#define FALLS_MIN 2

static const char sites_sql[] =
    "SELECT v.rowid, v.heap_id, p.begin_minute, p.end_minute, f.minute, f.floor_bytes FROM _site_verdict AS v"
    " JOIN heap AS h ON h.heap_id = v.heap_id"
    " JOIN (SELECT i.process_id, min(u.last_ns) / 60000000000 AS begin_minute, max(u.last_ns) / 60000000000 AS "
    "end_minute"
    "  FROM usage AS u JOIN heap AS i ON i.heap_id = u.heap_id GROUP BY i.process_id) AS p ON p.process_id = "
    "h.process_id"
    " JOIN process ON process.process_id = h.process_id JOIN input ON input.input_id = process.input_id"
    " JOIN _site_floor AS f ON f.heap_id = v.heap_id AND f.site_frame_id IS v.site_frame_id"
    " LEFT JOIN _site_lifetime AS l ON l.heap_id = v.heap_id AND l.site_frame_id IS v.site_frame_id"
    " JOIN (SELECT a.heap_id, s.site_frame_id, min(a.first_ns) AS first_ns FROM _outstanding_sum AS a"
    "  LEFT JOIN stack AS s ON s.stack_id = a.stack_id WHERE a.is_doubtful = 0 AND a.graph_id IS NULL AND a.is_private "
    "= 0"
    "  AND a.generation > 0"
    "  GROUP BY a.heap_id, s.site_frame_id) AS o ON o.heap_id = v.heap_id AND o.site_frame_id IS v.site_frame_id"
    " WHERE v.reason = 'no steps' AND p.end_minute - p.begin_minute >= ?1"
    " AND input.events_dropped + input.events_damaged + input.events_unrecovered = 0"
    " AND (l.p99_at_most_ns IS NULL OR p.end_minute * 60000000000 - o.first_ns > l.p99_at_most_ns)"
    " ORDER BY v.rowid, f.minute";

static const char load_sql[] =
    "SELECT max_live_bytes, live_bytes, (SELECT max(max_live_bytes) FROM usage WHERE heap_id = ?1)"
    " FROM usage WHERE heap_id = ?1 ORDER BY last_seq";

static const char update_sql[] =
    "UPDATE _site_verdict SET verdict = 'rising', reason = 'it rises', hourly_bytes = ?2 WHERE rowid = ?1";

/* ---- Load -------------------------------------------------------------------------------------------------------- */

typedef struct load {
    double high, low;
    bool is_low;
    int fall_count;
} load;

static void take_load(load *heap, double value, double least)
{
    if (!heap->is_low) {
        heap->high = value > heap->high ? value : heap->high;
        if (value > heap->high - least)
            return;
        heap->is_low = true;
        heap->low = value;
        heap->fall_count++;
    } else {
        heap->low = value < heap->low ? value : heap->low;
        if (value < heap->low + least)
            return;
        heap->is_low = false;
        heap->high = value;
    }
}

static nm_status count_falls(sqlite3 *db, sqlite3_stmt *rows, int64_t heap_id, int *count, nm_error *err)
{
    load heap = {0};
    int code;

    sqlite3_reset(rows);
    sqlite3_bind_int64(rows, 1, heap_id);
    while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
        double least = FALL_PART * sqlite3_column_double(rows, 2);

        take_load(&heap, sqlite3_column_double(rows, 0), least);
        take_load(&heap, sqlite3_column_double(rows, 1), least);
    }
    *count = heap.fall_count;
    return code == SQLITE_DONE ? NM_OK : nm_db_fail(db, err);
}

/* ---- Floors ------------------------------------------------------------------------------------------------------ */

typedef struct windows {
    double floors[WINDOWS]; /* -1: nothing was said of it, and it is what it was before */
    double width;           /* minutes */
} windows;

static int window_of(const windows *all, int64_t begin_minute, int64_t minute)
{
    double index = (double)(minute - begin_minute) / all->width;

    return index < 0 ? 0 : index >= WINDOWS ? WINDOWS - 1 : (int)index;
}

/* A row holds from its minute on, up to the next one's. */
static void put_floor(windows *all, int from, int to, double bytes)
{
    for (int i = from; i <= to; i++)
        if (all->floors[i] < 0 || bytes < all->floors[i])
            all->floors[i] = bytes;
}

static bool do_rise(const windows *all)
{
    for (int i = WINDOWS - LATE; i < WINDOWS; i++)
        if (all->floors[i] <= all->floors[i - 1])
            return false;
    return true;
}

/* The rows of one site; the statement stands on the first of the next one then. */
static windows read_windows(sqlite3_stmt *rows, int *code)
{
    int64_t id = sqlite3_column_int64(rows, 0), begin = sqlite3_column_int64(rows, 2);
    windows all = {.width = (double)(sqlite3_column_int64(rows, 3) - begin + 1) / WINDOWS};
    double bytes = 0;
    int at = 0;

    for (int i = 0; i < WINDOWS; i++)
        all.floors[i] = -1;
    while (*code == SQLITE_ROW && sqlite3_column_int64(rows, 0) == id) {
        int next = window_of(&all, begin, sqlite3_column_int64(rows, 4));
        bool is_first = sqlite3_column_int64(rows, 4) - begin <= (int64_t)(next * all.width);

        put_floor(&all, at, is_first && next > at ? next - 1 : next, bytes);
        at = next;
        bytes = sqlite3_column_double(rows, 5);
        *code = sqlite3_step(rows);
    }
    put_floor(&all, at, WINDOWS - 1, bytes);
    return all;
}

static nm_status judge(sqlite3 *db, sqlite3_stmt *loads, sqlite3_stmt *update, int64_t id, int64_t heap_id,
                       const windows *all, nm_error *err)
{
    int fall_count = 0;
    nm_status status = do_rise(all) ? count_falls(db, loads, heap_id, &fall_count, err) : NM_OK;

    if (status != NM_OK || fall_count < FALLS_MIN)
        return status;
    sqlite3_reset(update);
    sqlite3_bind_int64(update, 1, id);
    sqlite3_bind_double(update, 2,
                        60 * (all->floors[WINDOWS - 1] - all->floors[WINDOWS - LATE - 1]) / (LATE * all->width));
    return sqlite3_step(update) == SQLITE_DONE ? NM_OK : nm_db_fail(db, err);
}

nm_status nm_rising_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err)
{
    int64_t minutes_min = settings->server_minutes == 0 ? NM_RISING_MINUTES : settings->server_minutes;
    sqlite3_stmt *rows = NULL, *loads = NULL, *update = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(db, sites_sql, &rows, err);

    if (status == NM_OK)
        status = nm_db_prepare(db, load_sql, &loads, err);
    if (status == NM_OK)
        status = nm_db_prepare(db, update_sql, &update, err);
    if (status == NM_OK) {
        sqlite3_bind_int64(rows, 1, minutes_min);
        code = sqlite3_step(rows);
    }
    while (status == NM_OK && code == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(rows, 0), heap_id = sqlite3_column_int64(rows, 1);
        windows all = read_windows(rows, &code);

        status = judge(db, loads, update, id, heap_id, &all, err);
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    sqlite3_finalize(loads);
    sqlite3_finalize(update);
    return status;
}
