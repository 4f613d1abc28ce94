/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands for a site where a Python program runs no Python: of one stack alone, whoever used it. Stacks 1 to 4: a line of
 * Python, a native stack of the program's own code, a native stack of the framework's alone, and one more of those.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sites/attribution.h"
#include "sites/cut.h"
#include "store/database.h"
#include "store/plumbing.h"
#include "store/schema.h"
#include "support/suites.h"

enum { LINE = 1, OWN = 2, FRAMEWORK = 3, OTHER = 4 };

static nm_definitions definitions;
static sqlite3 *db;
static nm_error err;
static uint64_t string_count;

static void add(nm_definition definition)
{
    ck_assert_int_eq(nm_definitions_add(&definitions, &definition, &err), NM_OK);
}

static uint64_t string(const char *text)
{
    add((nm_definition){
        .kind = NM_DEFINE_STRING, .id = ++string_count, .string = {(const uint8_t *)text, strlen(text)}});
    return string_count;
}

static void add_called(uint64_t id, uint64_t caller, const char *function, const char *file, const char *module)
{
    nm_definition frame = {.kind = NM_DEFINE_FRAME, .id = id},
                  stack = {.kind = NM_DEFINE_STACK, .id = id, .stack.parent_id = caller};

    frame.frame.function = string(function);
    frame.frame.file = file[0] == 0 ? 0 : string(file);
    frame.frame.line = id;
    frame.frame.module = string(module);
    stack.stack.frame_id = id;
    add(frame);
    add(stack);
}

static void add_stack(uint64_t id, const char *function, const char *file, const char *module)
{
    add_called(id, 0, function, file, module);
}

static void set_up(void)
{
    definitions = (nm_definitions){0};
    string_count = 0;
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(nm_schema_apply(db, NM_SCHEMA_TABLES, &err), NM_OK);
    add_stack(LINE, "forward", "/home/me/net.py", "python3.11");
    add_stack(OWN, "my_kernel", "/home/me/kernel.cpp", "/home/me/kernel.so");
    add_stack(FRAMEWORK, "at::native::mm", "/src/mm.cpp", "/env/torch/lib/libtorch_cpu.so");
    add_stack(OTHER, "at::native::softmax", "/src/softmax.cpp", "/env/torch/lib/libtorch_cpu.so");
}

static void tear_down(void)
{
    nm_definitions_free(&definitions);
    sqlite3_close(db);
}

static void open_sites(nm_sites *sites)
{
    nm_patterns plumbing = {0};

    ck_assert_msg(nm_plumbing_read(db, &plumbing, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_sites_open(&plumbing, &definitions, sites, &err) == NM_OK, "%s", err.text);
    nm_patterns_free(&plumbing);
}

static void mark(nm_walk walk)
{
    ck_assert_int_eq(nm_definitions_sort(&definitions, &err), NM_OK);
    for (size_t i = 0; i < definitions.stacks.count; i++)
        definitions.stacks.items[i].walk = walk;
}

/* The site's label, and what its frame says of it where it is no place in the code. */
static void hold(nm_walk walk, uint64_t stack, const char *label, const char *attribution)
{
    nm_sites sites = {0};
    nm_buffer text = {0};

    mark(walk);
    open_sites(&sites);
    nm_sites_resolve(&sites, &definitions);
    size_t site = definitions.stacks.items[stack - 1].site;
    nm_attribution found = nm_attribution_of(&definitions, &sites, stack - 1);
    ck_assert_uint_ne(site, 0);
    ck_assert_int_eq(nm_site_label(&definitions, &definitions.frames.items[site - 1], &text, &err), NM_OK);
    ck_assert_msg(text.len == strlen(label) && memcmp(text.data, label, text.len) == 0, "%.*s, not %s", (int)text.len,
                  (const char *)text.data, label);
    ck_assert_msg(found.name.len == strlen(attribution) &&
                      (found.name.len == 0 || memcmp(found.name.data, attribution, found.name.len) == 0),
                  "%.*s, not %s", (int)found.name.len, (const char *)found.name.data, attribution);
    ck_assert_int_eq(found.is_cut, strcmp(attribution, "(stack cut)") == 0);
    nm_buffer_free(&text);
    nm_sites_close(&sites);
}

START_TEST(a_frame_of_the_program_is_the_site_however_the_stack_ends)
{
    for (nm_walk walk = NM_WALK_UNKNOWN; walk <= NM_WALK_CUT; walk++) {
        hold(walk, LINE, "net.py:1 forward", "");
        hold(walk, OWN, "kernel.cpp:2 my_kernel", "");
    }
}
END_TEST

/* Above it there is nothing but plumbing, or a line of the program: only the first has no other name. */
START_TEST(a_compiled_graph_that_no_line_called_is_called_one)
{
    static const char graph[] = "/tmp/torchinductor_me/3u/c3uxhj5q2ablsqp5lrlrkd2ig2tub4do54ysdazmtvawnjje2knd.py";
    nm_definition called = {.kind = NM_DEFINE_STACK, .id = 7, .stack = {.parent_id = LINE, .frame_id = 5}};

    add_stack(5, "call", graph, "python3.11");
    add_stack(6, "empty_strided_cuda", "/env/torch/_dynamo/utils.py", "python3.11");
    add(called);
    hold(NM_WALK_WHOLE, 5, "c3uxhj5q2ablsqp5lrlrkd2ig2tub4do54ysdazmtvawnjje2knd.py:5 call", "compiled graph");
    hold(NM_WALK_WHOLE, 6, "utils.py:6 empty_strided_cuda", "");
    hold(NM_WALK_WHOLE, 7, "net.py:1 forward", "");
}
END_TEST

START_TEST(a_stack_of_plumbing_that_is_cut_says_so)
{
    hold(NM_WALK_CUT, FRAMEWORK, "mm.cpp:3 at::native::mm", "(stack cut)");
    hold(NM_WALK_CUT, OTHER, "softmax.cpp:4 at::native::softmax", "(stack cut)");
}
END_TEST

/* The pool of a queue's consumer: what begins every thread says nothing, nor does what ends all stacks. Where the outer end
 * is not known, it may be any frame. */
START_TEST(a_whole_stack_of_plumbing_has_what_its_thread_runs)
{
    add_stack(5, "clone", "", "/lib/libc.so.6");
    add_called(6, 5, "start_thread", "", "/lib/libc.so.6");
    add_called(7, 6, "std::thread::_State_impl<void (*)()>::_M_run", "", "/env/torch_npu/lib/libtorch_npu.so");
    add_called(8, 7, "c10_npu::Repository::Dequeue", "/src/queue.cpp", "/env/torch_npu/lib/libtorch_npu.so");
    add_called(9, 8, "at::native::mm", "/src/mm.cpp", "/env/torch/lib/libtorch_cpu.so");
    add_called(10, 9, "aclrtMalloc", "/src/malloc.cpp", "/env/libascendcl.so");
    hold(NM_WALK_WHOLE, 10, "queue.cpp:8 c10_npu::Repository::Dequeue", "");
    hold(NM_WALK_UNKNOWN, 10, "malloc.cpp:10 aclrtMalloc", "");
    hold(NM_WALK_WHOLE, 6, "libc.so.6+0x0 start_thread", "");
    hold(NM_WALK_WHOLE, FRAMEWORK, "mm.cpp:3 at::native::mm", "");
}
END_TEST

/* However the walk ends, where no Python runs. */
START_TEST(a_backward_pass_is_at_its_node_or_called_one)
{
    add_stack(5, "torch::autograd::Engine::thread_init", "/src/engine.cpp", "/env/torch/lib/libtorch_cpu.so");
    add_called(6, 5, "torch::autograd::generated::MmBackward0::apply(int)", "/src/Functions.cpp",
               "/env/torch/lib/libtorch_cpu.so");
    add_called(7, 6, "at::native::mm", "/src/mm.cpp", "/env/torch/lib/libtorch_cpu.so");
    add_called(8, 5, "at::native::add", "/src/add.cpp", "/env/torch/lib/libtorch_cpu.so");
    add_called(9, LINE, "torch::autograd::Engine::execute", "/src/engine.cpp", "/env/torch/lib/libtorch_cpu.so");
    hold(NM_WALK_CUT, 7, "mm.cpp:7 at::native::mm", "torch::autograd::generated::MmBackward0::apply");
    hold(NM_WALK_CUT, 8, "add.cpp:8 at::native::add", "autograd (backward)");
    add_stack(10, "backward", "/env/torch/autograd/graph.py", "python3.11");
    add_called(11, 10, "torch::autograd::Engine::execute", "/src/engine.cpp", "/env/torch/lib/libtorch_cpu.so");
    add_called(12, 11, "torch::autograd::generated::MmBackward0::apply(int)", "/src/Functions.cpp",
               "/env/torch/lib/libtorch_cpu.so");
    hold(NM_WALK_CUT, 9, "net.py:1 forward", "");
    hold(NM_WALK_WHOLE, 11, "graph.py:10 backward", "");
    hold(NM_WALK_WHOLE, 12, "graph.py:10 backward", "");
}
END_TEST

TEST_SUITE(test_attribution)
{
    Suite *suite = suite_create("role");
    TCase *tcase = tcase_create("all");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_frame_of_the_program_is_the_site_however_the_stack_ends);
    tcase_add_test(tcase, a_compiled_graph_that_no_line_called_is_called_one);
    tcase_add_test(tcase, a_stack_of_plumbing_that_is_cut_says_so);
    tcase_add_test(tcase, a_whole_stack_of_plumbing_has_what_its_thread_runs);
    tcase_add_test(tcase, a_backward_pass_is_at_its_node_or_called_one);
    suite_add_tcase(suite, tcase);
    return suite;
}
