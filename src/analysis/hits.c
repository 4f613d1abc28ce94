/* SPDX-License-Identifier: Apache-2.0
 *
 * How often a pool served a request from what it held, by the size of the request. Of what was there before the stream, or
 * was made unseen, that is not known; what a keyframe brings stands in the sums that it brings.
 */
#include "analysis/hits.h"

#include "analysis/hit_parts.h"
#include "analysis/passes.h"
#include "replay/keyframe.h"
#include "replay/lookup.h"

enum { BUCKETS = NM_HEAP_SEGMENTS - NM_HEAP_HITS }; /* small, medium, large */

typedef struct heap_room {
    nm_hit_row hits[BUCKETS];
    nm_hit_parts parts;
} heap_room;

static void begin(const nm_run *run, const nm_heap *heap)
{
    heap_room *room = nm_heap_room(run, heap);

    for (int bucket = 0; bucket < BUCKETS; bucket++)
        room->hits[bucket] =
            (nm_hit_row){.heap_id = heap->id, .bucket = bucket, .last_miss_seq = NM_NO_SEQ, .last_miss_ns = NM_NO_TIME};
}

static nm_status count(const nm_run *run, const nm_live *block, nm_error *err)
{
    const nm_heap *pool = block->heap;
    const nm_live_row *row = &block->row;
    uint64_t bytes = row->requested_bytes != 0 ? row->requested_bytes : row->block_bytes;
    heap_room *room = nm_heap_room(run, pool);
    int bucket = bytes < pool->small_bytes ? 0 : bytes <= pool->large_bytes ? 1 : 2;
    nm_hit_row *hit = &room->hits[bucket];

    if (!nm_is_pool(pool) || block->is_kept || row->is_miss == NM_NO_MISS)
        return NM_OK;
    hit->allocation_count++;
    if (row->is_miss == 1) {
        hit->miss_count++;
        hit->last_miss_seq = row->alloc_seq;
        hit->last_miss_ns = row->alloc_ns;
    }
    return row->alloc_seq == NM_NO_SEQ ? NM_OK : nm_hit_parts_add(&room->parts, block, bucket, err);
}

uint64_t nm_hits_request_count(const nm_run *run, const nm_heap *pool)
{
    const heap_room *room = nm_heap_room(run, pool);
    uint64_t sum = 0;

    for (int bucket = 0; bucket < BUCKETS; bucket++)
        sum += room->hits[bucket].allocation_count;
    return sum;
}

static nm_status take_heap(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)err;
    begin(run, change->heap);
    return NM_OK;
}

static nm_status take_birth(nm_run *run, const nm_change *change, nm_error *err)
{
    return count(run, change->live, err);
}

static nm_status finish(nm_run *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next) {
        const heap_room *room = nm_heap_room(run, heap);

        for (int bucket = 0; bucket < BUCKETS && status == NM_OK && nm_is_pool(heap); bucket++)
            status = nm_give_hit(&run->replay->sink, &room->hits[bucket], err);
        if (status == NM_OK)
            status = nm_hit_parts_give(&room->parts, &run->replay->sink, err);
    }
    return status;
}

static void release(nm_run *run)
{
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next)
        nm_hit_parts_free(&((heap_room *)nm_heap_room(run, heap))->parts);
}

/* ---- Keyframes ----------------------------------------------------------------------------------------------------- */

static nm_status save(const nm_run *run, const nm_heap *heap, const nm_keyframe_out *out, nm_error *err)
{
    const heap_room *room = heap == NULL ? NULL : nm_heap_room(run, heap);
    nm_status status = NM_OK;

    for (unsigned bucket = 0; bucket < BUCKETS && status == NM_OK && room != NULL && nm_is_pool(heap); bucket++) {
        const nm_hit_row *hit = &room->hits[bucket];
        nm_event event = nm_keyframe_figure(heap, NM_HEAP_HITS + bucket);

        event.count = hit->allocation_count;
        event.miss_count = hit->miss_count;
        event.number = hit->last_miss_seq;
        event.time_ns = hit->last_miss_ns;
        if (event.count > 0)
            status = nm_keyframe_write(out, &event, err);
    }
    return status;
}

static nm_status restore(nm_run *run, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;

    (void)err;
    if (event->kind == NM_EVENT_HEAP_TOTAL && context->heap != NULL && event->detail >= NM_HEAP_HITS &&
        event->detail < NM_HEAP_SEGMENTS) {
        nm_hit_row *hit = &((heap_room *)nm_heap_room(run, context->heap))->hits[event->detail - NM_HEAP_HITS];

        hit->allocation_count = nm_keyframe_sum(event->count);
        hit->miss_count = nm_keyframe_sum(event->miss_count);
        hit->last_miss_seq = event->number;
        hit->last_miss_ns = event->time_ns;
    }
    return NM_OK;
}

const nm_pass nm_hits_pass = {
    .name = "hits",
    .gives = {[NM_ROW_HIT] = true, [NM_ROW_HIT_PART] = true},
    .wants = {[NM_CHANGE_HEAP_DEFINED] = take_heap, [NM_CHANGE_BORN] = take_birth},
    .room = {[NM_OWNER_HEAP] = sizeof(heap_room)},
    .finish = finish,
    .release = release,
    .save = save,
    .restore = restore,
};
