/* SPDX-License-Identifier: Apache-2.0
 *
 * Strings are judged when they are defined and not kept: each has bits for what it means as a function, as a file, as a
 * range and as a category. A stack is walked when it is asked for first, from its innermost frame outwards, and what it says
 * is kept until a frame gets another name.
 */
#include "analysis/category_names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/id_map.h"

#define STACK_DEPTH_MAX  4096
#define INLINE_DEPTH_MAX 64
#define CATEGORY_SHIFT   56 /* its code, plus 1 */
#define RANGE_SHIFT      48 /* nm_phase */

enum { /* bits of a string */
       AS_BACKWARD = 1 << 0,
       AS_ENGINE = 1 << 1, /* native autograd, whatever its file is called */
       AS_STEP = 1 << 2,
       AS_FORWARD = 1 << 3,
       AS_ZERO_GRAD = 1 << 4,
       AS_CLOSURE = 1 << 5, /* an optimizer's: what it calls is no part of the optimizer */
       AS_LOAD = 1 << 6,
       AS_CACHE = 1 << 7,
       AS_COLLECTIVE = 1 << 8,
       AS_INIT = 1 << 9,
       AS_APPLY = 1 << 10,
       AS_UPDATE = 1 << 11,
       AS_WRAPPER = 1 << 12, /* around an optimizer's step */
       AS_WORKSPACE = 1 << 13,
       IN_TORCH = 1 << 16,
       IN_OPTIM = 1 << 17,     /* of torch: all of it is an optimizer's */
       IN_OPTIMIZER = 1 << 18, /* of others */
       IN_FUNCTION = 1 << 19,  /* torch's autograd.Function */
       IN_MODULES = 1 << 20,
       IN_CACHE = 1 << 21,
       IN_CACHE_UTILS = 1 << 22,
       IN_PYTHON = 1 << 23,
};

typedef struct known_stack {
    uint64_t parent, frame;
    nm_category_stack says;
    uint64_t version; /* of the frames' names when it was walked; 0: not yet */
} known_stack;

typedef struct known_frame {
    uint64_t function, file, inlined_in;
} known_frame;

struct nm_category_names {
    nm_map words;         /* string -> bits; 0 is left out */
    nm_id_map frames;     /* number -> index */
    nm_id_map stacks;     /* the same */
    nm_map forward_files; /* string: a forward of the program is in it */
    struct {
        known_frame *items;
        size_t count, capacity;
    } frame_list;
    struct {
        known_stack *items;
        size_t count, capacity;
    } stack_list;
    uint64_t version; /* counts frames that got another name */
    nm_category_stack unknown;
};

/* ---- Words --------------------------------------------------------------------------------------------------------- */

static bool is_text(nm_bytes name, const char *text)
{
    return name.len == strlen(text) && memcmp(name.data, text, name.len) == 0;
}

static bool is_any_of(nm_bytes name, const char *const *texts)
{
    while (*texts != NULL && !is_text(name, *texts))
        texts++;
    return *texts != NULL;
}

static bool begins_with(nm_bytes name, const char *text)
{
    return name.len >= strlen(text) && memcmp(name.data, text, strlen(text)) == 0;
}

static bool ends_with(nm_bytes name, const char *text)
{
    size_t len = strlen(text);

    return name.len >= len && memcmp(name.data + name.len - len, text, len) == 0;
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

static bool is_cache(nm_bytes name)
{
    return holds(name, "kv_cache") || holds(name, "kvcache") || holds(name, "KVCache") || holds(name, "KVPool") ||
           holds(name, "kv_pool");
}

static uint64_t words_of_function(nm_bytes name)
{
    static const char *const backward[] = {"backward", "run_backward", "_engine_run_backward", "_make_grads", NULL};
    static const char *const forward[] = {"forward", "_call_impl", "_wrapped_call_impl", NULL};
    static const char *const load[] = {"_apply",       "from_pretrained", "load_state_dict",
                                       "load_weights", "load_model",      NULL};
    static const char *const around[] = {"wrapper", "__init__", "add_param_group", "profile_hook_step", NULL};
    nm_bytes last = last_part(name);

    return (is_any_of(last, backward) ? AS_BACKWARD : 0) | (is_any_of(last, forward) ? AS_FORWARD : 0) |
           (is_any_of(last, load) ? AS_LOAD : 0) | (is_any_of(last, around) ? AS_WRAPPER : 0) |
           (is_text(last, "step") ? AS_STEP : 0) | (is_text(last, "zero_grad") ? AS_ZERO_GRAD : 0) |
           (is_text(last, "closure") ? AS_CLOSURE : 0) | (is_text(last, "__init__") ? AS_INIT : 0) |
           (is_text(last, "apply") ? AS_APPLY : 0) | (is_text(last, "update") ? AS_UPDATE : 0) |
           (is_cache(name) || is_text(last, "setup_caches") ? AS_CACHE : 0) |
           (ends_with(last, "orkspace") || is_text(last, "getCurrentCUDABlasHandle") ? AS_WORKSPACE : 0) |
           (holds(name, "torch::autograd::Engine") || (holds(name, "Backward") && holds(name, "::apply")) ? AS_ENGINE
                                                                                                          : 0) |
           (holds(name, "c10d::ProcessGroup") || holds(name, "c10d_npu::ProcessGroup") ? AS_COLLECTIVE : 0);
}

static uint64_t words_of_file(nm_bytes name)
{
    bool is_optim = holds(name, "/optim/");
    bool is_optimizer = holds(name, "/optimizer") || holds(name, "deepspeed/ops/") ||
                        holds(name, "deepspeed/runtime/zero/stage") || is_optim;

    return (holds(name, "/torch/") || begins_with(name, "torch/") || holds(name, "/torch_npu/") ? IN_TORCH : 0) |
           (is_optim ? IN_OPTIM : 0) | (is_optimizer ? IN_OPTIMIZER : 0) |
           (ends_with(name, "torch/autograd/function.py") ? IN_FUNCTION : 0) |
           (holds(name, "/torch/nn/modules/") ? IN_MODULES : 0) | (is_cache(name) ? IN_CACHE : 0) |
           (ends_with(name, "/cache_utils.py") ? IN_CACHE_UTILS : 0) |
           (ends_with(name, ".py") || begins_with(name, "<string>") || begins_with(name, "<stdin>") ||
                    holds(name, "/ipykernel_")
                ? IN_PYTHON
                : 0);
}

static bool is_text_of_any_case(nm_bytes name, const char *text)
{
    return name.len == strlen(text) && strncasecmp((const char *)name.data, text, name.len) == 0;
}

static nm_phase phase_of_range(nm_bytes name)
{
    if (is_text_of_any_case(name, "forward"))
        return NM_PHASE_FORWARD;
    if (is_text_of_any_case(name, "backward") || begins_with(name, "autograd::engine"))
        return NM_PHASE_BACKWARD;
    if (is_text_of_any_case(name, "optimizer") || is_text_of_any_case(name, "optimizer step") ||
        begins_with(name, "Optimizer.step"))
        return NM_PHASE_OPTIMIZER;
    return begins_with(name, "Optimizer.zero_grad") ? NM_PHASE_ZERO_GRAD : NM_PHASE_NONE;
}

/* Words that mean one thing, as people and torch's profiler write them: blanks, _ and - are the same. */
static nm_category category_of_word(nm_bytes name)
{
    static const struct {
        const char *word;
        nm_category category;
    } known[] = {
        {"unknown", NM_CATEGORY_UNKNOWN},       {"weight", NM_CATEGORY_WEIGHT},
        {"weights", NM_CATEGORY_WEIGHT},        {"parameter", NM_CATEGORY_WEIGHT},
        {"parameters", NM_CATEGORY_WEIGHT},     {"gradient", NM_CATEGORY_GRADIENT},
        {"gradients", NM_CATEGORY_GRADIENT},    {"optimizer state", NM_CATEGORY_OPTIMIZER_STATE},
        {"activation", NM_CATEGORY_ACTIVATION}, {"activations", NM_CATEGORY_ACTIVATION},
        {"kv cache", NM_CATEGORY_KV_CACHE},     {"kvcache", NM_CATEGORY_KV_CACHE},
        {"workspace", NM_CATEGORY_WORKSPACE},   {"communication", NM_CATEGORY_COMMUNICATION},
        {"graph", NM_CATEGORY_GRAPH},           {"temporary", NM_CATEGORY_TEMPORARY},
        {"input", NM_CATEGORY_INPUT},           {"inputs", NM_CATEGORY_INPUT},
    };
    char text[32] = "";

    if (name.len >= sizeof text)
        return NM_CATEGORY_OWN;
    for (size_t i = 0; i < name.len; i++)
        text[i] = name.data[i] == '_' || name.data[i] == '-' ? ' ' : (char)name.data[i];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(text, known[i].word) == 0)
            return known[i].category;
    return NM_CATEGORY_OWN;
}

static uint64_t words_of(const nm_category_names *names, uint64_t string)
{
    const uint64_t *known = string == 0 || names == NULL ? NULL : nm_map_get(&names->words, (nm_key){0, string});

    return known == NULL ? 0 : *known;
}

/* ---- Definitions --------------------------------------------------------------------------------------------------- */

static nm_status add_string(nm_category_names *names, uint64_t id, nm_bytes text, nm_error *err)
{
    nm_category category = category_of_word(text);
    uint64_t bits = words_of_function(text) | words_of_file(text) | (uint64_t)phase_of_range(text) << RANGE_SHIFT;

    if (category != NM_CATEGORY_OWN)
        bits |= ((uint64_t)category + 1) << CATEGORY_SHIFT;
    if (begins_with(text, "pt_autograd_"))
        bits |= AS_ENGINE;
    return bits == 0 ? NM_OK : nm_map_put(&names->words, (nm_key){0, id}, bits, err);
}

static nm_status add_frame(nm_category_names *names, const nm_definition *definition, nm_error *err)
{
    known_frame frame = {definition->frame.function, definition->frame.file, definition->frame.inlined_in};
    size_t known = nm_id_map_find(&names->frames, definition->id);

    if (known != NM_ID_MAP_NONE) {
        names->version += memcmp(&names->frame_list.items[known], &frame, sizeof frame) != 0;
        names->frame_list.items[known] = frame;
        return NM_OK;
    }
    nm_status status = nm_array_grow(&names->frame_list.items, &names->frame_list.capacity, names->frame_list.count + 1,
                                     sizeof frame, err);
    if (status == NM_OK)
        status = nm_id_map_put(&names->frames, definition->id, names->frame_list.count, err);
    if (status == NM_OK)
        names->frame_list.items[names->frame_list.count++] = frame;
    return status;
}

static nm_status add_stack(nm_category_names *names, const nm_definition *definition, nm_error *err)
{
    if (nm_id_map_find(&names->stacks, definition->id) != NM_ID_MAP_NONE) /* a stack does not change */
        return NM_OK;
    nm_status status = nm_array_grow(&names->stack_list.items, &names->stack_list.capacity, names->stack_list.count + 1,
                                     sizeof *names->stack_list.items, err);
    if (status == NM_OK)
        status = nm_id_map_put(&names->stacks, definition->id, names->stack_list.count, err);
    if (status == NM_OK)
        names->stack_list.items[names->stack_list.count++] =
            (known_stack){.parent = definition->stack.parent_id, .frame = definition->stack.frame_id};
    return status;
}

nm_status nm_category_names_add(nm_category_names *names, const nm_definition *definition, nm_error *err)
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

nm_status nm_category_names_new(nm_category_names **out, nm_error *err)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    (*out)->version = 1;
    return NM_OK;
}

void nm_category_names_free(nm_category_names *names)
{
    if (names == NULL)
        return;
    nm_map_free(&names->words);
    nm_id_map_free(&names->frames);
    nm_id_map_free(&names->stacks);
    nm_map_free(&names->forward_files);
    free(names->frame_list.items);
    free(names->stack_list.items);
    free(names);
}

/* ---- Stacks -------------------------------------------------------------------------------------------------------- */

static nm_phase phase_of_frame(uint64_t words)
{
    if (words & AS_ZERO_GRAD)
        return NM_PHASE_ZERO_GRAD;
    if ((words & AS_ENGINE) || ((words & AS_BACKWARD) && ((words & IN_TORCH) || !(words & IN_PYTHON))) ||
        ((words & AS_APPLY) && (words & IN_FUNCTION)))
        return NM_PHASE_BACKWARD;
    if ((words & IN_OPTIM) ? !(words & AS_WRAPPER) : (words & IN_OPTIMIZER) && (words & AS_STEP))
        return NM_PHASE_OPTIMIZER;
    return (words & AS_FORWARD) ? NM_PHASE_FORWARD : NM_PHASE_NONE;
}

typedef struct stack_walk {
    nm_category_stack says;
    bool is_decided, has_own_line;
} stack_walk;

static void see_frame(stack_walk *walk, const known_frame *frame, uint64_t words)
{
    nm_category_stack *says = &walk->says;
    nm_phase phase = phase_of_frame(words);

    says->has_python |= (words & IN_PYTHON) != 0;
    says->makes_workspace |= (words & AS_WORKSPACE) && !says->has_python;
    says->makes_cache |= (words & (AS_CACHE | IN_CACHE)) || ((words & AS_UPDATE) && (words & IN_CACHE_UTILS));
    says->communicates |= (words & AS_COLLECTIVE) != 0;
    says->makes_weights |= !walk->is_decided && ((words & AS_LOAD) || ((words & AS_INIT) && (words & IN_MODULES)));
    if ((words & IN_PYTHON) && !(words & IN_TORCH) && !walk->has_own_line) {
        walk->has_own_line = true;
        says->init_file = (words & AS_INIT) ? frame->file : 0;
    }
    if (walk->is_decided) {
        says->is_within_backward |= says->phase == NM_PHASE_FORWARD && phase == NM_PHASE_BACKWARD;
    } else if (phase != NM_PHASE_NONE || (words & AS_CLOSURE)) {
        says->phase = phase;
        walk->is_decided = true;
    }
}

static nm_status see_frames(nm_category_names *names, stack_walk *walk, uint64_t frame_id, nm_error *err)
{
    nm_status status = NM_OK;

    for (int depth = 0; frame_id != 0 && depth < INLINE_DEPTH_MAX && status == NM_OK; depth++) {
        size_t known = nm_id_map_find(&names->frames, frame_id);

        if (known == NM_ID_MAP_NONE)
            break;
        const known_frame *frame = &names->frame_list.items[known];
        uint64_t words = (words_of(names, frame->function) & 0xffff) | (words_of(names, frame->file) & 0xffff0000);

        see_frame(walk, frame, words);
        if ((words & AS_FORWARD) && (words & IN_PYTHON) && !(words & IN_TORCH))
            status = nm_map_put(&names->forward_files, (nm_key){0, frame->file}, 1, err);
        frame_id = frame->inlined_in;
    }
    return status;
}

/* NULL: not known. */
static known_stack *stack_of(const nm_category_names *names, uint64_t id)
{
    size_t known = id == 0 ? NM_ID_MAP_NONE : nm_id_map_find(&names->stacks, id);

    return known == NM_ID_MAP_NONE ? NULL : &names->stack_list.items[known];
}

static nm_status walk_stack(nm_category_names *names, known_stack *own, nm_error *err)
{
    const known_stack *stack = own;
    nm_status status = NM_OK;
    stack_walk walk = {0};

    for (int depth = 0; stack != NULL && depth < STACK_DEPTH_MAX && status == NM_OK; depth++) {
        status = see_frames(names, &walk, stack->frame, err);
        stack = stack_of(names, stack->parent);
    }
    own->says = walk.says;
    own->version = names->version;
    return status;
}

nm_status nm_category_names_stack(nm_category_names *names, uint64_t stack_id, const nm_category_stack **out,
                                  nm_error *err)
{
    known_stack *own = stack_of(names, stack_id);

    *out = own == NULL ? &names->unknown : &own->says;
    return own == NULL || own->version == names->version ? NM_OK : walk_stack(names, own, err);
}

bool nm_category_names_has_forward(const nm_category_names *names, uint64_t file)
{
    return file != 0 && nm_map_get(&names->forward_files, (nm_key){0, file}) != NULL;
}

nm_phase nm_category_names_range(const nm_category_names *names, uint64_t name)
{
    return (nm_phase)(words_of(names, name) >> RANGE_SHIFT & 0xff);
}

bool nm_category_names_is_autograd(const nm_category_names *names, uint64_t thread_name)
{
    return (words_of(names, thread_name) & AS_ENGINE) != 0;
}

nm_category nm_category_names_word(const nm_category_names *names, uint64_t name)
{
    uint64_t code = words_of(names, name) >> CATEGORY_SHIFT;

    return code == 0 ? NM_CATEGORY_OWN : (nm_category)(code - 1);
}
