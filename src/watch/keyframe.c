/* SPDX-License-Identifier: Apache-2.0
 *
 * What has to be said again where a part of the recording begins: the replay's state, and what a replay gives away at
 * once and nobody else keeps.
 */
#include <stdlib.h>

#include "watch/state.h"

#define REPEATS_MAX 65536 /* ends of processes and notes; the oldest stay */

void nm_watch_forget(nm_watch_past *past)
{
    free(past->repeats);
    free(past->losses);
    nm_map_free(&past->loss_index);
    nm_step_totals_free(&past->steps);
}

void nm_watch_limit_steps(nm_watch *watch, size_t step_rows_max)
{
    watch->past.steps.limit = step_rows_max;
}

static nm_status add_loss(nm_watch_past *past, const nm_event *event)
{
    nm_key key = {event->thread_id, event->detail};
    const uint64_t *known = nm_map_get(&past->loss_index, key);
    uint64_t count = event->number > 0 ? (uint64_t)event->number : 0;
    nm_event *sum;
    nm_status status;

    *(event->detail == NM_LOSS_UNREADABLE ? &past->unreadable_count : &past->dropped_count) += count;
    if (known != NULL) {
        sum = &past->losses[*known];
        sum->number += (int64_t)count;
        sum->flags |= event->flags & NM_FLAG_AT_LEAST;
        if (event->until_ns > sum->until_ns)
            sum->until_ns = event->until_ns;
        return NM_OK;
    }
    status = nm_array_grow(&past->losses, &past->loss_capacity, past->loss_count + 1, sizeof *past->losses, NULL);
    if (status == NM_OK)
        status = nm_map_put(&past->loss_index, key, past->loss_count, NULL);
    if (status != NM_OK)
        return status;
    past->losses[past->loss_count] = *event;
    past->losses[past->loss_count++].flags |= NM_FLAG_REPEAT;
    return NM_OK;
}

nm_status nm_watch_remember(nm_watch *watch, const nm_event *event)
{
    nm_watch_past *past = &watch->past;
    nm_status status;

    if (event->time_ns != NM_NO_TIME && event->time_ns > past->last_ns)
        past->last_ns = event->time_ns;
    if (event->kind == NM_EVENT_LOSS)
        return add_loss(past, event);
    past->event_count++;
    if ((event->kind != NM_EVENT_PROCESS_END && event->kind != NM_EVENT_NOTE) || past->repeat_count >= REPEATS_MAX)
        return NM_OK;
    status = nm_array_grow(&past->repeats, &past->repeat_capacity, past->repeat_count + 1, sizeof *past->repeats, NULL);
    if (status != NM_OK)
        return status;
    past->repeats[past->repeat_count] = *event;
    past->repeats[past->repeat_count++].flags |= NM_FLAG_REPEAT;
    return NM_OK;
}

static nm_event step_event(const nm_step_total_row *row)
{
    return (nm_event){
        .kind = NM_EVENT_STEP_TOTAL,
        .time_ns = row->begin_ns,
        .until_ns = row->end_ns,
        .process_id = row->process_id,
        .heap_id = row->heap_id,
        .number = row->number,
        .generation = (uint64_t)row->generation,
        .detail = (uint64_t)row->last_generation,
        .first_seq = row->begin_seq,
        .last_seq = row->end_seq,
        .count = row->allocation_count,
        .ended_count = row->free_count,
        .block_bytes = row->allocated_bytes,
        .free_bytes = row->freed_bytes,
        .miss_count = row->miss_count,
        .peak_bytes = row->peak_bytes,
        .live_bytes = row->live_bytes,
        .live_count = row->live_count,
        .total_bytes = row->peak_reserved_bytes,
        .size_bytes = row->driver_call_count,
    };
}

/* What is put takes numbers in the order of the stream that is watched. */
typedef struct counted_put {
    nm_keyframe_put *put;
    void *context;
    uint64_t count;
} counted_put;

static nm_status count_and_put(void *context, const nm_event *event, nm_error *err)
{
    counted_put *counted = context;

    counted->count++;
    return counted->put(counted->context, event, err);
}

static nm_status put_all(const nm_watch *watch, nm_keyframe_put *put, void *context, nm_error *err)
{
    const nm_watch_past *past = &watch->past;
    nm_event begin = {.kind = NM_EVENT_KEYFRAME,
                      .detail = NM_KEYFRAME_BEGIN,
                      .time_ns = past->last_ns,
                      .count = past->event_count,
                      .ended_count = past->dropped_count,
                      .miss_count = past->unreadable_count};
    nm_event end = {.kind = NM_EVENT_KEYFRAME, .detail = NM_KEYFRAME_END, .time_ns = past->last_ns};
    nm_status status = put(context, &begin, err);

    for (size_t i = 0; i < past->loss_count && status == NM_OK; i++)
        status = put(context, &past->losses[i], err);
    if (status == NM_OK)
        status = nm_replay_keyframe(watch->replay, put, context, err);
    for (size_t i = 0; i < past->steps.count && status == NM_OK; i++) {
        nm_event event = step_event(&past->steps.items[i]);

        status = put(context, &event, err);
    }
    for (size_t i = 0; i < past->repeat_count && status == NM_OK; i++)
        status = put(context, &past->repeats[i], err);
    return status == NM_OK ? put(context, &end, err) : status;
}

nm_status nm_watch_keyframe(nm_watch *watch, nm_keyframe_put *put, void *context, nm_error *err)
{
    counted_put counted = {put, context, 0};
    nm_status status = put_all(watch, count_and_put, &counted, err);

    nm_replay_pass_over(watch->replay, counted.count);
    return status;
}
