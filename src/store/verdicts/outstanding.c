/* SPDX-License-Identifier: Apache-2.0
 *
 * The groups of rows are judged one by one, put in the order of heaps, stacks and generations, and written from there: those that
 * have become alike as one row, and all sizes of a stack and generation as another.
 */
#include "store/verdicts/outstanding.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/number.h"
#include "store/database.h"
#include "store/verdicts/graph_ends.sql.h"
#include "store/verdicts/last_births.sql.h"
#include "store/verdicts/outstanding_ended.sql.h"
#include "store/verdicts/outstanding_kept.sql.h"
#include "store/verdicts/outstanding_resets.sql.h"

typedef nm_outstanding_row group;

typedef struct block_sum { /* of blocks of one heap that a reset ended */
    uint64_t count, bytes;
} block_sum;

typedef struct writer {
    nm_sum_table *groups;
    uint32_t *order; /* owned; of those that are outstanding */
    size_t order_count;
    nm_map last_births; /* heap_id -> place of the last birth on its device */
    nm_map graph_ends;  /* graph_id -> when it was destroyed; both as uint64_t of an int64_t */
    bool has_ended;     /* a reset ended some for good */
    nm_insert sums, births, resets;
} writer;

static group *group_at(const nm_sum_table *groups, size_t index)
{
    return (group *)(void *)groups->items.data + index;
}

/* ---- What graphs and resets did ---------------------------------------------------------------------------------------- */

static nm_status read_last_births(sqlite3 *db, nm_map *out, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_last_births_row row;
    nm_status status = nm_last_births_ask(db, &rows, err);

    while (status == NM_OK && nm_last_births_next(rows, &row))
        status = nm_map_put(out, (nm_key){0, (uint64_t)row.heap_id}, (uint64_t)row.last_alloc_seq, err);
    return nm_question_end(rows, status, err);
}

static nm_status read_graph_ends(sqlite3 *db, nm_map *out, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_graph_ends_row row;
    nm_status status = nm_graph_ends_ask(db, &rows, err);

    while (status == NM_OK && nm_graph_ends_next(rows, &row))
        status = nm_map_put(out, (nm_key){0, (uint64_t)row.graph_id}, (uint64_t)NM_NUMBER_OF(&row, destroyed_seq), err);
    return nm_question_end(rows, status, err);
}

/* By a reset that was not the last word on the device. */
static bool is_ended(const writer *to, const group *of)
{
    const uint64_t *last_birth =
        of->free_seq == NM_NO_SEQ ? NULL : nm_map_get(&to->last_births, (nm_key){0, of->heap_id});

    return last_birth != NULL && of->free_seq < (int64_t)*last_birth;
}

/* At the end of the trace, or until a last reset ended both. */
static bool is_held(const writer *to, const group *of)
{
    const uint64_t *end = of->graph_id == 0 ? NULL : nm_map_get(&to->graph_ends, (nm_key){0, of->graph_id});
    int64_t destroyed_seq = end == NULL ? NM_NO_SEQ : (int64_t)*end;

    return end != NULL && (destroyed_seq == NM_NO_SEQ || (of->free_seq != NM_NO_SEQ && destroyed_seq >= of->free_seq));
}

/* ---- Their order ------------------------------------------------------------------------------------------------------- */

static int compare_numbers(uint64_t left, uint64_t right) /* as columns hold them */
{
    return ((int64_t)left > (int64_t)right) - ((int64_t)left < (int64_t)right);
}

/* But for sizes. */
static int compare_births(const group *a, const group *b)
{
    int order = compare_numbers(a->heap_id, b->heap_id);

    if (order == 0)
        order = compare_numbers(a->stack_id, b->stack_id);
    if (order == 0)
        order = (a->generation > b->generation) - (a->generation < b->generation);
    if (order == 0)
        order = compare_numbers(a->is_doubtful, b->is_doubtful);
    if (order == 0)
        order = compare_numbers(a->graph_id, b->graph_id);
    return order == 0 ? compare_numbers(a->is_private, b->is_private) : order;
}

static int compare_groups(const group *a, const group *b)
{
    int order = compare_births(a, b);

    return order == 0 ? compare_numbers(a->size_bytes, b->size_bytes) : order;
}

static int compare_at(const void *left, const void *right, void *groups)
{
    return compare_groups(group_at(groups, *(const uint32_t *)left), group_at(groups, *(const uint32_t *)right));
}

static nm_status judge(writer *to, nm_error *err)
{
    size_t count = to->groups->count; /* no more than 2^31 */

    to->order = malloc((count + 1) * sizeof *to->order);
    if (to->order == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < count; i++) {
        group *of = group_at(to->groups, i);

        if (!is_held(to, of))
            of->graph_id = 0;
        if (is_ended(to, of))
            to->has_ended = true;
        else
            to->order[to->order_count++] = (uint32_t)i;
    }
    qsort_r(to->order, to->order_count, sizeof *to->order, compare_at, to->groups);
    return NM_OK;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------------- */

static uint64_t bytes_of(const group *of)
{
    uint64_t bytes = 0;

    return __builtin_mul_overflow(of->allocation_count, of->size_bytes, &bytes) ? NM_SUM_MAX : bytes;
}

/* More of what is alike. */
static void add(group *sum, const group *more)
{
    sum->allocation_count += more->allocation_count;
    if (more->first_seq != NM_NO_SEQ && (sum->first_seq == NM_NO_SEQ || more->first_seq < sum->first_seq))
        sum->first_seq = more->first_seq;
    if (more->last_seq > sum->last_seq)
        sum->last_seq = more->last_seq;
    if (more->first_ns != NM_NO_TIME && (sum->first_ns == NM_NO_TIME || more->first_ns < sum->first_ns))
        sum->first_ns = more->first_ns;
}

/* Of one size, or all sizes and how much they are. */
static nm_status write_row(nm_insert *out, const group *of, const uint64_t *all_bytes, nm_error *err)
{
    nm_insert_int(out, nm_id_or_null(of->heap_id));
    nm_insert_int(out, nm_id_or_null(of->stack_id));
    if (all_bytes == NULL)
        nm_insert_int(out, (int64_t)of->size_bytes);
    nm_insert_int(out, of->generation);
    nm_insert_int(out, (int64_t)of->is_doubtful);
    nm_insert_int(out, (int64_t)of->allocation_count);
    if (all_bytes != NULL)
        nm_insert_int(out, (int64_t)*all_bytes);
    nm_insert_int(out, of->first_seq);
    nm_insert_int(out, of->last_seq);
    nm_insert_int(out, of->first_ns);
    nm_insert_int(out, nm_id_or_null(of->graph_id));
    nm_insert_int(out, (int64_t)of->is_private);
    return nm_insert_end(out, err);
}

static nm_status write_reset(writer *to, uint64_t heap_id, const block_sum *reset, nm_error *err)
{
    if (reset->count == 0)
        return NM_OK;
    nm_insert_int(&to->resets, nm_id_or_null(heap_id));
    nm_insert_int(&to->resets, (int64_t)reset->count);
    nm_insert_int(&to->resets, (int64_t)reset->bytes);
    return nm_insert_end(&to->resets, err);
}

static const group *ordered(const writer *to, size_t at)
{
    return at < to->order_count ? group_at(to->groups, to->order[at]) : NULL;
}

/* All of one size; *at is then the first of the next. */
static nm_status write_size(writer *to, size_t *at, block_sum *reset, group *sum, nm_error *err)
{
    const group *first = ordered(to, *at), *of;

    *sum = *first;
    sum->allocation_count = 0;
    for (; (of = ordered(to, *at)) != NULL && compare_groups(first, of) == 0; ++*at) {
        add(sum, of);
        if (of->free_seq != NM_NO_SEQ) {
            nm_sum_add(&reset->count, of->allocation_count);
            nm_sum_add(&reset->bytes, bytes_of(of));
        }
    }
    return write_row(&to->sums, sum, NULL, err);
}

/* All of one stack and generation; *at is then the first of the next. */
static nm_status write_birth(writer *to, size_t *at, block_sum *reset, nm_error *err)
{
    const group *first = ordered(to, *at), *of = first;
    group all = *first, sum;
    uint64_t bytes = 0;
    nm_status status = NM_OK;

    all.allocation_count = 0;
    for (; status == NM_OK && of != NULL && compare_births(first, of) == 0; of = ordered(to, *at)) {
        status = write_size(to, at, reset, &sum, err);
        add(&all, &sum);
        nm_sum_add(&bytes, bytes_of(&sum));
    }
    return status == NM_OK ? write_row(&to->births, &all, &bytes, err) : status;
}

static nm_status write_all(writer *to, nm_error *err)
{
    block_sum reset = {0};
    nm_status status = NM_OK;

    for (size_t at = 0; status == NM_OK && at < to->order_count;) {
        uint64_t heap_id = ordered(to, at)->heap_id;

        status = write_birth(to, &at, &reset, err);
        if (status == NM_OK && (ordered(to, at) == NULL || ordered(to, at)->heap_id != heap_id)) {
            status = write_reset(to, heap_id, &reset, err);
            reset = (block_sum){0};
        }
    }
    return status;
}

static nm_status open_tables(sqlite3 *db, writer *to, nm_error *err)
{
    static const nm_columns sums = {"z_outstanding_sum",
                                    "heap_id stack_id size_bytes generation is_doubtful allocation_count first_seq "
                                    "last_seq first_ns graph_id is_private "};
    static const nm_columns births = {"z_outstanding_birth",
                                      "heap_id stack_id generation is_doubtful allocation_count size_bytes first_seq "
                                      "last_seq first_ns graph_id is_private "};
    static const nm_columns resets = {"reset_sum", "heap_id block_count block_bytes "};
    nm_status status = nm_insert_open(db, &sums, false, &to->sums, err);

    if (status == NM_OK)
        status = nm_insert_open(db, &births, false, &to->births, err);
    return status == NM_OK ? nm_insert_open(db, &resets, false, &to->resets, err) : status;
}

nm_status nm_outstanding_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err)
{
    writer to = {.groups = settings == NULL ? NULL : &settings->rows->outstanding};

    if (settings == NULL)
        return nm_outstanding_kept_run(db, err);
    nm_status status = read_last_births(db, &to.last_births, err);
    if (status == NM_OK)
        status = read_graph_ends(db, &to.graph_ends, err);
    if (status == NM_OK)
        status = judge(&to, err);
    if (status == NM_OK)
        status = open_tables(db, &to, err);
    if (status == NM_OK)
        status = write_all(&to, err);
    free(to.order);
    nm_map_free(&to.last_births);
    nm_map_free(&to.graph_ends);
    nm_insert_close(&to.sums);
    nm_insert_close(&to.births);
    nm_insert_close(&to.resets);
    if (status == NM_OK && to.has_ended)
        status = nm_outstanding_ended_run(db, err);
    return status == NM_OK ? nm_outstanding_resets_run(db, err) : status;
}
