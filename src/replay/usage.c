/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of a heap, its peak, what the peak is made of, and its timeline. Each event costs the same, however large the
 * live set: see nm_site for how a peak is kept by stack without copying anything.
 */
#include "replay/usage.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "replay/graph.h"
#include "replay/lookup.h"
#include "replay/pass.h"
#include "replay/sub_pool.h"
#include "replay/totals.h"

/* Call before the site's sums change: what they were at a peak since their last change is kept. */
static void keep_peak(const nm_heap *heap, nm_site *site)
{
    if (site->epoch == heap->peak_epoch)
        return;
    site->at_peak_bytes = site->live_bytes;
    site->at_peak_count = site->live_count;
    site->at_peak_older_bytes = site->older_bytes;
    site->epoch = heap->peak_epoch;
}

nm_status nm_usage_site_of(nm_replay *replay, nm_heap *heap, uint64_t stack_id, nm_site **out, nm_error *err)
{
    nm_key key = {0, stack_id};
    const uint64_t *known = nm_map_get(&heap->site_of, key);
    nm_site *site;

    if (known != NULL) {
        *out = (nm_site *)(uintptr_t)*known;
        return NM_OK;
    }
    site = nm_replay_allocate(nm_runs_bytes_of(replay, NM_OWNER_SITE), err);
    if (site == NULL)
        return NM_ERR_MEMORY;
    *site = (nm_site){.stack_id = key.low, .epoch = heap->peak_epoch, .next = heap->sites};
    if (nm_map_put(&heap->site_of, key, (uintptr_t)site, err) != NM_OK) {
        free(site);
        return NM_ERR_MEMORY;
    }
    heap->sites = site;
    *out = site;
    return NM_OK;
}

nm_status nm_usage_site(nm_replay *replay, nm_live *live, uint64_t stack_id, nm_error *err)
{
    if (!live->is_baseline || stack_id != 0)
        return nm_usage_site_of(replay, live->heap, stack_id, &live->site, err);
    live->site = live->heap->baseline_site;
    return NM_OK;
}

static void add_to_device(nm_device *device, uint64_t bytes, int64_t seq, int64_t ns)
{
    nm_device_group *group = device->group;

    nm_sum_add(&device->live_bytes, bytes);
    nm_sum_add(&group->live_bytes, bytes);
    if (group->live_bytes > group->peak.peak_bytes) {
        group->peak_epoch++;
        group->is_peak_kept = false;
        group->peak.peak_bytes = group->live_bytes;
        group->peak.peak_seq = seq;
        group->peak.peak_ns = ns;
    }
}

static void take_peak(nm_heap *heap, int64_t seq, int64_t ns)
{
    nm_heap_total_row *total = &heap->total;

    total->peak_bytes = total->live_bytes;
    total->peak_live_count = heap->live_count;
    total->peak_seq = seq;
    total->peak_ns = ns;
    total->reserved_at_peak_bytes = total->reserved_bytes;
    heap->stated_at_peak_bytes = heap->stated_reserved_bytes;
    heap->is_peak_kept = false;
    heap->peak_epoch = ++heap->epoch;
}

/* What it takes of the device, which gives whole pages. */
static uint64_t page_bytes_of(const nm_live *live)
{
    return live->row.block_bytes != 0 ? live->row.block_bytes : live->row.size_bytes;
}

/* The baseline's share of a site, when it comes or goes; what graphs hold of it is theirs. */
static void count_older(const nm_live *live, bool is_more)
{
    nm_site *site = live->site;
    uint64_t bytes = live->row.size_bytes;

    if (!live->is_baseline || live->is_held)
        return;
    site->older_bytes =
        is_more ? nm_add_saturated(site->older_bytes, bytes) : nm_subtract_saturated(site->older_bytes, bytes);
    site->older_count += is_more ? 1 : -1;
}

static nm_status tell_site(const nm_live *live, uint64_t before_bytes, nm_error *err)
{
    return NM_TELL(live->heap->replay, NM_CHANGE_SITE, err, .heap = live->heap, .site = live->site,
                   .before_bytes = before_bytes);
}

nm_status nm_usage_add(nm_live *live, int64_t seq, int64_t ns, nm_error *err)
{
    nm_heap *heap = live->heap;
    uint64_t bytes = live->row.size_bytes;

    /* What it takes of its pool is out of the gaps before a peak looks at them. */
    assert(!nm_is_pool(heap) || live->part == NULL || live->is_covering || heap->overlapping_count > 0);
    uint64_t before_bytes = nm_site_own_bytes(live->site);
    keep_peak(heap, live->site);
    nm_sum_add(&live->site->live_bytes, bytes);
    live->site->live_count++;
    nm_graph_add(live);
    count_older(live, true);
    nm_sum_add(&heap->total.live_bytes, bytes);
    nm_sum_add(&heap->page_bytes, page_bytes_of(live));
    if (live->is_mapped)
        nm_sum_add(&heap->mapped_bytes, bytes);
    if (nm_live_more_of(live)->free_requested_seq != NM_NO_SEQ)
        nm_sum_add(&heap->pending_bytes, bytes);
    heap->live_count++;
    if (heap->total.live_bytes > heap->total.peak_bytes)
        take_peak(heap, seq, ns);
    if (heap->total.live_bytes > heap->step_base.peak_bytes)
        heap->step_base.peak_bytes = heap->total.live_bytes;
    if (heap->level == NM_LEVEL_DRIVER && heap->device != NULL)
        add_to_device(heap->device, bytes, seq, ns);
    return tell_site(live, before_bytes, err);
}

nm_status nm_usage_subtract(nm_live *live, nm_error *err)
{
    nm_heap *heap = live->heap;
    uint64_t bytes = live->row.size_bytes;

    assert(heap->live_count > 0 && live->site->live_count > 0); /* it was added, once */
    uint64_t before_bytes = nm_site_own_bytes(live->site);
    keep_peak(heap, live->site);
    live->site->live_bytes = nm_subtract_saturated(live->site->live_bytes, bytes);
    live->site->live_count--;
    count_older(live, false);
    nm_graph_subtract(live);
    heap->total.live_bytes = nm_subtract_saturated(heap->total.live_bytes, bytes);
    heap->page_bytes = nm_subtract_saturated(heap->page_bytes, page_bytes_of(live));
    if (live->is_mapped)
        heap->mapped_bytes = nm_subtract_saturated(heap->mapped_bytes, bytes);
    if (nm_live_more_of(live)->free_requested_seq != NM_NO_SEQ)
        heap->pending_bytes = nm_subtract_saturated(heap->pending_bytes, bytes);
    heap->live_count--;
    if (heap->level == NM_LEVEL_DRIVER && heap->device != NULL) {
        heap->device->live_bytes = nm_subtract_saturated(heap->device->live_bytes, bytes);
        heap->device->group->live_bytes = nm_subtract_saturated(heap->device->group->live_bytes, bytes);
    }
    return tell_site(live, before_bytes, err);
}

void nm_usage_peak_reserved(nm_heap *pool, int64_t seq)
{
    if (pool->total.reserved_bytes > pool->step_base.peak_reserved_bytes)
        pool->step_base.peak_reserved_bytes = pool->total.reserved_bytes;
    if (pool->total.reserved_bytes <= pool->total.peak_reserved_bytes)
        return;
    pool->total.peak_reserved_bytes = pool->total.reserved_bytes;
    pool->total.peak_reserved_seq = seq;
}

/* ---- The timeline ------------------------------------------------------------------------------------------------ */

/* Makes one bucket of every two, so that half the room is free again. */
static void merge_pairs(nm_usage *usage)
{
    for (size_t i = 0; i < usage->count / 2; i++) {
        const nm_usage_bucket *first = &usage->buckets[2 * i];
        nm_usage_bucket merged = usage->buckets[2 * i + 1];

        merged.row.first_seq = first->row.first_seq;
        merged.change_count += first->change_count;
        if (first->row.max_live_bytes >= merged.row.max_live_bytes) {
            merged.row.max_live_bytes = first->row.max_live_bytes;
            merged.row.max_seq = first->row.max_seq;
            merged.row.max_ns = first->row.max_ns;
        }
        usage->buckets[i] = merged;
    }
    usage->count /= 2;
    usage->changes_per_bucket *= 2;
}

/* Adds an empty bucket that begins at `seq`. */
static nm_status add_bucket(nm_heap *heap, int64_t seq, nm_error *err)
{
    nm_usage *usage = &heap->usage;
    nm_status status;

    if (usage->count == NM_USAGE_BUCKETS_MAX)
        merge_pairs(usage);
    if (usage->changes_per_bucket == 0)
        usage->changes_per_bucket = 1;
    status = nm_array_grow(&usage->buckets, &usage->capacity, usage->count + 1, sizeof *usage->buckets, err);
    if (status == NM_OK)
        usage->buckets[usage->count++] = (nm_usage_bucket){
            .row = {.heap_id = heap->id, .first_seq = seq, .max_seq = NM_NO_SEQ, .max_ns = NM_NO_TIME},
            .is_empty = true,
        };
    return status;
}

void nm_usage_touch_figures(nm_heap *heap)
{
    nm_replay *replay = heap->replay;

    if (heap->is_touched)
        return;
    heap->is_touched = true;
    heap->next_touched = NULL;
    *replay->last_touched = heap;
    replay->last_touched = &heap->next_touched;
}

void nm_usage_touch(nm_heap *heap)
{
    nm_usage_touch_figures(heap);
    if (heap->is_changed)
        return;
    heap->is_changed = true;
    heap->next_changed = heap->replay->first_changed;
    heap->replay->first_changed = heap;
}

static bool is_nothing_held(const nm_heap *heap)
{
    return heap->total.live_bytes == 0 && nm_pool_reserved_bytes(heap) == 0;
}

/* The heap's state after an event goes into the last bucket, or into a new one. What was live before the first event has one
 * of its own (NM_NO_SEQ). */
static nm_status take_change(nm_heap *heap, int64_t seq, int64_t ns, nm_error *err)
{
    nm_usage *usage = &heap->usage;
    nm_usage_bucket *last = usage->count == 0 ? NULL : &usage->buckets[usage->count - 1];
    bool is_open = last != NULL && (last->row.last_seq == NM_NO_SEQ) == (seq == NM_NO_SEQ) &&
                   last->change_count < usage->changes_per_bucket;
    nm_usage_row *row;

    if (seq == NM_NO_SEQ && !is_open && (last != NULL || is_nothing_held(heap)))
        return NM_OK;
    if (!is_open) {
        nm_status status = add_bucket(heap, seq, err);
        if (status != NM_OK)
            return status;
        last = &usage->buckets[usage->count - 1];
    }
    row = &last->row;
    last->change_count += seq != NM_NO_SEQ;
    row->last_seq = seq;
    row->last_ns = ns;
    row->live_bytes = heap->total.live_bytes;
    row->live_count = heap->live_count;
    row->reserved_bytes = heap->total.reserved_bytes;
    last->stated_reserved_bytes = heap->stated_reserved_bytes;
    if (last->is_empty || row->live_bytes > row->max_live_bytes) {
        last->is_empty = false;
        row->max_live_bytes = row->live_bytes;
        row->max_seq = seq;
        row->max_ns = ns;
    }
    return NM_OK;
}

nm_status nm_usage_done(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_status status = replay->first_touched == NULL ? NM_OK : NM_TELL(replay, NM_CHANGE_DONE, err, .context = context);

    for (nm_heap *heap = replay->first_touched; heap != NULL; heap = heap->next_touched)
        heap->is_touched = false;
    replay->first_touched = NULL;
    replay->last_touched = &replay->first_touched;
    return status;
}

/* A pool holds more than ever: what it was made of then is told once the request that it grew for has been served, and once
 * all that was there before it was recorded is known. */
static nm_status take_reserve(nm_heap *pool, const nm_context *context, nm_error *err)
{
    uint64_t bytes = nm_pool_reserved_bytes(pool);
    bool is_baseline = context->seq == NM_NO_SEQ || (context->event->flags & NM_FLAG_BASELINE) != 0;
    bool is_open = is_baseline ? !pool->is_reserve_kept : pool->is_reserve_open && pool->fresh_bytes == 0;

    if (bytes < pool->most_reserved_bytes)
        pool->is_reserve_open = false;
    if (bytes == 0 || bytes < pool->most_reserved_bytes || (bytes == pool->most_reserved_bytes && !is_open))
        return NM_OK;
    pool->is_reserve_kept &= bytes == pool->most_reserved_bytes;
    pool->is_reserve_open = pool->fresh_bytes > 0;
    pool->most_reserved_bytes = bytes;
    pool->reserve_seq = context->seq;
    pool->reserve_epoch = ++pool->epoch;
    return NM_TELL(pool->replay, NM_CHANGE_RESERVED, err, .context = context, .heap = pool);
}

nm_status nm_usage_flush(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_status status = NM_OK;

    while (replay->first_changed != NULL) {
        nm_heap *heap = replay->first_changed;

        replay->first_changed = heap->next_changed;
        heap->is_changed = false;
        if (status == NM_OK)
            status =
                take_change(heap, context->seq, context->seq == NM_NO_SEQ ? NM_NO_TIME : context->event->time_ns, err);
        if (status == NM_OK)
            status = NM_TELL(replay, NM_CHANGE_SETTLED, err, .context = context, .heap = heap);
        if (status == NM_OK && (heap->has_segments || heap->has_stated))
            status = take_reserve(heap, context, err);
        if (context->seq != NM_NO_SEQ)
            nm_parts_settle(heap);
    }
    return status == NM_OK ? nm_usage_done(replay, context, err) : status;
}

/* What lasts until the end of a program is given back then, or is left to the process's end. Age counts in events: a program
 * that does little has as many of them. */
void nm_usage_release(nm_live *live)
{
    const nm_live_row *row = &live->row;
    const nm_live_more *more = nm_live_more_of(live);
    nm_heap *heap = live->heap;

    if (heap->first_alloc_seq == NM_NO_SEQ || row->alloc_seq == NM_NO_SEQ || more->free_seq == NM_NO_SEQ)
        return;
    if (live->is_baseline || row->is_segment || more->split_from_id != 0 || more->graph_id != 0)
        return;
    if (more->free_seq - row->alloc_seq >= row->alloc_seq - heap->first_alloc_seq) {
        heap->total.released_count++;
        nm_sum_add(&heap->total.released_bytes, row->size_bytes);
    }
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static nm_status write_peak_site(nm_replay *replay, const nm_heap *heap, nm_site *site, bool is_baseline, nm_error *err)
{
    nm_peak_stack_row row = {.heap_id = heap->id, .stack_id = site->stack_id, .is_baseline = is_baseline};

    keep_peak(heap, site);
    row.live_bytes = site->at_peak_bytes;
    row.live_count = site->at_peak_count;
    row.older_bytes = is_baseline ? row.live_bytes : site->at_peak_older_bytes;
    if (row.live_count == 0 || !replay->sink.wants[NM_ROW_PEAK_STACK])
        return NM_OK;
    return nm_give_peak_stack(&replay->sink, &row, err);
}

/* Only now it is known whether a segment of the pool was ever seen: if not, its own word counts. */
static const nm_usage_row *finish_bucket(const nm_heap *heap, nm_usage_bucket *bucket)
{
    if (nm_pool_is_stated(heap))
        bucket->row.reserved_bytes = bucket->stated_reserved_bytes;
    return &bucket->row;
}

/* A heap that was born in what was kept has all its sums; of others, only where the whole keyframe was there. */
static bool replay_is_partial(const nm_heap *heap)
{
    return heap->replay->has_keyframe && !heap->replay->has_whole_keyframe;
}

static void finish_total(nm_heap *heap)
{
    nm_heap_total_row *total = &heap->total;

    total->is_partial = replay_is_partial(heap);
    total->has_stated = heap->has_stated;
    total->stated_reserved_bytes = heap->stated_reserved_bytes;
    total->peak_stated_reserved_bytes = heap->peak_stated_reserved_bytes;
    total->reserved_source = heap->has_segments ? NM_RESERVED_SEGMENTS : NM_RESERVED_UNKNOWN;
    if (!nm_pool_is_stated(heap))
        return;
    total->reserved_source = NM_RESERVED_STATED;
    total->reserved_bytes = heap->stated_reserved_bytes;
    total->reserved_at_peak_bytes = heap->stated_at_peak_bytes;
    total->peak_reserved_bytes = heap->peak_stated_reserved_bytes;
    total->peak_reserved_seq = heap->peak_stated_reserved_seq;
}

static nm_status write_heap(nm_replay *replay, nm_heap *heap, nm_error *err)
{
    const nm_sink *sink = &replay->sink;
    nm_status status = write_peak_site(replay, heap, heap->baseline_site, true, err);

    for (nm_site *site = heap->sites; site != NULL && status == NM_OK; site = site->next) {
        status = write_peak_site(replay, heap, site, false, err);
        if (status == NM_OK)
            status = nm_totals_write_site(replay, heap, site, err);
    }
    for (size_t i = 0; i < heap->usage.count && status == NM_OK && sink->wants[NM_ROW_USAGE]; i++)
        status = nm_give_usage(sink, finish_bucket(heap, &heap->usage.buckets[i]), err);
    if (status == NM_OK && nm_is_pool(heap))
        status = nm_sub_pools_write(replay, heap, err);
    finish_total(heap);
    if (status == NM_OK)
        status = nm_give_heap_total(sink, &heap->total, err);
    return status;
}

nm_status nm_usage_finish(nm_replay *replay, nm_error *err)
{
    const nm_sink *sink = &replay->sink;
    nm_status status = NM_OK;

    for (nm_heap *heap = replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        status = write_heap(replay, heap, err);
    for (const nm_device_group *group = replay->first_group; group != NULL && status == NM_OK; group = group->next)
        if (group->peak.device_id != 0)
            status = nm_give_device_peak(sink, &group->peak, err);
    return status;
}

void nm_usage_free(nm_heap *heap)
{
    while (heap->sites != NULL) {
        nm_site *site = heap->sites;

        heap->sites = site->next;
        free(site);
    }
    nm_map_free(&heap->site_of);
    free(heap->baseline_site);
    free(heap->usage.buckets);
}
