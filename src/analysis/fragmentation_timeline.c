/* SPDX-License-Identifier: Apache-2.0
 *
 * How a pool and each of its parts are cut up, all the time: a bounded number of buckets with the figures at the end of
 * each and the extremes within it, which are exact. Two buckets become one when there is no room, as in usage.c.
 */
#include "analysis/passes.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "replay/doubt.h"
#include "replay/lookup.h"
#include "replay/pass.h"
#include "replay/pool.h"
#include "replay/sub_pool.h"

#define PART_BUCKETS_MAX 1024

typedef struct timeline { /* room of a pool, and of a part: buckets of so many changes each, the last one still open */
    nm_fragment_usage_row *buckets; /* owned */
    size_t count, capacity;
    nm_fragment_usage_row *last; /* of them */
    uint64_t changes_per_bucket;
    uint64_t room; /* changes that the last one still takes */
} timeline;

/* What holds of a pool and its parts after an event. */
typedef struct line_state {
    const nm_heap *pool;
    int64_t seq, ns;
    bool is_stated, is_estimate, is_doubtful, is_partial, has_flags; /* has_flags: any of the others */
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

static uint64_t occupied_in(const nm_sub_pool_figures *figures)
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

/* All buckets are full. */
static void merge_pairs(timeline *line)
{
    for (size_t i = 0; i < line->count / 2; i++) {
        nm_fragment_usage_row merged = line->buckets[2 * i + 1];

        join(&merged, &line->buckets[2 * i]);
        line->buckets[i] = merged;
    }
    line->count /= 2;
    line->changes_per_bucket *= 2;
}

/* The row has the figures of the first change in it. */
static void begin_row(nm_fragment_usage_row *row, const line_state *state, uint64_t part_id)
{
    const nm_sub_pool_figures figures = row->figures;

    *row = (nm_fragment_usage_row){
        .heap_id = state->pool->id,
        .part_id = part_id,
        .first_seq = state->seq,
        .figures = figures,
        .min_largest_free_bytes = figures.largest_free_bytes,
        .max_free_bytes = figures.free_bytes,
        .max_free_seq = state->seq,
        .max_free_ns = state->ns,
        .max_stuck_bytes = figures.stuck_bytes,
        .max_stuck_seq = state->seq,
        .max_stuck_ns = state->ns,
        .max_waste_bytes = figures.waste_bytes,
    };
}

static void take_extremes(nm_fragment_usage_row *row, const nm_sub_pool_figures *figures, const line_state *state)
{
    row->max_reserved_bytes = larger(row->max_reserved_bytes, figures->reserved_bytes);
    row->max_occupied_bytes = larger(row->max_occupied_bytes, occupied_in(figures));
    row->min_largest_free_bytes = smaller(row->min_largest_free_bytes, figures->largest_free_bytes);
    row->max_gap_count = larger(row->max_gap_count, figures->gap_count);
    row->max_waste_bytes = larger_waste(row->max_waste_bytes, figures->waste_bytes);
    if (figures->free_bytes > row->max_free_bytes) {
        row->max_free_bytes = figures->free_bytes;
        row->max_free_seq = state->seq;
        row->max_free_ns = state->ns;
    }
    if (figures->stuck_bytes > row->max_stuck_bytes) {
        row->max_stuck_bytes = figures->stuck_bytes;
        row->max_stuck_seq = state->seq;
        row->max_stuck_ns = state->ns;
    }
}

/* part_id 0: the whole pool. What the bucket holds is not said yet. */
static nm_status add_bucket(timeline *line, uint64_t part_id, nm_error *err)
{
    nm_status status;

    if (line->count == (part_id == 0 ? NM_USAGE_BUCKETS_MAX : PART_BUCKETS_MAX))
        merge_pairs(line);
    if (line->changes_per_bucket == 0)
        line->changes_per_bucket = 1;
    status = nm_array_grow(&line->buckets, &line->capacity, line->count + 1, sizeof *line->buckets, err);
    if (status != NM_OK)
        return status;
    line->last = &line->buckets[line->count++];
    line->room = line->changes_per_bucket;
    return NM_OK;
}

static void flag(nm_fragment_usage_row *row, const line_state *state)
{
    row->is_stated |= state->is_stated;
    row->is_estimate |= state->is_estimate;
    row->is_doubtful |= state->is_doubtful;
    row->is_partial |= state->is_partial;
}

static nm_status take(timeline *line, const line_state *state, uint64_t part_id, nm_sub_pool_figures figures,
                      nm_error *err)
{
    bool is_new = line->room == 0;
    nm_status status = is_new ? add_bucket(line, part_id, err) : NM_OK;
    nm_fragment_usage_row *row = line->last;

    if (status != NM_OK)
        return status;
    line->room--;
    row->figures = figures;
    if (is_new)
        begin_row(row, state, part_id);
    row->last_seq = state->seq;
    row->last_ns = state->ns;
    take_extremes(row, &figures, state);
    if (state->has_flags)
        flag(row, state);
    return NM_OK;
}

/* ---- Pools and parts --------------------------------------------------------------------------------------------- */

static nm_sub_pool_figures figures_of(const nm_heap *pool)
{
    nm_fragmentation_row stated;

    if (!nm_pool_is_stated(pool))
        return (nm_sub_pool_figures){
            .reserved_bytes = pool->total.reserved_bytes,
            .free_bytes = pool->free_bytes,
            .largest_free_bytes = nm_sub_pool_largest(pool),
            .stuck_bytes = pool->stuck_bytes,
            .gap_count = pool->gap_count,
            .waste_bytes = nm_sub_pool_waste(pool->waste_bytes, pool->unknown_waste_count),
        };
    nm_pool_figures(pool, &stated);
    return (nm_sub_pool_figures){
        .reserved_bytes = stated.reserved_bytes, .free_bytes = stated.free_bytes, .waste_bytes = stated.waste_bytes};
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_heap *pool = change->heap;
    line_state state = {.pool = pool, .seq = change->context->seq, .ns = change->context->event->time_ns};
    nm_sub_pool_figures figures;
    timeline *line;
    uint64_t part_id = 0;
    nm_status status;

    /* The parts that the baseline changed are still listed at the first event of all, which shows them. */
    if (!nm_is_pool(pool) || state.seq == NM_NO_SEQ || (!pool->has_segments && !pool->has_stated))
        return NM_OK;
    state.is_stated = nm_pool_is_stated(pool);
    state.is_estimate = state.is_stated || nm_pool_is_estimate(pool);
    state.is_doubtful = nm_doubt_has_loss(run->replay, pool->process);
    state.is_partial = nm_pool_is_partial(pool);
    state.has_flags = state.is_estimate || state.is_doubtful || state.is_partial; /* what is stated is an estimate */
    figures = figures_of(pool);
    line = nm_heap_room(run, pool);
    for (const nm_sub_pool *part = pool->first_changed_part;; part = part->next_changed) { /* first the pool itself */
        status = take(line, &state, part_id, figures, err);
        if (part == NULL || status != NM_OK)
            return status;
        figures = nm_sub_pool_figures_of(part);
        line = nm_sub_pool_room(run, part);
        part_id = part->row.part_id;
    }
}

static nm_status write(const nm_run *run, const timeline *line, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < line->count && status == NM_OK; i++)
        status = nm_give_fragment_usage(&run->replay->sink, &line->buckets[i], err);
    return status;
}

static nm_status finish(nm_run *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next) {
        status = write(run, nm_heap_room(run, heap), err);
        for (const nm_sub_pool *part = heap->parts; part != NULL && status == NM_OK; part = part->next)
            status = write(run, nm_sub_pool_room(run, part), err);
    }
    return status;
}

static void release(nm_run *run)
{
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next) {
        free(((timeline *)nm_heap_room(run, heap))->buckets);
        for (const nm_sub_pool *part = heap->parts; part != NULL; part = part->next)
            free(((timeline *)nm_sub_pool_room(run, part))->buckets);
    }
}

const nm_pass nm_fragmentation_timeline_pass = {
    .name = "fragmentation timeline",
    .gives = {[NM_ROW_FRAGMENT_USAGE] = true},
    .wants = {[NM_CHANGE_SETTLED] = change},
    .room = {[NM_OWNER_HEAP] = sizeof(timeline), [NM_OWNER_SUB_POOL] = sizeof(timeline)},
    .finish = finish,
    .release = release,
};
