/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands for a site where a Python program runs no Python. Stacks 1 to 4: a line of Python, a native stack of the
 * program's own code, a native stack of the framework's alone, and one more of those.
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

enum { LINE = 1, OWN = 2, FRAMEWORK = 3, OTHER = 4, STACK_COUNT = 4 };
enum { PYTHON_HEAP = 1, NATIVE_HEAP = 2, THIRD_HEAP = 3 }; /* of a process that runs Python, and of one that does not */
enum { MATMUL = 1, SOFTMAX = 2 };                          /* operators, by the number of their name */

static nm_definitions definitions;
static nm_stack_uses uses;
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

static void add_stack(uint64_t id, const char *function, const char *file, const char *module)
{
    nm_definition frame = {.kind = NM_DEFINE_FRAME, .id = id}, stack = {.kind = NM_DEFINE_STACK, .id = id};

    frame.frame.function = string(function);
    frame.frame.file = string(file);
    frame.frame.line = id;
    frame.frame.module = string(module);
    stack.stack.frame_id = id;
    add(frame);
    add(stack);
}

static void set_up(void)
{
    definitions = (nm_definitions){0};
    uses = (nm_stack_uses){0};
    string_count = 0;
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(nm_schema_apply(db, NM_SCHEMA_TABLES, &err), NM_OK);
    ck_assert_uint_eq(string("aclnnMatmul"), MATMUL);
    ck_assert_uint_eq(string("aclnnSoftmax"), SOFTMAX);
    for (uint64_t id = 1; id <= 2; id++) {
        nm_definition process = {.kind = NM_DEFINE_PROCESS, .id = id}, heap = {.kind = NM_DEFINE_HEAP, .id = id},
                      thread = {.kind = NM_DEFINE_THREAD, .id = id};
        heap.heap.process_id = thread.thread.process_id = id;
        thread.thread.name = string(id == 1 ? "task_queue" : "worker");
        add(process);
        add(heap);
        add(thread);
    }
    add_stack(LINE, "forward", "/home/me/net.py", "python3.11");
    add_stack(OWN, "my_kernel", "/home/me/kernel.cpp", "/home/me/kernel.so");
    add_stack(FRAMEWORK, "at::native::mm", "/src/mm.cpp", "/env/torch/lib/libtorch_cpu.so");
    add_stack(OTHER, "at::native::softmax", "/src/softmax.cpp", "/env/torch/lib/libtorch_cpu.so");
}

static void tear_down(void)
{
    nm_definitions_free(&definitions);
    nm_stack_uses_free(&uses);
    sqlite3_close(db);
}

static void allocate(uint64_t heap, uint64_t stack, uint64_t operator_name, uint64_t thread)
{
    nm_stack_use use = {.operator_name = operator_name, .thread_id = thread};

    ck_assert_int_eq(nm_stack_uses_add(&uses, (nm_key){heap, stack}, &use, &err), NM_OK);
}

static void hold_role(const nm_attribution *role, const char *name, nm_attribution_kind kind)
{
    ck_assert_uint_eq(role->name.len, strlen(name));
    ck_assert(role->name.len == 0 || memcmp(role->name.data, name, role->name.len) == 0);
    ck_assert_int_eq(role->kind, kind);
}

static void open_sites(nm_sites *sites)
{
    nm_patterns plumbing = {0};

    ck_assert_msg(nm_plumbing_read(db, &plumbing, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_sites_open(&plumbing, &definitions, sites, &err) == NM_OK, "%s", err.text);
    nm_patterns_free(&plumbing);
}

static nm_attribution *find(void)
{
    nm_sites sites = {0};
    nm_attribution *roles;

    ck_assert_int_eq(nm_definitions_sort(&definitions, &err), NM_OK);
    open_sites(&sites);
    nm_sites_resolve(&sites, &definitions);
    ck_assert_int_eq(nm_attributions_find(&uses, &definitions, &sites, &roles, &err), NM_OK);
    nm_sites_close(&sites);
    return roles;
}

START_TEST(the_operator_then_the_native_frame_then_the_thread)
{
    allocate(PYTHON_HEAP, LINE, MATMUL, 1);
    allocate(PYTHON_HEAP, OWN, SOFTMAX, 1);
    allocate(PYTHON_HEAP, FRAMEWORK, MATMUL, 1);
    allocate(PYTHON_HEAP, OTHER, 0, 1);
    nm_attribution *roles = find();
    hold_role(&roles[LINE - 1], "", NM_ATTRIBUTION_NONE);
    hold_role(&roles[OWN - 1], "aclnnSoftmax", NM_ATTRIBUTION_OPERATOR);
    hold_role(&roles[FRAMEWORK - 1], "aclnnMatmul", NM_ATTRIBUTION_OPERATOR);
    hold_role(&roles[OTHER - 1], "task_queue", NM_ATTRIBUTION_THREAD);
    free(roles);
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
    allocate(PYTHON_HEAP, 5, MATMUL, 1);
    allocate(PYTHON_HEAP, 6, 0, 1);
    allocate(PYTHON_HEAP, 7, MATMUL, 1);
    allocate(PYTHON_HEAP, LINE, 0, 1);
    nm_attribution *roles = find();
    hold_role(&roles[4], "compiled graph", NM_ATTRIBUTION_COMPILED);
    hold_role(&roles[5], "task_queue", NM_ATTRIBUTION_THREAD);
    hold_role(&roles[6], "", NM_ATTRIBUTION_NONE);
    free(roles);
}
END_TEST

START_TEST(a_stack_of_several_has_none)
{
    allocate(PYTHON_HEAP, LINE, 0, 1);
    allocate(PYTHON_HEAP, FRAMEWORK, MATMUL, 1);
    allocate(PYTHON_HEAP, FRAMEWORK, SOFTMAX, 1); /* the thread is the same */
    allocate(PYTHON_HEAP, OTHER, 0, 1);
    allocate(PYTHON_HEAP, OTHER, 0, 2);
    allocate(PYTHON_HEAP, OWN, 0, 1); /* has a frame to be shown */
    nm_attribution *roles = find();
    hold_role(&roles[FRAMEWORK - 1], "task_queue", NM_ATTRIBUTION_THREAD);
    hold_role(&roles[OTHER - 1], "", NM_ATTRIBUTION_NONE);
    hold_role(&roles[OWN - 1], "", NM_ATTRIBUTION_NONE);
    free(roles);
}
END_TEST

START_TEST(a_program_without_python_keeps_its_frames)
{
    allocate(PYTHON_HEAP, LINE, 0, 1);
    allocate(NATIVE_HEAP, FRAMEWORK, MATMUL, 2);
    allocate(NATIVE_HEAP, OTHER, 0, 2);
    nm_attribution *roles = find();
    for (int i = 0; i < STACK_COUNT; i++)
        hold_role(&roles[i], "", NM_ATTRIBUTION_NONE);
    free(roles);
}
END_TEST

START_TEST(a_thread_of_autograd_is_a_backward_pass)
{
    nm_definition thread = {.kind = NM_DEFINE_THREAD, .id = 3};

    thread.thread.process_id = 1;
    thread.thread.name = string("pt_autograd_0");
    add(thread);
    allocate(PYTHON_HEAP, LINE, 0, 1);
    allocate(PYTHON_HEAP, FRAMEWORK, 0, 3);
    allocate(PYTHON_HEAP, OTHER, MATMUL, 3);
    nm_attribution *roles = find();
    hold_role(&roles[FRAMEWORK - 1], "autograd (backward)", NM_ATTRIBUTION_BACKWARD);
    hold_role(&roles[OTHER - 1], "aclnnMatmul", NM_ATTRIBUTION_OPERATOR);
    free(roles);
}
END_TEST

/* Threads of one name are one; one of another name makes it nobody's. */
START_TEST(a_stack_that_is_cut_says_so_with_the_threads_name)
{
    nm_definition thread = {.kind = NM_DEFINE_THREAD, .id = 3};

    thread.thread.process_id = 2;
    thread.thread.name = string("worker");
    add(thread);
    allocate(PYTHON_HEAP, LINE, 0, 1);
    allocate(NATIVE_HEAP, OWN, 0, 2); /* has a frame to be shown */
    allocate(NATIVE_HEAP, FRAMEWORK, MATMUL, 2);
    allocate(THIRD_HEAP, FRAMEWORK, 0, 3);
    allocate(NATIVE_HEAP, OTHER, 0, 2);
    allocate(PYTHON_HEAP, OTHER, 0, 1);
    ck_assert_int_eq(nm_definitions_sort(&definitions, &err), NM_OK);
    for (int i = 0; i < STACK_COUNT; i++)
        definitions.stacks.items[i].walk = NM_WALK_CUT;
    nm_attribution *roles = find();
    hold_role(&roles[LINE - 1], "", NM_ATTRIBUTION_NONE);
    hold_role(&roles[OWN - 1], "", NM_ATTRIBUTION_NONE);
    hold_role(&roles[FRAMEWORK - 1], "worker", NM_ATTRIBUTION_CUT);
    hold_role(&roles[OTHER - 1], "", NM_ATTRIBUTION_CUT);
    free(roles);
}
END_TEST

START_TEST(a_whole_stack_of_plumbing_has_the_threads_name)
{
    allocate(NATIVE_HEAP, FRAMEWORK, 0, 2);
    ck_assert_int_eq(nm_definitions_sort(&definitions, &err), NM_OK);
    definitions.stacks.items[FRAMEWORK - 1].walk = NM_WALK_WHOLE;
    nm_attribution *roles = find();
    hold_role(&roles[FRAMEWORK - 1], "worker", NM_ATTRIBUTION_THREAD);
    hold_role(&roles[OTHER - 1], "", NM_ATTRIBUTION_NONE);
    free(roles);
}
END_TEST

TEST_SUITE(test_attribution)
{
    Suite *suite = suite_create("role");
    TCase *tcase = tcase_create("all");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, the_operator_then_the_native_frame_then_the_thread);
    tcase_add_test(tcase, a_compiled_graph_that_no_line_called_is_called_one);
    tcase_add_test(tcase, a_stack_of_several_has_none);
    tcase_add_test(tcase, a_program_without_python_keeps_its_frames);
    tcase_add_test(tcase, a_thread_of_autograd_is_a_backward_pass);
    tcase_add_test(tcase, a_stack_that_is_cut_says_so_with_the_threads_name);
    tcase_add_test(tcase, a_whole_stack_of_plumbing_has_the_threads_name);
    suite_add_tcase(suite, tcase);
    return suite;
}
