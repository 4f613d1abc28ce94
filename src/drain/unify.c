/* SPDX-License-Identifier: Apache-2.0
 *
 * A map for each kind of thing, from (owner, the owner's number) to the trace's. What is met for the first time is
 * written as a definition before the event that uses it, and its alias with it. Frames are unified by module and
 * offset, so that the same library in two processes gives the same frames; naming them is the namer's, later. Texts are
 * interned once for the whole trace.
 */
#include "drain/unify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define END_SHIFT               62 /* in a key, above any number of a stack */

/* No file in the key of a frame: the address is raw, and of this process. */
#define RAW_ADDRESS_OF(process) ((UINT64_C(1) << 63) | (process))

/* In module_index, beside (process, base): a module by its number. */
#define MODULE_KEY(id)          ((nm_key){UINT64_MAX, (id)})

void nm_unify_init(nm_unify *unify, nm_trace_writer *writer, const nm_namer *namer)
{
    *unify = (nm_unify){.writer = writer, .namer = namer};
}

void nm_unify_fini(nm_unify *unify)
{
    nm_map *maps[] = {&unify->heaps,        &unify->devices,     &unify->frames,       &unify->stacks,
                      &unify->thread_index, &unify->space_index, &unify->module_index, &unify->python_frames};

    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        nm_map_free(maps[i]);
    for (size_t i = 0; i < unify->space_count; i++)
        free(unify->spaces[i].items);
    free(unify->spaces);
    free(unify->threads);
    free(unify->modules);
    free(unify->frame_keys);
    free(unify->files);
    nm_strings_free(&unify->file_numbers);
    nm_strings_free(&unify->strings);
}

/* ---- Texts, aliases ------------------------------------------------------------------------------------------------ */

/* Defines the string if intern has just made it. What is too long (a demangled name may be) is cut. */
static nm_status intern(nm_unify *unify, nm_bytes text, uint32_t *number, nm_error *err)
{
    uint8_t room[NM_TEXT_BYTES_MAX];
    size_t known_count = unify->strings.count;

    if (text.len > NM_TEXT_BYTES_MAX)
        text = (nm_bytes){room, nm_text_cut(text.data, text.len, NM_TEXT_BYTES_MAX, room)};
    nm_status status = nm_strings_intern(&unify->strings, text, number, err);

    if (status == NM_OK && unify->strings.count > known_count) {
        nm_definition definition = {.kind = NM_DEFINE_STRING, .id = unify->string_base + *number, .string = text};
        status = nm_trace_writer_define(unify->writer, &definition, err);
    }
    return status;
}

nm_status nm_unify_text(nm_unify *unify, nm_bytes text, uint64_t *id, nm_error *err)
{
    uint32_t number = 0;

    *id = 0;
    if (text.len == 0)
        return NM_OK;
    nm_status status = intern(unify, text, &number, err);
    *id = unify->string_base + number;
    return status;
}

static nm_status define_alias(nm_unify *unify, uint64_t owner, uint64_t local_id, uint64_t id, nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_ALIAS, .id = id};

    definition.alias.thread_id = owner;
    definition.alias.local_id = local_id;
    return nm_trace_writer_define(unify->writer, &definition, err);
}

static nm_status recall(nm_unify *unify, nm_definition_kind kind, uint64_t id, nm_error *err)
{
    return unify->recall == NULL || id == 0 ? NM_OK : unify->recall(unify->recall_context, kind, id, err);
}

/* ---- Processes and threads ----------------------------------------------------------------------------------------- */

static nm_status find_space(nm_unify *unify, uint64_t process, nm_process_modules **out, nm_error *err)
{
    uint64_t *index = nm_map_get(&unify->space_index, (nm_key){0, process});
    nm_status status = NM_OK;

    if (index == NULL) {
        status =
            nm_array_grow(&unify->spaces, &unify->space_capacity, unify->space_count + 1, sizeof *unify->spaces, err);
        if (status == NM_OK)
            status = nm_map_put(&unify->space_index, (nm_key){0, process}, unify->space_count, err);
        if (status != NM_OK)
            return status;
        unify->spaces[unify->space_count] = (nm_process_modules){0};
        *out = &unify->spaces[unify->space_count++];
        return NM_OK;
    }
    *out = &unify->spaces[*index];
    return NM_OK;
}

nm_status nm_unify_fork(nm_unify *unify, uint64_t process, uint64_t parent, nm_error *err)
{
    nm_process_modules *space;
    nm_status status = find_space(unify, process, &space, err);

    if (status == NM_OK && parent != process)
        space->parent_number = parent;
    return status;
}

static nm_status find_thread(nm_unify *unify, uint64_t thread, nm_definition **out, nm_error *err)
{
    uint64_t *index = nm_map_get(&unify->thread_index, (nm_key){0, thread});

    if (index != NULL) {
        *out = &unify->threads[*index];
        return NM_OK;
    }
    nm_status status =
        nm_array_grow(&unify->threads, &unify->thread_capacity, unify->thread_count + 1, sizeof *unify->threads, err);
    if (status == NM_OK)
        status = nm_map_put(&unify->thread_index, (nm_key){0, thread}, unify->thread_count, err);
    if (status == NM_OK) {
        *out = &unify->threads[unify->thread_count++];
        **out = (nm_definition){.kind = NM_DEFINE_THREAD, .id = thread};
    }
    return status;
}

nm_status nm_unify_thread(nm_unify *unify, uint64_t process, uint64_t thread, int64_t tid, uint64_t ring_id,
                          nm_bytes name, nm_error *err)
{
    nm_definition *definition;
    nm_status status = find_thread(unify, thread, &definition, err);

    if (status != NM_OK)
        return status;
    definition->thread.process_id = process;
    definition->thread.tid = tid;
    definition->thread.ring_id = ring_id;
    status = recall(unify, NM_DEFINE_PROCESS, process, err);
    if (status == NM_OK)
        status = nm_unify_text(unify, name, &definition->thread.name, err);
    return status == NM_OK ? nm_trace_writer_define(unify->writer, definition, err) : status;
}

nm_status nm_unify_thread_name(nm_unify *unify, uint64_t thread, nm_bytes name, nm_error *err)
{
    uint64_t *index = nm_map_get(&unify->thread_index, (nm_key){0, thread});

    if (index == NULL)
        return NM_OK;
    nm_definition *definition = &unify->threads[*index];
    nm_status status = nm_unify_text(unify, name, &definition->thread.name, err);
    return status == NM_OK ? nm_trace_writer_define(unify->writer, definition, err) : status;
}

/* ---- Heaps and devices --------------------------------------------------------------------------------------------- */

/* Finds the number of (process, local_id) in `map`, or gives it the next one, with an alias of `kind`. */
static nm_status find_number(nm_unify *unify, nm_map *map, uint64_t alias_kind, uint64_t *count, nm_key key,
                             uint64_t *id, nm_error *err)
{
    uint64_t *known = nm_map_get(map, key);

    if (known != NULL) {
        *id = *known;
        return recall(unify, alias_kind == NM_ALIAS_HEAP ? NM_DEFINE_HEAP : NM_DEFINE_DEVICE, *id, err);
    }
    nm_status status = nm_map_put(map, key, *count + 1, err);
    if (status != NM_OK)
        return status;
    *id = ++*count;
    return define_alias(unify, key.high, alias_kind + key.low, *id, err);
}

nm_status nm_unify_attribute(nm_unify *unify, uint64_t process, uint64_t source, nm_bytes name, nm_bytes value,
                             nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_ATTRIBUTE, .id = unify->attribute_count + 1};
    nm_status status = nm_unify_text(unify, name, &definition.attribute.name, err);

    definition.attribute.process_id = process;
    definition.attribute.source = source;
    if (status == NM_OK)
        status = nm_unify_text(unify, value, &definition.attribute.value, err);
    if (status == NM_OK)
        status = nm_trace_writer_define(unify->writer, &definition, err);
    unify->attribute_count += status == NM_OK;
    return status;
}

static nm_status find_heap(nm_unify *unify, uint64_t process, uint64_t local_id, uint64_t *id, nm_error *err)
{
    return find_number(unify, &unify->heaps, NM_ALIAS_HEAP, &unify->heap_count, (nm_key){process, local_id}, id, err);
}

static nm_status find_device(nm_unify *unify, uint64_t process, uint64_t local_id, uint64_t *id, nm_error *err)
{
    return find_number(unify, &unify->devices, NM_ALIAS_DEVICE, &unify->device_count,
                       (nm_key){process, local_id & UINT32_MAX}, id, err);
}

nm_status nm_unify_define_device(nm_unify *unify, uint64_t process, const nm_ring_device *device, nm_bytes name,
                                 nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_DEVICE};

    if ((device->local_id & UINT32_MAX) == 0)
        return NM_OK;
    nm_status status = find_device(unify, process, device->local_id, &definition.id, err);

    definition.device.process_id = process;
    definition.device.ordinal = device->ordinal;
    definition.device.physical_ordinal = device->physical_ordinal;
    definition.device.capacity_bytes = device->capacity_bytes;
    if (status == NM_OK)
        status = nm_unify_text(unify, (nm_bytes){(const uint8_t *)"npu", 3}, &definition.device.device_kind, err);
    if (status == NM_OK)
        status = nm_unify_text(unify, name, &definition.device.name, err);
    return status == NM_OK ? nm_trace_writer_define(unify->writer, &definition, err) : status;
}

/* A heap whose device nobody has described: an ordinal is all that is known of it. */
static nm_status define_bare_device(nm_unify *unify, uint64_t process, uint64_t local_id, nm_error *err)
{
    nm_ring_device device = {
        .local_id = local_id, .ordinal = (int64_t)(local_id & UINT32_MAX) - 1, .physical_ordinal = NM_UNKNOWN_NUMBER};

    return nm_unify_define_device(unify, process, &device, (nm_bytes){0}, err);
}

nm_status nm_unify_device(nm_unify *unify, uint64_t process, uint64_t local_id, uint64_t *id, nm_error *err)
{
    *id = 0;
    if ((local_id & UINT32_MAX) == 0)
        return NM_OK;
    if (nm_map_get(&unify->devices, (nm_key){process, local_id & UINT32_MAX}) == NULL) {
        nm_status status = define_bare_device(unify, process, local_id, err);
        if (status != NM_OK)
            return status;
    }
    return find_device(unify, process, local_id, id, err);
}

nm_status nm_unify_define_heap(nm_unify *unify, uint64_t process, const nm_ring_heap *heap, nm_bytes name,
                               nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_HEAP};

    if ((heap->local_id & 0xffff) == 0)
        return NM_OK;
    nm_status status = find_heap(unify, process, heap->local_id & 0xffff, &definition.id, err);

    definition.heap.process_id = process;
    definition.heap.level = heap->level;
    definition.heap.size_basis = heap->size_basis;
    definition.heap.small_bytes = heap->small_bytes;
    definition.heap.large_bytes = heap->large_bytes;
    definition.heap.module_id = heap->module_id;
    if (status == NM_OK)
        status = nm_unify_device(unify, process, heap->device, &definition.heap.device_id, err);
    if (status == NM_OK)
        status = nm_unify_text(unify, name, &definition.heap.name, err);
    return status == NM_OK ? nm_trace_writer_define(unify->writer, &definition, err) : status;
}

nm_status nm_unify_heap(nm_unify *unify, uint64_t process, uint64_t local_id, uint64_t *id, nm_error *err)
{
    *id = 0;
    if (local_id == 0)
        return NM_OK;
    if (nm_map_get(&unify->heaps, (nm_key){process, local_id}) == NULL) {
        nm_ring_heap unknown = {.local_id = local_id, .level = NM_LEVEL_HOST, .size_basis = NM_BASIS_REQUESTED};
        nm_status status = nm_unify_define_heap(unify, process, &unknown, (nm_bytes){0}, err);
        if (status != NM_OK)
            return status;
    }
    return find_heap(unify, process, local_id, id, err);
}

/* ---- Modules ------------------------------------------------------------------------------------------------------- */

/* The first module of the space that ends above `address`. */
static size_t search_module(const nm_process_modules *space, uint64_t address)
{
    size_t low = 0, high = space->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (space->items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Puts the module where it lies; what lay there before was unloaded. */
static nm_status insert_module(nm_process_modules *space, nm_module_range range, nm_error *err)
{
    size_t first = search_module(space, range.base), last = first;
    nm_status status = nm_array_grow(&space->items, &space->capacity, space->count + 1, sizeof range, err);

    if (status != NM_OK)
        return status;
    while (last < space->count && space->items[last].base < range.end)
        last++;
    memmove(space->items + first + 1, space->items + last, (space->count - last) * sizeof range);
    space->items[first] = range;
    space->count = space->count - (last - first) + 1;
    return NM_OK;
}

/* The number of the file behind a module, which gets one when it is new. */
static nm_status find_file(nm_unify *unify, nm_module_range *range, nm_error *err)
{
    nm_module_file file = {.path = range->path, .inode = range->inode, .device = range->device};
    size_t known = unify->file_numbers.count;
    nm_status status =
        nm_strings_intern(&unify->file_numbers, (nm_bytes){(const uint8_t *)&file, offsetof(nm_module_file, module_id)},
                          &range->file, err);

    if (status == NM_OK && range->file > known)
        status = nm_array_grow(&unify->files, &unify->file_capacity, range->file, sizeof file, err);
    if (status == NM_OK && range->file > known)
        unify->files[range->file - 1] = file;
    if (status == NM_OK && unify->files[range->file - 1].module_id == 0)
        unify->files[range->file - 1].module_id = range->module_id;
    return status;
}

nm_status nm_unify_learn_module(nm_unify *unify, uint64_t process, nm_module_range *range, nm_bytes path, nm_error *err)
{
    nm_process_modules *space;
    nm_status status = NM_OK;

    if (path.len > 0)
        status = intern(unify, path, &range->path, err);
    if (status == NM_OK)
        status = find_file(unify, range, err);
    if (status == NM_OK)
        status = find_space(unify, process, &space, err);
    return status == NM_OK && range->end > range->base ? insert_module(space, *range, err) : status;
}

/* The module at (process, base), made if it is not there; *is_new says which. */
static nm_status find_module_at(nm_unify *unify, nm_key key, nm_unify_module **out, bool *is_new, nm_error *err)
{
    uint64_t *index = nm_map_get(&unify->module_index, key);

    *is_new = index == NULL;
    if (index != NULL) {
        *out = &unify->modules[*index];
        return NM_OK;
    }
    nm_status status =
        nm_array_grow(&unify->modules, &unify->module_capacity, unify->module_total + 1, sizeof *unify->modules, err);
    if (status == NM_OK)
        status = nm_map_put(&unify->module_index, key, unify->module_total, err);
    if (status == NM_OK) {
        *out = &unify->modules[unify->module_total++];
        **out = (nm_unify_module){.definition = {.kind = NM_DEFINE_MODULE, .id = ++unify->module_count}};
    }
    return status;
}

static nm_status ask_build_id(nm_unify *unify, const nm_definition *module, nm_bytes path, const nm_ring_module *record,
                              nm_error *err)
{
    nm_namer_question question = {
        .ticket = module->id, .path = path, .inode = record->inode, .device = record->device, .is_module = true};

    return unify->namer == NULL ? NM_OK : unify->namer->ask(unify->namer->context, &question, err);
}

nm_status nm_unify_define_module(nm_unify *unify, uint64_t process, const nm_ring_module *module, nm_bytes path,
                                 nm_error *err)
{
    nm_module_range range = {
        .base = module->base, .end = module->base + module->bytes, .inode = module->inode, .device = module->device};
    nm_unify_module *known;
    bool is_new;
    nm_status status = nm_unify_learn_module(unify, process, &range, path, err);

    if (status == NM_OK)
        status = find_module_at(unify, (nm_key){process, module->base}, &known, &is_new, err);
    if (status != NM_OK)
        return status;
    if (!is_new && known->file == range.file && known->definition.module.bytes == module->bytes)
        return NM_OK; /* another thread has said so before */
    if (!is_new)
        known->definition.id = ++unify->module_count;
    known->file = range.file;
    known->definition.module.process_id = process;
    known->definition.module.path = range.path == 0 ? 0 : unify->string_base + range.path;
    known->definition.module.base = module->base;
    known->definition.module.bytes = module->bytes;
    if (unify->files[range.file - 1].module_id == 0)
        unify->files[range.file - 1].module_id = known->definition.id;
    status =
        nm_map_put(&unify->module_index, MODULE_KEY(known->definition.id), (uint64_t)(known - unify->modules), err);
    if (status == NM_OK)
        status = nm_trace_writer_define(unify->writer, &known->definition, err);
    return status == NM_OK ? ask_build_id(unify, &known->definition, path, module, err) : status;
}

static const nm_module_range *find_module(const nm_unify *unify, uint64_t process, uint64_t address)
{
    /* A chain of forks is as long as the program made it; one that leads in circles is only in a broken file. */
    for (size_t hops = 0; process != 0 && hops <= unify->space_count; hops++) {
        const uint64_t *index = nm_map_get(&unify->space_index, (nm_key){0, process});
        if (index == NULL)
            return NULL;
        const nm_process_modules *space = &unify->spaces[*index];
        size_t at = search_module(space, address);
        if (at < space->count && space->items[at].base <= address)
            return &space->items[at];
        process = space->parent_number;
    }
    return NULL;
}

/* ---- Frames and stacks --------------------------------------------------------------------------------------------- */

static nm_status ask_name(nm_unify *unify, uint64_t frame_id, const nm_module_range *module, uint64_t offset,
                          nm_error *err)
{
    nm_namer_question question = {.ticket = frame_id,
                                  .path = nm_strings_get(&unify->strings, module->path),
                                  .inode = module->inode,
                                  .device = module->device,
                                  .offset = offset};

    return unify->namer == NULL ? NM_OK : unify->namer->ask(unify->namer->context, &question, err);
}

/* Gives the next number to a frame. */
static nm_status number_frame(nm_unify *unify, nm_key key, uint64_t *id, nm_error *err)
{
    nm_status status =
        nm_array_grow(&unify->frame_keys, &unify->frame_capacity, unify->frame_total + 1, sizeof key, err);

    if (status == NM_OK) {
        *id = ++unify->frame_count;
        unify->frame_keys[unify->frame_total++] = key;
    }
    return status;
}

/* The same, and `key` in `frames` finds it again. Nobody is asked for the name of a Python frame. */
static nm_status remember_frame(nm_unify *unify, nm_map *frames, nm_key key, uint64_t *id, nm_error *err)
{
    nm_status status = nm_map_put(frames, key, unify->frame_count + 1, err);

    return status == NM_OK ? number_frame(unify, key, id, err) : status;
}

/* Where the frame of this key in `frames` is. */
static void place_frame(const nm_unify *unify, nm_key key, nm_definition *frame)
{
    frame->frame.offset = key.low;
    if (key.high == 0 || key.high > unify->file_numbers.count)
        return; /* a raw address */
    const nm_module_file *file = &unify->files[key.high - 1];
    frame->frame.module = file->path == 0 ? 0 : unify->string_base + file->path;
    frame->frame.module_id = file->module_id;
}

static nm_status find_frame(nm_unify *unify, uint64_t process, uint64_t return_address, uint64_t *id, nm_error *err)
{
    uint64_t address = return_address - (return_address != 0); /* inside the call, not behind it */
    const nm_module_range *module = find_module(unify, process, address);
    nm_key key = {RAW_ADDRESS_OF(process), address};

    if (module != NULL)
        key = (nm_key){module->file, address - module->base};
    uint64_t *known = nm_map_get(&unify->frames, key);
    if (known != NULL) {
        *id = *known;
        return NM_OK;
    }

    nm_definition definition = {.kind = NM_DEFINE_FRAME, .id = unify->frame_count + 1};
    place_frame(unify, key, &definition);
    nm_status status = remember_frame(unify, &unify->frames, key, id, err);
    if (status == NM_OK)
        status = nm_trace_writer_define(unify->writer, &definition, err);
    if (status == NM_OK && module != NULL)
        status = ask_name(unify, *id, module, key.low, err);
    return status;
}

/* `end` is of an outermost one, which is another stack where that is another. */
static nm_status find_stack(nm_unify *unify, uint64_t parent_id, uint64_t frame_id, uint64_t end, uint64_t *id,
                            nm_error *err)
{
    nm_key key = {parent_id | end << END_SHIFT, frame_id};
    uint64_t *known = nm_map_get(&unify->stacks, key);

    if (known != NULL) {
        *id = *known;
        return NM_OK;
    }
    nm_definition definition = {.kind = NM_DEFINE_STACK, .id = unify->stack_count + 1};
    definition.stack.parent_id = parent_id;
    definition.stack.frame_id = frame_id;
    definition.stack.end = end;
    nm_status status = nm_map_put(&unify->stacks, key, definition.id, err);
    if (status == NM_OK)
        *id = ++unify->stack_count;
    return status == NM_OK ? nm_trace_writer_define(unify->writer, &definition, err) : status;
}

nm_status nm_unify_define_python(nm_unify *unify, uint64_t thread, uint64_t local_id, const nm_unify_python *python,
                                 nm_stack_table *table, nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_FRAME};
    char module[24];

    if (local_id == 0 || local_id > UINT32_MAX)
        return NM_OK; /* nonsense, as for stacks */
    snprintf(module, sizeof module, "python%u.%u", (unsigned)(python->version >> 8 & 0xff),
             (unsigned)(python->version & 0xff));
    definition.frame.line = python->line;
    nm_status status = nm_unify_text(unify, python->function, &definition.frame.function, err);
    if (status == NM_OK)
        status = nm_unify_text(unify, python->file, &definition.frame.file, err);
    if (status == NM_OK)
        status =
            nm_unify_text(unify, (nm_bytes){(const uint8_t *)module, strlen(module)}, &definition.frame.module, err);
    nm_key key = {definition.frame.function << 32 | definition.frame.file, python->line};
    uint64_t *known = status == NM_OK ? nm_map_get(&unify->python_frames, key) : NULL;
    if (known != NULL) {
        definition.id = *known;
        status = recall(unify, NM_DEFINE_FRAME, definition.id, err);
    } else if (status == NM_OK) {
        status = remember_frame(unify, &unify->python_frames, key, &definition.id, err);
        if (status == NM_OK)
            status = nm_trace_writer_define(unify->writer, &definition, err);
    }
    if (status == NM_OK)
        status = nm_stack_table_set(table, local_id, definition.id, err);
    return status == NM_OK ? define_alias(unify, thread, NM_ALIAS_FRAME + local_id, definition.id, err) : status;
}

/* The frame behind a word of a stack; *id 0: a Python frame whose record was lost. */
static nm_status find_any_frame(nm_unify *unify, uint64_t process, uint64_t word, const nm_stack_table *python,
                                uint64_t *id, nm_error *err)
{
    const uint64_t *known;

    if ((word & NM_RING_PYTHON_FRAME) == 0)
        return find_frame(unify, process, word, id, err);
    known = nm_stack_table_find(python, word & ~NM_RING_PYTHON_FRAME);
    *id = known == NULL ? 0 : *known;
    return recall(unify, NM_DEFINE_FRAME, *id, err);
}

nm_status nm_unify_define_stack(nm_unify *unify, uint64_t process, uint64_t thread, uint64_t local_id,
                                const nm_unify_frames *frames, nm_stack_table *table, nm_error *err)
{
    nm_status status = NM_OK;
    uint64_t id = 0;

    if (local_id == 0 || local_id > UINT32_MAX)
        return NM_OK; /* nonsense: events name stacks with 32 bits */
    for (size_t i = frames->depth; i > 0 && status == NM_OK; i--) {
        uint64_t frame_id = 0;

        status = find_any_frame(unify, process, frames->words[i - 1], frames->python, &frame_id, err);
        if (status == NM_OK && frame_id != 0)
            status = find_stack(unify, id, frame_id, id == 0 ? frames->end : 0, &id, err);
    }
    if (status == NM_OK)
        status = nm_stack_table_set(table, local_id, id, err);
    return status == NM_OK && id != 0 ? define_alias(unify, thread, local_id, id, err) : status;
}

nm_status nm_stack_table_set(nm_stack_table *table, uint64_t local_id, uint64_t id, nm_error *err)
{
    return nm_map_put(&table->ids, (nm_key){0, local_id}, id, err);
}

const uint64_t *nm_stack_table_find(const nm_stack_table *table, uint64_t local_id)
{
    return nm_map_get(&table->ids, (nm_key){0, local_id});
}

void nm_stack_table_free(nm_stack_table *table)
{
    nm_map_free(&table->ids);
}

/* ---- Saying again -------------------------------------------------------------------------------------------------- */

static nm_status repeat_numbers(nm_unify *unify, const nm_map *map, uint64_t alias_kind, nm_error *err)
{
    nm_status status = NM_OK;
    size_t at = 0;
    nm_key key;
    uint64_t id;

    while (status == NM_OK && nm_map_next(map, &at, &key, &id))
        status = define_alias(unify, key.high, alias_kind + key.low, id, err);
    return status;
}

nm_status nm_unify_repeat(nm_unify *unify, nm_error *err)
{
    uint64_t kinds = 1u << NM_DEFINE_PROCESS | 1u << NM_DEFINE_DEVICE | 1u << NM_DEFINE_HEAP | 1u << NM_DEFINE_MODULE |
                     1u << NM_DEFINE_ATTRIBUTE;
    nm_status status = nm_trace_writer_repeat(unify->writer, kinds, err);

    if (status == NM_OK)
        status = repeat_numbers(unify, &unify->heaps, NM_ALIAS_HEAP, err);
    return status == NM_OK ? repeat_numbers(unify, &unify->devices, NM_ALIAS_DEVICE, err) : status;
}

nm_status nm_unify_repeat_thread(nm_unify *unify, uint64_t thread, nm_error *err)
{
    const uint64_t *index = nm_map_get(&unify->thread_index, (nm_key){0, thread});

    return index == NULL ? NM_OK : nm_trace_writer_define(unify->writer, &unify->threads[*index], err);
}

nm_status nm_unify_repeat_aliases(nm_unify *unify, uint64_t thread, uint64_t kind, const nm_stack_table *table,
                                  nm_error *err)
{
    nm_status status = NM_OK;
    size_t at = 0;
    nm_key key;
    uint64_t id;

    while (status == NM_OK && nm_map_next(&table->ids, &at, &key, &id))
        if (id != 0)
            status = define_alias(unify, thread, kind + key.low, id, err);
    return status;
}

/* ---- Names --------------------------------------------------------------------------------------------------------- */

static nm_status define_place(nm_unify *unify, const nm_namer_place *place, nm_definition *frame, nm_error *err)
{
    nm_status status = nm_unify_text(unify, place->function, &frame->frame.function, err);

    frame->frame.line = place->line;
    if (status == NM_OK)
        status = nm_unify_text(unify, place->file, &frame->frame.file, err);
    return status == NM_OK ? nm_trace_writer_define(unify->writer, frame, err) : status;
}

/* Defines the functions that the place was inlined into, outermost first; *id is the innermost of them, or 0. */
static nm_status define_callers(nm_unify *unify, nm_definition caller, const nm_namer_answer *answer, uint64_t *id,
                                nm_error *err)
{
    nm_status status = NM_OK;

    *id = 0;
    for (size_t i = answer->place_count; i-- > 1 && status == NM_OK;) {
        caller.frame.inlined_in = *id;
        caller.id = unify->frame_count + 1;
        status = number_frame(unify, (nm_key){0, 0}, id, err); /* nothing is asked about it */
        if (status == NM_OK)
            status = define_place(unify, &answer->places[i], &caller, err);
    }
    return status;
}

static nm_status name_frame(nm_unify *unify, const nm_namer_answer *answer, nm_error *err)
{
    uint64_t first_id = unify->frame_count - unify->frame_total + 1;
    nm_definition definition = {.kind = NM_DEFINE_FRAME};

    if (answer->ticket < first_id || answer->ticket > unify->frame_count || answer->place_count == 0)
        return NM_OK;
    place_frame(unify, unify->frame_keys[answer->ticket - first_id], &definition);
    nm_status status = define_callers(unify, definition, answer, &definition.frame.inlined_in, err);
    definition.id = answer->ticket;
    return status == NM_OK ? define_place(unify, &answer->places[0], &definition, err) : status;
}

static nm_status name_module(nm_unify *unify, const nm_namer_answer *answer, nm_error *err)
{
    uint64_t *index = nm_map_get(&unify->module_index, MODULE_KEY(answer->ticket));

    if (index == NULL || unify->modules[*index].definition.id != answer->ticket || answer->build_id.len == 0)
        return NM_OK; /* replaced meanwhile, or nothing to say */
    nm_definition definition = unify->modules[*index].definition;
    definition.module.build_id = answer->build_id;
    return nm_trace_writer_define(unify->writer, &definition, err);
}

nm_status nm_unify_take_names(nm_unify *unify, nm_error *err)
{
    nm_namer_answer answer;
    nm_status status = NM_OK;

    while (status == NM_OK && unify->namer != NULL && unify->namer->poll(unify->namer->context, &answer))
        status = answer.is_module ? name_module(unify, &answer, err) : name_frame(unify, &answer, err);
    return status;
}
