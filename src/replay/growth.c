/* SPDX-License-Identifier: Apache-2.0
 *
 * What tells a leak from what is merely held: how much of each stack was live at the end of each step, what graphs hold left
 * out (graph.c), and how long what was freed had lived. A stack's value is told when it has changed, so that a step costs what
 * changed in it. Long runs tell fewer and fewer steps: all of the first 1,024, then every second, fourth, ... of each doubling.
 */
#include "replay/growth.h"

#include "replay/lookup.h"

#define SAMPLED_STEPS_MIN 512

struct nm_lifetimes {
    uint32_t counts[NM_LIFETIME_BUCKETS];
    uint64_t untimed_count; /* whose times are not known: in no bucket */
    uint64_t max_ns, max_steps;
    int64_t last_alloc_seq;
};

void nm_growth_touch(nm_heap *heap, nm_site *site)
{
    if (site->is_touched || site == &heap->baseline_site)
        return;
    site->is_touched = true;
    site->next_touched = heap->first_touched;
    heap->first_touched = site;
}

bool nm_growth_is_sampled(uint64_t generation)
{
    uint64_t stride = 1;

    while (generation / stride >= 2 * SAMPLED_STEPS_MIN)
        stride *= 2;
    return generation % stride == 0;
}

nm_status nm_growth_end_step(nm_replay *replay, nm_heap *heap, bool is_last, nm_error *err)
{
    uint64_t generation = heap->process->step_count;
    nm_status status = NM_OK;

    if (!replay->sink.wants[NM_ROW_STEP_SITE] || (!is_last && !nm_growth_is_sampled(generation)))
        return NM_OK;
    while (heap->first_touched != NULL && status == NM_OK) {
        nm_site *site = heap->first_touched;
        nm_step_site_row row = {.heap_id = heap->id,
                                .stack_id = site->stack_id,
                                .generation = (int64_t)generation,
                                .live_bytes = nm_graph_not_of(site->live_bytes, site->graph_bytes),
                                .live_count = nm_graph_not_of(site->live_count, site->graph_count)};

        heap->first_touched = site->next_touched;
        site->is_touched = false;
        if (row.live_bytes == site->told_bytes && row.live_count == site->told_count)
            continue;
        site->told_bytes = row.live_bytes;
        site->told_count = row.live_count;
        status = nm_give_step_site(&replay->sink, &row, err);
    }
    return status;
}

/* ---- Lifetimes ----------------------------------------------------------------------------------------------------- */

static int bucket_of(uint64_t ns)
{
    int bucket = nm_log2(ns);

    return bucket < NM_LIFETIME_BUCKETS ? bucket : NM_LIFETIME_BUCKETS - 1;
}

static nm_lifetimes *lifetimes_of(nm_site *site, nm_error *err)
{
    if (site->lifetimes == NULL) {
        site->lifetimes = nm_replay_allocate(sizeof *site->lifetimes, err);
        if (site->lifetimes != NULL)
            site->lifetimes->last_alloc_seq = NM_NO_SEQ;
    }
    return site->lifetimes;
}

/* What lasts until the end of a program is given back then, or is left to the process's end. Age counts in events: a program
 * that does little has as many of them. */
static void note_release(const nm_live *live)
{
    const nm_allocation_row *row = &live->row;
    nm_heap *heap = live->heap;

    if (heap->first_alloc_seq == NM_NO_SEQ || row->alloc_seq == NM_NO_SEQ || row->free_seq == NM_NO_SEQ)
        return;
    if (row->end_kind == NM_END_FREED && !row->is_segment &&
        row->free_seq - row->alloc_seq >= row->alloc_seq - heap->first_alloc_seq) {
        heap->total.released_count++;
        nm_sum_add(&heap->total.released_bytes, row->size_bytes);
    }
}

nm_status nm_growth_freed(const nm_live *live, nm_error *err)
{
    const nm_allocation_row *row = &live->row;
    uint64_t steps = nm_subtract_saturated(live->heap->process->step_count, (uint64_t)row->generation);

    if (live->is_baseline || row->end_kind == NM_END_REPLACED || row->end_kind == NM_END_RESET ||
        row->split_from_id != 0 || row->graph_id != 0) /* what graphs hold lives as long as they do */
        return NM_OK;
    nm_lifetimes *lifetimes = lifetimes_of(live->site, err);
    if (lifetimes == NULL)
        return NM_ERR_MEMORY;
    note_release(live);
    lifetimes->last_alloc_seq = row->alloc_seq > lifetimes->last_alloc_seq ? row->alloc_seq : lifetimes->last_alloc_seq;
    lifetimes->max_steps = steps > lifetimes->max_steps ? steps : lifetimes->max_steps;
    if (row->alloc_ns == NM_NO_TIME || row->free_ns == NM_NO_TIME || row->free_ns < row->alloc_ns) {
        lifetimes->untimed_count++;
        return NM_OK;
    }
    uint64_t ns = (uint64_t)row->free_ns - (uint64_t)row->alloc_ns;
    lifetimes->counts[bucket_of(ns)] += lifetimes->counts[bucket_of(ns)] < UINT32_MAX;
    lifetimes->max_ns = ns > lifetimes->max_ns ? ns : lifetimes->max_ns;
    return NM_OK;
}

nm_status nm_growth_write_lifetimes(nm_replay *replay, const nm_heap *heap, const nm_site *site, nm_error *err)
{
    nm_status status = NM_OK;

    if (!replay->sink.wants[NM_ROW_LIFETIME] || site->lifetimes == NULL)
        return NM_OK;
    for (int bucket = -1; bucket < NM_LIFETIME_BUCKETS && status == NM_OK; bucket++) {
        nm_lifetime_row row = {.heap_id = heap->id,
                               .stack_id = site->stack_id,
                               .bucket = bucket,
                               .freed_count =
                                   bucket < 0 ? site->lifetimes->untimed_count : site->lifetimes->counts[bucket],
                               .max_ns = site->lifetimes->max_ns,
                               .max_steps = site->lifetimes->max_steps,
                               .last_alloc_seq = site->lifetimes->last_alloc_seq};

        if (row.freed_count > 0)
            status = nm_give_lifetime(&replay->sink, &row, err);
    }
    return status;
}
