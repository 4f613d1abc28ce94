/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of the least size of each kind of record, and one function for what becomes of it. A record that is shorter
 * than its kind is never looked into, and no length in it is believed: the program may have been killed anywhere, or
 * have written wildly. The ring's numbers become the trace's by unify.c; whether and when an event is written is
 * ring_merge.c's.
 */
#include "drain/decode.h"

#include <string.h>

#include "base/number.h"
#include "drain/clock.h"

/* A record of kind K holds at least these bytes; 0: not a kind that this version knows. */
static size_t record_bytes(uint32_t kind)
{
    switch (kind) {
    case NM_EVENT_ALLOC:
    case NM_EVENT_MAP:
    case NM_EVENT_RESERVED:
        return sizeof(nm_ring_alloc);
    case NM_EVENT_FREE:
    case NM_EVENT_FREE_REQUESTED:
    case NM_EVENT_FREE_FAILED:
    case NM_EVENT_UNMAP:
    case NM_EVENT_EXPORT:
        return sizeof(nm_ring_free);
    case NM_EVENT_ALLOC_FAILED:
        return sizeof(nm_ring_alloc_failed);
    case NM_EVENT_COPY:
        return sizeof(nm_ring_copy);
    case NM_EVENT_STEP:
    case NM_EVENT_RANGE_END:
    case NM_EVENT_RESET:
    case NM_EVENT_DEVICE_CALL:
    case NM_EVENT_PAUSE:
    case NM_RING_THREAD_END:
        return sizeof(nm_ring_number);
    case NM_EVENT_MEMORY_SAMPLE:
        return sizeof(nm_ring_sample);
    case NM_EVENT_STREAM_CALL:
        return sizeof(nm_ring_stream_call);
    case NM_EVENT_OBJECTS:
        return sizeof(nm_ring_objects);
    case NM_EVENT_MODULE_SAMPLE:
        return sizeof(nm_ring_module_sample);
    case NM_EVENT_LOSS:
        return sizeof(nm_ring_loss);
    case NM_EVENT_RANGE_BEGIN:
        return sizeof(nm_ring_range);
    case NM_EVENT_MARK:
    case NM_EVENT_NOTE:
    case NM_RING_THREAD_NAME:
    case NM_RING_ATTRIBUTE:
        return sizeof(nm_ring_text);
    case NM_RING_THREAD:
        return sizeof(nm_ring_thread);
    case NM_RING_HEAP:
        return sizeof(nm_ring_heap);
    case NM_RING_DEVICE:
        return sizeof(nm_ring_device);
    case NM_RING_MODULE:
        return sizeof(nm_ring_module);
    case NM_RING_STACK:
        return sizeof(nm_ring_stack);
    case NM_RING_PYTHON:
        return sizeof(nm_ring_python);
    default:
        return 0;
    }
}

bool nm_decode_is_whole(const nm_view_record *record)
{
    size_t bytes = record_bytes(record->kind);

    return bytes != 0 && bytes <= record->word_count * sizeof *record->words;
}

uint64_t nm_decode_ticks(const nm_view_record *record)
{
    return record->words[0];
}

bool nm_decode_is_free(uint32_t kind)
{
    return kind == NM_EVENT_FREE || kind == NM_EVENT_FREE_REQUESTED || kind == NM_EVENT_UNMAP;
}

/* ---- Definitions --------------------------------------------------------------------------------------------------- */

static nm_status take_thread(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                             nm_error *err)
{
    const nm_ring_thread *thread = (const nm_ring_thread *)record->words;
    nm_bytes name = nm_view_text(record, sizeof *thread, thread->text_bytes, NM_RING_TEXT_BYTES_MAX);

    ring->thread_id = thread->thread_number;
    return nm_unify_thread(&merge->unify, ring->view.process_number, thread->thread_number, thread->tid,
                           ring->view.ring_id, name, err);
}

static nm_status take_heap(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record, nm_error *err)
{
    const nm_ring_heap *heap = (const nm_ring_heap *)record->words;
    nm_bytes name = nm_view_text(record, sizeof *heap, heap->text_bytes, NM_RING_TEXT_BYTES_MAX);

    return nm_unify_define_heap(&merge->unify, ring->view.process_number, heap, name, err);
}

static nm_status take_device(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                             nm_error *err)
{
    const nm_ring_device *device = (const nm_ring_device *)record->words;
    nm_bytes name = nm_view_text(record, sizeof *device, device->text_bytes, NM_RING_TEXT_BYTES_MAX);

    return nm_unify_define_device(&merge->unify, ring->view.process_number, device, name, err);
}

static nm_status take_module(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                             nm_error *err)
{
    const nm_ring_module *module = (const nm_ring_module *)record->words;
    nm_bytes path = nm_view_text(record, sizeof *module, module->text_bytes, NM_RING_TEXT_BYTES_MAX);

    return nm_unify_define_module(&merge->unify, ring->view.process_number, module, path, err);
}

static nm_status take_attribute(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                                nm_error *err)
{
    const nm_ring_text *text = (const nm_ring_text *)record->words;
    nm_bytes pair = nm_view_text(record, sizeof *text, text->text_bytes, NM_RING_TEXT_BYTES_MAX);
    const uint8_t *equals = pair.len > 0 ? memchr(pair.data, '=', pair.len) : NULL;
    size_t name_bytes = equals == NULL ? 0 : (size_t)(equals - pair.data);

    if (name_bytes == 0)
        return NM_OK;
    return nm_unify_attribute(&merge->unify, ring->view.process_number, text->detail, (nm_bytes){pair.data, name_bytes},
                              (nm_bytes){equals + 1, pair.len - name_bytes - 1}, err);
}

nm_status nm_decode_early(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record, nm_error *err)
{
    switch (record->kind) {
    case NM_RING_THREAD:
        return take_thread(merge, ring, record, err);
    case NM_RING_HEAP:
        return take_heap(merge, ring, record, err);
    case NM_RING_DEVICE:
        return take_device(merge, ring, record, err);
    case NM_RING_MODULE:
        return take_module(merge, ring, record, err);
    case NM_RING_ATTRIBUTE:
        return take_attribute(merge, ring, record, err);
    case NM_RING_THREAD_NAME: {
        const nm_ring_text *text = (const nm_ring_text *)record->words;
        nm_bytes name = nm_view_text(record, sizeof *text, text->text_bytes, NM_RING_TEXT_BYTES_MAX);
        return nm_unify_thread_name(&merge->unify, ring->thread_id, name, err);
    }
    default:
        return NM_OK;
    }
}

nm_status nm_decode_stack(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_ring_merge_item *item,
                          const nm_view_record *record, nm_error *err)
{
    const nm_ring_stack *stack = (const nm_ring_stack *)record->words;
    const uint64_t *addresses = record->words + sizeof *stack / sizeof *record->words;
    size_t room = record->word_count - sizeof *stack / sizeof *record->words;

    nm_unify_frames frames = {.words = addresses,
                              .depth = stack->depth < room ? (size_t)stack->depth : room,
                              .end = stack->depth <= room && stack->end <= NM_STACK_END_CUT ? stack->end
                                                                                            : NM_STACK_END_UNKNOWN,
                              .python = &ring->python_frames};

    return nm_unify_define_stack(&merge->unify, ring->view.process_number, item->thread_id, stack->local_id, &frames,
                                 &ring->stacks, err);
}

nm_status nm_decode_python(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_ring_merge_item *item,
                           const nm_view_record *record, nm_error *err)
{
    const nm_ring_python *python = (const nm_ring_python *)record->words;
    nm_bytes texts = nm_view_text(record, sizeof *python, python->text_bytes, NM_RING_PYTHON_BYTES_MAX);
    size_t function_bytes = python->function_bytes < texts.len ? (size_t)python->function_bytes : texts.len;
    nm_unify_python frame = {.function = {texts.data, function_bytes},
                             .file = {texts.data + function_bytes, texts.len - function_bytes},
                             .line = python->line,
                             .version = python->version};

    return nm_unify_define_python(&merge->unify, item->thread_id, python->local_id, &frame, &ring->python_frames, err);
}

/* ---- Events -------------------------------------------------------------------------------------------------------- */

/* Stacks are defined in the order of stamps. Only a signal handler that came between a stack's claim and its stamp can
 * use one that is still to be released: it waits in the same ring, a few records on. */
static nm_status find_waiting_stack(nm_ring_merge *merge, nm_ring_merge_ring *ring, uint64_t thread_id,
                                    uint64_t local_id, nm_error *err)
{
    uint64_t scratch[NM_VIEW_WORDS_MAX];
    nm_view_record record;

    for (size_t i = ring->first; nm_ring_merge_is_disordered(ring) && i < ring->count; i++) {
        const nm_ring_merge_item *item = &ring->items[i];

        if (item->kind != NM_RING_STACK || item->thread_id != thread_id ||
            nm_view_read(&ring->view, item->position, ring->cursor, scratch, &record) != NM_VIEW_READY)
            continue;
        if (((const nm_ring_stack *)record.words)->local_id == local_id)
            return nm_decode_stack(merge, ring, item, &record, err);
    }
    /* Its record was dropped or is unreadable: remember that, so that nobody searches for it again. */
    return nm_stack_table_set(&ring->stacks, local_id, 0, err);
}

static nm_status find_stack(nm_ring_merge *merge, nm_ring_merge_ring *ring, uint64_t thread_id, uint64_t local_id,
                            uint64_t *id, nm_error *err)
{
    const uint64_t *known = nm_stack_table_find(&ring->stacks, local_id);
    nm_status status = NM_OK;

    *id = 0;
    if (local_id == 0)
        return NM_OK;
    if (known == NULL) {
        status = find_waiting_stack(merge, ring, thread_id, local_id, err);
        known = nm_stack_table_find(&ring->stacks, local_id);
    }
    if (status == NM_OK && known != NULL)
        *id = *known;
    if (status == NM_OK && *id != 0 && merge->unify.recall != NULL)
        status = merge->unify.recall(merge->unify.recall_context, NM_DEFINE_STACK, *id, err);
    return status;
}

/* A heap keeps its number. In a recovery it has to be recalled each time. */
static nm_status find_heap(nm_ring_merge *merge, nm_ring_merge_ring *ring, uint64_t local_id, uint64_t *id,
                           nm_error *err)
{
    nm_ring_merge_heap *known = &ring->heaps[local_id % NM_RING_MERGE_HEAPS];
    nm_status status = NM_OK;

    if (known->local_id != local_id || merge->unify.recall != NULL) {
        status = nm_unify_heap(&merge->unify, ring->view.process_number, local_id, &known->id, err);
        known->local_id = status == NM_OK ? local_id : 0;
    }
    *id = known->id;
    return status;
}

/* Splits nm_ring_where. */
static nm_status take_where(nm_ring_merge *merge, nm_ring_merge_ring *ring, uint64_t where, nm_event *event,
                            nm_error *err)
{
    event->flags = where >> 16 & 0xffff;
    nm_status status = find_heap(merge, ring, where & 0xffff, &event->heap_id, err);
    return status == NM_OK ? find_stack(merge, ring, event->thread_id, where >> 32, &event->stack_id, err) : status;
}

static nm_status find_device(nm_ring_merge *merge, nm_ring_merge_ring *ring, uint64_t local_id, uint64_t *id,
                             nm_error *err)
{
    return nm_unify_device(&merge->unify, ring->view.process_number, local_id, id, err);
}

/* What a call cost, to six significant bits: nobody asks for more, and the noise below would be a fifth of the trace. */
static uint64_t cost_ns(nm_ring_merge *merge, uint64_t ticks)
{
    uint64_t ns = nm_clock_span_ns(merge->folder->session, ticks);
    int noise_bits = ns < 64 ? 0 : nm_bits_of(ns) - 6;
    uint64_t half = noise_bits == 0 ? 0 : UINT64_C(1) << (noise_bits - 1);

    return (ns + half) >> noise_bits << noise_bits;
}

static nm_status decode_alloc(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                              nm_event *event, nm_error *err)
{
    const nm_ring_alloc *alloc = (const nm_ring_alloc *)record->words;

    event->address = alloc->address;
    event->requested_bytes = alloc->requested_bytes;
    event->block_bytes = alloc->block_bytes;
    event->stream = alloc->stream;
    event->policy = alloc->policy;
    event->cost_ns = cost_ns(merge, alloc->cost_ticks);
    return take_where(merge, ring, alloc->where, event, err);
}

static nm_status decode_free(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                             nm_event *event, nm_error *err)
{
    const nm_ring_free *freed = (const nm_ring_free *)record->words;

    event->address = freed->address;
    event->stream = freed->stream;
    event->detail = freed->detail;
    event->error_code = freed->error_code;
    event->block_bytes = freed->block_bytes;
    return take_where(merge, ring, freed->where, event, err);
}

static nm_status decode_alloc_failed(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                                     nm_event *event, nm_error *err)
{
    const nm_ring_alloc_failed *failed = (const nm_ring_alloc_failed *)record->words;

    event->requested_bytes = failed->requested_bytes;
    event->stream = failed->stream;
    event->policy = failed->policy;
    event->error_code = failed->error_code;
    event->free_bytes = failed->free_bytes;
    event->total_bytes = failed->total_bytes;
    return take_where(merge, ring, failed->where, event, err);
}

static nm_status decode_copy(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                             nm_event *event, nm_error *err)
{
    const nm_ring_copy *copy = (const nm_ring_copy *)record->words;
    uint64_t source_device = 0;

    event->address = copy->target_address;
    event->source_address = copy->source_address;
    event->size_bytes = copy->size_bytes;
    event->limit_bytes = copy->limit_bytes;
    event->stream = copy->stream;
    event->detail = copy->kind;
    event->cost_ns = cost_ns(merge, copy->cost_ticks);
    event->error_code = copy->error_code;
    nm_status status = find_device(merge, ring, copy->target_device, &event->device_id, err);
    if (status == NM_OK)
        status = find_device(merge, ring, copy->source_device, &source_device, err);
    event->number = (int64_t)source_device;
    return status == NM_OK ? take_where(merge, ring, copy->where, event, err) : status;
}

static nm_status decode_number(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                               nm_event *event, nm_error *err)
{
    const nm_ring_number *number = (const nm_ring_number *)record->words;

    event->number = number->number;
    *(event->kind == NM_EVENT_RANGE_END ? &event->model_id : &event->detail) = number->detail;
    event->error_code = number->error_code;
    nm_status status = find_device(merge, ring, number->device, &event->device_id, err);
    return status == NM_OK ? take_where(merge, ring, number->where, event, err) : status;
}

static nm_status decode_sample(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                               nm_event *event, nm_error *err)
{
    const nm_ring_sample *sample = (const nm_ring_sample *)record->words;

    event->detail = sample->detail;
    event->free_bytes = sample->free_bytes;
    event->total_bytes = sample->total_bytes;
    return find_device(merge, ring, sample->device, &event->device_id, err);
}

static nm_status decode_text(nm_ring_merge *merge, const nm_view_record *record, nm_event *event, nm_error *err)
{
    const nm_ring_text *text = (const nm_ring_text *)record->words;

    event->number = text->number;
    event->detail = text->detail;
    return nm_unify_text(&merge->unify, nm_view_text(record, sizeof *text, text->text_bytes, NM_RING_TEXT_BYTES_MAX),
                         &event->name_id, err);
}

static nm_status decode_range(nm_ring_merge *merge, const nm_view_record *record, nm_event *event, nm_error *err)
{
    const nm_ring_range *range = (const nm_ring_range *)record->words;

    event->number = range->number;
    event->detail = range->detail;
    event->flags = range->flags & 0xffff;
    event->stream = range->stream;
    event->address = range->address;
    event->requested_bytes = range->requested_bytes;
    event->model_id = range->model_id;
    return nm_unify_text(&merge->unify, nm_view_text(record, sizeof *range, range->text_bytes, NM_RING_TEXT_BYTES_MAX),
                         &event->name_id, err);
}

static nm_status decode_stream_call(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                                    nm_event *event, nm_error *err)
{
    const nm_ring_stream_call *call = (const nm_ring_stream_call *)record->words;

    event->stream = call->stream;
    event->number = (int64_t)call->event;
    event->detail = call->detail;
    event->cost_ns = cost_ns(merge, call->cost_ticks);
    event->error_code = call->error_code;
    nm_status status = find_device(merge, ring, call->device, &event->device_id, err);
    return status == NM_OK ? take_where(merge, ring, call->where, event, err) : status;
}

static nm_status decode_module_sample(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                                      nm_event *event, nm_error *err)
{
    const nm_ring_module_sample *sample = (const nm_ring_module_sample *)record->words;
    nm_bytes name = nm_view_text(record, sizeof *sample, sample->text_bytes, NM_RING_TEXT_BYTES_MAX);

    event->size_bytes = sample->size_bytes;
    event->total_bytes = sample->total_bytes;
    nm_status status = find_device(merge, ring, sample->device, &event->device_id, err);
    return status == NM_OK ? nm_unify_text(&merge->unify, name, &event->name_id, err) : status;
}

static nm_status decode_objects(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_view_record *record,
                                nm_event *event, nm_error *err)
{
    const nm_ring_objects *objects = (const nm_ring_objects *)record->words;

    event->number = (int64_t)objects->handle;
    event->detail = objects->kind;
    event->count = objects->made_count;
    event->ended_count = objects->gone_count;
    return take_where(merge, ring, objects->where, event, err);
}

/* By stores of several words: what compilers make of a struct that is zeroed, one instruction that repeats itself, takes as long
 * as all the rest of a decoded event. */
typedef uint64_t words __attribute__((vector_size(32), aligned(8), may_alias));

static inline void clear(nm_event *event)
{
    words *at = (words *)event;
    uint64_t *rest = (uint64_t *)(at + sizeof *event / sizeof *at);

    for (size_t i = 0; i < sizeof *event / sizeof *at; i++)
        at[i] = (words){0};
    for (size_t i = 0; i < sizeof *event % sizeof *at / sizeof *rest; i++)
        rest[i] = 0;
}

nm_status nm_decode_event(nm_ring_merge *merge, nm_ring_merge_ring *ring, const nm_ring_merge_item *item,
                          const nm_view_record *record, nm_event *event, nm_error *err)
{
    clear(event);
    event->kind = record->kind;
    event->time_ns = nm_clock_to_ns(merge->folder->session, item->ticks);
    event->thread_id = item->thread_id;

    switch (record->kind) {
    case NM_EVENT_ALLOC:
    case NM_EVENT_MAP:
    case NM_EVENT_RESERVED:
        return decode_alloc(merge, ring, record, event, err);
    case NM_EVENT_FREE:
    case NM_EVENT_FREE_REQUESTED:
    case NM_EVENT_FREE_FAILED:
    case NM_EVENT_UNMAP:
    case NM_EVENT_EXPORT:
        return decode_free(merge, ring, record, event, err);
    case NM_EVENT_ALLOC_FAILED:
        return decode_alloc_failed(merge, ring, record, event, err);
    case NM_EVENT_COPY:
        return decode_copy(merge, ring, record, event, err);
    case NM_EVENT_MEMORY_SAMPLE:
        return decode_sample(merge, ring, record, event, err);
    case NM_EVENT_STREAM_CALL:
        return decode_stream_call(merge, ring, record, event, err);
    case NM_EVENT_MODULE_SAMPLE:
        return decode_module_sample(merge, ring, record, event, err);
    case NM_EVENT_OBJECTS:
        return decode_objects(merge, ring, record, event, err);
    case NM_EVENT_RANGE_BEGIN:
        return decode_range(merge, record, event, err);
    case NM_EVENT_MARK:
    case NM_EVENT_NOTE:
        return decode_text(merge, record, event, err);
    default:
        return decode_number(merge, ring, record, event, err);
    }
}
