/* SPDX-License-Identifier: Apache-2.0
 *
 * Every frame is judged once: plumbing, Python, part of a backward pass. Then every stack once, after its caller: it takes
 * over what its caller knows and adds its own frame, so that no stack is walked from end to end.
 */
#include "sites/site.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites/autograd.h"
#include "sites/inlined.h"

/* ---- Frames ---- */

/* Does a word of a function's name end at `at`, so that what follows belongs to it: "operator new", "operator bool"? */
static bool ends_operator(const char *text, const char *at)
{
    return at - text >= 8 && memcmp(at - 8, "operator", 8) == 0;
}

/* The name in "at::Tensor own::f<int>(at::Tensor)": demanglers put the return type of a template before it. */
static const char *without_return_type(const char *text)
{
    const char *name = text;
    int depth = 0;

    for (const char *at = text; *at != 0; at++) {
        if (strncmp(at, "(anonymous namespace)", 21) == 0)
            at += 20;
        else if (*at == '(' && depth == 0)
            break;
        else if (*at == '<')
            depth++;
        else if (*at == '>' && depth > 0)
            depth--;
        else if (*at == ' ' && depth == 0 && !ends_operator(text, at))
            name = at + 1;
    }
    return name;
}

static const char *without_folders(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL || slash[1] == 0 ? path : slash + 1;
}

const char *nm_site_function(const nm_definitions *definitions, const nm_definition *frame)
{
    const char *text = (const char *)nm_definitions_text(definitions, frame->frame.function).data;

    return text == NULL ? NULL : without_return_type(text);
}

static bool is_plumbing_frame(const nm_patterns *plumbing, const nm_definitions *definitions,
                              const nm_definition *frame, bool is_python)
{
    const char *file = (const char *)nm_definitions_text(definitions, frame->frame.file).data;
    nm_pattern_subject subject = {
        .texts = {[NM_PATTERN_FUNCTION] = nm_site_function(definitions, frame),
                  [NM_PATTERN_FILE] = file,
                  [NM_PATTERN_MODULE] = (const char *)nm_definitions_text(definitions, frame->frame.module).data,
                  [NM_PATTERN_NAME] = file == NULL ? NULL : without_folders(file),
                  [NM_PATTERN_PYTHON] = (const char *)nm_definitions_text(definitions, frame->frame.function).data},
        .is_python = is_python,
    };

    if (frame->frame.function == 0 && frame->frame.file == 0 && frame->frame.module == 0)
        return true;
    return nm_patterns_match(plumbing, &subject);
}

/* Names in angle brackets that compilers and debug information use for what is in no file. */
static bool is_native_bracket(const char *file)
{
    static const char *const names[] = {"<built",   "<artificial>", "<command-line>",  "<command line>",
                                        "<unknown", "<invalid",     "<scratch space>", "<inline asm>"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(file, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* A Python file, or what has none: <string>, <stdin>, <frozen os>, <ipython-input-3-f00>, a cell of a notebook. */
static bool is_python_file(const char *file)
{
    size_t length = strlen(file);

    if (length > 3 && strcmp(file + length - 3, ".py") == 0)
        return true;
    return (file[0] == '<' && strchr(file, '>') != NULL && !is_native_bracket(file)) || strstr(file, ".ipynb") != NULL;
}

/* The recorder gives Python frames the interpreter's name for a module: "python3.11". A snapshot gives nothing but files. */
bool nm_site_is_python(const nm_definitions *definitions, const nm_definition *frame)
{
    nm_bytes module = nm_definitions_text(definitions, frame->frame.module);
    const char *file = (const char *)nm_definitions_text(definitions, frame->frame.file).data;

    if (module.len > 6 && memcmp(module.data, "python", 6) == 0 && module.data[6] >= '0' && module.data[6] <= '9')
        return true;
    return module.len == 0 && file != NULL && is_python_file(file);
}

/* What makes two frames one site: function, file and line; without a file, the place in the module. */
static nm_key place_key(const nm_definition *frame)
{
    if (frame->frame.file != 0)
        return (nm_key){frame->frame.function << 32 | frame->frame.file, frame->frame.line};
    return (nm_key){frame->frame.function << 32 | frame->frame.module, frame->frame.offset};
}

static nm_status judge_frames(nm_sites *sites, const nm_patterns *plumbing, const nm_definitions *definitions,
                              nm_error *err)
{
    nm_map lines = {0};
    nm_map offsets = {0};
    nm_status status = NM_OK;

    for (size_t index = 0; status == NM_OK && index < sites->frame_count; index++) {
        const nm_definition *frame = &definitions->frames.items[index];
        nm_map *places = frame->frame.file != 0 ? &lines : &offsets;
        const uint64_t *first = nm_map_get(places, place_key(frame));

        const char *function = nm_site_function(definitions, frame);
        size_t length;

        sites->is_python[index] = nm_site_is_python(definitions, frame);
        sites->is_plumbing[index] = is_plumbing_frame(plumbing, definitions, frame, sites->is_python[index] != 0);
        sites->autograd[index] = function == NULL ? NM_AUTOGRAD_NONE : nm_autograd_of(function, &length);
        sites->same_frame[index] = first == NULL ? index : (size_t)*first;
        if (first == NULL)
            status = nm_map_put(places, place_key(frame), index, err);
    }
    nm_map_free(&lines);
    nm_map_free(&offsets);
    return status;
}

/* ---- Stacks ---- */

/* The index of a stack's caller, or SIZE_MAX. */
static size_t parent_of(const nm_definitions *definitions, size_t stack)
{
    uint64_t parent_id = definitions->stacks.items[stack].parent_id;
    const uint64_t *parent = nm_map_get(&definitions->stacks.by_id, (nm_key){0, parent_id});

    return parent == NULL ? SIZE_MAX : (size_t)*parent;
}

static void put_frame(uint32_t *at, uint32_t frame, bool is_one)
{
    if (is_one)
        *at = frame;
}

/* What a stack consists of: its callers (already in *out), and its own frame. */
static void add_frame(const nm_sites *sites, const nm_definitions *definitions, size_t stack, nm_stack_frames *out)
{
    uint64_t frame_id = definitions->stacks.items[stack].frame_id;
    const uint64_t *index = nm_map_get(&definitions->frames.by_id, (nm_key){0, frame_id});

    if (index == NULL)
        return;
    uint32_t frame = (uint32_t)*index + 1;
    bool is_python = sites->is_python[*index] != 0;
    bool is_site = !sites->is_plumbing[*index];
    put_frame(&out->line, frame, is_python && is_site);
    put_frame(&out->python, frame, is_python);
    put_frame(&out->native, frame, !is_python && is_site);
    put_frame(&out->located, frame, !is_python && is_site && definitions->frames.items[*index].frame.module != 0);
    put_frame(&out->node, frame, sites->autograd[*index] == NM_AUTOGRAD_NODE);
    out->has_engine = out->has_engine || sites->autograd[*index] == NM_AUTOGRAD_ENGINE;
}

/* A stack is numbered after its caller, but for the callers that it was inlined into (inlined.h), of which there are few
 * in a row: one pass does. In a damaged input a caller may be missed. */
static void find_frames(nm_sites *sites, const nm_definitions *definitions)
{
    for (size_t index = 0; index < definitions->stacks.count; index++) {
        size_t path[NM_INLINED_DEPTH_MAX + 1], length = 0, at = index;
        nm_stack_frames frames = {0};

        for (; at != SIZE_MAX && (at >= index) && length <= NM_INLINED_DEPTH_MAX; at = parent_of(definitions, at))
            path[length++] = at;
        if (at != SIZE_MAX && at < index)
            frames = sites->stacks[at];
        while (length > 0)
            add_frame(sites, definitions, path[--length], &frames);
        sites->stacks[index] = frames;
    }
}

nm_status nm_sites_open(const nm_patterns *plumbing, const nm_definitions *definitions, nm_sites *out, nm_error *err)
{
    *out = (nm_sites){.frame_count = definitions->frames.count};
    out->is_plumbing = calloc(out->frame_count + 1, sizeof *out->is_plumbing);
    out->is_python = calloc(out->frame_count + 1, sizeof *out->is_python);
    out->autograd = calloc(out->frame_count + 1, sizeof *out->autograd);
    out->stacks = calloc(definitions->stacks.count + 1, sizeof *out->stacks);
    out->same_frame = calloc(out->frame_count + 1, sizeof *out->same_frame);

    bool has_memory = out->is_plumbing != NULL && out->is_python != NULL && out->autograd != NULL &&
                      out->stacks != NULL && out->same_frame != NULL;
    nm_status status = has_memory ? judge_frames(out, plumbing, definitions, err)
                                  : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        find_frames(out, definitions);
    return status;
}

void nm_sites_close(nm_sites *sites)
{
    free(sites->is_plumbing);
    free(sites->is_python);
    free(sites->autograd);
    free(sites->stacks);
    free(sites->same_frame);
    *sites = (nm_sites){0};
}

/* ---- Sites of stacks ---- */

bool nm_sites_is_candidate(const nm_sites *sites, const nm_definitions *definitions, size_t stack)
{
    const nm_stack_node *node = &definitions->stacks.items[stack];
    const uint64_t *frame = nm_map_get(&definitions->frames.by_id, (nm_key){0, node->frame_id});

    return frame != NULL && !sites->is_plumbing[*frame] && (sites->is_python[*frame] || sites->stacks[stack].line == 0);
}

/* The first that there is: a line of Python; a native frame, of which a name alone does not go before Python; any frame. */
static uint32_t site_of(const nm_sites *sites, const nm_definitions *definitions, size_t stack)
{
    const nm_stack_frames *frames = &sites->stacks[stack];
    uint64_t frame_id = definitions->stacks.items[stack].frame_id;
    const uint64_t *own = nm_map_get(&definitions->frames.by_id, (nm_key){0, frame_id});
    uint32_t native = frames->python != 0 ? frames->located : frames->native;

    if (frames->line != 0 || native != 0)
        return frames->line != 0 ? frames->line : native;
    return frames->python != 0 ? frames->python : own == NULL ? 0 : (uint32_t)*own + 1;
}

void nm_sites_resolve(const nm_sites *sites, nm_definitions *definitions)
{
    for (size_t index = 0; index < definitions->stacks.count; index++) {
        uint32_t site = site_of(sites, definitions, index);

        definitions->stacks.items[index].site = site == 0 ? 0 : sites->same_frame[site - 1] + 1;
    }
}

/* ---- Labels ---- */

static nm_status append_text(nm_buffer *out, const char *text, nm_error *err)
{
    return nm_buffer_append(out, text, strlen(text), err);
}

nm_status nm_site_label(const nm_definitions *definitions, const nm_definition *frame, nm_buffer *out, nm_error *err)
{
    const char *function = (const char *)nm_definitions_text(definitions, frame->frame.function).data;
    const char *file = (const char *)nm_definitions_text(definitions, frame->frame.file).data;
    const char *module = (const char *)nm_definitions_text(definitions, frame->frame.module).data;
    char place[32] = "";
    nm_status status = NM_OK;

    out->len = 0;
    if (file != NULL && frame->frame.line != 0)
        snprintf(place, sizeof place, ":%" PRIu64, frame->frame.line);
    else if (file == NULL && module != NULL)
        snprintf(place, sizeof place, "+0x%" PRIx64, frame->frame.offset);
    if (file != NULL || module != NULL)
        status = append_text(out, without_folders(file != NULL ? file : module), err);
    if (status == NM_OK)
        status = append_text(out, place, err);
    if (status == NM_OK && function != NULL && out->len > 0)
        status = append_text(out, " ", err);
    if (status == NM_OK && function != NULL)
        status = append_text(out, function, err);
    if (status == NM_OK && out->len == 0)
        status = append_text(out, "(unknown)", err);
    return status;
}
