/* SPDX-License-Identifier: Apache-2.0
 *
 * Which frame of a stack is its site, and how it is shown. Patterns come from the schema's own list and from rules that a
 * test adds.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites/inlined.h"
#include "sites/site.h"
#include "store/database.h"
#include "store/plumbing.h"
#include "store/schema.h"
#include "support/suites.h"

static nm_definitions definitions;
static sqlite3 *db;
static nm_error err;
static uint64_t string_count, frame_count;

static void set_up(void)
{
    definitions = (nm_definitions){0};
    string_count = frame_count = 0;
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(nm_schema_apply(db, NM_SCHEMA_TABLES, &err), NM_OK);
}

static void tear_down(void)
{
    nm_definitions_free(&definitions);
    sqlite3_close(db);
}

static void add(nm_definition definition)
{
    ck_assert_int_eq(nm_definitions_add(&definitions, &definition, &err), NM_OK);
}

static uint64_t string(const char *text)
{
    if (text == NULL)
        return 0;
    add((nm_definition){
        .kind = NM_DEFINE_STRING, .id = ++string_count, .string = {(const uint8_t *)text, strlen(text)}});
    return string_count;
}

static uint64_t frame(const char *function, const char *file, uint64_t line, const char *module, uint64_t offset)
{
    nm_definition definition = {.kind = NM_DEFINE_FRAME};

    definition.frame.function = string(function);
    definition.frame.file = string(file);
    definition.frame.line = line;
    definition.frame.module = string(module);
    definition.frame.offset = offset;
    definition.id = ++frame_count;
    add(definition);
    return frame_count;
}

static void stack(uint64_t id, uint64_t parent_id, uint64_t frame_id)
{
    nm_definition definition = {.kind = NM_DEFINE_STACK, .id = id};

    definition.stack.parent_id = parent_id;
    definition.stack.frame_id = frame_id;
    add(definition);
}

static nm_status add_rules(const char *text)
{
    return nm_plumbing_add(db, (nm_bytes){(const uint8_t *)text, strlen(text)}, &err);
}

static void open_sites(nm_sites *sites)
{
    nm_patterns plumbing = {0};

    ck_assert_msg(nm_plumbing_read(db, &plumbing, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_sites_open(&plumbing, &definitions, sites, &err) == NM_OK, "%s", err.text);
    nm_patterns_free(&plumbing);
}

static void resolve(void)
{
    nm_sites sites = {0};

    ck_assert_int_eq(nm_definitions_sort(&definitions, &err), NM_OK);
    ck_assert_int_eq(nm_inlined_expand(&definitions, &err), NM_OK);
    open_sites(&sites);
    nm_sites_resolve(&sites, &definitions);
    nm_sites_close(&sites);
}

/* The frame that is the site of a stack, or 0. */
static uint64_t site(uint64_t stack_id)
{
    size_t place = nm_id_map_find(&definitions.stacks.by_id, stack_id);
    size_t index = definitions.stacks.items[place].site;

    return index == 0 ? 0 : definitions.frames.items[index - 1].id;
}

static void assert_label(uint64_t frame_id, const char *expected)
{
    nm_buffer label = {0};

    ck_assert_int_eq(nm_site_label(&definitions, nm_frame_find(&definitions, frame_id), &label, &err), NM_OK);
    ck_assert_uint_eq(label.len, strlen(expected));
    ck_assert_int_eq(memcmp(label.data, expected, label.len), 0);
    nm_buffer_free(&label);
}

START_TEST(labels_name_file_and_function_without_folders)
{
    assert_label(frame("Block.forward", "/home/me/model.py", 88, NULL, 0), "model.py:88 Block.forward");
    assert_label(frame("f", "model.c", 0, "/bin/train", 16), "model.c f");
    assert_label(frame(NULL, "model.c", 7, "/bin/train", 16), "model.c:7");
    assert_label(frame(NULL, NULL, 0, "/usr/lib/libx.so.1", 0x1f0), "libx.so.1+0x1f0");
    assert_label(frame("leak", NULL, 0, "/bin/train", 0x40), "train+0x40 leak");
    assert_label(frame("leak", NULL, 0, NULL, 0), "leak");
    assert_label(frame("leak", "??", 0, NULL, 0), "leak");
    assert_label(frame(NULL, NULL, 0, NULL, 0), "(unknown)");
    assert_label(frame("f", "/", 3, NULL, 0), "/:3 f");
}
END_TEST

START_TEST(the_site_is_the_innermost_frame_that_is_not_plumbing)
{
    uint64_t user = frame("Net.forward", "/home/me/net.py", 12, NULL, 0);
    uint64_t module = frame("_call_impl", "/env/site-packages/torch/nn/modules/module.py", 1762, NULL, 0);
    uint64_t native = frame("at::native::empty", NULL, 0, "/env/torch/lib/libtorch_cpu.so", 0x77);
    uint64_t cann = frame("aclrtMalloc", NULL, 0, "/usr/local/Ascend/lib64/libascendcl.so", 0x5);

    stack(1, 0, user);
    stack(2, 1, module);
    stack(3, 2, native);
    stack(4, 3, cann);
    resolve();
    for (uint64_t id = 1; id <= 4; id++)
        ck_assert_uint_eq(site(id), user);
}
END_TEST

/* Native frames below a line of Python are no site, whosever they are; where all of Python is plumbing they are. */
START_TEST(a_line_of_python_goes_before_native_frames)
{
    uint64_t line = frame("Net.forward", "/home/me/net.py", 12, "python3.11", 0);
    uint64_t library = frame("run", "/opt/py/lib/python3.11/threading.py", 982, "python3.11", 0);
    uint64_t extension = frame("my_kernel", "/home/me/kernel.cpp", 7, "/home/me/kernel.so", 0x77);
    uint64_t call = frame(NULL, NULL, 0, "/usr/lib/libffi.so.8", 0x6f79);

    stack(1, 0, line);
    stack(2, 1, extension);
    stack(3, 0, library);
    stack(4, 3, extension);
    stack(5, 4, call);
    stack(6, 0, extension);
    stack(7, 6, line);
    resolve();
    ck_assert_uint_eq(site(2), line);
    ck_assert_uint_eq(site(5), extension);
    ck_assert_uint_eq(site(6), extension);
    ck_assert_uint_eq(site(7), line);
}
END_TEST

static void inline_into(uint64_t frame_id, uint64_t caller_id)
{
    nm_frame frame = *nm_frame_find(&definitions, frame_id);
    size_t place = nm_id_map_find(&definitions.frames.by_id, frame_id);

    frame.frame.inlined_in = caller_id;
    definitions.frames.items[place] = frame; /* its strings are numbers already */
}

START_TEST(a_function_that_others_were_inlined_into_can_be_the_site)
{
    uint64_t line = frame("Net.forward", "/home/me/net.py", 12, "python3.11", 0);
    uint64_t around = frame("run", "/home/me/run.cpp", 40, "/home/me/run.so", 0x99);
    uint64_t inner =
        frame("std::vector<int>::push_back(int)", "/usr/include/c++/12/vector.h", 9, "/home/me/run.so", 0x99);
    uint64_t caller = frame("main", "/home/me/main.cpp", 3, "/home/me/main", 0x50);

    inline_into(inner, around);
    stack(1, 0, caller);
    stack(2, 1, inner);
    stack(3, 0, line);
    stack(4, 3, inner);
    stack(5, 4, caller);
    resolve();
    ck_assert_uint_eq(site(2), around);
    ck_assert_uint_eq(site(4), line);
    ck_assert_uint_eq(site(5), line);
}
END_TEST

START_TEST(pythons_own_library_is_plumbing_and_what_is_beside_it_is_not)
{
    static const char *const files[] = {
        "/usr/lib/python3.11/threading.py",
        "/opt/conda/lib/python3.8/ctypes/__init__.py",
        "/usr/lib/python3.9/dataclasses.py",
        "/usr/lib/python3.13/asyncio/runners.py",
        "/usr/lib/python3.12/signal.py",
        "/usr/lib/python3.12/site.py",
        "/usr/lib/python3.10/distutils/core.py",
        "/usr/lib/python3.10/socketserver.py",
        "<frozen importlib._bootstrap>",
        "/usr/lib/python3.11/site-packages/model/net.py",
        "/usr/lib/python3/dist-packages/model.py",
        "/usr/lib/python3.8/dist-packages/model.py",
        "/opt/lib/python3.9/site-packages/train.py",
        "/home/me/lib/train.py",
    };
    const size_t plumbing_count = 9;
    nm_sites sites = {0};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        frame("f", files[i], 1, "python3.11", 0);
    ck_assert_int_eq(nm_definitions_sort(&definitions, &err), NM_OK);
    open_sites(&sites);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        ck_assert_msg(sites.frames[i].is_plumbing == (i < plumbing_count), "%s", files[i]);
    nm_sites_close(&sites);
}
END_TEST

/* By what they call themselves: a folder does not, nor does a line of Python, nor a function that allocates a certain thing. */
START_TEST(allocators_are_known_by_their_names)
{
    static const struct {
        const char *function, *file;
        bool is_plumbing;
    } frames[] = {
        {"take", "/p/caching_pool_buffer.c", true},
        {"get", "/p/src/MyAllocator.cpp", true},
        {"get", "/p/memory_pool.hpp", true},
        {"get", "/p/mempool.cu", true},
        {"pool_alloc", "/p/pool.c", true},
        {"xmalloc", "/p/util.c", true},
        {"main", "/p/allocator_project/main.c", false},
        {"forward", "/p/pooling.cpp", false},
        {"allocate_layer", "/p/model.c", false},
        {"get", "/p/allocator.py", false},
        {"tensor_alloc", "/p/net.py", false},
        {"Client.alloc", "/p/net.py", true},
        {"alloc", "/p/net.py", true},
        {"alloc", "/p/net.c", false},
        {"start_thread", "/p/net.py", false},
        {"__call__", "<ipython-input-1-aa>", false},
        {"f", "<built-in>", false},
    };
    nm_sites sites = {0};

    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        frame(frames[i].function, frames[i].file, i + 1, NULL, 0);
    ck_assert_int_eq(nm_definitions_sort(&definitions, &err), NM_OK);
    open_sites(&sites);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        const char *file = frames[i].file;

        ck_assert_msg(sites.frames[i].is_plumbing == frames[i].is_plumbing, "%s %s", frames[i].function, file);
        ck_assert_int_eq(sites.frames[i].is_python, strstr(file, ".py") != NULL || strncmp(file, "<ipython", 8) == 0);
    }
    nm_sites_close(&sites);
}
END_TEST

START_TEST(frames_of_every_kind_of_plumbing_are_known)
{
    static const struct {
        const char *function, *file, *module;
    } plumbing[] = {
        {"??", NULL, NULL},
        {"torch::unwind::unwind()", NULL, NULL},
        {"torch::CapturedTraceback::gather(bool, bool, bool)", NULL, NULL},
        {"c10_npu::NPUCachingAllocator::malloc", NULL, NULL},
        {"std::vector<int>::push_back(int)", NULL, NULL},
        {"operator new(unsigned long)", NULL, NULL},
        {"void at::native::fill<float, (anonymous namespace)::op>(at::Tensor&)", NULL, NULL},
        {"std::enable_if<(a<b), int>::type c10::call<int (int)>(int)", NULL, NULL},
        {"__libc_start_main_impl", NULL, "/lib/x86_64-linux-gnu/libc.so.6"},
        {"_PyEval_EvalFrameDefault", NULL, "/usr/bin/python3.11"},
        {NULL, NULL, "/usr/local/Ascend/lib64/libascend_hal.so"},
        {NULL, NULL, "/usr/local/Ascend/lib64/libruntime.so"},
        {NULL, NULL, "/usr/local/Ascend/lib64/libacl_rt.so"},
        {NULL, NULL, "/usr/lib/libnpumem_hook.so"},
        {"_call_with_frames_removed", "<frozen importlib._bootstrap>", NULL},
        {"linear", "/x/torch/nn/functional.py", NULL},
        {"inner", "/x/torch/_tensor.py", NULL},
        {"wrapped", "/x/torch_npu/npu/utils.py", NULL},
    };
    uint64_t user = frame("main", "/home/me/train.py", 1, NULL, 0);
    uint64_t id = 0;

    stack(++id, 0, user);
    for (size_t index = 0; index < sizeof plumbing / sizeof plumbing[0]; index++) {
        stack(id + 1, id, frame(plumbing[index].function, plumbing[index].file, index + 1, plumbing[index].module, 3));
        id++;
    }
    resolve();
    for (; id > 0; id--)
        ck_assert_msg(site(id) == user, "stack %llu has site %llu", (unsigned long long)id,
                      (unsigned long long)site(id));
}
END_TEST

/* A case: frames "function file" from the outermost one inwards, and which of them, from 0, is the site. */
typedef struct way {
    const char *frames[8];
    int site;
} way;

#define ENV     "/env/lib/python3.12/site-packages/"
#define CALL    "_call_impl " ENV "torch/nn/modules/module.py"
#define SCRIPT  "<module> /home/me/train.py"
#define MAIN    "main /home/me/train.py"
#define FORWARD "forward /home/me/model.py"
#define EINOPS  "einsum " ENV "einops/_backends.py"
#define TRAINER "train " ENV "transformers/trainer.py"
#define GRAPH   "call /tmp/torchinductor_me/3u/c3uxhj5q2ablsqp5lrlrkd2ig2tub4do54ysdazmtvawnjje2knd.py"
#define OTHER   "call /scratch/cache/3u/c3uxhj5q2ablsqp5lrlrkd2ig2tub4do54ysdazmtvawnjje2knd.py"
#define RUN     "_run_module_as_main <frozen runpy>"
#define ENGINE  "step " ENV "vllm/v1/engine/core.py"
#define THREAD  "run /usr/lib/python3.12/threading.py"

static void hold_ways(const way *ways, size_t count)
{
    uint64_t first = 0, last = 0;

    for (size_t i = 0; i < count; i++)
        for (int at = 0; at < 8 && ways[i].frames[at] != NULL; at++) {
            const char *blank = strchr(ways[i].frames[at], ' ');
            char function[32] = "";

            memcpy(function, ways[i].frames[at], (size_t)(blank - ways[i].frames[at]));
            last++;
            stack(last, at == 0 ? 0 : last - 1, frame(function, blank + 1, last, NULL, 0)); /* a place of its own */
        }
    resolve();
    for (size_t i = 0; i < count; i++) {
        uint64_t length = 0;

        while (length < 8 && ways[i].frames[length] != NULL)
            length++;
        ck_assert_msg(site(first + length) == first + 1 + (uint64_t)ways[i].site, "case %zu: frame %d, not %d", i,
                      (int)(site(first + length) - first - 1), ways[i].site);
        first += length;
    }
}

#define HOLD_WAYS(ways) hold_ways(ways, sizeof(ways) / sizeof *(ways))

START_TEST(a_library_gives_way_to_the_nearest_function_of_the_program)
{
    static const way ways[] = {
        {{SCRIPT, MAIN, CALL, FORWARD, EINOPS, CALL}, 3},
        {{SCRIPT, MAIN, "step " ENV "torch/optim/adam.py"}, 1},
        {{SCRIPT, MAIN, TRAINER, CALL, FORWARD}, 4},
        {{SCRIPT, MAIN, TRAINER, EINOPS}, 1},
        {{SCRIPT, MAIN, "f /usr/lib/python3/dist-packages/own/a.py"}, 1},
        {{SCRIPT, MAIN, "f C:/Users/me/Lib/site-packages/own/a.py"}, 1},
        {{SCRIPT, MAIN, "<module> " ENV "einops/__init__.py"}, 1}, /* imported */
        {{THREAD, FORWARD, EINOPS}, 1},
        {{SCRIPT, TRAINER, CALL, EINOPS, CALL}, 3},        /* never <module>: the innermost that is no plumbing */
        {{MAIN, SCRIPT, EINOPS}, 0},                       /* imported: who did that is a function */
        {{SCRIPT, CALL}, 0},                               /* plumbing does */
        {{SCRIPT, MAIN, "<module> /home/me/model.py"}, 2}, /* its own line is its own line */
    };

    HOLD_WAYS(ways);
}
END_TEST

START_TEST(the_package_that_the_program_runs_is_its_own)
{
    static const way ways[] = {
        {{RUN, "<module> " ENV "vllm/__main__.py", ENGINE, CALL, EINOPS}, 2},
        {{"<module> /usr/local/bin/vllm", "main " ENV "vllm/cli.py", ENGINE, EINOPS}, 2},
        {{"<module> C:/env/Scripts/vllm.exe/__main__.py", "main C:/env/Lib/site-packages/vllm/cli.py", EINOPS}, 1},
        {{THREAD, ENGINE, EINOPS}, 1},
        {{"main_loop " ENV "ray/_private/worker.py", "update " ENV "verl/workers/actor.py", TRAINER, EINOPS}, 1},
        {{"run " ENV "uvicorn/server.py", ENGINE, EINOPS}, 1},
        {{RUN, "<module> " ENV "vllm/__main__.py", EINOPS}, 2}, /* <module> of a package is none either */
        {{SCRIPT, MAIN, ENGINE, EINOPS}, 1},                    /* here it is a library */
        {{"<module> /home/me/bin/train.py", MAIN, ENGINE}, 1},
    };

    HOLD_WAYS(ways);
}
END_TEST

START_TEST(a_package_that_is_named_is_the_programs_own)
{
    static const way ways[] = {{{SCRIPT, MAIN, TRAINER, EINOPS}, 2},
                               {{SCRIPT, MAIN, "f " ENV "verl.py", EINOPS}, 2},
                               {{SCRIPT, MAIN, "f /opt/vendored/x.py"}, 1},
                               {{SCRIPT, MAIN, ENGINE, EINOPS}, 1}};

    ck_assert_int_eq(add_rules("own transformers\nown verl\nlibrary /opt/vendored/*\n"), NM_OK);
    HOLD_WAYS(ways);
}
END_TEST

START_TEST(files_that_a_compiler_of_graphs_writes_give_way)
{
    static const way ways[] = {{{SCRIPT, MAIN, FORWARD, CALL, GRAPH, CALL}, 2},
                               {{SCRIPT, MAIN, TRAINER, GRAPH}, 1},
                               {{SCRIPT, GRAPH}, 0},
                               {{SCRIPT, MAIN, OTHER}, 1},
                               {{SCRIPT, MAIN, "call /home/me/compiled.py"}, 2}};

    HOLD_WAYS(ways);
}
END_TEST

START_TEST(optimisers_and_models_are_no_plumbing)
{
    static const char *const files[] = {"/x/torch/optim/adam.py", "/x/torchvision/models/resnet.py", "/home/torch.py",
                                        "/x/transformers/models/llama/modeling_llama.py"};

    for (uint64_t index = 0; index < sizeof files / sizeof files[0]; index++)
        stack(index + 1, 0, frame("f", files[index], index + 1, NULL, 0));
    resolve();
    nm_sites sites = {0};
    open_sites(&sites);
    for (size_t index = 0; index < sites.frame_count; index++)
        ck_assert_msg(!sites.frames[index].is_plumbing, "%s", files[index]);
    nm_sites_close(&sites);
}
END_TEST

START_TEST(a_return_type_is_no_name)
{
    static const char *const functions[] = {"at::Tensor own::make<float>(at::Tensor)", "own::f(std::vector<int>)",
                                            "std::vector<at::Tensor> (anonymous namespace)::g<int>(int)",
                                            "own::operator std::string() const", "at_most"};
    nm_sites sites = {0};

    for (uint64_t index = 0; index < sizeof functions / sizeof functions[0]; index++)
        frame(functions[index], NULL, 0, NULL, 0);
    ck_assert_int_eq(nm_definitions_sort(&definitions, &err), NM_OK);
    open_sites(&sites);
    for (size_t index = 0; index < sites.frame_count; index++)
        ck_assert_msg(!sites.frames[index].is_plumbing, "%s", functions[index]);
    nm_sites_close(&sites);
}
END_TEST

START_TEST(where_all_is_plumbing_the_innermost_frame_is_the_site)
{
    uint64_t outer = frame("at::empty", NULL, 0, NULL, 0);
    uint64_t inner = frame("c10::malloc", NULL, 0, NULL, 0);

    stack(1, 0, outer);
    stack(2, 1, inner);
    stack(3, 0, 0); /* its frame was lost */
    resolve();
    ck_assert_uint_eq(site(1), outer);
    ck_assert_uint_eq(site(2), inner);
    ck_assert_uint_eq(site(3), 0);
}
END_TEST

START_TEST(one_line_is_one_site_wherever_it_was_loaded)
{
    uint64_t first = frame("f", "/src/a.c", 7, "/bin/a", 0x10);
    uint64_t second = frame("f", "/src/a.c", 7, "/bin/a", 0x20);
    uint64_t other = frame("f", "/src/a.c", 8, "/bin/a", 0x28);
    uint64_t nowhere = frame("f", NULL, 0, "/bin/a", 0x10);

    stack(1, 0, second);
    stack(2, 0, first);
    stack(3, 0, other);
    stack(4, 0, nowhere);
    resolve();
    ck_assert_uint_eq(site(1), first);
    ck_assert_uint_eq(site(2), first);
    ck_assert_uint_eq(site(3), other);
    ck_assert_uint_eq(site(4), nowhere);
}
END_TEST

START_TEST(a_ring_of_parents_ends)
{
    uint64_t plumbing = frame("at::empty", NULL, 0, NULL, 0);
    uint64_t user = frame("main", "a.c", 1, NULL, 0);

    stack(1, 3, plumbing);
    stack(2, 1, plumbing);
    stack(3, 2, plumbing);
    stack(4, 4, user);
    stack(5, 4, plumbing);
    resolve();
    ck_assert_uint_eq(site(1), plumbing);
    ck_assert_uint_eq(site(5), user);
}
END_TEST

START_TEST(a_deep_stack_is_walked_once)
{
    enum { DEPTH = 200000 };
    uint64_t plumbing = frame("at::empty", NULL, 0, NULL, 0);
    uint64_t user = frame("main", "a.c", 1, NULL, 0);

    stack(1, 0, user);
    for (uint64_t id = 2; id <= DEPTH; id++)
        stack(id, id - 1, plumbing);
    resolve();
    ck_assert_uint_eq(site(DEPTH), user);
    ck_assert_uint_eq(site(DEPTH / 2), user);
}
END_TEST

START_TEST(site_rules_add_to_the_list)
{
    uint64_t user = frame("main", "/home/me/a.c", 1, NULL, 0);
    uint64_t helper = frame("my_malloc", "/home/me/pool.c", 1, NULL, 0);
    uint64_t filed = frame("g", "/vendor/x.c", 1, NULL, 0);
    uint64_t loaded = frame("h", NULL, 0, "/vendor/y.so", 0);

    ck_assert_int_eq(add_rules("# ours\n\nfunction my_*\r\nfile  /vendor/*.c  \nmodule */y.so"), NM_OK);
    stack(1, 0, user);
    stack(2, 1, helper);
    stack(3, 2, filed);
    stack(4, 3, loaded);
    resolve();
    ck_assert_uint_eq(site(4), user);
}
END_TEST

START_TEST(a_bad_site_rule_is_refused_with_its_place)
{
    ck_assert_int_eq(add_rules("function a*\nfolder b*\n"), NM_ERR_FORMAT);
    ck_assert_uint_eq(err.offset, 12);
    ck_assert_int_eq(add_rules("function\n"), NM_ERR_FORMAT);
    ck_assert_uint_eq(err.offset, 0);
    ck_assert_int_eq(add_rules("func a"), NM_ERR_FORMAT);
}
END_TEST

/* A text of `letters`, most of which mean something in a pattern or are half a letter. */
static void draw(uint64_t *seed, size_t length_max, char *out)
{
    static const char letters[] = "aab*?[]^-\xc3\xa4\x80\xff";
    size_t length = (*seed = *seed * 6364136223846793005u + 1442695040888963407u) >> 33;

    length %= length_max + 1;
    for (size_t i = 0; i < length; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        out[i] = letters[(*seed >> 33) % (sizeof letters - 1)];
    }
    out[length] = 0;
}

START_TEST(patterns_match_what_glob_matches)
{
    uint64_t seed = 1;
    int match_count = 0;

    for (int i = 0; i < 200000; i++) {
        char glob[8], text[8];
        nm_patterns patterns = {0};
        nm_pattern_subject subject = {.texts = {[NM_PATTERN_FILE] = text}};

        draw(&seed, 5, glob);
        draw(&seed, 5, text);
        ck_assert_int_eq(nm_patterns_add(&patterns, (nm_bytes){(const uint8_t *)"file", 4},
                                         (nm_bytes){(const uint8_t *)glob, strlen(glob)}, false, &err),
                         NM_OK);
        ck_assert_msg(nm_patterns_match(&patterns, NM_PATTERNS_OF_PLUMBING, &subject) ==
                          (sqlite3_strglob(glob, text) == 0),
                      "%s on %s", glob, text);
        match_count += sqlite3_strglob(glob, text) == 0;
        nm_patterns_free(&patterns);
    }
    ck_assert_int_gt(match_count, 2000);
}
END_TEST

TEST_SUITE(test_site)
{
    Suite *suite = suite_create("site");
    TCase *tcase = tcase_create("site");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, labels_name_file_and_function_without_folders);
    tcase_add_test(tcase, the_site_is_the_innermost_frame_that_is_not_plumbing);
    tcase_add_test(tcase, a_line_of_python_goes_before_native_frames);
    tcase_add_test(tcase, a_function_that_others_were_inlined_into_can_be_the_site);
    tcase_add_test(tcase, pythons_own_library_is_plumbing_and_what_is_beside_it_is_not);
    tcase_add_test(tcase, allocators_are_known_by_their_names);
    tcase_add_test(tcase, frames_of_every_kind_of_plumbing_are_known);
    tcase_add_test(tcase, a_library_gives_way_to_the_nearest_function_of_the_program);
    tcase_add_test(tcase, the_package_that_the_program_runs_is_its_own);
    tcase_add_test(tcase, a_package_that_is_named_is_the_programs_own);
    tcase_add_test(tcase, files_that_a_compiler_of_graphs_writes_give_way);
    tcase_add_test(tcase, optimisers_and_models_are_no_plumbing);
    tcase_add_test(tcase, a_return_type_is_no_name);
    tcase_add_test(tcase, where_all_is_plumbing_the_innermost_frame_is_the_site);
    tcase_add_test(tcase, one_line_is_one_site_wherever_it_was_loaded);
    tcase_add_test(tcase, a_ring_of_parents_ends);
    tcase_add_test(tcase, a_deep_stack_is_walked_once);
    tcase_add_test(tcase, site_rules_add_to_the_list);
    tcase_add_test(tcase, a_bad_site_rule_is_refused_with_its_place);
    tcase_add_test(tcase, patterns_match_what_glob_matches);
    suite_add_tcase(suite, tcase);
    return suite;
}
