/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams that a process forgot to destroy, told when it exits by itself. Frameworks make some once and keep them (torch_npu
 * a pool of 32): those are no misuse. Forgotten is one where others of the same stack were destroyed, as many or more and some
 * of them younger, or where there are more of a stack than pools have. A loss or a pause may have hidden the destruction, and
 * what resets a device or destroys a context may take its streams along: then nothing is said.
 */
#include "analysis/stream_leaks.h"

#include <stdlib.h>

#include "analysis/anomaly.h"
#include "analysis/passes.h"
#include "base/map.h"
#include "replay/doubt.h"
#include "replay/lookup.h"

enum { NEED_ANOMALY };

#define POOL_STREAMS_MAX 64

typedef struct stream_place { /* a stack of a process that creates streams */
    uint64_t created_count, destroyed_count, kept_count;
    uint64_t youngest_destroyed; /* its kept_stream.number; 0: none */
    struct stream_place *next;   /* of its process */
} stream_place;

typedef struct kept_stream { /* one that was created, and not destroyed yet */
    uint64_t process_id, stream;
    uint64_t thread_id, stack_id, device_id;
    uint64_t number; /* of its place, from 1 */
    stream_place *place;
    struct kept_stream *older, *newer; /* of its process */
} kept_stream;

typedef struct replay_room {
    nm_map streams; /* (process, stream) -> kept_stream */
    nm_map places;  /* (process, stack) -> stream_place */
} replay_room;

typedef struct process_room {
    kept_stream *oldest, *newest; /* owned */
    stream_place *places;         /* owned */
} process_room;

typedef struct device_room { /* of the program's, created and not destroyed */
    uint64_t stream_count, event_count;
} device_room;

static void unlink_stream(process_room *room, kept_stream *stream)
{
    if (stream->older != NULL)
        stream->older->newer = stream->newer;
    else
        room->oldest = stream->newer;
    if (stream->newer != NULL)
        stream->newer->older = stream->older;
    else
        room->newest = stream->older;
}

static void forget(nm_run *run, const nm_process *process, kept_stream *stream)
{
    replay_room *room = nm_replay_room(run);

    nm_map_remove(&room->streams, (nm_key){stream->process_id, stream->stream}, NULL);
    unlink_stream(nm_process_room(run, process), stream);
    free(stream);
}

static kept_stream *find_stream(const nm_run *run, const nm_process *process, uint64_t stream)
{
    const replay_room *room = nm_replay_room(run);
    const uint64_t *known = nm_map_get(&room->streams, (nm_key){process->id, stream});

    return known == NULL ? NULL : (kept_stream *)(uintptr_t)*known;
}

static nm_status find_stream_place(nm_run *run, const nm_process *process, uint64_t stack_id, stream_place **out,
                                   nm_error *err)
{
    replay_room *room = nm_replay_room(run);
    process_room *of = nm_process_room(run, process);
    const uint64_t *known = nm_map_get(&room->places, (nm_key){process->id, stack_id});
    nm_status status;

    *out = known == NULL ? nm_replay_allocate(sizeof **out, err) : (stream_place *)(uintptr_t)*known;
    if (known != NULL || *out == NULL)
        return *out == NULL ? NM_ERR_MEMORY : NM_OK;
    **out = (stream_place){.next = of->places};
    status = nm_map_put(&room->places, (nm_key){process->id, stack_id}, (uintptr_t)*out, err);
    if (status == NM_OK)
        of->places = *out;
    else
        free(*out);
    return status;
}

static nm_status add_stream(nm_run *run, const nm_context *context, nm_error *err)
{
    const nm_process *process = context->process;
    process_room *of = nm_process_room(run, process);
    stream_place *place;
    nm_status status = find_stream_place(run, process, context->stack_id, &place, err);
    kept_stream *stream = status == NM_OK ? nm_replay_allocate(sizeof *stream, err) : NULL;

    if (stream == NULL)
        return NM_ERR_MEMORY;
    *stream = (kept_stream){.process_id = process->id,
                            .stream = context->event->stream,
                            .thread_id = context->thread == NULL ? 0 : context->thread->id,
                            .stack_id = context->stack_id,
                            .device_id = context->event->device_id,
                            .number = place->created_count + 1,
                            .place = place,
                            .older = of->newest};
    if (nm_map_put(&((replay_room *)nm_replay_room(run))->streams, (nm_key){process->id, stream->stream},
                   (uintptr_t)stream, err) != NM_OK) {
        free(stream);
        return NM_ERR_MEMORY;
    }
    place->created_count++;
    place->kept_count++;
    if (stream->older != NULL)
        stream->older->newer = stream;
    else
        of->oldest = stream;
    of->newest = stream;
    return NM_OK;
}

static void note_destroyed(const kept_stream *stream)
{
    stream_place *place = stream->place;

    place->destroyed_count++;
    if (place->youngest_destroyed < stream->number)
        place->youngest_destroyed = stream->number;
}

static bool is_forgotten(const kept_stream *stream)
{
    const stream_place *place = stream->place;

    return place->kept_count > POOL_STREAMS_MAX ||
           (place->destroyed_count >= place->kept_count && place->youngest_destroyed > stream->number);
}

/* A destruction of what was not seen to be created is none of ours. */
static void count_on_device(nm_run *run, const nm_event *event)
{
    const nm_device *device = nm_replay_device(run->replay, event->device_id);
    device_room *room;

    if (device == NULL || event->error_code != 0)
        return;
    room = nm_device_room(run, device);
    if (event->detail == NM_STREAM_CREATE)
        room->stream_count++;
    else if (event->detail == NM_STREAM_DESTROY)
        room->stream_count -= room->stream_count > 0;
    else if (event->detail == NM_STREAM_EVENT_CREATE)
        room->event_count++;
    else if (event->detail == NM_STREAM_EVENT_DESTROY)
        room->event_count -= room->event_count > 0;
}

static nm_status take_call(nm_run *run, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    bool is_create = event->detail == NM_STREAM_CREATE;
    kept_stream *known;

    count_on_device(run, event);
    if (context->process == NULL || (event->flags & NM_FLAG_STREAM) == 0 || event->error_code != 0 ||
        (!is_create && event->detail != NM_STREAM_DESTROY))
        return NM_OK;
    known = find_stream(run, context->process, event->stream);
    if (known != NULL) {
        if (!is_create)
            note_destroyed(known);
        known->place->kept_count--;
        forget(run, context->process, known);
    }
    return is_create && (event->flags & NM_FLAG_LATE) == 0 ? add_stream(run, context, err) : NM_OK;
}

/* The streams of the device (NULL: of all) may be gone, or their end will not be told. */
static void forget_all(nm_run *run, const nm_process *process, const nm_device *device)
{
    const process_room *room = nm_process_room(run, process);
    kept_stream *next;

    if (device != NULL)
        *(device_room *)nm_device_room(run, device) = (device_room){0};
    for (kept_stream *stream = room->oldest; stream != NULL; stream = next) {
        next = stream->newer;
        if (device != NULL && stream->device_id != 0 && stream->device_id != device->id)
            continue;
        stream->place->kept_count--;
        forget(run, process, stream);
    }
}

static nm_status end_process(nm_run *run, const nm_process *process, const nm_context *context, nm_error *err)
{
    const process_room *room = nm_process_room(run, process);
    nm_status status = NM_OK;

    for (; room->oldest != NULL && status == NM_OK; forget(run, process, room->oldest)) {
        const kept_stream *stream = room->oldest;
        nm_anomaly_row row = {.kind = NM_ANOMALY_STREAM_KEPT,
                              .process_id = process->id,
                              .thread_id = stream->thread_id,
                              .seq = context->seq,
                              .ns = context->event->time_ns,
                              .address = stream->stream,
                              .stack_id = stream->stack_id,
                              .detail = "created here, and still there when the process exited"};

        if (nm_doubt_has_loss(run->replay, process) || context->event->detail != NM_PROCESS_EXIT ||
            !is_forgotten(stream))
            continue;
        status = nm_anomaly_write(run->needs[NEED_ANOMALY], &row, err);
    }
    return status;
}

uint64_t nm_stream_leaks_stream_count(const nm_run *run, const nm_device *device)
{
    return device == NULL ? 0 : ((const device_room *)nm_device_room(run, device))->stream_count;
}

uint64_t nm_stream_leaks_event_count(const nm_run *run, const nm_device *device)
{
    return device == NULL ? 0 : ((const device_room *)nm_device_room(run, device))->event_count;
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    switch (change->kind) {
    case NM_CHANGE_STREAM_CALL:
        return take_call(run, change->context, err);
    case NM_CHANGE_PROCESS_ENDED:
        return end_process(run, change->process, change->context, err);
    default:
        forget_all(run, change->process, change->device);
        return NM_OK;
    }
}

static void release(nm_run *run)
{
    replay_room *room = nm_replay_room(run);

    for (const nm_process *process = run->replay->first_process; process != NULL; process = process->next) {
        process_room *of = nm_process_room(run, process);

        forget_all(run, process, NULL);
        while (of->places != NULL) {
            stream_place *gone = of->places;

            of->places = gone->next;
            free(gone);
        }
    }
    nm_map_free(&room->streams);
    nm_map_free(&room->places);
}

static const nm_pass *const needs[] = {[NEED_ANOMALY] = &nm_anomaly_pass, NULL};

const nm_pass nm_stream_leaks_pass = {
    .name = "stream leaks",
    .gives = {[NM_ROW_ANOMALY] = true},
    .needs = needs,
    .wants = {[NM_CHANGE_STREAM_CALL] = change,
              [NM_CHANGE_STREAMS_GONE] = change,
              [NM_CHANGE_PAUSED] = change,
              [NM_CHANGE_PROCESS_ENDED] = change},
    .room = {[NM_OWNER_REPLAY] = sizeof(replay_room),
             [NM_OWNER_PROCESS] = sizeof(process_room),
             [NM_OWNER_DEVICE] = sizeof(device_room)},
    .release = release,
};
