/* SPDX-License-Identifier: Apache-2.0
 *
 * How long what was freed had lived, by stack: a histogram of powers of two, and the longest. Memory that lives much longer
 * than the rest of its stack is a leak, or merely held; what ended otherwise than by a free says nothing about that.
 */
#include "analysis/passes.h"

#include <stdlib.h>

#include "base/number.h"
#include "replay/lookup.h"
#include "replay/pass.h"

/* Most stacks have a few buckets that stand beside each other: those are there, from the first to the last that counts. */
typedef struct lifetimes {
    uint64_t untimed_count; /* whose times are not known: in no bucket */
    uint64_t max_ns, max_steps;
    int64_t last_alloc_seq;
    uint8_t first_bucket, bucket_count;
    uint32_t counts[];
} lifetimes;

typedef struct site_room {
    lifetimes *freed; /* owned; NULL: nothing was */
} site_room;

static int bucket_of(uint64_t ns)
{
    int bucket = nm_log2(ns);

    return bucket < NM_LIFETIME_BUCKETS ? bucket : NM_LIFETIME_BUCKETS - 1;
}

static uint32_t count_of(const lifetimes *of, int bucket)
{
    return bucket < of->first_bucket || bucket >= of->first_bucket + of->bucket_count
               ? 0
               : of->counts[bucket - of->first_bucket];
}

/* The same with room for the bucket; may move it. NULL: memory is out, and *of is as it was. */
static lifetimes *with_bucket(lifetimes *of, int bucket, nm_error *err)
{
    int first = of->bucket_count == 0 || bucket < of->first_bucket ? bucket : of->first_bucket;
    int last = of->first_bucket + of->bucket_count - 1;
    lifetimes *wider;

    last = of->bucket_count == 0 || bucket > last ? bucket : last;
    if (of->bucket_count == last - first + 1)
        return of;
    wider = nm_replay_allocate(sizeof *of + (size_t)(last - first + 1) * sizeof *of->counts, err);
    if (wider == NULL)
        return NULL;
    *wider = *of;
    wider->first_bucket = (uint8_t)first;
    wider->bucket_count = (uint8_t)(last - first + 1);
    for (int i = first; i <= last; i++)
        wider->counts[i - first] = count_of(of, i);
    free(of);
    return wider;
}

static lifetimes *lifetimes_of(const nm_run *run, const nm_site *site, nm_error *err)
{
    site_room *room = nm_site_room(run, site);

    if (room->freed == NULL) {
        room->freed = nm_replay_allocate(sizeof *room->freed, err);
        if (room->freed != NULL)
            room->freed->last_alloc_seq = NM_NO_SEQ;
    }
    return room->freed;
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_live *live = change->live;
    const nm_live_row *row = &live->row;
    const nm_live_more *more = live->more;
    uint64_t steps = nm_subtract_saturated(live->heap->process->step_count, row->step_count);

    if (live->is_baseline || more->end_kind == NM_END_REPLACED || more->end_kind == NM_END_RESET ||
        more->split_from_id != 0 || more->graph_id != 0) /* what graphs hold lives as long as they do */
        return NM_OK;
    lifetimes *of = lifetimes_of(run, live->site, err);
    if (of == NULL)
        return NM_ERR_MEMORY;
    of->last_alloc_seq = row->alloc_seq > of->last_alloc_seq ? row->alloc_seq : of->last_alloc_seq;
    of->max_steps = steps > of->max_steps ? steps : of->max_steps;
    if (row->alloc_ns == NM_NO_TIME || more->free_ns == NM_NO_TIME || more->free_ns < row->alloc_ns) {
        of->untimed_count++;
        return NM_OK;
    }
    uint64_t ns = (uint64_t)more->free_ns - (uint64_t)row->alloc_ns;
    of = with_bucket(of, bucket_of(ns), err);
    if (of == NULL)
        return NM_ERR_MEMORY;
    ((site_room *)nm_site_room(run, live->site))->freed = of;
    uint32_t *count = &of->counts[bucket_of(ns) - of->first_bucket];
    *count += *count < UINT32_MAX;
    of->max_ns = ns > of->max_ns ? ns : of->max_ns;
    return NM_OK;
}

static nm_status write_site(const nm_run *run, const nm_heap *heap, const nm_site *site, nm_error *err)
{
    const lifetimes *of = ((const site_room *)nm_site_room(run, site))->freed;
    nm_status status = NM_OK;

    for (int bucket = -1; of != NULL && bucket < NM_LIFETIME_BUCKETS && status == NM_OK; bucket++) {
        nm_lifetime_row row = {.heap_id = heap->id,
                               .stack_id = site->stack_id,
                               .bucket = bucket,
                               .freed_count = bucket < 0 ? of->untimed_count : count_of(of, bucket),
                               .max_ns = of->max_ns,
                               .max_steps = of->max_steps,
                               .last_alloc_seq = of->last_alloc_seq};

        if (row.freed_count > 0)
            status = nm_give_lifetime(&run->replay->sink, &row, err);
    }
    return status;
}

static nm_status finish(nm_run *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next)
        for (const nm_site *site = heap->sites; site != NULL && status == NM_OK; site = site->next)
            status = write_site(run, heap, site, err);
    return status;
}

static void release(nm_run *run)
{
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next)
        for (const nm_site *site = heap->sites; site != NULL; site = site->next)
            free(((site_room *)nm_site_room(run, site))->freed);
}

const nm_pass nm_lifetimes_pass = {
    .name = "lifetimes",
    .gives = {[NM_ROW_LIFETIME] = true},
    .wants = {[NM_CHANGE_ENDED] = change},
    .room = {[NM_OWNER_SITE] = sizeof(site_room)},
    .finish = finish,
    .release = release,
};
