/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames that somebody else names, and functions that were inlined, in definitions made by hand.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites/frame_names.h"
#include "sites/inlined.h"
#include "support/suites.h"

static nm_definitions definitions;
static uint64_t string_count;

static void set_up(void)
{
    definitions = (nm_definitions){0};
    string_count = 0;
}

static void tear_down(void)
{
    nm_definitions_free(&definitions);
}

static nm_bytes bytes_of(const char *text)
{
    return (nm_bytes){(const uint8_t *)text, strlen(text)};
}

static void add(nm_definition definition)
{
    ck_assert_int_eq(nm_definitions_add(&definitions, &definition, NULL), NM_OK);
}

static uint64_t string(const char *text)
{
    if (text[0] == 0)
        return 0;
    add((nm_definition){.kind = NM_DEFINE_STRING, .id = ++string_count, .string = bytes_of(text)});
    return string_count;
}

static void module(uint64_t id, const char *path, const char *build_id)
{
    nm_definition definition = {.kind = NM_DEFINE_MODULE, .id = id};

    definition.module.path = string(path);
    definition.module.build_id = bytes_of(build_id);
    add(definition);
}

static void bare_frame(uint64_t id, const char *path, uint64_t module_id, uint64_t offset)
{
    nm_definition definition = {.kind = NM_DEFINE_FRAME, .id = id};

    definition.frame.module = string(path);
    definition.frame.module_id = module_id;
    definition.frame.offset = offset;
    add(definition);
}

static void named_frame(uint64_t id, const char *function, const char *file, uint64_t inlined_in)
{
    nm_definition definition = {.kind = NM_DEFINE_FRAME, .id = id};

    definition.frame.module = string("/lib/named.so");
    definition.frame.function = string(function);
    definition.frame.file = string(file);
    definition.frame.inlined_in = inlined_in;
    add(definition);
}

static void stack(uint64_t id, uint64_t parent_id, uint64_t frame_id)
{
    add((nm_definition){.kind = NM_DEFINE_STACK, .id = id, .stack = {.parent_id = parent_id, .frame_id = frame_id}});
}

/* The functions of a stack, innermost first, as "a b c"; "+0x10" for one without. */
static const char *walk(uint64_t stack_id)
{
    static char text[4096];
    size_t len = 0;

    text[0] = 0;
    while (stack_id != 0 && len < sizeof text - 64) {
        size_t at = nm_id_map_find(&definitions.stacks.by_id, stack_id);
        ck_assert_uint_ne(at, NM_ID_MAP_NONE);
        const nm_stack_node *node = &definitions.stacks.items[at];
        const nm_frame *frame = nm_frame_find(&definitions, node->frame_id);
        ck_assert_uint_eq(node->stack_id, stack_id);
        nm_bytes name = nm_definitions_text(&definitions, frame == NULL ? 0 : frame->frame.function);
        if (name.len > 0)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len > 0 ? " " : "", (const char *)name.data);
        else
            len += (size_t)snprintf(text + len, sizeof text - len, "%s+0x%llx", len > 0 ? " " : "",
                                    frame == NULL ? 0 : (unsigned long long)frame->frame.offset);
        stack_id = node->parent_id;
    }
    return text;
}

static void expand(void)
{
    ck_assert_int_eq(nm_definitions_sort(&definitions, NULL), NM_OK);
    ck_assert_int_eq(nm_inlined_expand(&definitions, NULL), NM_OK);
}

/* ---- Inlined functions ---- */

START_TEST(inlined_functions_become_callers)
{
    named_frame(1, "main", "a.c", 0);
    named_frame(2, "physical", "a.c", 0);
    named_frame(3, "outer", "a.c", 2);
    named_frame(4, "inner", "a.c", 3);
    stack(10, 0, 1);
    stack(11, 10, 4);
    stack(12, 11, 1);
    expand();
    ck_assert_str_eq(walk(10), "main");
    ck_assert_str_eq(walk(11), "inner outer physical main");
    ck_assert_str_eq(walk(12), "main inner outer physical main");
    ck_assert_uint_eq(definitions.stacks.count, 5);
}
END_TEST

START_TEST(a_chain_in_circles_or_into_nothing_ends)
{
    char expected[256] = "";

    named_frame(1, "a", "a.c", 2);
    named_frame(2, "b", "a.c", 1);
    named_frame(3, "c", "a.c", 99);
    named_frame(4, "self", "a.c", 4);
    stack(10, 0, 1);
    stack(11, 0, 3);
    stack(12, 0, 4);
    stack(13, 0, 77);
    expand();
    for (int i = 0; i <= NM_INLINED_DEPTH_MAX; i++)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s%s", i > 0 ? " " : "",
                 i % 2 == 0 ? "a" : "b");
    ck_assert_str_eq(walk(10), expected);
    ck_assert_str_eq(walk(11), "c");
    ck_assert_uint_eq(definitions.stacks.count, 4 + 2 * NM_INLINED_DEPTH_MAX);
}
END_TEST

START_TEST(numbers_up_to_the_limit_are_left_alone)
{
    named_frame(1, "outer", "a.c", 0);
    named_frame(2, "inner", "a.c", 1);
    stack(NM_ID_SET_ID_MAX, 0, 2);
    expand();
    ck_assert_str_eq(walk(NM_ID_SET_ID_MAX), "inner");
}
END_TEST

/* ---- Names ---- */

static char asked[1024]; /* "BUILD_ID:OFFSET,OFFSET; ..." */

/* Knows every place of the build "right": its function is "f_OFFSET"; one at 0x30 was inlined into two more. */
static nm_status answer(void *context, const nm_frame_question *question, nm_frame_answers *answers, nm_error *err)
{
    char name[32];
    nm_status status = NM_OK;
    size_t len = strlen(asked);

    (void)context;
    len += (size_t)snprintf(asked + len, sizeof asked - len, "%s%.*s:", len > 0 ? "; " : "",
                            (int)question->build_id.len, (const char *)question->build_id.data);
    for (size_t i = 0; i < question->count && status == NM_OK; i++) {
        len += (size_t)snprintf(asked + len, sizeof asked - len, "%s0x%llx", i > 0 ? "," : "",
                                (unsigned long long)question->offsets[i]);
        snprintf(name, sizeof name, "f_0x%llx", (unsigned long long)question->offsets[i]);
        nm_frame_place places[] = {
            {bytes_of(name), bytes_of("f.c"), 1}, {bytes_of("mid"), bytes_of("m.c"), 2}, {bytes_of("end"), {0}, 0}};
        if (memcmp(question->build_id.data, "right", 5) == 0)
            status = nm_frame_answers_put(answers, i, places, question->offsets[i] == 0x30 ? 3 : 1, err);
    }
    return status;
}

static nm_frame_name_counts find_names(bool has_namer)
{
    nm_frame_namer namer = {.ask = answer};
    nm_frame_name_counts counts;

    asked[0] = 0;
    ck_assert_int_eq(nm_definitions_sort(&definitions, NULL), NM_OK);
    ck_assert_int_eq(nm_frame_names_find(&definitions, has_namer ? &namer : NULL, &counts, NULL), NM_OK);
    return counts;
}

START_TEST(each_build_is_asked_about_once_in_the_order_of_places)
{
    module(1, "/lib/a.so", "right");
    module(2, "/lib/b.so", "wrong");
    module(3, "/copy/a.so", "right");
    bare_frame(1, "/lib/a.so", 1, 0x20);
    bare_frame(2, "/lib/b.so", 2, 0x50);
    bare_frame(3, "/copy/a.so", 3, 0x10);
    bare_frame(4, "/lib/a.so", 1, 0x30);
    stack(7, 0, 1);
    stack(8, 7, 4);
    nm_frame_name_counts counts = find_names(true);
    ck_assert_str_eq(asked, "right:0x10,0x20,0x30; wrong:0x50");
    ck_assert_uint_eq(counts.named_frames, 3);
    ck_assert_uint_eq(counts.unnamed_frames, 1);
    ck_assert_uint_eq(counts.unnamed_modules, 1);
    ck_assert_int_eq(nm_inlined_expand(&definitions, NULL), NM_OK);
    ck_assert_str_eq(walk(8), "f_0x30 mid end f_0x20");
    ck_assert_uint_eq(definitions.frames.count, 6);
    ck_assert_uint_eq(nm_frame_find(&definitions, 6)->frame.line, 2);
    ck_assert_uint_eq(nm_frame_find(&definitions, 6)->frame.offset, 0x30);
}
END_TEST

/* Format 1.0 had paths alone. */
START_TEST(a_path_stands_for_its_build_unless_there_were_two)
{
    module(1, "/lib/a.so", "right");
    module(2, "/lib/a.so", "right");
    module(3, "/lib/b.so", "right two");
    module(4, "/lib/b.so", "wrong");
    bare_frame(1, "/lib/a.so", 0, 0x10);
    bare_frame(2, "/lib/b.so", 0, 0x20);
    bare_frame(3, "/lib/unknown.so", 0, 0x20);
    nm_frame_name_counts counts = find_names(true);
    ck_assert_str_eq(asked, "right:0x10");
    ck_assert_uint_eq(counts.named_frames, 1);
    ck_assert_uint_eq(counts.unnamed_modules, 2);
}
END_TEST

/* What a stripped library exports names no line; what a frame was inlined into has its name from there. */
START_TEST(what_is_known_is_not_asked_for)
{
    module(1, "/lib/named.so", "right");
    named_frame(1, "exported", "", 0);
    named_frame(2, "known", "k.c", 0);
    named_frame(3, "outer", "", 0);
    named_frame(4, "inner", "i.c", 3);
    nm_frame_name_counts counts = find_names(true);
    ck_assert_str_eq(asked, "right:0x0");
    ck_assert_uint_eq(counts.named_frames, 1);
    ck_assert_uint_eq(counts.unnamed_frames, 0);
    stack(1, 0, 1);
    stack(2, 0, 4);
    expand();
    ck_assert_str_eq(walk(1), "f_0x0");
    ck_assert_str_eq(walk(2), "inner outer");
}
END_TEST

START_TEST(without_anybody_to_ask_frames_are_counted)
{
    module(1, "/lib/a.so", "right");
    bare_frame(1, "/lib/a.so", 1, 0x20);
    bare_frame(2, "/lib/a.so", 1, 0x30);
    nm_frame_name_counts counts = find_names(false);
    ck_assert_str_eq(asked, "");
    ck_assert_uint_eq(counts.named_frames, 0);
    ck_assert_uint_eq(counts.unnamed_frames, 2);
    ck_assert_uint_eq(counts.unnamed_modules, 1);
}
END_TEST

TEST_SUITE(test_frame_names)
{
    Suite *suite = suite_create("frame names");
    TCase *tests = tcase_create("frame names");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, inlined_functions_become_callers);
    tcase_add_test(tests, a_chain_in_circles_or_into_nothing_ends);
    tcase_add_test(tests, numbers_up_to_the_limit_are_left_alone);
    tcase_add_test(tests, each_build_is_asked_about_once_in_the_order_of_places);
    tcase_add_test(tests, a_path_stands_for_its_build_unless_there_were_two);
    tcase_add_test(tests, what_is_known_is_not_asked_for);
    tcase_add_test(tests, without_anybody_to_ask_frames_are_counted);
    suite_add_tcase(suite, tests);
    return suite;
}
