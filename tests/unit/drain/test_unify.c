/* SPDX-License-Identifier: Apache-2.0
 *
 * What a place in the code becomes in the trace: the file that it is in, what it was inlined into, and what a recovery
 * says again of both.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drain/known.h"
#include "drain/unify.h"
#include "support/suites.h"

#define QUESTIONS_MAX 16
#define CHAIN_LENGTH  100000 /* a recursion over it would not end well */

static nm_trace_writer *writer;
static nm_unify unify;
static nm_stack_table stacks;
static nm_namer_question questions[QUESTIONS_MAX];
static size_t question_count, answered_count;
static const nm_namer_place *next_places; /* the answer to the next question about a place */
static size_t next_place_count;

static nm_bytes bytes_of(const char *text)
{
    return (nm_bytes){(const uint8_t *)text, strlen(text)};
}

static nm_status take_question(void *context, const nm_namer_question *question, nm_error *err)
{
    (void)context, (void)err;
    ck_assert_uint_lt(question_count, QUESTIONS_MAX);
    questions[question_count++] = *question;
    return NM_OK;
}

static bool give_answer(void *context, nm_namer_answer *answer)
{
    (void)context;
    if (answered_count == question_count)
        return false;
    const nm_namer_question *question = &questions[answered_count++];
    *answer = (nm_namer_answer){.ticket = question->ticket, .is_module = question->is_module};
    if (question->is_module)
        answer->build_id = bytes_of(question->inode == 1 ? "build one" : "build two");
    else {
        answer->places = next_places;
        answer->place_count = next_place_count;
    }
    return true;
}

static size_t count_waiting(void *context)
{
    (void)context;
    return question_count - answered_count;
}

static const nm_namer namer = {.ask = take_question, .poll = give_answer, .waiting = count_waiting};

static void set_up(void)
{
    nm_session session = {.host = "host"};

    ck_assert_int_eq(nm_trace_writer_new(&session, &writer, NULL), NM_OK);
    nm_unify_init(&unify, writer, &namer);
    question_count = answered_count = next_place_count = 0;
    stacks = (nm_stack_table){{0}};
    for (uint64_t process = 1; process <= 3; process++)
        ck_assert_int_eq(
            nm_trace_writer_define(writer, &(nm_definition){.kind = NM_DEFINE_PROCESS, .id = process}, NULL), NM_OK);
}

static void tear_down(void)
{
    nm_stack_table_free(&stacks);
    nm_unify_fini(&unify);
    nm_trace_writer_free(writer);
}

static void load(uint64_t process, uint64_t base, uint64_t inode, const char *path)
{
    nm_ring_module module = {.base = base, .bytes = 0x1000, .inode = inode, .device = 8};

    ck_assert_int_eq(nm_unify_define_module(&unify, process, &module, bytes_of(path), NULL), NM_OK);
}

/* The trace's number of the stack of one frame at the address. */
static uint64_t stack_at(uint64_t process, uint64_t local_id, uint64_t address)
{
    uint64_t word = address + 1; /* a return address */
    nm_unify_frames frames = {&word, 1, NM_STACK_END_UNKNOWN, &(nm_stack_table){{0}}};

    ck_assert_int_eq(nm_unify_define_stack(&unify, process, 1, local_id, &frames, &stacks, NULL), NM_OK);
    const uint64_t *id = nm_stack_table_find(&stacks, local_id);
    return id == NULL ? 0 : *id;
}

/* What a reader knows after the block. */
static void read_back(nm_trace_writer *from, nm_known *known)
{
    nm_bytes block;

    ck_assert_int_eq(nm_trace_writer_seal(from, 0, &block, NULL), NM_OK);
    nm_known_scan(known, block);
    ck_assert_int_eq(nm_known_read(known, block, NULL), NM_OK);
}

static const nm_definition *frame_of(const nm_known *known, uint64_t stack)
{
    const nm_known_definition *found = nm_known_find(known, NM_DEFINE_STACK, stack);

    ck_assert_ptr_nonnull(found);
    found = nm_known_find(known, NM_DEFINE_FRAME, found->definition.stack.frame_id);
    ck_assert_ptr_nonnull(found);
    return &found->definition;
}

static const char *text_of(const nm_known *known, uint64_t id)
{
    static char text[64];
    nm_bytes bytes = nm_known_text(known, id);

    snprintf(text, sizeof text, "%.*s", (int)bytes.len, bytes.data == NULL ? "" : (const char *)bytes.data);
    return text;
}

static const char *build_id_of(const nm_known *known, uint64_t module_id)
{
    static char text[64];
    const nm_known_definition *found = nm_known_find(known, NM_DEFINE_MODULE, module_id);

    ck_assert_ptr_nonnull(found);
    snprintf(text, sizeof text, "%.*s", (int)found->definition.module.build_id.len,
             (const char *)known->texts.data + found->text_at);
    return text;
}

START_TEST(a_place_is_one_in_all_processes_that_have_the_file)
{
    nm_known known = {0};

    load(1, 0x10000, 1, "/lib/a.so");
    load(2, 0x70000, 1, "/lib/a.so");
    ck_assert_uint_eq(stack_at(1, 1, 0x10020), stack_at(2, 2, 0x70020));
    ck_assert_uint_ne(stack_at(1, 3, 0x10021), stack_at(2, 4, 0x70020));
    read_back(writer, &known);
    const nm_definition *frame = frame_of(&known, *nm_stack_table_find(&stacks, 1));
    ck_assert_str_eq(text_of(&known, frame->frame.module), "/lib/a.so");
    ck_assert_uint_eq(frame->frame.offset, 0x20);
    nm_known_fini(&known);
}
END_TEST

/* As in another container, or after an update. */
START_TEST(another_file_of_the_same_name_has_places_and_a_build_id_of_its_own)
{
    nm_known known = {0};

    load(1, 0x10000, 1, "/lib/a.so");
    load(2, 0x70000, 2, "/lib/a.so");
    uint64_t first = stack_at(1, 1, 0x10020), second = stack_at(2, 2, 0x70020);
    load(1, 0x10000, 2, "/lib/a.so"); /* in the place of the first one */
    uint64_t third = stack_at(1, 3, 0x10020);
    ck_assert_int_eq(nm_unify_take_names(&unify, NULL), NM_OK);
    ck_assert_uint_ne(first, second);
    ck_assert_uint_eq(second, third);
    read_back(writer, &known);
    ck_assert_str_eq(build_id_of(&known, frame_of(&known, second)->frame.module_id), "build two");
    ck_assert_uint_ne(frame_of(&known, first)->frame.module_id, frame_of(&known, second)->frame.module_id);
    nm_known_fini(&known);
}
END_TEST

START_TEST(a_name_that_comes_late_tells_what_the_place_was_inlined_into)
{
    static const char *const functions[] = {"inner", "middle", "outer"};
    const nm_namer_place places[] = {{bytes_of("inner"), bytes_of("i.h"), 3},
                                     {bytes_of("middle"), bytes_of("m.h"), 5},
                                     {bytes_of("outer"), bytes_of("o.c"), 7}};
    nm_known known = {0};

    next_places = places;
    next_place_count = 3;
    load(1, 0x10000, 1, "/lib/a.so");
    uint64_t stack = stack_at(1, 1, 0x10020);
    ck_assert_int_eq(nm_unify_take_names(&unify, NULL), NM_OK);
    uint64_t other = stack_at(1, 2, 0x10040); /* frames go on behind the new ones */
    read_back(writer, &known);

    const nm_definition *frame = frame_of(&known, stack);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(text_of(&known, frame->frame.function), functions[i]);
        ck_assert_uint_eq(frame->frame.line, 3 + 2 * (uint64_t)i);
        ck_assert_uint_eq(frame->frame.offset, 0x20);
        ck_assert_str_eq(build_id_of(&known, frame->frame.module_id), "build one");
        ck_assert_int_eq(frame->frame.inlined_in != 0, i < 2);
        if (i < 2)
            frame = &nm_known_find(&known, NM_DEFINE_FRAME, frame->frame.inlined_in)->definition;
    }
    ck_assert_uint_eq(frame_of(&known, other)->frame.offset, 0x40);
    ck_assert_uint_eq(frame_of(&known, other)->frame.function, 0);
    nm_known_fini(&known);
}
END_TEST

START_TEST(a_recovery_says_chains_and_build_ids_again)
{
    nm_session session = {.host = "host"};
    nm_known known = {0}, again = {0};
    nm_trace_writer *second;

    ck_assert_int_eq(
        nm_trace_writer_define(writer,
                               &(nm_definition){.kind = NM_DEFINE_MODULE,
                                                .id = 5,
                                                .module = {.process_id = 1, .build_id = bytes_of("build five")}},
                               NULL),
        NM_OK);
    for (uint64_t id = 1; id <= CHAIN_LENGTH; id++)
        ck_assert_int_eq(
            nm_trace_writer_define(writer,
                                   &(nm_definition){.kind = NM_DEFINE_FRAME,
                                                    .id = id,
                                                    .frame = {.line = id, .inlined_in = id - 1, .module_id = 5}},
                                   NULL),
            NM_OK);
    read_back(writer, &known);

    ck_assert_int_eq(nm_trace_writer_new(&session, &second, NULL), NM_OK);
    ck_assert_int_eq(nm_known_recall(&known, second, NM_DEFINE_FRAME, CHAIN_LENGTH, NULL), NM_OK);
    read_back(second, &again);
    for (uint64_t id = 1; id <= CHAIN_LENGTH; id++) {
        const nm_known_definition *frame = nm_known_find(&again, NM_DEFINE_FRAME, id);
        ck_assert_ptr_nonnull(frame);
        ck_assert_uint_eq(frame->definition.frame.inlined_in, id - 1);
    }
    ck_assert_str_eq(build_id_of(&again, 5), "build five");
    nm_known_fini(&known);
    nm_known_fini(&again);
    nm_trace_writer_free(second);
}
END_TEST

/* A thread goes on counting while its records are dropped. */
START_TEST(a_stack_is_known_after_however_many_that_were_dropped)
{
    load(1, 0x10000, 7, "/lib/a.so");
    uint64_t first = stack_at(1, 1, 0x10100);
    uint64_t far = stack_at(1, 1000000, 0x10200), farthest = stack_at(1, UINT32_MAX, 0x10100);

    ck_assert_uint_ne(first, 0);
    ck_assert_uint_ne(far, 0);
    ck_assert_uint_ne(far, first);
    ck_assert_uint_eq(farthest, first);
    ck_assert_ptr_null(nm_stack_table_find(&stacks, 2));
    ck_assert_ptr_null(nm_stack_table_find(&stacks, 999999));
    nm_known known = {0};
    read_back(writer, &known);
    ck_assert_uint_eq(known.table_count, 1);
    ck_assert_uint_eq(*nm_stack_table_find(&known.stack_tables[0].stacks, 1000000), far);
    ck_assert_uint_eq(*nm_stack_table_find(&known.stack_tables[0].stacks, UINT32_MAX), first);
    nm_known_fini(&known);
}
END_TEST

TEST_SUITE(test_unify)
{
    Suite *suite = suite_create("unify");
    TCase *tests = tcase_create("unify");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_place_is_one_in_all_processes_that_have_the_file);
    tcase_add_test(tests, another_file_of_the_same_name_has_places_and_a_build_id_of_its_own);
    tcase_add_test(tests, a_name_that_comes_late_tells_what_the_place_was_inlined_into);
    tcase_add_test(tests, a_stack_is_known_after_however_many_that_were_dropped);
    tcase_add_test(tests, a_recovery_says_chains_and_build_ids_again);
    suite_add_tcase(suite, tests);
    return suite;
}
