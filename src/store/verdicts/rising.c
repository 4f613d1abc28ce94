/* SPDX-License-Identifier: Apache-2.0
 *
 * The floors of a site come in one order with their heaps, and are put into ten windows as they are read; only of a
 * site whose floors rise is the load of its heap read as well.
 */
#include "store/verdicts/rising.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "store/verdicts/rising_floors.sql.h"
#include "store/verdicts/rising_loads.sql.h"
#include "store/verdicts/rising_say.sql.h"

#define WINDOWS   10
#define LATE      4   /* of them: the last two fifths */
#define FALL_PART 0.1 /* of the heap's peak */
#define FALLS_MIN 2

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

static nm_status count_falls(sqlite3_stmt *loads, int64_t heap_id, int *count, nm_error *err)
{
    load heap = {0};
    nm_rising_loads_row row;

    nm_rising_loads_bind(loads, heap_id);
    while (nm_rising_loads_next(loads, &row)) {
        double least = FALL_PART * (double)row.peak_bytes;

        take_load(&heap, (double)row.max_live_bytes, least);
        take_load(&heap, (double)row.live_bytes, least);
    }
    *count = heap.fall_count;
    return nm_question_pause(loads, NM_OK, err);
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

/* What sites are read by, and the row at hand. */
typedef struct reading {
    sqlite3_stmt *floors, *loads, *say; /* owned */
    nm_rising_floors_row row;
    bool has_row;
} reading;

/* The rows of one site; the next row is then the first of another. */
static windows read_windows(reading *from)
{
    const nm_rising_floors_row of = from->row;
    windows all = {.width = (double)(of.end_minute - of.begin_minute + 1) / WINDOWS};
    double bytes = 0;
    int at = 0;

    for (int i = 0; i < WINDOWS; i++)
        all.floors[i] = -1;
    while (from->has_row && from->row.verdict_id == of.verdict_id) {
        int next = window_of(&all, of.begin_minute, from->row.minute);
        bool is_first = from->row.minute - of.begin_minute <= (int64_t)(next * all.width);

        put_floor(&all, at, is_first && next > at ? next - 1 : next, bytes);
        at = next;
        bytes = (double)from->row.floor_bytes;
        from->has_row = nm_rising_floors_next(from->floors, &from->row);
    }
    put_floor(&all, at, WINDOWS - 1, bytes);
    return all;
}

static nm_status judge(const reading *from, int64_t verdict_id, int64_t heap_id, const windows *all, nm_error *err)
{
    int fall_count = 0;
    nm_status status = do_rise(all) ? count_falls(from->loads, heap_id, &fall_count, err) : NM_OK;

    if (status != NM_OK || fall_count < FALLS_MIN)
        return status;
    nm_rising_say_bind(
        from->say, 60 * (all->floors[WINDOWS - 1] - all->floors[WINDOWS - LATE - 1]) / (LATE * all->width), verdict_id);
    return nm_question_step(from->say, err);
}

static nm_status set_minutes(sqlite3 *db, int64_t minute_count, nm_error *err)
{
    char sql[96];

    snprintf(sql, sizeof sql, "UPDATE minimum SET least = %" PRId64 " WHERE judgement = 'rising'", minute_count);
    return nm_db_exec(db, sql, err);
}

nm_status nm_rising_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err)
{
    reading from = {0};
    nm_status status = settings->server_minutes == 0 ? NM_OK : set_minutes(db, settings->server_minutes, err);

    if (status == NM_OK)
        status = nm_rising_floors_ask(db, &from.floors, err);
    if (status == NM_OK)
        status = nm_db_prepare(db, nm_rising_loads_sql, &from.loads, err);
    if (status == NM_OK)
        status = nm_db_prepare(db, nm_rising_say_sql, &from.say, err);
    if (status == NM_OK)
        from.has_row = nm_rising_floors_next(from.floors, &from.row);
    while (status == NM_OK && from.has_row) {
        int64_t verdict_id = from.row.verdict_id, heap_id = from.row.heap_id;
        windows all = read_windows(&from);

        status = judge(&from, verdict_id, heap_id, &all, err);
    }
    status = nm_question_end(from.floors, status, err);
    status = nm_question_end(from.loads, status, err);
    return nm_question_end(from.say, status, err);
}
