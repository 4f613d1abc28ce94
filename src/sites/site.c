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
#include "sites/cut.h"
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

const char *nm_site_function(const nm_definitions *definitions, const nm_frame *frame)
{
    const char *text = (const char *)nm_definitions_text(definitions, frame->frame.function).data;

    return text == NULL ? NULL : without_return_type(text);
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

/* Not of a function, but what a file does when it is run or imported. */
static bool is_top_level(const nm_definitions *definitions, const nm_frame *frame)
{
    const char *function = (const char *)nm_definitions_text(definitions, frame->frame.function).data;

    return function != NULL && strcmp(function, "<module>") == 0;
}

/* The recorder gives Python frames the interpreter's name for a module: "python3.11". A snapshot gives nothing but files. */
bool nm_site_is_python(const nm_definitions *definitions, const nm_frame *frame)
{
    nm_bytes module = nm_definitions_text(definitions, frame->frame.module);
    const char *file = (const char *)nm_definitions_text(definitions, frame->frame.file).data;

    if (module.len > 6 && memcmp(module.data, "python", 6) == 0 && module.data[6] >= '0' && module.data[6] <= '9')
        return true;
    return module.len == 0 && ((file != NULL && is_python_file(file)) || is_top_level(definitions, frame));
}

/* What makes two frames one site: function, file and line; without a file, the place in the module. */
static nm_key place_key(const nm_frame *frame)
{
    if (frame->frame.file != 0)
        return (nm_key){(uint64_t)frame->frame.function << 32 | frame->frame.file, frame->frame.line};
    return (nm_key){(uint64_t)frame->frame.function << 32 | frame->frame.module, frame->frame.offset};
}

/* A program that an installer made of a function: /usr/bin/vllm, Scripts/vllm.exe/__main__.py. */
static bool is_in_program_folder(const char *file)
{
    const char *end = file == NULL ? NULL : strrchr(file, '/');
    const char *begin = end;

    while (begin != NULL && begin > file && begin[-1] != '/')
        begin--;
    size_t length = end == NULL ? 0 : (size_t)(end - begin);
    return (length == 3 && memcmp(begin, "bin", 3) == 0) || (length == 7 && memcmp(begin, "Scripts", 7) == 0) ||
           (length > 4 && memcmp(end - 4, ".exe", 4) == 0);
}

/* "einops" in /env/lib/python3.12/site-packages/einops/_backends.py; empty where no folder tells. */
static nm_bytes package_name(const char *file)
{
    static const char folder[] = "-packages/";
    const char *name = NULL;

    for (const char *at = file; (at = strstr(at, folder)) != NULL;)
        name = at += sizeof folder - 1;
    if (name == NULL)
        return (nm_bytes){(const uint8_t *)"", 0};
    size_t length = strcspn(name, "/");
    if (length > 3 && memcmp(name + length - 3, ".py", 3) == 0)
        length -= 3;
    return (nm_bytes){(const uint8_t *)name, length};
}

typedef struct frame_judge {
    const nm_patterns *patterns;
    const nm_definitions *definitions;
    nm_strings packages;
    nm_map lines, offsets; /* place -> index of its first frame */
    nm_map files;          /* file, and whether of Python -> its file_words */
} frame_judge;

typedef struct file_words { /* what a file says of all frames in it */
    bool is_compiled, is_plumbing;
    uint32_t package;
} file_words;

#define BITS_OF_FILE ((1u << NM_PATTERN_FILE) | (1u << NM_PATTERN_NAME) | (1u << NM_PATTERN_COMPILED))

/* `subject` is of a frame, which lies in a library. */
static nm_status find_package(frame_judge *judge, nm_pattern_subject *subject, file_words *out, nm_error *err)
{
    uint32_t number = 0;
    nm_status status =
        nm_strings_intern(&judge->packages, package_name(subject->texts[NM_PATTERN_LIBRARY]), &number, err);

    if (status != NM_OK)
        return status;
    subject->texts[NM_PATTERN_OWN] = (const char *)nm_strings_get(&judge->packages, number).data;
    if (!nm_patterns_match(judge->patterns, 1u << NM_PATTERN_OWN, subject))
        out->package = number + NM_PACKAGE_OWN;
    return NM_OK;
}

/* There are far fewer files than frames. */
static nm_status judge_file(frame_judge *judge, uint64_t file, nm_pattern_subject *subject, file_words *out,
                            nm_error *err)
{
    nm_key key = {file, subject->is_python};
    const uint64_t *known = nm_map_get(&judge->files, key);
    nm_status status = NM_OK;

    if (known != NULL) {
        *out = (file_words){*known & 1, *known >> 1 & 1, (uint32_t)(*known >> 2)};
        return NM_OK;
    }
    *out = (file_words){.is_compiled = nm_patterns_match(judge->patterns, 1u << NM_PATTERN_COMPILED, subject),
                        .is_plumbing = nm_patterns_match(judge->patterns, BITS_OF_FILE, subject),
                        .package = NM_PACKAGE_OWN};
    if (nm_patterns_match(judge->patterns, 1u << NM_PATTERN_LIBRARY, subject))
        status = find_package(judge, subject, out, err);
    return status == NM_OK
               ? nm_map_put(&judge->files, key,
                            (uint64_t)out->package << 2 | (uint64_t)out->is_plumbing << 1 | out->is_compiled, err)
               : status;
}

static nm_status judge_words(frame_judge *judge, const nm_frame *frame, nm_site_frame *out, nm_error *err)
{
    const char *file = (const char *)nm_definitions_text(judge->definitions, frame->frame.file).data;
    const char *function = nm_site_function(judge->definitions, frame);
    nm_pattern_subject subject = {
        .texts = {[NM_PATTERN_FUNCTION] = function,
                  [NM_PATTERN_FILE] = file,
                  [NM_PATTERN_MODULE] = (const char *)nm_definitions_text(judge->definitions, frame->frame.module).data,
                  [NM_PATTERN_NAME] = file == NULL ? NULL : without_folders(file),
                  [NM_PATTERN_PYTHON] =
                      (const char *)nm_definitions_text(judge->definitions, frame->frame.function).data,
                  [NM_PATTERN_COMPILED] = file,
                  [NM_PATTERN_LIBRARY] = file},
        .is_python = nm_site_is_python(judge->definitions, frame),
    };
    file_words words;
    size_t length;
    nm_status status = judge_file(judge, frame->frame.file, &subject, &words, err);

    out->is_python = subject.is_python;
    out->autograd = function == NULL ? NM_AUTOGRAD_NONE : (uint8_t)nm_autograd_of(function, &length);
    out->is_top_level = out->is_python && is_top_level(judge->definitions, frame);
    out->is_script = out->is_top_level && is_in_program_folder(file);
    out->is_compiled = words.is_compiled;
    out->is_plumbing = words.is_plumbing ||
                       (frame->frame.function == 0 && frame->frame.file == 0 && frame->frame.module == 0) ||
                       nm_patterns_match(judge->patterns, NM_PATTERNS_OF_PLUMBING & ~BITS_OF_FILE, &subject);
    out->is_entry = !out->is_python && (nm_cut_is_entry(judge->definitions, frame) ||
                                        (function != NULL && strncmp(function, "std::", 5) == 0));
    out->package = words.package;
    return status;
}

static nm_status judge_frames(nm_sites *sites, const nm_patterns *plumbing, const nm_definitions *definitions,
                              nm_error *err)
{
    frame_judge judge = {.patterns = plumbing, .definitions = definitions};
    nm_status status = NM_OK;

    for (size_t index = 0; status == NM_OK && index < sites->frame_count; index++) {
        const nm_frame *frame = &definitions->frames.items[index];
        nm_map *places = frame->frame.file != 0 ? &judge.lines : &judge.offsets;
        const uint64_t *first = nm_map_get(places, place_key(frame));

        sites->frames[index].same = first == NULL ? index : (size_t)*first;
        if (first == NULL)
            status = nm_map_put(places, place_key(frame), index, err);
        if (status == NM_OK)
            status = judge_words(&judge, frame, &sites->frames[index], err);
    }
    nm_strings_free(&judge.packages);
    nm_map_free(&judge.lines);
    nm_map_free(&judge.offsets);
    nm_map_free(&judge.files);
    return status;
}

/* ---- Stacks ---- */

/* The index of a stack's caller, or NM_ID_MAP_NONE. */
static size_t parent_of(const nm_definitions *definitions, size_t stack)
{
    return nm_id_map_find(&definitions->stacks.by_id, definitions->stacks.items[stack].parent_id);
}

static void add_line(const nm_site_frame *frame, uint32_t number, nm_stack_frames *out)
{
    if (out->program == 0 && !frame->is_script)
        out->program = frame->package;
    out->line = number;
    out->is_own_line = frame->package == NM_PACKAGE_OWN || frame->package == out->program;
    if (out->is_own_line && !frame->is_top_level)
        out->own = number;
}

/* What a stack consists of: its callers (already in *out), and its own frame. */
static void add_frame(const nm_sites *sites, const nm_definitions *definitions, size_t stack, nm_stack_frames *out)
{
    size_t index = nm_id_map_find(&definitions->frames.by_id, definitions->stacks.items[stack].frame_id);

    out->innermost = index == NM_ID_MAP_NONE ? 0 : (uint32_t)index + 1;
    if (index == NM_ID_MAP_NONE)
        return;
    const nm_site_frame *frame = &sites->frames[index];
    if (frame->is_python) {
        out->python = out->innermost;
        out->is_compiled = out->is_compiled || frame->is_compiled;
    }
    if (frame->is_python && !frame->is_plumbing)
        add_line(frame, out->innermost, out);
    if (!frame->is_python && !frame->is_plumbing) {
        out->native = out->innermost;
        if (definitions->frames.items[index].frame.module != 0)
            out->located = out->innermost;
    }
    if (out->begin == 0 && !frame->is_python && !frame->is_entry)
        out->begin = out->innermost;
    if (frame->autograd == NM_AUTOGRAD_NODE)
        out->node = out->innermost;
    out->has_engine = out->has_engine || frame->autograd == NM_AUTOGRAD_ENGINE;
}

/* A stack is numbered after its caller, but for the callers that it was inlined into (inlined.h), of which there are few
 * in a row: one pass does. In a damaged input a caller may be missed. */
static void find_frames(nm_sites *sites, const nm_definitions *definitions)
{
    for (size_t index = 0; index < definitions->stacks.count; index++) {
        size_t path[NM_INLINED_DEPTH_MAX + 1], length = 0, at = index;
        nm_stack_frames frames = {0};

        for (; at != NM_ID_MAP_NONE && (at >= index) && length <= NM_INLINED_DEPTH_MAX; at = parent_of(definitions, at))
            path[length++] = at;
        if (at != NM_ID_MAP_NONE && at < index)
            frames = sites->stacks[at];
        while (length > 0)
            add_frame(sites, definitions, path[--length], &frames);
        sites->stacks[index] = frames;
    }
}

nm_status nm_sites_open(const nm_patterns *plumbing, const nm_definitions *definitions, nm_sites *out, nm_error *err)
{
    *out = (nm_sites){.frame_count = definitions->frames.count};
    out->frames = calloc(out->frame_count + 1, sizeof *out->frames);
    out->stacks = calloc(definitions->stacks.count + 1, sizeof *out->stacks);

    nm_status status = out->frames != NULL && out->stacks != NULL
                           ? judge_frames(out, plumbing, definitions, err)
                           : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        find_frames(out, definitions);
    return status;
}

void nm_sites_close(nm_sites *sites)
{
    free(sites->frames);
    free(sites->stacks);
    *sites = (nm_sites){0};
}

/* ---- Sites of stacks ---- */

bool nm_sites_is_candidate(const nm_sites *sites, size_t stack)
{
    const nm_stack_frames *frames = &sites->stacks[stack];
    const nm_site_frame *frame = frames->innermost == 0 ? NULL : &sites->frames[frames->innermost - 1];

    if (frame == NULL || frame->is_plumbing)
        return false;
    return frame->is_python ? frames->is_own_line || frames->own == 0 : frames->line == 0;
}

/* The first that there is: a line of Python; a native frame, of which a name alone does not go before Python; any frame. */
static uint32_t site_of(const nm_stack_frames *frames, nm_walk walk)
{
    uint32_t native = frames->python != 0 ? frames->located : frames->native;

    if (frames->line != 0)
        return frames->is_own_line || frames->own == 0 ? frames->line : frames->own;
    if (native != 0)
        return native;
    if (frames->python != 0)
        return frames->python;
    return walk == NM_WALK_WHOLE && frames->begin != 0 ? frames->begin : frames->innermost;
}

void nm_sites_resolve(const nm_sites *sites, nm_definitions *definitions)
{
    for (size_t index = 0; index < definitions->stacks.count; index++) {
        uint32_t site = site_of(&sites->stacks[index], definitions->stacks.items[index].walk);

        definitions->stacks.items[index].site = site == 0 ? 0 : (uint32_t)sites->frames[site - 1].same + 1;
    }
}

/* ---- Labels ---- */

static nm_status append_text(nm_buffer *out, const char *text, nm_error *err)
{
    return nm_buffer_append(out, text, strlen(text), err);
}

nm_status nm_site_label(const nm_definitions *definitions, const nm_frame *frame, nm_buffer *out, nm_error *err)
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
