/* SPDX-License-Identifier: Apache-2.0
 *
 * The sums over a process's rings. Counters move while they are read, each by itself: what was destroyed may be more than what was made, by
 * a few, and then nothing lives.
 */
#include "drain/objects.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/number.h"
#include "drain/clock.h"

#define LOOK_NS 50000000

void nm_objects_fini(nm_objects *objects)
{
    free(objects->sums);
    nm_map_free(&objects->index);
}

/* relaxed: counts, which are not more than what has happened. */
static uint64_t read_count(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static nm_status add(nm_objects *objects, uint64_t process, uint64_t kind, const nm_ring *ring, nm_error *err)
{
    uint64_t made_count = read_count(&ring->made_count[kind]), gone_count = read_count(&ring->gone_count[kind]), at;
    nm_status status;

    if (made_count == 0 && gone_count == 0)
        return NM_OK;
    status = nm_array_grow(&objects->sums, &objects->capacity, objects->count + 1, sizeof *objects->sums, err);
    if (status == NM_OK)
        status = nm_map_number(&objects->index, (nm_key){process, kind}, &at, err);
    if (status != NM_OK)
        return status;
    if (at == objects->count)
        objects->sums[objects->count++] = (nm_objects_sum){.process = process, .kind = kind};
    objects->sums[at].made_count += made_count;
    objects->sums[at].gone_count += gone_count;
    return NM_OK;
}

static bool has_moved(const nm_objects_sum *sum, uint64_t live_count)
{
    uint64_t part = sum->told_count / NM_OBJECTS_STEP_PART;
    uint64_t moved = live_count > sum->told_count ? live_count - sum->told_count : sum->told_count - live_count;

    return moved >= (part > NM_OBJECTS_STEP ? part : NM_OBJECTS_STEP);
}

static nm_event event_of(uint64_t process, uint64_t kind, uint64_t made_count, uint64_t gone_count)
{
    return (nm_event){.kind = NM_EVENT_OBJECTS,
                      .number = (int64_t)process,
                      .detail = kind,
                      .count = made_count,
                      .ended_count = gone_count};
}

nm_status nm_objects_look(nm_objects *objects, const nm_ring_merge *merge,
                          nm_status (*post)(void *context, const nm_event *event, nm_error *err), void *context,
                          nm_error *err)
{
    int64_t now_ns = nm_clock_monotonic_ns();
    nm_status status = NM_OK;

    if (now_ns < objects->due_ns)
        return NM_OK;
    objects->due_ns = now_ns + LOOK_NS;
    for (size_t i = 0; i < objects->count; i++)
        objects->sums[i].made_count = objects->sums[i].gone_count = 0;
    for (size_t i = 0; i < merge->ring_count; i++)
        for (uint64_t kind = 1; kind < NM_RING_OBJECT_KINDS && status == NM_OK; kind++)
            status = add(objects, merge->rings[i]->view.process_number, kind, merge->rings[i]->view.ring, err);
    for (size_t i = 0; i < objects->count && status == NM_OK; i++) {
        nm_objects_sum *sum = &objects->sums[i];
        uint64_t live_count = nm_subtract_saturated(sum->made_count, sum->gone_count);
        nm_event event = event_of(sum->process, sum->kind, sum->made_count, sum->gone_count);

        if (sum->made_count + sum->gone_count == 0 || !has_moved(sum, live_count)) /* 0: its rings have gone */
            continue;
        sum->told_count = live_count;
        status = post(context, &event, err);
    }
    return status;
}

nm_status nm_objects_say_last(nm_ring_merge *merge, uint64_t process, int64_t time_ns, nm_error *err)
{
    uint64_t made_counts[NM_RING_OBJECT_KINDS] = {0}, gone_counts[NM_RING_OBJECT_KINDS] = {0};
    nm_status status = NM_OK;

    for (size_t i = 0; i < merge->ring_count; i++)
        for (uint64_t kind = 1; kind < NM_RING_OBJECT_KINDS && merge->rings[i]->view.process_number == process;
             kind++) {
            made_counts[kind] += read_count(&merge->rings[i]->view.ring->made_count[kind]);
            gone_counts[kind] += read_count(&merge->rings[i]->view.ring->gone_count[kind]);
        }
    for (uint64_t kind = 1; kind < NM_RING_OBJECT_KINDS && status == NM_OK; kind++) {
        nm_event event = event_of(process, kind, made_counts[kind], gone_counts[kind]);

        event.time_ns = time_ns;
        if (made_counts[kind] + gone_counts[kind] == 0)
            continue;
        status = nm_trace_writer_event(merge->writer, &event, err);
        merge->event_count += status == NM_OK;
    }
    return status;
}
