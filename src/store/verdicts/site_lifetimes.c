/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of all stacks are put in the order of sites, and added up from there, one site at a time.
 */
#include "store/verdicts/site_lifetimes.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/number.h"
#include "rows/packed.h"
#include "store/database.h"
#include "store/verdicts/exit_heaps.sql.h"
#include "store/verdicts/sites_of_stacks.h"

#define LAST_BUCKET 61 /* 2^b ns up to 2^(b+1); none is longer than 2^63 */

typedef struct writer {
    nm_kept_rows *all;
    uint32_t *order; /* owned */
    nm_insert sites, stacks;
} writer;

static int compare(const void *left, const void *right, void *all)
{
    const nm_lifetime_row *a = nm_kept_rows_at(all, *(const uint32_t *)left);
    const nm_lifetime_row *b = nm_kept_rows_at(all, *(const uint32_t *)right);

    if (a->heap_id != b->heap_id)
        return a->heap_id < b->heap_id ? -1 : 1;
    return (a->stack_id > b->stack_id) - (a->stack_id < b->stack_id);
}

/* ---- Rows that wait: how many bytes, and these -------------------------------------------------------------------- */

#define VALUES 7

nm_status nm_lifetimes_keep(nm_buffer *lifetimes, const nm_lifetime_row *row, nm_error *err)
{
    const int64_t values[VALUES] = {(int64_t)row->heap_id,     (int64_t)row->stack_id, row->bucket,
                                    (int64_t)row->freed_count, (int64_t)row->max_ns,   (int64_t)row->max_steps,
                                    row->last_alloc_seq};
    nm_status status = nm_buffer_reserve(lifetimes, 1 + NM_PACKED_BYTES_MAX(VALUES), err);

    if (status != NM_OK)
        return status;
    size_t bytes = nm_packed_put(lifetimes->data + lifetimes->len + 1, values, VALUES);
    lifetimes->data[lifetimes->len] = (uint8_t)bytes;
    lifetimes->len += 1 + bytes;
    return NM_OK;
}

static nm_status unpack(const nm_buffer *lifetimes, nm_kept_rows *out, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t at = 0; at < lifetimes->len && status == NM_OK; at += 1 + (size_t)lifetimes->data[at]) {
        int64_t values[VALUES];

        nm_packed_get(lifetimes->data + at + 1, values, VALUES);
        status = nm_kept_rows_add(out,
                                  &(nm_lifetime_row){.heap_id = (uint64_t)values[0],
                                                     .stack_id = (uint64_t)values[1],
                                                     .bucket = (int)values[2],
                                                     .freed_count = (uint64_t)values[3],
                                                     .max_ns = (uint64_t)values[4],
                                                     .max_steps = (uint64_t)values[5],
                                                     .last_alloc_seq = values[6]},
                                  err);
    }
    return status;
}

/* ---- Stacks ------------------------------------------------------------------------------------------------------------ */

static nm_status write_stack(nm_insert *out, const nm_lifetime_row *row, nm_error *err)
{
    nm_insert_int(out, nm_id_or_null(row->heap_id));
    nm_insert_int(out, nm_id_or_null(row->stack_id));
    nm_insert_int(out, row->bucket);
    nm_insert_int(out, (int64_t)row->freed_count);
    nm_insert_int(out, (int64_t)row->max_ns);
    nm_insert_int(out, (int64_t)row->max_steps);
    nm_insert_int(out, row->last_alloc_seq);
    return nm_insert_end(out, err);
}

/* Those of few heaps, for most memory is a pool's. */
static nm_status write_stacks(sqlite3 *db, writer *to, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_map heaps = {0};
    nm_exit_heaps_row heap;
    nm_status status = nm_exit_heaps_ask(db, &rows, err);

    while (status == NM_OK && nm_exit_heaps_next(rows, &heap))
        status = nm_map_put(&heaps, (nm_key){0, (uint64_t)heap.heap_id}, 1, err);
    status = nm_question_end(rows, status, err);
    for (size_t i = 0; status == NM_OK && heaps.count > 0 && i < to->all->count; i++) {
        const nm_lifetime_row *row = nm_kept_rows_at(to->all, i);

        if (nm_map_get(&heaps, (nm_key){0, row->heap_id}) != NULL)
            status = write_stack(&to->stacks, row, err);
    }
    nm_map_free(&heaps);
    return status;
}

/* ---- Sites ------------------------------------------------------------------------------------------------------------- */

typedef struct site_sum {
    uint64_t timed_count, untimed_count, max_ns, max_steps;
    uint64_t counts[LAST_BUCKET + 1]; /* timed ones, by bucket */
} site_sum;

static void add(site_sum *sum, const nm_lifetime_row *row)
{
    sum->max_ns = row->max_ns > sum->max_ns ? row->max_ns : sum->max_ns;
    sum->max_steps = row->max_steps > sum->max_steps ? row->max_steps : sum->max_steps;
    if (row->bucket < 0) {
        nm_sum_add(&sum->untimed_count, row->freed_count);
        return;
    }
    nm_sum_add(&sum->timed_count, row->freed_count);
    nm_sum_add(&sum->counts[row->bucket > LAST_BUCKET ? LAST_BUCKET : row->bucket], row->freed_count);
}

/* The least power of two that `percent` of the timed ones lived no longer than. NM_NULL: there are none. */
static int64_t at_most_ns(const site_sum *sum, double percent)
{
    double so_far = 0, whole = (double)sum->timed_count;

    for (int bucket = 0; bucket <= LAST_BUCKET && whole > 0; bucket++) {
        so_far += (double)sum->counts[bucket];
        if (sum->counts[bucket] > 0 && 100 * so_far >= percent * whole)
            return (int64_t)(UINT64_C(2) << bucket);
    }
    return NM_NULL;
}

/* All rows of one site; *at is then the first of the next. */
static nm_status write_site(writer *to, size_t *at, nm_error *err)
{
    const nm_lifetime_row *first = nm_kept_rows_at(to->all, to->order[*at]);
    site_sum sum = {0};

    for (; *at < to->all->count; ++*at) {
        const nm_lifetime_row *row = nm_kept_rows_at(to->all, to->order[*at]);

        if (row->heap_id != first->heap_id || row->stack_id != first->stack_id)
            break;
        add(&sum, row);
    }
    nm_insert_int(&to->sites, nm_id_or_null(first->heap_id));
    nm_insert_int(&to->sites, nm_id_or_null(first->stack_id));
    nm_insert_int(&to->sites, (int64_t)nm_add_saturated(sum.timed_count, sum.untimed_count));
    nm_insert_int(&to->sites, at_most_ns(&sum, 50));
    nm_insert_int(&to->sites, at_most_ns(&sum, 99));
    nm_insert_int(&to->sites, sum.timed_count > 0 ? (int64_t)sum.max_ns : NM_NULL);
    nm_insert_int(&to->sites, (int64_t)sum.max_steps);
    return nm_insert_end(&to->sites, err);
}

static nm_status write_sites(writer *to, const nm_map *site_of, nm_error *err)
{
    for (size_t i = 0; i < to->all->count; i++) {
        nm_lifetime_row *row = nm_kept_rows_at(to->all, i);

        row->stack_id = nm_site_of_stack(site_of, row->stack_id); /* from here on of sites */
    }
    nm_status status = nm_kept_rows_order(to->all, compare, &to->order, err);
    for (size_t at = 0; status == NM_OK && at < to->all->count;)
        status = write_site(to, &at, err);
    return status;
}

nm_status nm_site_lifetimes_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err)
{
    static const nm_columns sites = {"z_site_lifetime",
                                     "heap_id site_frame_id freed_count median_at_most_ns p99_at_most_ns max_ns "
                                     "max_steps "};
    static const nm_columns stacks = {"stack_lifetime",
                                      "heap_id stack_id bucket freed_count max_ns max_steps last_alloc_seq "};
    nm_kept_rows all = {.row_bytes = sizeof(nm_lifetime_row)};
    writer to = {.all = &all};
    nm_status status = unpack(&settings->rows->lifetimes, &all, err);

    nm_buffer_free(&settings->rows->lifetimes);
    if (status == NM_OK)
        status = nm_insert_open(db, &sites, false, &to.sites, err);
    if (status == NM_OK)
        status = nm_insert_open(db, &stacks, false, &to.stacks, err);
    if (status == NM_OK)
        status = write_stacks(db, &to, err);
    if (status == NM_OK)
        status = write_sites(&to, &settings->rows->site_of, err);
    free(to.order);
    nm_kept_rows_free(&all);
    nm_insert_close(&to.sites);
    nm_insert_close(&to.stacks);
    return status;
}
