/* SPDX-License-Identifier: Apache-2.0
 *
 * What names say of a place: whether the user named it, and whether it belongs to an optimizer, a backward pass or a
 * step. Strings are judged when they are defined and not kept; stacks are walked when somebody asks.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "steps/anchor_state.h"

#define STACK_DEPTH_MAX  4096
#define INLINE_DEPTH_MAX 64
#define CALLER_LINES_MAX 128

#define FILE_SHIFT       8  /* words of a string as a file's name, */
#define RANGE_SHIFT      16 /* and as a range's */

enum {
    WORD_NATIVE_BACKWARD = 128, /* a function that is one whatever its file is called */
    WORD_GENERATE = 8,          /* a function that makes the tokens of one answer, unless */
    WORD_ENGINE = 8,            /* its file is one of an engine that serves many at a time */
    WORD_WRAPPER = 16,          /* a function that calls another one: a step of an optimizer, if */
    WORD_OPTIMIZERS = 32,       /* its file is the one that all of torch's kind come from */
};

static bool is_text(nm_bytes name, const char *text)
{
    return name.len == strlen(text) && memcmp(name.data, text, name.len) == 0;
}

static bool is_text_of_any_case(nm_bytes name, const char *text)
{
    return name.len == strlen(text) && strncasecmp((const char *)name.data, text, name.len) == 0;
}

static bool begins_with(nm_bytes name, const char *text)
{
    return name.len >= strlen(text) && memcmp(name.data, text, strlen(text)) == 0;
}

static bool holds(nm_bytes name, const char *text)
{
    return name.len > 0 && memmem(name.data, name.len, text, strlen(text)) != NULL;
}

/* "ns::run<int>(long)" -> "run<int>", "Adam.step" -> "step" */
static nm_bytes last_part(nm_bytes name)
{
    const uint8_t *arguments = name.len == 0 ? NULL : memchr(name.data, '(', name.len);
    size_t end = arguments == NULL ? name.len : (size_t)(arguments - name.data);
    size_t begin = end;

    while (begin > 0 && name.data[begin - 1] != '.' && name.data[begin - 1] != ':')
        begin--;
    return begin == end ? name : (nm_bytes){name.data + begin, end - begin};
}

/* "ProfilerStep#12" -> "ProfilerStep"; what is nothing but a number stays. */
static nm_bytes without_number(nm_bytes name)
{
    size_t len = name.len;

    while (len > 0 && isdigit(name.data[len - 1]))
        len--;
    if (len == name.len)
        return name;
    while (len > 0 && strchr(" #:_-=", name.data[len - 1]) != NULL && name.data[len - 1] != 0)
        len--;
    return len == 0 ? name : (nm_bytes){name.data, len};
}

static unsigned words_of_function(const nm_anchor_names *names, nm_bytes name)
{
    nm_bytes last = last_part(name);
    unsigned words = 0;

    if (names->given != NULL && names->given_file_bytes == 0 &&
        (is_text(name, names->given) || is_text(last, names->given)))
        words |= NM_WORD_GIVEN;
    if (is_text(last, "backward") || is_text(last, "run_backward") || is_text(last, "_engine_run_backward"))
        words |= NM_WORD_BACKWARD;
    if (holds(name, "torch::autograd::Engine"))
        words |= WORD_NATIVE_BACKWARD;
    if (is_text(last, "step"))
        words |= NM_WORD_OPTIMIZER;
    if (is_text(last, "wrapper"))
        words |= WORD_WRAPPER;
    if (is_text(last, "forward") || is_text(last, "_call_impl") || is_text(last, "_wrapped_call_impl"))
        words |= NM_WORD_FORWARD;
    if (is_text(last, "generate"))
        words |= WORD_GENERATE;
    return words;
}

static nm_bytes base_name(nm_bytes path)
{
    const uint8_t *slash = path.len == 0 ? NULL : memrchr(path.data, '/', path.len);
    size_t begin = slash == NULL ? 0 : (size_t)(slash + 1 - path.data);

    return (nm_bytes){path.data + begin, path.len - begin};
}

/* A file of Python, or what it calls a text that was given to it. */
static bool is_python(nm_bytes name)
{
    return (name.len > 3 && memcmp(name.data + name.len - 3, ".py", 3) == 0) || begins_with(name, "<string>") ||
           begins_with(name, "<stdin>") || begins_with(name, "<ipython-input") || holds(name, "/ipykernel_");
}

static unsigned words_of_file(const nm_anchor_names *names, nm_bytes name)
{
    size_t given_bytes = names->given_file_bytes;
    unsigned words = 0;

    if (given_bytes > 0 && name.len >= given_bytes &&
        memcmp(name.data + name.len - given_bytes, names->given, given_bytes) == 0 &&
        (name.len == given_bytes || name.data[name.len - given_bytes - 1] == '/'))
        words |= NM_WORD_GIVEN;
    if (holds(name, "torch/"))
        words |= NM_WORD_BACKWARD;
    if (holds(name, "/vllm") || holds(name, "/sglang/"))
        words |= WORD_ENGINE;
    if (holds(name, "/torch/"))
        words |= NM_WORD_TORCH;
    if (holds(name, "/optim/") || holds(name, "/optimizer") || holds(base_name(name), "optim"))
        words |= NM_WORD_OPTIMIZER;
    if (holds(name, "torch/optim/optimizer.py"))
        words |= WORD_OPTIMIZERS;
    if (is_python(name))
        words |= NM_WORD_PYTHON;
    return words;
}

static unsigned words_of_range(const nm_anchor_names *names, nm_bytes name)
{
    static const char *const steps[] = {"ProfilerStep", "step",          "iteration", "iter",
                                        "train_step",   "training_step", "train step"};
    nm_bytes base = without_number(name);
    unsigned words = 0;

    if (names->given != NULL && (is_text(name, names->given) || is_text(base, names->given)))
        words |= NM_WORD_GIVEN;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (is_text_of_any_case(base, steps[i]))
            words |= NM_WORD_STEP;
    if (begins_with(name, "Optimizer.step"))
        words |= NM_WORD_OPTIMIZER;
    if (begins_with(name, "autograd::engine"))
        words |= NM_WORD_BACKWARD;
    return words;
}

static uint64_t hash_of(nm_bytes text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ text.data[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Names of ranges that differ in the number at their end are one: the first of them stands for all. */
static nm_status add_range_name(nm_anchor_names *names, uint64_t id, nm_bytes text, nm_error *err)
{
    nm_bytes base = without_number(text);
    nm_key key = {0, hash_of(base)};
    const uint64_t *known;

    if (base.len == text.len)
        return NM_OK;
    known = nm_map_get(&names->range_of, key);
    if (known == NULL)
        return nm_map_put(&names->range_of, key, id, err);
    return *known == id ? NM_OK : nm_map_put(&names->range_ids, (nm_key){0, id}, *known, err);
}

static nm_status add_string(nm_anchor_names *names, uint64_t id, nm_bytes text, nm_error *err)
{
    uint64_t words = words_of_function(names, text) | (uint64_t)words_of_file(names, text) << FILE_SHIFT |
                     (uint64_t)words_of_range(names, text) << RANGE_SHIFT;
    nm_status status = words == 0 ? NM_OK : nm_map_put(&names->words, (nm_key){0, id}, words, err);

    return status == NM_OK ? add_range_name(names, id, text, err) : status;
}

static nm_status add_frame(nm_anchor_names *names, const nm_definition *definition, nm_error *err)
{
    size_t known = nm_id_map_find(&names->frames, definition->id);
    nm_anchor_frame frame = {definition->frame.function, definition->frame.file, definition->frame.line,
                             definition->frame.inlined_in};
    nm_status status = NM_OK;

    if (known != NM_ID_MAP_NONE) {
        names->frame_list.items[known] = frame;
        return NM_OK;
    }
    status = nm_array_grow(&names->frame_list.items, &names->frame_list.capacity, names->frame_list.count + 1,
                           sizeof frame, err);
    if (status == NM_OK)
        status = nm_id_map_put(&names->frames, definition->id, names->frame_list.count, err);
    if (status == NM_OK)
        names->frame_list.items[names->frame_list.count++] = frame;
    return status;
}

static nm_status add_stack(nm_anchor_names *names, const nm_definition *definition, nm_error *err)
{
    nm_anchor_stack stack = {definition->stack.parent_id, definition->stack.frame_id};
    nm_status status;

    if (nm_id_map_find(&names->stacks, definition->id) != NM_ID_MAP_NONE)
        return NM_OK;
    status = nm_array_grow(&names->stack_list.items, &names->stack_list.capacity, names->stack_list.count + 1,
                           sizeof stack, err);
    if (status == NM_OK)
        status = nm_id_map_put(&names->stacks, definition->id, names->stack_list.count, err);
    if (status == NM_OK)
        names->stack_list.items[names->stack_list.count++] = stack;
    return status;
}

nm_status nm_anchor_names_add(nm_anchor_names *names, const nm_definition *definition, nm_error *err)
{
    switch (definition->kind) {
    case NM_DEFINE_STRING:
        return add_string(names, definition->id, definition->string, err);
    case NM_DEFINE_FRAME:
        return add_frame(names, definition, err);
    case NM_DEFINE_STACK:
        return add_stack(names, definition, err);
    default:
        return NM_OK;
    }
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static unsigned words_at(const nm_anchor_names *names, uint64_t string, unsigned shift)
{
    const uint64_t *words = string == 0 ? NULL : nm_map_get(&names->words, (nm_key){0, string});

    return words == NULL ? 0 : (unsigned)(*words >> shift) & 0xff;
}

static unsigned words_of_frame(const nm_anchor_names *names, const nm_anchor_frame *frame)
{
    unsigned function = words_at(names, frame->function, 0);
    unsigned file = words_at(names, frame->file, FILE_SHIFT);
    unsigned words = function & file & (NM_WORD_BACKWARD | NM_WORD_OPTIMIZER);

    words |= (function & NM_WORD_FORWARD) | (file & (NM_WORD_PYTHON | NM_WORD_TORCH));
    if ((function & WORD_WRAPPER) && (file & WORD_OPTIMIZERS))
        words |= NM_WORD_OPTIMIZER;
    if (function & WORD_NATIVE_BACKWARD)
        words |= NM_WORD_BACKWARD;
    if ((function & WORD_GENERATE) && (file & NM_WORD_PYTHON) && !(file & WORD_ENGINE))
        words |= NM_WORD_FORWARD;
    if ((function & NM_WORD_GIVEN) || ((file & NM_WORD_GIVEN) && frame->line == names->given_line))
        words |= NM_WORD_GIVEN;
    return words;
}

static unsigned words_of_frame_number(const nm_anchor_names *names, uint64_t frame_id)
{
    unsigned words = 0;

    for (int depth = 0; frame_id != 0 && depth < INLINE_DEPTH_MAX; depth++) {
        size_t known = nm_id_map_find(&names->frames, frame_id);

        if (known == NM_ID_MAP_NONE)
            break;
        words |= words_of_frame(names, &names->frame_list.items[known]);
        frame_id = names->frame_list.items[known].inlined_in;
    }
    return words;
}

unsigned nm_anchor_names_of_stack(const nm_anchor_names *names, uint64_t stack_id)
{
    unsigned words = 0;

    for (int depth = 0; stack_id != 0 && depth < STACK_DEPTH_MAX; depth++) {
        size_t known = nm_id_map_find(&names->stacks, stack_id);

        if (known == NM_ID_MAP_NONE)
            break;
        words |= words_of_frame_number(names, names->stack_list.items[known].frame);
        stack_id = names->stack_list.items[known].parent;
    }
    return words;
}

static const nm_anchor_stack *stack_of(const nm_anchor_names *names, uint64_t stack_id)
{
    size_t known = stack_id == 0 ? NM_ID_MAP_NONE : nm_id_map_find(&names->stacks, stack_id);

    return known == NM_ID_MAP_NONE ? NULL : &names->stack_list.items[known];
}

static const nm_anchor_frame *frame_of(const nm_anchor_names *names, uint64_t frame_id)
{
    size_t known = nm_id_map_find(&names->frames, frame_id);

    return known == NM_ID_MAP_NONE ? NULL : &names->frame_list.items[known];
}

size_t nm_anchor_names_lines(const nm_anchor_names *names, uint64_t stack_id, nm_anchor_line *out, size_t max)
{
    bool has_python = (nm_anchor_names_of_stack(names, stack_id) & NM_WORD_PYTHON) != 0;
    const nm_anchor_stack *stack = stack_of(names, stack_id);
    size_t count = 0;

    for (int depth = 0; stack != NULL && depth < STACK_DEPTH_MAX; depth++, stack = stack_of(names, stack->parent)) {
        const nm_anchor_frame *frame = frame_of(names, stack->frame);
        unsigned words = frame == NULL ? 0 : words_of_frame(names, frame);

        if (frame == NULL || (has_python && (words & NM_WORD_PYTHON) == 0))
            continue;
        if (count == max) /* what is innermost goes */
            memmove(out, out + 1, --count * sizeof *out);
        out[count++] = (nm_anchor_line){.frame = *frame, .words = words};
    }
    for (size_t i = 0; i < count / 2; i++) {
        nm_anchor_line line = out[i];

        out[i] = out[count - 1 - i];
        out[count - 1 - i] = line;
    }
    return count;
}

bool nm_anchor_names_is_same_call(const nm_anchor_names *names, uint64_t stack_id, uint64_t other_id)
{
    const nm_anchor_stack *stack = stack_of(names, stack_id), *other = stack_of(names, other_id);

    for (int depth = 0; stack != NULL && other != NULL && stack->frame == other->frame && depth < STACK_DEPTH_MAX;
         depth++) {
        if (words_of_frame_number(names, stack->frame) & NM_WORD_GIVEN)
            return true;
        stack = stack_of(names, stack->parent);
        other = stack_of(names, other->parent);
    }
    return false;
}

static uint64_t hash_line(uint64_t hash, const nm_anchor_frame *frame)
{
    const uint64_t values[] = {frame->function, frame->file, frame->line};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        hash = (hash ^ values[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* By lines, for the interpreter's own frames between them are not the same for all that is called from one. */
uint64_t nm_anchor_names_caller(const nm_anchor_names *names, uint64_t stack_id)
{
    nm_anchor_line lines[CALLER_LINES_MAX];
    size_t count = nm_anchor_names_lines(names, stack_id, lines, CALLER_LINES_MAX);
    uint64_t hash = 1;

    for (size_t i = 0; i < count; i++) {
        if (words_at(names, lines[i].frame.file, FILE_SHIFT) & NM_WORD_OPTIMIZER)
            return hash | 1;
        hash = hash_line(hash, &lines[i].frame);
    }
    return 0;
}

unsigned nm_anchor_names_of_range(const nm_anchor_names *names, uint64_t name_id)
{
    return words_at(names, name_id, RANGE_SHIFT);
}

uint64_t nm_anchor_names_range_id(const nm_anchor_names *names, uint64_t name_id)
{
    const uint64_t *known = nm_map_get(&names->range_ids, (nm_key){0, name_id});

    return known == NULL ? name_id : *known;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

/* "train.py:88" is a file and a line; anything else is a name. */
static void split_given(nm_anchor_names *names)
{
    const char *colon = strrchr(names->given, ':');
    char *end = NULL;

    if (colon == NULL || colon == names->given || !isdigit((unsigned char)colon[1]))
        return;
    names->given_line = strtoull(colon + 1, &end, 10);
    if (*end == 0)
        names->given_file_bytes = (size_t)(colon - names->given);
}

nm_status nm_anchor_names_open(nm_anchor_names *names, const char *given, nm_error *err)
{
    *names = (nm_anchor_names){0};
    if (given == NULL)
        return NM_OK;
    names->given = strdup(given);
    if (names->given == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    split_given(names);
    return NM_OK;
}

void nm_anchor_names_forget(nm_anchor_names *names)
{
    nm_map_free(&names->words);
    nm_map_free(&names->range_ids);
    nm_map_free(&names->range_of);
    nm_id_map_free(&names->frames);
    nm_id_map_free(&names->stacks);
    free(names->frame_list.items);
    free(names->stack_list.items);
    memset(&names->frame_list, 0, sizeof names->frame_list);
    memset(&names->stack_list, 0, sizeof names->stack_list);
}

void nm_anchor_names_close(nm_anchor_names *names)
{
    nm_anchor_names_forget(names);
    free(names->given);
}
