/* SPDX-License-Identifier: Apache-2.0
 *
 * Which stacks are cut: by their outermost frame, and by how deep was asked for. A frame is "function@module".
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sites/cut.h"
#include "support/suites.h"

#define FRAMES_MAX 5

static nm_definitions definitions;
static nm_error err;
static uint64_t string_count, frame_count, stack_count;

static void set_up(void)
{
    definitions = (nm_definitions){0};
    string_count = frame_count = stack_count = 0;
}

static void tear_down(void)
{
    nm_definitions_free(&definitions);
}

static void add(nm_definition definition)
{
    ck_assert_int_eq(nm_definitions_add(&definitions, &definition, &err), NM_OK);
}

static uint64_t string(const char *text, size_t len)
{
    if (len == 0)
        return 0;
    add((nm_definition){.kind = NM_DEFINE_STRING, .id = ++string_count, .string = {(const uint8_t *)text, len}});
    return string_count;
}

static uint64_t add_frame(const char *text)
{
    nm_definition frame = {.kind = NM_DEFINE_FRAME, .id = ++frame_count};
    size_t function_bytes = strcspn(text, "@");
    const char *module = text + function_bytes + (text[function_bytes] == '@');

    frame.frame.function = string(text, function_bytes);
    frame.frame.module = string(module, strlen(module));
    frame.frame.offset = frame_count;
    add(frame);
    return frame_count;
}

/* Innermost first; the number of the stack. */
static uint64_t add_stack(const char *const frames[FRAMES_MAX])
{
    uint64_t parent = 0;
    size_t count = 0;

    while (count < FRAMES_MAX && frames[count] != NULL)
        count++;
    while (count > 0) {
        nm_definition stack = {.kind = NM_DEFINE_STACK, .id = stack_count + 1};

        stack.stack.parent_id = parent;
        stack.stack.frame_id = add_frame(frames[--count]);
        parent = ++stack_count;
        add(stack);
    }
    return parent;
}

static nm_walk walk_of(uint64_t stack, uint64_t native_depth)
{
    ck_assert_int_eq(nm_definitions_sort(&definitions, &err), NM_OK);
    ck_assert_int_eq(nm_cuts_mark(&definitions, native_depth, &err), NM_OK);
    return (nm_walk)definitions.stacks.items[stack - 1].walk;
}

static const struct {
    const char *frames[FRAMES_MAX];
    nm_walk walk;
} known[] = {
    {{"take@/bin/app", "main@/bin/app"}, NM_WALK_WHOLE},
    {{"take@/bin/app", "main@/bin/app", "__libc_start_call_main@/lib/libc.so.6"}, NM_WALK_WHOLE},
    {{"take@/bin/app", "@/lib/x86_64-linux-gnu/libc.so.6"}, NM_WALK_WHOLE}, /* libc without symbols */
    {{"take@/bin/app", "@/lib64/libc-2.31.so"}, NM_WALK_WHOLE},
    {{"take@/bin/app", "@/lib/ld-musl-aarch64.so.1"}, NM_WALK_WHOLE},
    {{"take@/bin/app", "@/lib/ld-linux-x86-64.so.2"}, NM_WALK_WHOLE},
    {{"run@/bin/app", "execute_native_thread_routine@"}, NM_WALK_WHOLE},
    {{"run@/bin/app", "@/usr/lib/libstdc++.so.6"}, NM_WALK_WHOLE},
    {{"run@/bin/app", "start_thread@/lib/libc.so.6", "clone3@/lib/libc.so.6"}, NM_WALK_WHOLE},
    {{"mm@/lib/libtorch_npu.so", "forward@python3.11"}, NM_WALK_WHOLE},
    {{"forward@python3.11"}, NM_WALK_WHOLE},
    {{"take@/bin/app"}, NM_WALK_CUT},
    {{"mstxMemRegionsRegister@/lib/libms_tools_ext.so", "tell@/lib/libtorch_npu.so"}, NM_WALK_CUT},
    {{"take@/bin/app", "@"}, NM_WALK_CUT}, /* code in no module */
    {{"take@/bin/app", "main_loop@/bin/app"}, NM_WALK_CUT},
    {{"take@/bin/app", "@/opt/libcore.so"}, NM_WALK_CUT}, /* no libc */
    {{"take@/bin/app", "clone@/lib/libc.so.6"},
     NM_WALK_CUT}, /* start_thread, which calls the thread's function, is missing */
};

START_TEST(the_outermost_frame_tells)
{
    uint64_t stacks[sizeof known / sizeof known[0]];

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        stacks[i] = add_stack(known[i].frames);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        ck_assert_msg(walk_of(stacks[i], 64) == known[i].walk, "stack %zu, of %s", i, known[i].frames[0]);
}
END_TEST

START_TEST(as_deep_as_was_asked_for_is_not_cut)
{
    uint64_t three = add_stack((const char *[FRAMES_MAX]){"a@/bin/app", "b@/bin/app", "c@/bin/app"});
    uint64_t two = add_stack((const char *[FRAMES_MAX]){"a@/bin/app", "b@/bin/app"});

    ck_assert_int_eq(walk_of(three, 3), NM_WALK_UNKNOWN);
    ck_assert_int_eq(walk_of(three - 1, 3), NM_WALK_UNKNOWN); /* its caller's */
    ck_assert_int_eq(walk_of(two, 3), NM_WALK_CUT);
    ck_assert_int_eq(walk_of(three, 4), NM_WALK_CUT);
}
END_TEST

START_TEST(nothing_is_said_of_a_source_that_does_not_walk)
{
    ck_assert_int_eq(walk_of(add_stack((const char *[FRAMES_MAX]){"take@/bin/app"}), 0), NM_WALK_UNKNOWN);
}
END_TEST

START_TEST(nothing_is_said_of_what_is_not_known)
{
    nm_definition orphan = {.kind = NM_DEFINE_STACK}, nameless = {.kind = NM_DEFINE_STACK};

    orphan.id = ++stack_count;
    orphan.stack.parent_id = 99;
    orphan.stack.frame_id = add_frame("take@/bin/app");
    add(orphan);
    nameless.id = ++stack_count;
    nameless.stack.frame_id = 77;
    add(nameless);
    ck_assert_int_eq(walk_of(orphan.id, 64), NM_WALK_UNKNOWN);
    ck_assert_int_eq(walk_of(nameless.id, 64), NM_WALK_UNKNOWN);
}
END_TEST

TEST_SUITE(test_cut)
{
    Suite *suite = suite_create("cut");
    TCase *tcase = tcase_create("all");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, the_outermost_frame_tells);
    tcase_add_test(tcase, as_deep_as_was_asked_for_is_not_cut);
    tcase_add_test(tcase, nothing_is_said_of_a_source_that_does_not_walk);
    tcase_add_test(tcase, nothing_is_said_of_what_is_not_known);
    suite_add_tcase(suite, tcase);
    return suite;
}
