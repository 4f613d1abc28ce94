/* SPDX-License-Identifier: Apache-2.0
 *
 * The changes of all stacks are read once, in the order of sites and steps, and added up as they come: a row of _site_step
 * is known when the next change of its site, or the next site, is there.
 */
#include "store/verdicts/site_steps.h"

#include <stdbool.h>

#include "store/database.h"

/* Which steps the line goes through, by heap: from `first` on, `n` of them, without the last. */
static const char spans_sql[] =
    "CREATE TEMP TABLE step_span (heap_id INTEGER PRIMARY KEY, first INTEGER, n INTEGER);"
    "INSERT INTO step_span SELECT h.heap_id, p.first, p.n FROM heap AS h JOIN (SELECT process_id,"
    "  min(generation) AS first, max(generation) - min(generation) AS n FROM step GROUP BY process_id) AS p"
    "  ON p.process_id = h.process_id WHERE p.n >= 2";

static const char no_spans_sql[] = "DROP TABLE temp.step_span";

static const char span_sql[] = "SELECT first, n FROM temp.step_span WHERE heap_id = ?1";

static const char changes_sql[] =
    "SELECT t.heap_id, s.site_frame_id, t.generation, t.changed_bytes, t.changed_count FROM temp.stack_step AS t"
    " LEFT JOIN stack AS s ON s.stack_id = t.stack_id ORDER BY t.heap_id, s.site_frame_id, t.generation";

/* Least squares over the steps x = 1 .. n. In double precision throughout: the sums pass 2^63. */
typedef struct line {
    double n;        /* 0: no line goes through the steps of the heap */
    double first;    /* generation of x = 1 */
    bool has_values; /* something was there before the last step */
    double bytes, bytes_squared, count, bytes_by_x, count_by_x;
} line;

typedef struct site_sum {
    int64_t heap_id, frame_id; /* NM_NULL: not known */
    int64_t generation, bytes, count;
    bool has_row; /* these three are a row that is not written yet */
    line line;
} site_sum;

typedef struct writer {
    sqlite3 *db;
    sqlite3_stmt *changes, *span;
    nm_insert steps, growth;
    site_sum site;
} writer;

/* ---- The line ------------------------------------------------------------------------------------------------------ */

/* The site held `bytes` and `count` from the step `from` on, up to `until` (NM_NULL: to the last). */
static void add_to_line(line *to, int64_t from, int64_t until, double bytes, double count)
{
    double x1 = (double)from - to->first + 1, x2 = until == NM_NULL ? to->n : (double)until - to->first;

    x1 = x1 < 1 ? 1 : x1;
    x2 = x2 > to->n ? to->n : x2;
    if (to->n == 0 || x2 < x1)
        return;
    double steps = x2 - x1 + 1;
    to->has_values = true;
    to->bytes += bytes * steps;
    to->bytes_squared += bytes * bytes * steps;
    to->count += count * steps;
    to->bytes_by_x += bytes * steps * (x1 + x2) / 2;
    to->count_by_x += count * steps * (x1 + x2) / 2;
}

static nm_status write_growth(writer *to, nm_error *err)
{
    const line *through = &to->site.line;
    double n = through->n, x = n * (n + 1) / 2, x_squared = n * (n + 1) * (2 * n + 1) / 6;
    double spread_x = n * x_squared - x * x,
           spread_bytes = n * through->bytes_squared - through->bytes * through->bytes;
    double both = n * through->bytes_by_x - x * through->bytes;
    double fit = both * both / (spread_x * spread_bytes);

    if (!through->has_values)
        return NM_OK;
    nm_insert_int(&to->growth, to->site.heap_id);
    nm_insert_int(&to->growth, to->site.frame_id);
    nm_insert_int(&to->growth, (int64_t)n);
    nm_insert_real(&to->growth, both / spread_x);
    nm_insert_real(&to->growth, (n * through->count_by_x - x * through->count) / spread_x);
    if (spread_bytes > 0)
        nm_insert_real(&to->growth, fit > 1 ? 1 : fit);
    else
        nm_insert_int(&to->growth, NM_NULL);
    return nm_insert_end(&to->growth, err);
}

/* ---- Sites --------------------------------------------------------------------------------------------------------- */

static nm_status begin_site(writer *to, int64_t heap_id, int64_t frame_id, nm_error *err)
{
    double first = 0, n = 0;

    sqlite3_reset(to->span);
    sqlite3_bind_int64(to->span, 1, heap_id);
    int code = sqlite3_step(to->span);
    if (code == SQLITE_ROW) {
        first = (double)sqlite3_column_int64(to->span, 0);
        n = (double)sqlite3_column_int64(to->span, 1);
    }
    to->site = (site_sum){.heap_id = heap_id, .frame_id = frame_id, .line = {.first = first, .n = n}};
    return code == SQLITE_ROW || code == SQLITE_DONE ? NM_OK : nm_db_fail(to->db, err);
}

/* The row that waits, once it is known until when it held. */
static nm_status write_row(writer *to, int64_t until, nm_error *err)
{
    site_sum *site = &to->site;

    if (!site->has_row)
        return NM_OK;
    site->has_row = false;
    add_to_line(&site->line, site->generation, until, (double)site->bytes, (double)site->count);
    nm_insert_int(&to->steps, site->heap_id);
    nm_insert_int(&to->steps, site->frame_id);
    nm_insert_int(&to->steps, site->generation);
    nm_insert_int(&to->steps, until);
    nm_insert_int(&to->steps, site->bytes);
    nm_insert_int(&to->steps, site->count);
    return nm_insert_end(&to->steps, err);
}

static nm_status end_site(writer *to, nm_error *err)
{
    nm_status status = write_row(to, NM_NULL, err);

    return status == NM_OK ? write_growth(to, err) : status;
}

static int64_t add(int64_t value, int64_t change)
{
    int64_t sum;

    return __builtin_add_overflow(value, change, &sum) ? (change < 0 ? INT64_MIN + 1 : INT64_MAX) : sum;
}

static int64_t frame_of(sqlite3_stmt *row)
{
    return nm_db_is_null(row, 1) ? NM_NULL : sqlite3_column_int64(row, 1);
}

/* What all stacks of the site changed in one step; the statement stands on the first row of the next one then. */
static nm_status take_step(writer *to, int *code, nm_error *err)
{
    sqlite3_stmt *row = to->changes;
    site_sum *site = &to->site;
    int64_t generation = sqlite3_column_int64(row, 2), bytes = 0, count = 0;
    nm_status status;

    while (*code == SQLITE_ROW && sqlite3_column_int64(row, 0) == site->heap_id && frame_of(row) == site->frame_id &&
           sqlite3_column_int64(row, 2) == generation) {
        bytes = add(bytes, sqlite3_column_int64(row, 3));
        count = add(count, sqlite3_column_int64(row, 4));
        *code = sqlite3_step(row);
    }
    if (bytes == 0 && count == 0)
        return NM_OK;
    int64_t live_bytes = add(site->bytes, bytes), live_count = add(site->count, count);
    status = write_row(to, generation, err);
    site->generation = generation;
    site->bytes = live_bytes;
    site->count = live_count;
    site->has_row = true;
    return status;
}

static nm_status write_sites(writer *to, nm_error *err)
{
    int code = sqlite3_step(to->changes);
    nm_status status = NM_OK;

    while (status == NM_OK && code == SQLITE_ROW) {
        int64_t heap_id = sqlite3_column_int64(to->changes, 0), frame_id = frame_of(to->changes);

        status = begin_site(to, heap_id, frame_id, err);
        while (status == NM_OK && code == SQLITE_ROW && sqlite3_column_int64(to->changes, 0) == heap_id &&
               frame_of(to->changes) == frame_id)
            status = take_step(to, &code, err);
        if (status == NM_OK)
            status = end_site(to, err);
    }
    return status == NM_OK && code != SQLITE_DONE ? nm_db_fail(to->db, err) : status;
}

nm_status nm_site_steps_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err)
{
    static const nm_columns steps = {"_site_step",
                                     "heap_id site_frame_id generation until_generation live_bytes live_count "};
    static const nm_columns growth = {"_site_growth", "heap_id site_frame_id step_count growth_bytes_per_step "
                                                      "growth_count_per_step growth_fit_ratio "};
    writer to = {.db = db};
    nm_status status = nm_db_exec(db, spans_sql, err);

    (void)settings;
    if (status == NM_OK)
        status = nm_db_prepare(db, changes_sql, &to.changes, err);
    if (status == NM_OK)
        status = nm_db_prepare(db, span_sql, &to.span, err);
    if (status == NM_OK)
        status = nm_insert_open(db, &steps, &to.steps, err);
    if (status == NM_OK)
        status = nm_insert_open(db, &growth, &to.growth, err);
    if (status == NM_OK)
        status = write_sites(&to, err);
    sqlite3_finalize(to.changes);
    sqlite3_finalize(to.span);
    nm_insert_close(&to.steps);
    nm_insert_close(&to.growth);
    return status == NM_OK ? nm_db_exec(db, no_spans_sql, err) : status;
}
