/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams that a process forgot to destroy, told when it exits by itself. Frameworks make some once and keep them (torch_npu
 * a pool of 32): those are no misuse. Forgotten is one where others of the same stack were destroyed, as many or more and some
 * of them younger, or where there are more of a stack than pools have. A loss or a pause may have hidden the destruction, and
 * what resets a device or destroys a context may take its streams along: then nothing is said.
 */
#include "replay/streams.h"

#include <stdlib.h>

#include "replay/anomaly.h"
#include "replay/doubt.h"
#include "replay/lookup.h"

#define POOL_STREAMS_MAX 64

typedef struct stream_place { /* a stack of a process that creates streams */
    uint64_t created_count, destroyed_count, kept_count;
    uint64_t youngest_destroyed; /* its nm_stream.number; 0: none */
    struct stream_place *next;   /* of its process */
} stream_place;

struct nm_stream { /* one that was created, and not destroyed yet */
    uint64_t process_id, stream;
    uint64_t thread_id, stack_id, device_id;
    uint64_t number; /* of its place, from 1 */
    stream_place *place;
    struct nm_stream *older, *newer; /* of its process */
};

static void unlink_stream(nm_process *process, nm_stream *stream)
{
    if (stream->older != NULL)
        stream->older->newer = stream->newer;
    else
        process->oldest_stream = stream->newer;
    if (stream->newer != NULL)
        stream->newer->older = stream->older;
    else
        process->newest_stream = stream->older;
}

static void forget(nm_replay *replay, nm_process *process, nm_stream *stream)
{
    nm_map_remove(&replay->streams, (nm_key){stream->process_id, stream->stream}, NULL);
    unlink_stream(process, stream);
    free(stream);
}

static nm_stream *find_stream(const nm_replay *replay, const nm_process *process, uint64_t stream)
{
    const uint64_t *known = nm_map_get(&replay->streams, (nm_key){process->id, stream});

    return known == NULL ? NULL : (nm_stream *)(uintptr_t)*known;
}

static nm_status find_stream_place(nm_replay *replay, nm_process *process, uint64_t stack_id, stream_place **out,
                                   nm_error *err)
{
    const uint64_t *known = nm_map_get(&replay->stream_places, (nm_key){process->id, stack_id});
    nm_status status;

    *out = known == NULL ? nm_replay_allocate(sizeof **out, err) : (stream_place *)(uintptr_t)*known;
    if (known != NULL || *out == NULL)
        return *out == NULL ? NM_ERR_MEMORY : NM_OK;
    **out = (stream_place){.next = process->stream_places};
    status = nm_map_put(&replay->stream_places, (nm_key){process->id, stack_id}, (uintptr_t)*out, err);
    if (status == NM_OK)
        process->stream_places = *out;
    else
        free(*out);
    return status;
}

static nm_status add_stream(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_process *process = context->process;
    stream_place *place;
    nm_status status = find_stream_place(replay, process, context->stack_id, &place, err);
    nm_stream *stream = status == NM_OK ? nm_replay_allocate(sizeof *stream, err) : NULL;

    if (stream == NULL)
        return NM_ERR_MEMORY;
    *stream = (nm_stream){.process_id = process->id,
                          .stream = context->event->stream,
                          .thread_id = context->thread == NULL ? 0 : context->thread->id,
                          .stack_id = context->stack_id,
                          .device_id = context->event->device_id,
                          .number = place->created_count + 1,
                          .place = place,
                          .older = process->newest_stream};
    if (nm_map_put(&replay->streams, (nm_key){process->id, stream->stream}, (uintptr_t)stream, err) != NM_OK) {
        free(stream);
        return NM_ERR_MEMORY;
    }
    place->created_count++;
    place->kept_count++;
    if (stream->older != NULL)
        stream->older->newer = stream;
    else
        process->oldest_stream = stream;
    process->newest_stream = stream;
    return NM_OK;
}

static void note_destroyed(const nm_stream *stream)
{
    stream_place *place = stream->place;

    place->destroyed_count++;
    if (place->youngest_destroyed < stream->number)
        place->youngest_destroyed = stream->number;
}

static bool is_forgotten(const nm_stream *stream)
{
    const stream_place *place = stream->place;

    return place->kept_count > POOL_STREAMS_MAX ||
           (place->destroyed_count >= place->kept_count && place->youngest_destroyed > stream->number);
}

/* A destruction of what was not seen to be created is none of ours. */
static void count_on_device(nm_replay *replay, const nm_event *event)
{
    nm_device *device = nm_replay_device(replay, event->device_id);

    if (device == NULL || event->error_code != 0)
        return;
    if (event->detail == NM_STREAM_CREATE)
        device->stream_count++;
    else if (event->detail == NM_STREAM_DESTROY)
        device->stream_count -= device->stream_count > 0;
    else if (event->detail == NM_STREAM_EVENT_CREATE)
        device->event_count++;
    else if (event->detail == NM_STREAM_EVENT_DESTROY)
        device->event_count -= device->event_count > 0;
}

nm_status nm_streams_call(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    bool is_create = event->detail == NM_STREAM_CREATE;
    nm_stream *known;

    count_on_device(replay, event);
    if (context->process == NULL || (event->flags & NM_FLAG_STREAM) == 0 || event->error_code != 0 ||
        (!is_create && event->detail != NM_STREAM_DESTROY))
        return NM_OK;
    known = find_stream(replay, context->process, event->stream);
    if (known != NULL) {
        if (!is_create)
            note_destroyed(known);
        known->place->kept_count--;
        forget(replay, context->process, known);
    }
    return is_create && (event->flags & NM_FLAG_LATE) == 0 ? add_stream(replay, context, err) : NM_OK;
}

void nm_streams_forget(nm_replay *replay, nm_process *process, uint64_t device_id)
{
    nm_device *device = nm_replay_device(replay, device_id);
    nm_stream *next;

    if (device != NULL)
        device->stream_count = device->event_count = 0;
    for (nm_stream *stream = process->oldest_stream; stream != NULL; stream = next) {
        next = stream->newer;
        if (device_id != 0 && stream->device_id != 0 && stream->device_id != device_id)
            continue;
        stream->place->kept_count--;
        forget(replay, process, stream);
    }
}

nm_status nm_streams_exit(nm_replay *replay, nm_process *process, const nm_context *context, nm_error *err)
{
    nm_status status = NM_OK;

    for (; process->oldest_stream != NULL && status == NM_OK; forget(replay, process, process->oldest_stream)) {
        const nm_stream *stream = process->oldest_stream;
        nm_anomaly_row row = {.kind = NM_ANOMALY_STREAM_KEPT,
                              .process_id = process->id,
                              .thread_id = stream->thread_id,
                              .seq = context->seq,
                              .ns = context->event->time_ns,
                              .address = stream->stream,
                              .stack_id = stream->stack_id,
                              .detail = "created here, and still there when the process exited"};

        if (nm_doubt_has_loss(replay, process) || context->event->detail != NM_PROCESS_EXIT || !is_forgotten(stream))
            continue;
        status = nm_anomaly_write(replay, &row, err);
    }
    return status;
}

void nm_streams_discard(nm_replay *replay)
{
    for (nm_process *process = replay->first_process; process != NULL; process = process->next) {
        nm_streams_forget(replay, process, 0);
        while (process->stream_places != NULL) {
            stream_place *gone = process->stream_places;

            process->stream_places = gone->next;
            free(gone);
        }
    }
}
