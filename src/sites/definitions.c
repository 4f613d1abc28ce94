/* SPDX-License-Identifier: Apache-2.0
 *
 * A list a kind, and a map from the stream's number to the place in it: the last definition of a number holds. Strings
 * are interned when they come, and definitions hold our numbers of them, since the stream may define its own anew.
 */
#include "sites/definitions.h"

#include <stdlib.h>
#include <string.h>

static nm_status add_string(nm_definitions *definitions, const nm_definition *definition, nm_error *err)
{
    uint32_t number = 0;
    nm_status status = nm_strings_intern(&definitions->strings, definition->string, &number, err);

    if (status != NM_OK)
        return status;
    return nm_id_map_put(&definitions->string_numbers, definition->id, number, err);
}

static nm_status add_to_list(nm_definition_list *list, const nm_definition *definition, nm_error *err)
{
    size_t place = nm_id_map_find(&list->by_id, definition->id);

    if (place != NM_ID_MAP_NONE) {
        list->items[place] = *definition;
        return NM_OK;
    }
    nm_status status = nm_array_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items, err);
    if (status == NM_OK)
        status = nm_id_set_add(&list->ids, definition->id, err);
    if (status == NM_OK)
        status = nm_id_map_put(&list->by_id, definition->id, list->count, err);
    if (status == NM_OK)
        list->items[list->count++] = *definition;
    return status;
}

static nm_status add_frame(nm_definitions *definitions, const nm_frame *frame, nm_error *err)
{
    struct nm_frame_list *list = &definitions->frames;
    size_t place = nm_id_map_find(&list->by_id, frame->id);

    if (place != NM_ID_MAP_NONE) {
        list->items[place] = *frame;
        return NM_OK;
    }
    nm_status status = nm_array_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items, err);
    if (status == NM_OK)
        status = nm_id_set_add(&list->ids, frame->id, err);
    if (status == NM_OK)
        status = nm_id_map_put(&list->by_id, frame->id, list->count, err);
    if (status == NM_OK)
        list->items[list->count++] = *frame;
    return status;
}

static nm_status add_stack(nm_definitions *definitions, const nm_definition *definition, nm_error *err)
{
    nm_stack_node node = {.stack_id = definition->id,
                          .parent_id = definition->stack.parent_id,
                          .frame_id = definition->stack.frame_id,
                          .end = (uint8_t)(definition->stack.end <= NM_STACK_END_CUT ? definition->stack.end : 0)};
    size_t place = nm_id_map_find(&definitions->stacks.by_id, definition->id);

    if (place != NM_ID_MAP_NONE) {
        definitions->stacks.items[place] = node;
        return NM_OK;
    }
    nm_status status = nm_array_grow(&definitions->stacks.items, &definitions->stacks.capacity,
                                     definitions->stacks.count + 1, sizeof node, err);
    if (status == NM_OK)
        status = nm_id_set_add(&definitions->stacks.ids, definition->id, err);
    if (status == NM_OK)
        status = nm_id_map_put(&definitions->stacks.by_id, definition->id, definitions->stacks.count, err);
    if (status == NM_OK)
        definitions->stacks.items[definitions->stacks.count++] = node;
    return status;
}

/* As nm_definitions_number, but an empty text and the "??" of unwinders, both of which mean unknown, give 0. */
static uint32_t known_number(const nm_definitions *definitions, uint64_t stream_string)
{
    uint32_t number = nm_definitions_number(definitions, stream_string);
    const char *text = (const char *)nm_definitions_text(definitions, number).data;

    return text == NULL || text[0] == 0 || strcmp(text, "??") == 0 ? 0 : number;
}

/* Replaces the stream's numbers of strings by our own, which stay when a string is defined anew. */
static void own_strings(const nm_definitions *definitions, nm_definition *definition)
{
    switch (definition->kind) {
    case NM_DEFINE_PROCESS:
        definition->process.host = nm_definitions_number(definitions, definition->process.host);
        definition->process.command = nm_definitions_number(definitions, definition->process.command);
        break;
    case NM_DEFINE_THREAD:
        definition->thread.name = nm_definitions_number(definitions, definition->thread.name);
        break;
    case NM_DEFINE_DEVICE:
        definition->device.device_kind = nm_definitions_number(definitions, definition->device.device_kind);
        definition->device.name = nm_definitions_number(definitions, definition->device.name);
        break;
    case NM_DEFINE_HEAP:
        definition->heap.name = nm_definitions_number(definitions, definition->heap.name);
        break;
    case NM_DEFINE_ATTRIBUTE:
        definition->attribute.name = nm_definitions_number(definitions, definition->attribute.name);
        definition->attribute.value = nm_definitions_number(definitions, definition->attribute.value);
        break;
    case NM_DEFINE_MODULE:
        definition->module.path = nm_definitions_number(definitions, definition->module.path);
        definition->module.build_id = (nm_bytes){0}; /* borrowed: see build_ids */
        break;
    default:
        break;
    }
}

static nm_frame own_frame(const nm_definitions *definitions, const nm_definition *definition)
{
    return (nm_frame){.id = definition->id,
                      .frame = {.function = known_number(definitions, definition->frame.function),
                                .file = known_number(definitions, definition->frame.file),
                                .module = known_number(definitions, definition->frame.module),
                                .line = definition->frame.line,
                                .offset = definition->frame.offset,
                                .inlined_in = definition->frame.inlined_in,
                                .module_id = definition->frame.module_id}};
}

static nm_status add_module(nm_definitions *definitions, const nm_definition *own, nm_bytes build_id, nm_error *err)
{
    uint32_t number = 0;
    nm_status status = add_to_list(&definitions->modules, own, err);

    if (status == NM_OK && build_id.len > 0) {
        status = nm_strings_intern(&definitions->strings, build_id, &number, err);
        if (status == NM_OK)
            status = nm_map_put(&definitions->build_ids, (nm_key){0, own->id}, number, err);
    }
    return status;
}

nm_status nm_definitions_add(nm_definitions *definitions, const nm_definition *definition, nm_error *err)
{
    nm_definition own = *definition;
    nm_frame frame;

    own_strings(definitions, &own);
    switch (definition->kind) {
    case NM_DEFINE_STRING:
        return add_string(definitions, definition, err);
    case NM_DEFINE_PROCESS:
        return add_to_list(&definitions->processes, &own, err);
    case NM_DEFINE_THREAD:
        return add_to_list(&definitions->threads, &own, err);
    case NM_DEFINE_DEVICE:
        return add_to_list(&definitions->devices, &own, err);
    case NM_DEFINE_HEAP:
        return add_to_list(&definitions->heaps, &own, err);
    case NM_DEFINE_ATTRIBUTE:
        return add_to_list(&definitions->attributes, &own, err);
    case NM_DEFINE_MODULE:
        return add_module(definitions, &own, definition->module.build_id, err);
    case NM_DEFINE_FRAME:
        frame = own_frame(definitions, definition);
        return add_frame(definitions, &frame, err);
    case NM_DEFINE_STACK:
        return add_stack(definitions, definition, err);
    default:
        return NM_OK;
    }
}

uint32_t nm_definitions_number(const nm_definitions *definitions, uint64_t stream_string)
{
    size_t number = nm_id_map_find(&definitions->string_numbers, stream_string);

    return number == NM_ID_MAP_NONE ? 0 : (uint32_t)number;
}

nm_bytes nm_definitions_text(const nm_definitions *definitions, uint64_t number)
{
    return nm_strings_get(&definitions->strings, (uint32_t)number);
}

nm_bytes nm_definitions_build_id(const nm_definitions *definitions, uint64_t module_id)
{
    const uint64_t *number = nm_map_get(&definitions->build_ids, (nm_key){0, module_id});

    return number == NULL ? (nm_bytes){0} : nm_definitions_text(definitions, *number);
}

const nm_definition *nm_definition_find(const nm_definition_list *list, uint64_t id)
{
    /* Most inputs number what they define from 1 on, as it comes. */
    if (id - 1 < list->count && list->items[id - 1].id == id)
        return &list->items[id - 1];

    size_t place = nm_id_map_find(&list->by_id, id);

    return place == NM_ID_MAP_NONE ? NULL : &list->items[place];
}

const nm_frame *nm_frame_find(const nm_definitions *definitions, uint64_t id)
{
    size_t place = nm_id_map_find(&definitions->frames.by_id, id);

    return place == NM_ID_MAP_NONE ? NULL : &definitions->frames.items[place];
}

static int compare_definitions(const void *a, const void *b)
{
    uint64_t x = ((const nm_definition *)a)->id;
    uint64_t y = ((const nm_definition *)b)->id;

    return (x > y) - (x < y);
}

static int compare_frames(const void *a, const void *b)
{
    uint64_t x = ((const nm_frame *)a)->id;
    uint64_t y = ((const nm_frame *)b)->id;

    return (x > y) - (x < y);
}

static int compare_stacks(const void *a, const void *b)
{
    uint64_t x = ((const nm_stack_node *)a)->stack_id;
    uint64_t y = ((const nm_stack_node *)b)->stack_id;

    return (x > y) - (x < y);
}

static nm_status sort_list(nm_definition_list *list, nm_error *err)
{
    nm_status status = NM_OK;

    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, compare_definitions);
    for (size_t index = 0; status == NM_OK && index < list->count; index++)
        status = nm_id_map_put(&list->by_id, list->items[index].id, index, err);
    return status;
}

static nm_status sort_frames(struct nm_frame_list *list, nm_error *err)
{
    nm_status status = NM_OK;

    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, compare_frames);
    for (size_t index = 0; status == NM_OK && index < list->count; index++)
        status = nm_id_map_put(&list->by_id, list->items[index].id, index, err);
    return status;
}

nm_status nm_definitions_sort(nm_definitions *definitions, nm_error *err)
{
    nm_definition_list *lists[] = {&definitions->processes, &definitions->threads, &definitions->devices,
                                   &definitions->heaps,     &definitions->modules, &definitions->attributes};
    nm_status status = sort_frames(&definitions->frames, err);

    for (size_t index = 0; status == NM_OK && index < sizeof lists / sizeof lists[0]; index++)
        status = sort_list(lists[index], err);
    if (definitions->stacks.count > 0)
        qsort(definitions->stacks.items, definitions->stacks.count, sizeof(nm_stack_node), compare_stacks);
    for (size_t index = 0; status == NM_OK && index < definitions->stacks.count; index++)
        status = nm_id_map_put(&definitions->stacks.by_id, definitions->stacks.items[index].stack_id, index, err);
    return status;
}

nm_status nm_definitions_append_frame(nm_definitions *definitions, const nm_frame *frame, uint64_t *id, nm_error *err)
{
    const struct nm_frame_list *frames = &definitions->frames;
    nm_frame own = *frame;

    own.id = frames->count == 0 ? 1 : frames->items[frames->count - 1].id + 1;
    *id = own.id;
    return own.id > NM_ID_SET_ID_MAX ? NM_END : add_frame(definitions, &own, err);
}

nm_status nm_definitions_append_stack(nm_definitions *definitions, uint64_t parent_id, uint64_t frame_id, uint64_t *id,
                                      nm_error *err)
{
    size_t count = definitions->stacks.count;
    nm_definition own = {.kind = NM_DEFINE_STACK, .id = 1, .stack = {.parent_id = parent_id, .frame_id = frame_id}};

    if (count > 0)
        own.id = definitions->stacks.items[count - 1].stack_id + 1;
    *id = own.id;
    return own.id > NM_ID_SET_ID_MAX ? NM_END : add_stack(definitions, &own, err);
}

static void free_list(nm_definition_list *list)
{
    free(list->items);
    nm_id_map_free(&list->by_id);
    nm_id_set_free(&list->ids);
}

void nm_definitions_free(nm_definitions *definitions)
{
    nm_strings_free(&definitions->strings);
    nm_id_map_free(&definitions->string_numbers);
    free_list(&definitions->processes);
    free_list(&definitions->threads);
    free_list(&definitions->devices);
    free_list(&definitions->heaps);
    free_list(&definitions->modules);
    free(definitions->frames.items);
    nm_id_map_free(&definitions->frames.by_id);
    nm_id_set_free(&definitions->frames.ids);
    nm_map_free(&definitions->build_ids);
    free_list(&definitions->attributes);
    free(definitions->stacks.items);
    nm_id_map_free(&definitions->stacks.by_id);
    nm_id_set_free(&definitions->stacks.ids);
    *definitions = (nm_definitions){0};
}
