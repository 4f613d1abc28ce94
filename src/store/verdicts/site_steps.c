/* SPDX-License-Identifier: Apache-2.0
 *
 * The changes of all stacks are put in the order of sites and steps, and added up from there: a row of z_site_step is known
 * when the next change of its site, or the next site, is there.
 */
#include "store/verdicts/site_steps.h"

#include <stdbool.h>
#include <stdlib.h>

#include "store/database.h"
#include "store/verdicts/sites_of_stacks.h"
#include "store/verdicts/step_span.sql.h"
#include "store/verdicts/step_spans.sql.h"

static const char no_spans_sql[] = "DROP TABLE temp.step_span";

/* Least squares over the steps x = 1 .. n. In double precision throughout: the sums pass 2^63. */
typedef struct line {
    double n;        /* 0: no line goes through the steps of the heap */
    double first;    /* generation of x = 1 */
    bool has_values; /* something was there before the last step */
    double bytes, bytes_squared, count, bytes_by_x, count_by_x;
} line;

typedef struct site_sum {
    uint64_t heap_id, frame_id; /* 0: not known */
    int64_t generation, bytes, count;
    bool has_row; /* these three are a row that is not written yet */
    line line;
} site_sum;

/* Changes of sites, and the places of these in the order in which they are added up. */
typedef struct sorted {
    const nm_kept_rows *all;
    const uint32_t *order;
} sorted;

typedef struct writer {
    sqlite3_stmt *span;
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
    nm_insert_int(&to->growth, nm_id_or_null(to->site.heap_id));
    nm_insert_int(&to->growth, nm_id_or_null(to->site.frame_id));
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

static nm_status begin_site(writer *to, uint64_t heap_id, uint64_t frame_id, nm_error *err)
{
    nm_step_span_row row;

    to->site = (site_sum){.heap_id = heap_id, .frame_id = frame_id};
    nm_step_span_bind(to->span, (int64_t)heap_id);
    if (nm_step_span_next(to->span, &row))
        to->site.line = (line){.first = (double)row.first_generation, .n = (double)row.step_count};
    return nm_question_pause(to->span, NM_OK, err);
}

/* The row that waits, once it is known until when it held. */
static nm_status write_row(writer *to, int64_t until, nm_error *err)
{
    site_sum *site = &to->site;

    if (!site->has_row)
        return NM_OK;
    site->has_row = false;
    add_to_line(&site->line, site->generation, until, (double)site->bytes, (double)site->count);
    nm_insert_int(&to->steps, nm_id_or_null(site->heap_id));
    nm_insert_int(&to->steps, nm_id_or_null(site->frame_id));
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

static const nm_step_site_row *change_at(const sorted *changes, size_t at)
{
    return nm_kept_rows_at(changes->all, changes->order[at]);
}

static bool is_of(const sorted *changes, size_t at, const site_sum *site)
{
    return at < changes->all->count && change_at(changes, at)->heap_id == site->heap_id &&
           change_at(changes, at)->stack_id == site->frame_id;
}

static int64_t add(int64_t value, int64_t change)
{
    int64_t sum;

    return __builtin_add_overflow(value, change, &sum) ? (change < 0 ? INT64_MIN + 1 : INT64_MAX) : sum;
}

/* What all stacks of the site changed in one step: the changes from `at` on; *at is then the first of the next step. */
static nm_status take_step(writer *to, const sorted *changes, size_t *at, nm_error *err)
{
    site_sum *site = &to->site;
    int64_t generation = change_at(changes, *at)->generation, bytes = 0, count = 0;

    for (; is_of(changes, *at, site) && change_at(changes, *at)->generation == generation; ++*at) {
        bytes = add(bytes, change_at(changes, *at)->changed_bytes);
        count = add(count, change_at(changes, *at)->changed_count);
    }
    if (bytes == 0 && count == 0)
        return NM_OK;
    int64_t live_bytes = add(site->bytes, bytes), live_count = add(site->count, count);
    nm_status status = write_row(to, generation, err);
    site->generation = generation;
    site->bytes = live_bytes;
    site->count = live_count;
    site->has_row = true;
    return status;
}

static nm_status write_sites(writer *to, const sorted *changes, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t at = 0; status == NM_OK && at < changes->all->count;) {
        status = begin_site(to, change_at(changes, at)->heap_id, change_at(changes, at)->stack_id, err);
        while (status == NM_OK && is_of(changes, at, &to->site))
            status = take_step(to, changes, &at, err);
        if (status == NM_OK)
            status = end_site(to, err);
    }
    return status;
}

/* ---- Changes ------------------------------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right, void *changes)
{
    const nm_step_site_row *a = nm_kept_rows_at(changes, *(const uint32_t *)left);
    const nm_step_site_row *b = nm_kept_rows_at(changes, *(const uint32_t *)right);

    if (a->heap_id != b->heap_id)
        return a->heap_id < b->heap_id ? -1 : 1;
    if (a->stack_id != b->stack_id)
        return a->stack_id < b->stack_id ? -1 : 1;
    return (a->generation > b->generation) - (a->generation < b->generation);
}

/* From here on the changes are those of sites, whose number stands where that of the stack did. */
static void turn_to_sites(nm_kept_rows *changes, const nm_map *site_of)
{
    for (size_t i = 0; i < changes->count; i++) {
        nm_step_site_row *change = nm_kept_rows_at(changes, i);

        change->stack_id = nm_site_of_stack(site_of, change->stack_id);
    }
}

nm_status nm_site_steps_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err)
{
    static const nm_columns steps = {"z_site_step",
                                     "heap_id site_frame_id generation until_generation live_bytes live_count "};
    static const nm_columns growth = {"z_site_growth", "heap_id site_frame_id step_count growth_bytes_per_step "
                                                       "growth_count_per_step growth_fit_ratio "};
    nm_kept_rows *changes = &settings->rows->step_changes;
    uint32_t *order = NULL;
    writer to = {0};
    nm_status status = nm_step_spans_run(db, err);

    if (status == NM_OK)
        turn_to_sites(changes, &settings->rows->site_of);
    if (status == NM_OK)
        status = nm_kept_rows_order(changes, compare, &order, err);
    if (status == NM_OK)
        status = nm_db_prepare(db, nm_step_span_sql, &to.span, err);
    if (status == NM_OK)
        status = nm_insert_open(db, &steps, false, &to.steps, err);
    if (status == NM_OK)
        status = nm_insert_open(db, &growth, false, &to.growth, err);
    nm_insert_gather(&to.steps, steps.table);
    if (status == NM_OK)
        status = write_sites(&to, &(sorted){changes, order}, err);
    if (status == NM_OK)
        status = nm_insert_flush(&to.steps, err);
    free(order);
    sqlite3_finalize(to.span);
    nm_insert_close(&to.steps);
    nm_insert_close(&to.growth);
    return status == NM_OK ? nm_db_exec(db, no_spans_sql, err) : status;
}
