/* SPDX-License-Identifier: Apache-2.0
 *
 * Events are kept as the fields that are not 0: which, as bits, and their values, as varints.
 */
#include "source/gathered.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/strings.h"

typedef struct place {
    int64_t order;
    uint64_t at; /* in `events`, and of two of one order which was first */
} place;

typedef struct frame {
    uint64_t function, file, line;
} frame;

typedef struct stack {
    uint64_t parent, frame;
} stack;

struct nm_gathered {
    nm_strings strings;
    nm_map file_of;  /* (function, file) -> number of the pair */
    nm_map frame_of; /* (that, line) -> index */
    nm_map stack_of; /* (parent, frame) -> index */
    struct {
        frame *items;
        size_t count, capacity;
    } frames;
    struct {
        stack *items;
        size_t count, capacity;
    } stacks;
    struct {
        nm_definition *items;
        size_t count, capacity;
    } definitions;
    struct {
        place *items;
        size_t count, capacity;
    } places;
    nm_buffer events;
    uint64_t unnumbered_count; /* events that take no seq */

    size_t string_at, frame_at, stack_at, definition_at, place_at; /* what is delivered next */
    uint64_t seq;
};

nm_status nm_gathered_new(nm_gathered **out, nm_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

void nm_gathered_free(nm_gathered *gathered)
{
    if (gathered == NULL)
        return;
    nm_strings_free(&gathered->strings);
    nm_map_free(&gathered->file_of);
    nm_map_free(&gathered->frame_of);
    nm_map_free(&gathered->stack_of);
    free(gathered->frames.items);
    free(gathered->stacks.items);
    for (size_t i = 0; i < gathered->definitions.count; i++)
        if (gathered->definitions.items[i].kind == NM_DEFINE_MODULE)
            free((void *)(uintptr_t)gathered->definitions.items[i].module.build_id.data);
    free(gathered->definitions.items);
    free(gathered->places.items);
    nm_buffer_free(&gathered->events);
    free(gathered);
}

nm_status nm_gathered_string(nm_gathered *gathered, nm_bytes text, uint64_t *id, nm_error *err)
{
    uint32_t number = 0;
    nm_status status = text.len == 0 ? NM_OK : nm_strings_intern(&gathered->strings, text, &number, err);

    *id = number;
    return status;
}

nm_bytes nm_gathered_text(const nm_gathered *gathered, uint64_t id)
{
    return nm_strings_get(&gathered->strings, (uint32_t)id);
}

nm_status nm_gathered_frame(nm_gathered *gathered, uint64_t function, uint64_t file, uint64_t line, uint64_t *id,
                            nm_error *err)
{
    uint64_t pair = 0, number = 0;
    nm_status status = nm_map_number(&gathered->file_of, (nm_key){function, file}, &pair, err);

    if (status == NM_OK)
        status = nm_array_grow(&gathered->frames.items, &gathered->frames.capacity, gathered->frames.count + 1,
                               sizeof *gathered->frames.items, err);
    if (status == NM_OK)
        status = nm_map_number(&gathered->frame_of, (nm_key){pair, line}, &number, err);
    if (status != NM_OK)
        return status;
    if (number == gathered->frames.count)
        gathered->frames.items[gathered->frames.count++] = (frame){function, file, line};
    *id = number + 1;
    return NM_OK;
}

nm_status nm_gathered_stack(nm_gathered *gathered, uint64_t parent, uint64_t frame_id, uint64_t *id, nm_error *err)
{
    uint64_t number = 0;
    nm_status status = nm_array_grow(&gathered->stacks.items, &gathered->stacks.capacity, gathered->stacks.count + 1,
                                     sizeof *gathered->stacks.items, err);

    if (status == NM_OK)
        status = nm_map_number(&gathered->stack_of, (nm_key){parent, frame_id}, &number, err);
    if (status != NM_OK)
        return status;
    if (number == gathered->stacks.count)
        gathered->stacks.items[gathered->stacks.count++] = (stack){parent, frame_id};
    *id = number + 1;
    return NM_OK;
}

nm_status nm_gathered_define(nm_gathered *gathered, const nm_definition *definition, nm_error *err)
{
    nm_buffer copy = {0};
    nm_status status = nm_array_grow(&gathered->definitions.items, &gathered->definitions.capacity,
                                     gathered->definitions.count + 1, sizeof *gathered->definitions.items, err);

    if (status == NM_OK && definition->kind == NM_DEFINE_MODULE)
        status = nm_buffer_append(&copy, definition->module.build_id.data, definition->module.build_id.len, err);
    if (status != NM_OK)
        return status;
    nm_definition *kept = &gathered->definitions.items[gathered->definitions.count++];
    *kept = *definition;
    if (kept->kind == NM_DEFINE_MODULE)
        kept->module.build_id = (nm_bytes){copy.data, copy.len};
    return NM_OK;
}

static nm_status keep_fields(nm_buffer *to, nm_event *event, nm_error *err)
{
    uint64_t mask = 0;
    nm_status status;

    for (unsigned field = 0; field < NM_FIELD_COUNT; field++)
        if (*nm_event_field(event, field) != 0)
            mask |= UINT64_C(1) << field;
    status = nm_buffer_append_varint(to, event->kind, err);
    if (status == NM_OK)
        status = nm_buffer_append_varint(to, mask, err);
    for (unsigned field = 0; status == NM_OK && field < NM_FIELD_COUNT; field++)
        if ((mask >> field & 1) != 0)
            status = nm_buffer_append_varint(to, *nm_event_field(event, field), err);
    return status;
}

static bool takes_seq(const nm_event *event)
{
    return (event->flags & NM_FLAG_BASELINE) == 0 && event->kind != NM_EVENT_NOTE &&
           event->kind != NM_EVENT_STATE_SEGMENT && event->kind != NM_EVENT_STATE_BLOCK;
}

nm_status nm_gathered_event(nm_gathered *gathered, int64_t order, const nm_event *event, nm_error *err)
{
    nm_event copy = *event;
    bool is_baseline = (event->flags & NM_FLAG_BASELINE) != 0;
    nm_status status = nm_array_grow(&gathered->places.items, &gathered->places.capacity, gathered->places.count + 1,
                                     sizeof *gathered->places.items, err);

    if (status != NM_OK)
        return status;
    place next = {is_baseline ? INT64_MIN : order, gathered->events.len};
    status = keep_fields(&gathered->events, &copy, err);
    if (status != NM_OK)
        return status;
    gathered->places.items[gathered->places.count++] = next;
    gathered->unnumbered_count += !takes_seq(event);
    return NM_OK;
}

static int compare_places(const void *left, const void *right)
{
    const place *a = left, *b = right;

    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

void nm_gathered_sort(nm_gathered *gathered)
{
    if (gathered->places.count > 0)
        qsort(gathered->places.items, gathered->places.count, sizeof *gathered->places.items, compare_places);
    nm_gathered_rewind(gathered);
}

void nm_gathered_rewind(nm_gathered *gathered)
{
    gathered->string_at = gathered->frame_at = gathered->stack_at = gathered->definition_at = gathered->place_at = 0;
    gathered->seq = 0;
}

static bool next_definition(nm_gathered *gathered, nm_definition *out)
{
    if (gathered->string_at < gathered->strings.count) {
        out->kind = NM_DEFINE_STRING;
        out->id = ++gathered->string_at;
        out->string = nm_gathered_text(gathered, out->id);
    } else if (gathered->frame_at < gathered->frames.count) {
        const frame *item = &gathered->frames.items[gathered->frame_at];

        out->kind = NM_DEFINE_FRAME;
        out->id = ++gathered->frame_at;
        out->frame.function = item->function;
        out->frame.file = item->file;
        out->frame.line = item->line;
    } else if (gathered->stack_at < gathered->stacks.count) {
        const stack *item = &gathered->stacks.items[gathered->stack_at];

        out->kind = NM_DEFINE_STACK;
        out->id = ++gathered->stack_at;
        out->stack.parent_id = item->parent;
        out->stack.frame_id = item->frame;
    } else if (gathered->definition_at < gathered->definitions.count) {
        *out = gathered->definitions.items[gathered->definition_at++];
    } else {
        return false;
    }
    return true;
}

static void next_event(nm_gathered *gathered, nm_event *out)
{
    uint64_t at = gathered->places.items[gathered->place_at++].at;
    nm_cursor cursor = nm_cursor_over(gathered->events.data + at, gathered->events.len - at);

    *out = (nm_event){.kind = nm_read_varint(&cursor)};
    uint64_t mask = nm_read_varint(&cursor);
    for (unsigned field = 0; field < NM_FIELD_COUNT; field++)
        if ((mask >> field & 1) != 0)
            *nm_event_field(out, field) = nm_read_varint(&cursor);
    out->seq = gathered->seq;
    gathered->seq += takes_seq(out);
}

nm_status nm_gathered_next(nm_gathered *gathered, nm_record *out, nm_error *err)
{
    (void)err;
    *out = (nm_record){.kind = NM_RECORD_DEFINITION};
    if (next_definition(gathered, &out->definition))
        return NM_OK;
    if (gathered->place_at >= gathered->places.count)
        return NM_END;
    out->kind = NM_RECORD_EVENT;
    next_event(gathered, &out->event);
    return NM_OK;
}

uint64_t nm_gathered_event_count(const nm_gathered *gathered)
{
    return gathered->places.count - gathered->unnumbered_count;
}
