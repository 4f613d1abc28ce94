/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes records one by one, resolves what an event refers to, and hands it to the file that knows its kind. Numbers that
 * were never defined count as unknown: a stream with lost blocks is read as far as it goes, and a hostile one does no harm.
 */
#include "replay/replay.h"

#include <stdlib.h>

#include "replay/define.h"
#include "replay/doubt.h"
#include "replay/gaps.h"
#include "replay/graph.h"
#include "replay/keyframe.h"
#include "replay/listed.h"
#include "replay/lookup.h"
#include "replay/pairing.h"
#include "replay/pass.h"
#include "replay/places.h"
#include "replay/pool.h"
#include "replay/program.h"
#include "replay/usage.h"

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static bool is_in_order(const nm_event *event)
{
    return (event->flags & NM_FLAG_BASELINE) == 0 && event->kind != NM_EVENT_STATE_SEGMENT &&
           event->kind != NM_EVENT_STATE_BLOCK && !nm_event_is_repeat(event);
}

/* Of several processes one may begin to be recorded when others are: then its baseline has a place among their events. */
static bool has_seq(const nm_replay *replay, const nm_event *event)
{
    return is_in_order(event) ||
           ((event->flags & NM_FLAG_BASELINE) != 0 && replay->has_events && replay->first_thread != NULL);
}

static nm_context resolve(nm_replay *replay, const nm_event *event)
{
    nm_context context = {.event = event, .seq = has_seq(replay, event) ? (int64_t)event->seq : NM_NO_SEQ};

    context.heap = nm_replay_heap(replay, event->heap_id);
    context.thread = nm_replay_thread(replay, event->thread_id);
    if (context.heap != NULL)
        context.process = context.heap->process;
    else if (context.thread != NULL)
        context.process = context.thread->process;
    else if (replay->first_process != NULL && replay->first_process->next == NULL)
        context.process = replay->first_process; /* there is no other */
    if (nm_replay_knows_stack(replay, event->stack_id))
        context.stack_id = event->stack_id;
    return context;
}

/* Events that end or make allocations. */
static nm_status take_memory_event(nm_replay *replay, const nm_context *context, nm_error *err)
{
    bool names_lost_heap = context->event->heap_id != 0 && context->heap == NULL;

    switch (context->event->kind) {
    case NM_EVENT_ALLOC:
    case NM_EVENT_MAP:
        return nm_pairing_alloc(replay, context, err);
    case NM_EVENT_FREE:
        return names_lost_heap ? NM_OK : nm_pairing_free(replay, context, err);
    case NM_EVENT_FREE_REQUESTED:
        return names_lost_heap ? NM_OK : nm_pairing_free_requested(replay, context, err);
    case NM_EVENT_FREE_FAILED:
        return nm_pairing_free_failed(replay, context, err);
    case NM_EVENT_UNMAP:
        return nm_pairing_unmap(replay, context, err);
    case NM_EVENT_RESET:
        return nm_pairing_reset(replay, context, err);
    case NM_EVENT_EXPORT:
        nm_pairing_export(replay, context);
        return NM_OK;
    default:
        return NM_OK;
    }
}

/* With a context go the streams of it, which may be any. */
static nm_status take_context_end(nm_replay *replay, const nm_context *context, uint64_t detail, nm_error *err)
{
    if (context->event->detail != detail || context->event->error_code != 0 || context->process == NULL)
        return NM_OK;
    return NM_TELL(replay, NM_CHANGE_STREAMS_GONE, err, .context = context, .process = context->process);
}

static nm_status take_stream_call(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_status status = take_context_end(replay, context, NM_STREAM_CONTEXT_DESTROY, err);

    return status == NM_OK ? nm_program_stream_call(replay, context, err) : status;
}

static nm_status take_other_event(nm_replay *replay, const nm_context *context, nm_error *err)
{
    switch (context->event->kind) {
    case NM_EVENT_ALLOC_FAILED:
        return nm_program_failure(replay, context, err);
    case NM_EVENT_COPY:
        return NM_TELL(replay, NM_CHANGE_COPIED, err, .context = context);
    case NM_EVENT_MARK:
        return nm_program_mark(replay, context, err);
    case NM_EVENT_STEP:
        return nm_program_step(replay, context, err);
    case NM_EVENT_RANGE_BEGIN:
        return nm_program_range_begin(replay, context, err);
    case NM_EVENT_RANGE_END:
        return nm_program_range_end(replay, context, err);
    case NM_EVENT_MEMORY_SAMPLE:
    case NM_EVENT_MODULE_SAMPLE:
        return NM_TELL(replay, NM_CHANGE_SAMPLED, err, .context = context);
    case NM_EVENT_OBJECTS:
        return NM_TELL(replay, NM_CHANGE_OBJECTS, err, .context = context);
    case NM_EVENT_RESERVED:
        nm_pool_reserved(context);
        return NM_OK;
    case NM_EVENT_PROCESS_END:
        return nm_program_process_end(replay, context, err);
    case NM_EVENT_STREAM_CALL:
        return take_stream_call(replay, context, err);
    case NM_EVENT_DEVICE_CALL:
        return take_context_end(replay, context, NM_DEVICE_CONTEXT_DESTROY, err);
    case NM_EVENT_NOTE:
        return nm_program_note(replay, context, err);
    case NM_EVENT_PAUSE:
        return nm_program_pause(replay, context, err);
    case NM_EVENT_LOSS:
        return context->event->number <= 0
                   ? NM_OK
                   : nm_doubt_lose(replay, context->process, context->seq, context->event->until_ns, err);
    case NM_EVENT_STATE_SEGMENT:
    case NM_EVENT_STATE_BLOCK:
        return nm_listed_take(replay, context, err);
    default:
        return take_memory_event(replay, context, err);
    }
}

/* A recorded trace numbers its events without a hole: a jump is a block that could not be read, and anybody's events may
 * have been in it. A source without threads (a snapshot) also has places in its file that are no events. */
static nm_status note_jump(nm_replay *replay, const nm_event *event, nm_error *err)
{
    nm_status status = NM_OK;
    bool is_begin = event->kind == NM_EVENT_KEYFRAME && event->detail == NM_KEYFRAME_BEGIN && !replay->has_events;

    if (is_begin)
        replay->next_seq = event->seq;
    if (event->seq > replay->next_seq && replay->first_thread != NULL)
        status = nm_doubt_lose(replay, NULL, (int64_t)event->seq - 1, NM_NO_TIME, err);
    if (event->seq >= replay->next_seq)
        replay->next_seq = event->seq + 1;
    return status;
}

static void note_device(nm_replay *replay, nm_device *device, int64_t seq)
{
    if (!device->has_events) {
        device->has_events = true;
        device->first_seq = seq;
        replay->eventful_count++;
    }
    device->last_seq = seq;
}

static void note_order(nm_replay *replay, const nm_context *context)
{
    if (context->seq == NM_NO_SEQ)
        return;
    if (context->heap != NULL && context->heap->device != NULL)
        note_device(replay, context->heap->device, context->seq);
    if (!replay->has_events || context->seq < replay->first_seq)
        replay->first_seq = context->seq;
    if (!replay->has_events || context->seq > replay->last_seq)
        replay->last_seq = context->seq;
    replay->has_events = true;
    if (context->event->time_ns != NM_NO_TIME)
        replay->last_ns = context->event->time_ns;
}

static nm_status take_event(nm_replay *replay, const nm_event *event, nm_error *err)
{
    nm_context context;
    nm_status status = NM_OK;

    if (event->seq > INT64_MAX)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "an event's number is too large");
    status = note_jump(replay, event, err);
    if (status != NM_OK)
        return status;
    context = resolve(replay, event);
    if (nm_event_is_repeat(event)) {
        if (replay->has_events || replay->has_whole_keyframe) /* of a later part: it says what has been read */
            return NM_OK;
        status = nm_keyframe_take(replay, &context, err);
        return status == NM_OK ? nm_usage_flush(replay, &context, err) : status;
    }
    if (!replay->has_events && context.seq != NM_NO_SEQ)
        status = NM_TELL(replay, NM_CHANGE_BEGUN, err, .context = &context);
    note_order(replay, &context);
    replay->acting = context.thread != NULL ? context.thread : replay->nobody;
    if (status == NM_OK && replay->first_replaced != NULL && event->time_ns != NM_NO_TIME)
        status = nm_pairing_expire(replay, event->time_ns, err);
    if (status == NM_OK)
        status = NM_TELL(replay, NM_CHANGE_EVENT, err, .context = &context);
    if (status == NM_OK && context.thread != NULL && event->kind != NM_EVENT_FREE_FAILED)
        status = nm_pairing_confirm(replay, context.thread, err);
    if (status == NM_OK && replay->begins_step && context.seq != NM_NO_SEQ)
        status = nm_program_infer_step(replay, &context, err);
    if (status == NM_OK)
        status = take_other_event(replay, &context, err);
    return status == NM_OK ? nm_usage_flush(replay, &context, err) : status;
}

/* ---- The replay -------------------------------------------------------------------------------------------------- */

static nm_status start_passes(nm_replay *replay, const nm_pass *const *passes, nm_error *err)
{
    nm_status status = nm_runs_new(replay, passes, err);

    if (status != NM_OK)
        return status;
    replay->lives.item_bytes = nm_runs_bytes_of(replay, NM_OWNER_LIVE);
    nm_places_begin(replay);
    replay->nobody = nm_replay_allocate(nm_runs_bytes_of(replay, NM_OWNER_THREAD), err);
    replay->scratch = nm_replay_allocate(sizeof *replay->scratch, err);
    return replay->nobody == NULL || replay->scratch == NULL ? NM_ERR_MEMORY : NM_OK;
}

nm_status nm_replay_new(const nm_sink *sink, const nm_pass *const *passes, nm_replay **out, nm_error *err)
{
    nm_replay *replay = nm_replay_allocate(sizeof *replay, err);
    nm_status status;

    if (replay == NULL)
        return NM_ERR_MEMORY;
    replay->sink = *sink;
    replay->gaps.item_bytes = nm_gaps_item_bytes();
    replay->mores.item_bytes = sizeof(nm_live_more);
    replay->last_process = &replay->first_process;
    replay->last_thread = &replay->first_thread;
    replay->last_heap = &replay->first_heap;
    replay->last_group = &replay->first_group;
    replay->last_touched = &replay->first_touched;
    replay->last_replaced = &replay->first_replaced;
    replay->first_seq = NM_NO_SEQ;
    replay->last_seq = NM_NO_SEQ;
    replay->last_ns = NM_NO_TIME;
    replay->moment_seq = NM_NO_SEQ;
    replay->loss_seq = NM_NO_SEQ;
    replay->loss_until_ns = NM_NO_TIME;
    status = start_passes(replay, passes, err);
    if (status == NM_OK)
        *out = replay;
    else
        nm_replay_free(replay);
    return status;
}

nm_status nm_replay_record(nm_replay *replay, const nm_record *record, nm_error *err)
{
    if (record->kind == NM_RECORD_DEFINITION)
        return nm_replay_define(replay, &record->definition, err);
    return take_event(replay, &record->event, err);
}

void nm_replay_begin_step(nm_replay *replay)
{
    replay->begins_step = true;
}

void nm_replay_pass_over(nm_replay *replay, uint64_t event_count)
{
    replay->next_seq += event_count;
}

nm_status nm_replay_finish(nm_replay *replay, nm_error *err)
{
    nm_status status = NM_TELL(replay, NM_CHANGE_END, err);

    if (status == NM_OK)
        status = nm_graphs_finish(replay, err);
    if (status == NM_OK)
        status = nm_pairing_finish(replay, err);
    if (status == NM_OK)
        status = nm_program_finish(replay, err);
    if (status == NM_OK)
        status = nm_usage_finish(replay, err);
    return status == NM_OK ? nm_runs_finish(replay, err) : status;
}

void nm_replay_free(nm_replay *replay)
{
    if (replay == NULL)
        return;
    nm_runs_free(replay);
    nm_pairing_discard(replay);
    nm_program_discard(replay);
    nm_graphs_discard(replay);
    nm_map_free(&replay->graphs);
    nm_places_free(replay);
    nm_define_free(replay);
    nm_slab_free(&replay->lives);
    nm_slab_free(&replay->gaps);
    nm_slab_free(&replay->mores);
    free(replay->nobody);
    free(replay->scratch);
    free(replay);
}
