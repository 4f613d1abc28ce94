/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames without a name are gathered by module, in the order of their offsets, so that whoever knows the symbols opens
 * each module once. Answers are added as definitions like any others.
 */
#include "sites/frame_names.h"

#include <stdlib.h>

#include "sites/inlined.h"

#define SEVERAL_BUILD_IDS UINT64_MAX /* in build_id_of_path: no frame can tell which one is meant */

typedef struct wanted_frame {
    uint64_t build_id, path; /* numbers in the definitions' strings; build_id 0: unknown */
    uint64_t offset;
    size_t frame; /* index */
} wanted_frame;

typedef struct name_search {
    nm_definitions *definitions;
    nm_map build_id_of_path;
    nm_id_set callers;   /* frames that others were inlined into: their names came with those */
    wanted_frame *items; /* owned */
    size_t count, capacity;
    uint64_t *offsets; /* owned: of the module that is asked about */
} name_search;

struct nm_frame_answers {
    nm_definitions *definitions;
    const wanted_frame *wanted; /* of the module that is asked about */
    size_t count;
    uint64_t named_frames;
};

/* ---- Which frames ---- */

static uint64_t build_id_number(const nm_definitions *definitions, uint64_t module_id)
{
    const uint64_t *number = nm_map_get(&definitions->build_ids, (nm_key){0, module_id});

    return number == NULL ? 0 : *number;
}

/* For the frames of old traces, which do not say of which module they are. */
static nm_status find_paths(name_search *search, nm_error *err)
{
    const nm_definition_list *modules = &search->definitions->modules;
    nm_status status = NM_OK;

    for (size_t i = 0; i < modules->count && status == NM_OK; i++) {
        nm_key path = {0, modules->items[i].module.path};
        uint64_t number = build_id_number(search->definitions, modules->items[i].id);
        const uint64_t *known = nm_map_get(&search->build_id_of_path, path);

        if (known != NULL && *known != number)
            number = SEVERAL_BUILD_IDS;
        status = nm_map_put(&search->build_id_of_path, path, number, err);
    }
    return status;
}

static uint64_t build_id_of(const name_search *search, const nm_frame *frame)
{
    if (frame->frame.module_id != 0)
        return build_id_number(search->definitions, frame->frame.module_id);

    const uint64_t *number = nm_map_get(&search->build_id_of_path, (nm_key){0, frame->frame.module});
    return number == NULL || *number == SEVERAL_BUILD_IDS ? 0 : *number;
}

/* Orders by module, then by place. */
static int compare_wanted(const void *a, const void *b)
{
    const wanted_frame *x = a, *y = b;

    if (x->build_id != y->build_id)
        return x->build_id < y->build_id ? -1 : 1;
    if (x->build_id == 0 && x->path != y->path)
        return x->path < y->path ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

static nm_status find_callers(name_search *search, nm_error *err)
{
    const struct nm_frame_list *frames = &search->definitions->frames;
    nm_status status = NM_OK;

    for (size_t i = 0; i < frames->count && status == NM_OK; i++)
        if (nm_id_set_has(&frames->ids, frames->items[i].frame.inlined_in))
            status = nm_id_set_add(&search->callers, frames->items[i].frame.inlined_in, err);
    return status;
}

/* A function without a file may be the nearest one that a stripped library exports: symbols say more. */
static nm_status find_wanted(name_search *search, nm_error *err)
{
    const struct nm_frame_list *frames = &search->definitions->frames;
    nm_status status = NM_OK;

    for (size_t i = 0; i < frames->count && status == NM_OK; i++) {
        const nm_frame *frame = &frames->items[i];

        if (frame->frame.module == 0 || frame->frame.file != 0 || frame->frame.inlined_in != 0 ||
            nm_id_set_has(&search->callers, frame->id))
            continue;
        status = nm_array_grow(&search->items, &search->capacity, search->count + 1, sizeof *search->items, err);
        if (status == NM_OK)
            search->items[search->count++] =
                (wanted_frame){build_id_of(search, frame), frame->frame.module, frame->frame.offset, i};
    }
    if (status == NM_OK && search->count > 0)
        qsort(search->items, search->count, sizeof *search->items, compare_wanted);
    return status;
}

/* ---- Answers ---- */

static nm_status own_text(nm_definitions *definitions, nm_bytes text, uint32_t *out, nm_error *err)
{
    *out = 0;
    return text.len == 0 ? NM_OK : nm_strings_intern(&definitions->strings, text, out, err);
}

static nm_status name_frame(nm_definitions *definitions, const nm_frame_place *place, nm_frame *frame, nm_error *err)
{
    nm_status status = own_text(definitions, place->function, &frame->frame.function, err);

    frame->frame.line = place->line;
    return status == NM_OK ? own_text(definitions, place->file, &frame->frame.file, err) : status;
}

nm_status nm_frame_answers_put(nm_frame_answers *answers, size_t index, const nm_frame_place *places, size_t count,
                               nm_error *err)
{
    nm_definitions *definitions = answers->definitions;
    size_t at = answers->wanted[index].frame;
    nm_frame frame = definitions->frames.items[at];
    nm_status status = NM_OK;
    uint64_t caller_id = 0;

    if (count == 0 || (frame.frame.function != 0 && places[0].file.len == 0))
        return NM_OK; /* that much was known */
    if (count > NM_INLINED_DEPTH_MAX)
        count = NM_INLINED_DEPTH_MAX;
    for (size_t i = count; i-- > 0 && status == NM_OK;) {
        frame.frame.inlined_in = caller_id;
        status = name_frame(definitions, &places[i], &frame, err);
        if (status == NM_OK && i > 0)
            status = nm_definitions_append_frame(definitions, &frame, &caller_id, err);
    }
    if (status != NM_OK)
        return status == NM_END ? NM_OK : status;
    definitions->frames.items[at] = frame;
    answers->named_frames++;
    return NM_OK;
}

/* Asks about items[first] to items[end - 1], which are of one module. */
static nm_status ask(name_search *search, size_t first, size_t end, const nm_frame_namer *namer,
                     nm_frame_name_counts *out, nm_error *err)
{
    nm_definitions *definitions = search->definitions;
    const wanted_frame *wanted = &search->items[first];
    nm_frame_answers answers = {.definitions = definitions, .wanted = wanted, .count = end - first};
    nm_frame_question question = {.offsets = search->offsets, .count = end - first};
    nm_buffer texts = {0}; /* copies: an answer adds strings, which moves them */
    nm_bytes path = nm_definitions_text(definitions, wanted->path);
    nm_bytes build_id = nm_definitions_text(definitions, wanted->build_id);
    nm_status status = nm_buffer_append(&texts, path.data, path.len + 1, err); /* with its zero byte */

    if (status == NM_OK)
        status = nm_buffer_append(&texts, build_id.data, build_id.len, err);
    question.path = (nm_bytes){texts.data, path.len};
    question.build_id = (nm_bytes){texts.data + path.len + 1, build_id.len};
    for (size_t i = 0; i < question.count; i++)
        search->offsets[i] = wanted[i].offset;
    if (status == NM_OK)
        status = namer->ask(namer->context, &question, &answers, err);
    out->named_frames += answers.named_frames;
    nm_buffer_free(&texts);
    return status;
}

static void count_unnamed(const name_search *search, size_t first, size_t end, nm_frame_name_counts *out)
{
    uint64_t before = out->unnamed_frames;

    for (size_t i = first; i < end; i++)
        out->unnamed_frames += search->definitions->frames.items[search->items[i].frame].frame.function == 0;
    out->unnamed_modules += out->unnamed_frames > before;
}

static bool is_same_module(const wanted_frame *a, const wanted_frame *b)
{
    return a->build_id == b->build_id && (a->build_id != 0 || a->path == b->path);
}

nm_status nm_frame_names_find(nm_definitions *definitions, const nm_frame_namer *namer, nm_frame_name_counts *out,
                              nm_error *err)
{
    name_search search = {.definitions = definitions};
    nm_status status = find_paths(&search, err);

    *out = (nm_frame_name_counts){0};
    if (status == NM_OK)
        status = find_callers(&search, err);
    if (status == NM_OK)
        status = find_wanted(&search, err);
    search.offsets = calloc(search.count + 1, sizeof *search.offsets);
    if (status == NM_OK && search.offsets == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t first = 0, end; status == NM_OK && first < search.count; first = end) {
        for (end = first + 1; end < search.count && is_same_module(&search.items[first], &search.items[end]);)
            end++;
        if (namer != NULL && search.items[first].build_id != 0)
            status = ask(&search, first, end, namer, out, err);
        count_unnamed(&search, first, end, out);
    }
    nm_map_free(&search.build_id_of_path);
    nm_id_set_free(&search.callers);
    free(search.items);
    free(search.offsets);
    return status;
}
