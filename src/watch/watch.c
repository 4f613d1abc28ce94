/* SPDX-License-Identifier: Apache-2.0
 *
 * Definitions that an answer may need are copied, their texts into one buffer, since the drain's records are borrowed;
 * all else goes into the replay, whose books are the answer. A failure here must not end a recording: it is remembered,
 * no more is taken, and whoever asks can see it. Called between two passes of the drain, by its thread alone.
 */
#include "watch/watch.h"

#include <stdlib.h>

#include "analysis/passes.h"
#include "watch/state.h"

static nm_status take_row(void *context, nm_row_kind kind, const void *row, nm_error *err)
{
    nm_watch *watch = context;

    return kind == NM_ROW_STEP_TOTAL ? nm_step_totals_add(&watch->past.steps, row, err) : NM_OK;
}

nm_status nm_watch_new(nm_watch **out, nm_error *err)
{
    nm_watch *watch = calloc(1, sizeof *watch);
    nm_sink sink = {.context = watch, .row = take_row, .wants = {[NM_ROW_STEP_TOTAL] = true}};
    nm_status status;

    *out = NULL;
    nm_keyframe_wants(nm_passes, sink.wants);
    if (watch == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a watch");
    status = nm_replay_new(&sink, nm_passes, &watch->replay, err);
    if (status != NM_OK) {
        free(watch);
        return status;
    }
    *out = watch;
    return NM_OK;
}

void nm_watch_free(nm_watch *watch)
{
    if (watch == NULL)
        return;
    nm_replay_free(watch->replay);
    nm_map_free(&watch->index);
    free(watch->definitions);
    nm_buffer_free(&watch->texts);
    free(watch->devices);
    free(watch->steps);
    nm_watch_forget(&watch->past);
    free(watch);
}

/* ---- Definitions --------------------------------------------------------------------------------------------------- */

static bool is_kept(uint64_t kind)
{
    return kind == NM_DEFINE_STRING || kind == NM_DEFINE_PROCESS || kind == NM_DEFINE_THREAD ||
           kind == NM_DEFINE_DEVICE || kind == NM_DEFINE_HEAP;
}

static const watched_definition *find(const nm_watch *watch, uint64_t kind, uint64_t id)
{
    const uint64_t *known = nm_map_get(&watch->index, (nm_key){kind, id});

    return known == NULL ? NULL : &watch->definitions[*known];
}

static nm_status place_of(nm_watch *watch, const nm_definition *definition, watched_definition **out)
{
    nm_key key = {definition->kind, definition->id};
    const uint64_t *known = nm_map_get(&watch->index, key);
    nm_status status;

    if (known != NULL) {
        *out = &watch->definitions[*known];
        return NM_OK;
    }
    status = nm_array_grow(&watch->definitions, &watch->definition_capacity, watch->definition_count + 1,
                           sizeof *watch->definitions, NULL);
    if (status == NM_OK)
        status = nm_map_put(&watch->index, key, watch->definition_count, NULL);
    if (status == NM_OK)
        *out = &watch->definitions[watch->definition_count++];
    return status;
}

static nm_status keep(nm_watch *watch, const nm_definition *definition)
{
    watched_definition *place = NULL;
    size_t text_at = watch->texts.len;
    nm_status status;

    if (!is_kept(definition->kind))
        return NM_OK;
    status = place_of(watch, definition, &place);
    if (status == NM_OK && definition->kind == NM_DEFINE_STRING)
        status = nm_buffer_append(&watch->texts, definition->string.data, definition->string.len, NULL);
    if (status == NM_OK)
        *place = (watched_definition){*definition, text_at};
    return status;
}

nm_bytes nm_watch_string(const nm_watch *watch, uint64_t id)
{
    const watched_definition *known = find(watch, NM_DEFINE_STRING, id);

    if (known == NULL)
        return (nm_bytes){0};
    return (nm_bytes){watch->texts.data + known->text_at, known->definition.string.len};
}

static int64_t pid_of(const nm_watch *watch, uint64_t process_id)
{
    const watched_definition *process = find(watch, NM_DEFINE_PROCESS, process_id);

    return process == NULL ? 0 : process->definition.process.pid;
}

void nm_watch_definitions(const nm_watch *watch, void (*visit)(void *context, const nm_definition *definition),
                          void *context)
{
    for (size_t i = 0; i < watch->definition_count; i++) {
        nm_definition definition = watch->definitions[i].definition;

        if (definition.kind == NM_DEFINE_STRING)
            definition.string.data = watch->texts.data + watch->definitions[i].text_at;
        visit(context, &definition);
    }
}

/* ---- Events -------------------------------------------------------------------------------------------------------- */

static uint64_t process_of_thread(const nm_watch *watch, uint64_t thread_id)
{
    const watched_definition *thread = find(watch, NM_DEFINE_THREAD, thread_id);

    return thread == NULL ? 0 : thread->definition.thread.process_id;
}

static nm_status note_sample(nm_watch *watch, const nm_event *event)
{
    const watched_definition *device = find(watch, NM_DEFINE_DEVICE, event->device_id);
    nm_watch_device sample = {.device_id = event->device_id,
                              .memory_kind = event->detail,
                              .free_bytes = event->free_bytes,
                              .total_bytes = event->total_bytes,
                              .time_ns = event->time_ns};
    size_t at = 0;

    if (device == NULL)
        return NM_OK;
    sample.process_id = device->definition.device.process_id;
    sample.ordinal = device->definition.device.ordinal;
    sample.pid = pid_of(watch, sample.process_id);
    while (at < watch->device_count &&
           (watch->devices[at].device_id != event->device_id || watch->devices[at].memory_kind != event->detail))
        at++;
    if (at == watch->device_count &&
        nm_array_grow(&watch->devices, &watch->device_capacity, at + 1, sizeof *watch->devices, NULL) != NM_OK)
        return NM_ERR_MEMORY;
    watch->devices[at] = sample;
    watch->device_count += at == watch->device_count;
    return NM_OK;
}

static nm_status note_step(nm_watch *watch, const nm_event *event)
{
    nm_watch_step step = {.process_id = process_of_thread(watch, event->thread_id), .number = event->number};
    size_t at = 0;

    step.pid = pid_of(watch, step.process_id);
    while (at < watch->step_total && watch->steps[at].process_id != step.process_id)
        at++;
    if (at == watch->step_total &&
        nm_array_grow(&watch->steps, &watch->step_capacity, at + 1, sizeof *watch->steps, NULL) != NM_OK)
        return NM_ERR_MEMORY;
    step.count = watch->steps[at].count + 1; /* new room is zeroed */
    if (step.count > watch->most_steps)
        watch->most_steps = step.count;
    watch->steps[at] = step;
    watch->step_total += at == watch->step_total;
    return NM_OK;
}

static nm_status take(nm_watch *watch, const nm_record *record)
{
    nm_status status = nm_replay_record(watch->replay, record, NULL);

    if (status != NM_OK)
        return status;
    if (record->kind == NM_RECORD_DEFINITION)
        return keep(watch, &record->definition);
    status = nm_watch_remember(watch, &record->event);
    if (status != NM_OK)
        return status;
    if (record->event.kind == NM_EVENT_MEMORY_SAMPLE)
        return note_sample(watch, &record->event);
    return record->event.kind == NM_EVENT_STEP ? note_step(watch, &record->event) : NM_OK;
}

void nm_watch_take(void *context, const nm_record *record)
{
    nm_watch *watch = context;

    if (!watch->has_failed && take(watch, record) != NM_OK)
        watch->has_failed = true;
}

bool nm_watch_has_failed(const nm_watch *watch)
{
    return watch->has_failed;
}

/* ---- Answers ------------------------------------------------------------------------------------------------------- */

const nm_replay *nm_watch_replay(const nm_watch *watch)
{
    return watch->replay;
}

typedef struct heap_visit {
    const nm_watch *watch;
    void (*visit)(void *context, const nm_watch_heap *heap);
    void *context;
} heap_visit;

static void visit_heap(void *context, const nm_heap_gauge *now)
{
    const heap_visit *order = context;
    const nm_watch *watch = order->watch;
    const watched_definition *heap = find(watch, NM_DEFINE_HEAP, now->heap_id);
    const watched_definition *device = find(watch, NM_DEFINE_DEVICE, now->device_id);
    nm_watch_heap shown = {.now = *now, .pid = pid_of(watch, now->process_id), .device_number = NM_UNKNOWN_NUMBER};

    if (heap != NULL)
        shown.name = nm_watch_string(watch, heap->definition.heap.name);
    if (device != NULL) {
        shown.device_number = nm_shown_device(&device->definition);
        shown.capacity_bytes = device->definition.device.capacity_bytes;
    }
    order->visit(order->context, &shown);
}

void nm_watch_heaps(const nm_watch *watch, void (*visit)(void *context, const nm_watch_heap *heap), void *context)
{
    nm_replay_each_heap(watch->replay, visit_heap, &(heap_visit){watch, visit, context});
}

void nm_watch_devices(const nm_watch *watch, void (*visit)(void *context, const nm_watch_device *device), void *context)
{
    for (size_t i = 0; i < watch->device_count; i++)
        visit(context, &watch->devices[i]);
}

void nm_watch_steps(const nm_watch *watch, void (*visit)(void *context, const nm_watch_step *step), void *context)
{
    for (size_t i = 0; i < watch->step_total; i++)
        visit(context, &watch->steps[i]);
}

uint64_t nm_watch_most_steps(const nm_watch *watch)
{
    return watch->most_steps;
}
