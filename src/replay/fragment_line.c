/* SPDX-License-Identifier: Apache-2.0
 *
 * How a pool and each of its parts are cut up, all the time: a bounded number of buckets with the figures at the end of
 * each and the extremes within it, which are exact. Two buckets become one when there is no room, as in usage.c.
 */
#include "replay/state.h"

#include <stdlib.h>

#include "base/buffer.h"

/* What a pool or a part is like after an event. */
typedef struct line_state {
    uint64_t heap_id, part_id;
    nm_part_figures figures;
    bool is_stated, is_estimate, is_doubtful, is_partial;
} line_state;

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int64_t larger_waste(int64_t a, int64_t b)
{
    if (a == NM_UNKNOWN_NUMBER || b == NM_UNKNOWN_NUMBER)
        return NM_UNKNOWN_NUMBER;
    return a > b ? a : b;
}

static uint64_t occupied_in(const nm_part_figures *figures)
{
    return nm_subtract_saturated(figures->reserved_bytes, figures->free_bytes);
}

/* ---- Buckets ----------------------------------------------------------------------------------------------------- */

/* The extremes of `first` go into `row`, which comes right behind it. */
static void join(nm_fragment_usage_row *row, const nm_fragment_usage_row *first)
{
    row->first_seq = first->first_seq;
    row->max_reserved_bytes = larger(row->max_reserved_bytes, first->max_reserved_bytes);
    row->max_occupied_bytes = larger(row->max_occupied_bytes, first->max_occupied_bytes);
    row->min_largest_free_bytes = smaller(row->min_largest_free_bytes, first->min_largest_free_bytes);
    row->max_gap_count = larger(row->max_gap_count, first->max_gap_count);
    row->max_waste_bytes = larger_waste(row->max_waste_bytes, first->max_waste_bytes);
    if (first->max_free_bytes >= row->max_free_bytes) {
        row->max_free_bytes = first->max_free_bytes;
        row->max_free_seq = first->max_free_seq;
        row->max_free_ns = first->max_free_ns;
    }
    if (first->max_stuck_bytes >= row->max_stuck_bytes) {
        row->max_stuck_bytes = first->max_stuck_bytes;
        row->max_stuck_seq = first->max_stuck_seq;
        row->max_stuck_ns = first->max_stuck_ns;
    }
    row->is_stated |= first->is_stated;
    row->is_estimate |= first->is_estimate;
    row->is_doubtful |= first->is_doubtful;
    row->is_partial |= first->is_partial;
}

static void merge_pairs(nm_fragment_line *line)
{
    for (size_t i = 0; i < line->count / 2; i++) {
        nm_fragment_bucket merged = line->buckets[2 * i + 1];

        join(&merged.row, &line->buckets[2 * i].row);
        merged.change_count += line->buckets[2 * i].change_count;
        line->buckets[i] = merged;
    }
    line->count /= 2;
    line->changes_per_bucket *= 2;
}

static nm_status add_bucket(nm_fragment_line *line, size_t limit, nm_error *err)
{
    nm_status status;

    if (line->count == limit)
        merge_pairs(line);
    if (line->changes_per_bucket == 0)
        line->changes_per_bucket = 1;
    status = nm_array_grow(&line->buckets, &line->capacity, line->count + 1, sizeof *line->buckets, err);
    if (status == NM_OK)
        line->buckets[line->count++] = (nm_fragment_bucket){0};
    return status;
}

static void begin_row(nm_fragment_usage_row *row, const line_state *state, int64_t seq, int64_t ns)
{
    *row = (nm_fragment_usage_row){
        .heap_id = state->heap_id,
        .part_id = state->part_id,
        .first_seq = seq,
        .min_largest_free_bytes = state->figures.largest_free_bytes,
        .max_free_bytes = state->figures.free_bytes,
        .max_free_seq = seq,
        .max_free_ns = ns,
        .max_stuck_bytes = state->figures.stuck_bytes,
        .max_stuck_seq = seq,
        .max_stuck_ns = ns,
        .max_waste_bytes = state->figures.waste_bytes,
    };
}

static void take_extremes(nm_fragment_usage_row *row, const nm_part_figures *figures, int64_t seq, int64_t ns)
{
    row->max_reserved_bytes = larger(row->max_reserved_bytes, figures->reserved_bytes);
    row->max_occupied_bytes = larger(row->max_occupied_bytes, occupied_in(figures));
    row->min_largest_free_bytes = smaller(row->min_largest_free_bytes, figures->largest_free_bytes);
    row->max_gap_count = larger(row->max_gap_count, figures->gap_count);
    row->max_waste_bytes = larger_waste(row->max_waste_bytes, figures->waste_bytes);
    if (figures->free_bytes > row->max_free_bytes) {
        row->max_free_bytes = figures->free_bytes;
        row->max_free_seq = seq;
        row->max_free_ns = ns;
    }
    if (figures->stuck_bytes > row->max_stuck_bytes) {
        row->max_stuck_bytes = figures->stuck_bytes;
        row->max_stuck_seq = seq;
        row->max_stuck_ns = ns;
    }
}

static nm_status take(nm_fragment_line *line, size_t limit, const line_state *state, int64_t seq, int64_t ns,
                      nm_error *err)
{
    nm_fragment_bucket *last = line->count == 0 ? NULL : &line->buckets[line->count - 1];
    nm_fragment_usage_row *row;

    if (last == NULL || last->change_count >= line->changes_per_bucket) {
        nm_status status = add_bucket(line, limit, err);
        if (status != NM_OK)
            return status;
        last = &line->buckets[line->count - 1];
        begin_row(&last->row, state, seq, ns);
    }
    row = &last->row;
    last->change_count++;
    row->last_seq = seq;
    row->last_ns = ns;
    row->figures = state->figures;
    take_extremes(row, &state->figures, seq, ns);
    row->is_stated |= state->is_stated;
    row->is_estimate |= state->is_estimate;
    row->is_doubtful |= state->is_doubtful;
    row->is_partial |= state->is_partial;
    return NM_OK;
}

/* ---- Pools and parts --------------------------------------------------------------------------------------------- */

static line_state state_of(const nm_heap *pool)
{
    nm_fragmentation_row now;

    nm_pool_figures(pool, &now);
    return (line_state){
        .heap_id = pool->id,
        .figures = {.reserved_bytes = now.reserved_bytes,
                    .free_bytes = now.free_bytes,
                    .largest_free_bytes = now.largest_free_bytes,
                    .stuck_bytes = now.stuck_bytes,
                    .gap_count = now.gap_count,
                    .waste_bytes = now.waste_bytes},
        .is_stated = now.is_stated,
        .is_estimate = now.is_estimate,
        .is_doubtful = now.is_doubtful,
        .is_partial = now.is_partial,
    };
}

nm_status nm_fragment_line_take(nm_heap *pool, int64_t seq, int64_t ns, nm_error *err)
{
    line_state state;
    nm_status status;

    /* What the baseline changed stays in the list, so that the first event of all shows it. */
    if (pool->replay->sink.fragment_usage == NULL || seq == NM_NO_SEQ || (!pool->has_segments && !pool->has_stated))
        return NM_OK;
    state = state_of(pool);
    status = take(&pool->line, NM_USAGE_BUCKETS_MAX, &state, seq, ns, err);
    while (pool->first_changed_part != NULL) {
        nm_part *part = pool->first_changed_part;

        pool->first_changed_part = part->next_changed;
        part->is_changed = false;
        state.part_id = part->row.part_id;
        state.figures = nm_part_figures_of(part);
        if (status == NM_OK)
            status = take(&part->line, NM_PART_BUCKETS_MAX, &state, seq, ns, err);
    }
    return status;
}

static nm_status write(const nm_replay *replay, const nm_fragment_line *line, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < line->count && status == NM_OK; i++)
        status = replay->sink.fragment_usage(replay->sink.context, &line->buckets[i].row, err);
    return status;
}

nm_status nm_fragment_line_write(const nm_replay *replay, const nm_heap *pool, nm_error *err)
{
    nm_status status = write(replay, &pool->line, err);

    for (const nm_part *part = pool->parts; part != NULL && status == NM_OK; part = part->next)
        status = write(replay, &part->line, err);
    return status;
}

void nm_fragment_line_free(nm_fragment_line *line)
{
    free(line->buckets);
}
