/* SPDX-License-Identifier: Apache-2.0
 *
 * Events, notifies and contexts that a program makes and never destroys, by stack. Frameworks keep some, and use them
 * again: those of a stack are a leak where they are many, none of them was ever destroyed, and they still became more towards
 * the end, which the view judges. A loss or a pause may have hidden that one was destroyed, and what resets a device takes them
 * along, as a context does its events and notifies: then those of before count no more.
 */
#include "analysis/passes.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/map.h"
#include "replay/doubt.h"
#include "replay/lookup.h"
#include "replay/pass.h"

typedef enum object_class { CLASS_EVENT, CLASS_NOTIFY, CLASS_CONTEXT, CLASS_COUNT } object_class;

static const nm_stream_call creations[CLASS_COUNT] = {NM_STREAM_EVENT_CREATE, NM_STREAM_NOTIFY_CREATE,
                                                      NM_STREAM_CONTEXT_CREATE};
static const nm_stream_call ends[CLASS_COUNT] = {NM_STREAM_EVENT_DESTROY, NM_STREAM_NOTIFY_DESTROY,
                                                 NM_STREAM_CONTEXT_DESTROY};

typedef struct object_place { /* a stack of a process that creates objects of a class */
    object_class class;
    uint64_t device_id, stack_id;
    int64_t *births; /* owned: of those that are there; NULL and is_over: one was destroyed */
    size_t count, capacity;
    bool is_over;
    struct object_place *next; /* of its process */
} object_place;

typedef struct process_room {
    nm_map objects[CLASS_COUNT]; /* handle -> object_place */
    nm_map place_of;             /* (class, stack) -> object_place */
    object_place *places;        /* owned */
    bool is_told;
} process_room;

static nm_status find_place(process_room *of, const nm_context *context, object_class class, object_place **out,
                            nm_error *err)
{
    nm_key key = {class, context->stack_id};
    nm_status status;

    *out = nm_map_pointer(&of->place_of, key);
    if (*out != NULL)
        return NM_OK;
    *out = nm_replay_allocate(sizeof **out, err);
    if (*out == NULL)
        return NM_ERR_MEMORY;
    **out = (object_place){
        .class = class, .device_id = context->event->device_id, .stack_id = context->stack_id, .next = of->places};
    status = nm_map_put(&of->place_of, key, (uintptr_t)*out, err);
    if (status == NM_OK)
        of->places = *out;
    else
        free(*out);
    return status;
}

static void forget(object_place *place)
{
    free(place->births);
    place->births = NULL;
    place->count = place->capacity = 0;
}

static nm_status create(process_room *of, const nm_context *context, object_class class, nm_key key, nm_error *err)
{
    object_place *place;
    nm_status status = find_place(of, context, class, &place, err);

    if (status != NM_OK || place->is_over)
        return status;
    status = nm_map_put(&of->objects[class], key, (uintptr_t)place, err);
    if (status == NM_OK)
        status = nm_array_grow(&place->births, &place->capacity, place->count + 1, sizeof *place->births, err);
    if (status == NM_OK)
        place->births[place->count++] = context->seq;
    return status;
}

static nm_status take_call(nm_run *run, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_key key = {0, (uint64_t)event->number};
    object_class class = CLASS_EVENT;
    process_room *of;
    uint64_t value = 0;

    while (class < CLASS_COUNT && event->detail != creations[class] && event->detail != ends[class])
        class ++;
    if (class == CLASS_COUNT || context->process == NULL || event->number == 0 || event->error_code != 0)
        return NM_OK;
    of = nm_process_room(run, context->process);
    if (nm_map_remove(&of->objects[class], key, &value)) { /* destroyed, or that was not seen */
        object_place *place = (object_place *)(uintptr_t)value;

        place->is_over = true;
        forget(place);
    }
    return event->detail == creations[class] ? create(of, context, class, key, err) : NM_OK;
}

/* All before `end` may be gone, or what becomes of them will not be told. */
static void forget_before(nm_run *run, const nm_process *process, object_class end)
{
    process_room *of = nm_process_room(run, process);

    for (object_class class = CLASS_EVENT; class < end; class ++)
        nm_map_free(&of->objects[class]);
    for (object_place *place = of->places; place != NULL; place = place->next)
        if (place->class < end)
            forget(place);
}

static void forget_with(nm_run *run, const nm_change *change)
{
    bool is_context_end =
        change->kind == NM_CHANGE_STREAMS_GONE && change->context->event->kind == NM_EVENT_STREAM_CALL;

    forget_before(run, change->process, is_context_end ? CLASS_CONTEXT : CLASS_COUNT);
}

static uint64_t late_of(const object_place *place, int64_t end_seq)
{
    int64_t from = end_seq - (end_seq - place->births[0]) / 5 * 2;
    size_t at = place->count;

    while (at > 0 && place->births[at - 1] >= from)
        at--;
    return place->count - at;
}

static nm_status tell(nm_run *run, const nm_process *process, int64_t end_seq, nm_error *err)
{
    process_room *of = nm_process_room(run, process);
    nm_status status = NM_OK;

    if (of->is_told || nm_doubt_has_loss(run->replay, process))
        return NM_OK;
    of->is_told = true;
    for (const object_place *place = of->places; place != NULL && status == NM_OK; place = place->next) {
        nm_object_leak_row row = {.process_id = process->id,
                                  .device_id = place->device_id,
                                  .stack_id = place->stack_id,
                                  .kind = creations[place->class]};

        if (place->count == 0)
            continue;
        row.created_count = place->count;
        row.late_count = late_of(place, end_seq);
        row.first_seq = place->births[0];
        row.last_seq = place->births[place->count - 1];
        status = nm_give_object_leak(&run->replay->sink, &row, err);
    }
    return status;
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    nm_status status = NM_OK;

    switch (change->kind) {
    case NM_CHANGE_STREAM_CALL:
        return take_call(run, change->context, err);
    case NM_CHANGE_PROCESS_ENDED:
        return change->context->event->detail == NM_PROCESS_RUNNING
                   ? NM_OK
                   : tell(run, change->process, change->context->seq, err);
    case NM_CHANGE_END:
        for (const nm_process *process = run->replay->first_process; process != NULL && status == NM_OK;
             process = process->next)
            status = tell(run, process, run->replay->last_seq, err);
        return status;
    default:
        forget_with(run, change);
        return NM_OK;
    }
}

static void release(nm_run *run)
{
    for (const nm_process *process = run->replay->first_process; process != NULL; process = process->next) {
        process_room *of = nm_process_room(run, process);

        forget_before(run, process, CLASS_COUNT);
        nm_map_free(&of->place_of);
        while (of->places != NULL) {
            object_place *gone = of->places;

            of->places = gone->next;
            free(gone);
        }
    }
}

const nm_pass nm_object_leaks_pass = {
    .name = "object leaks",
    .gives = {[NM_ROW_OBJECT_LEAK] = true},
    .wants = {[NM_CHANGE_STREAM_CALL] = change,
              [NM_CHANGE_STREAMS_GONE] = change,
              [NM_CHANGE_PAUSED] = change,
              [NM_CHANGE_PROCESS_ENDED] = change,
              [NM_CHANGE_END] = change},
    .room = {[NM_OWNER_PROCESS] = sizeof(process_room)},
    .release = release,
};
