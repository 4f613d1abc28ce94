/* SPDX-License-Identifier: Apache-2.0
 *
 * Which functions of a program are its own allocation wrappers. Each test lists the stacks of one heap, innermost function
 * first, with the place inside it: "name:place".
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites/wrapper.h"
#include "store/database.h"
#include "store/plumbing.h"
#include "store/schema.h"
#include "support/suites.h"

static nm_definitions definitions;
static nm_heap_stacks heap_stacks;
static sqlite3 *db;
static nm_error err;
static uint64_t string_count, frame_count, stack_count;
static char taken[8][64]; /* wrappers, all of one heap */
static size_t taken_count;

static void set_up(void)
{
    definitions = (nm_definitions){0};
    heap_stacks = (nm_heap_stacks){0};
    string_count = frame_count = stack_count = 0;
    taken_count = 0;
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(nm_schema_apply(db, NM_SCHEMA_TABLES, &err), NM_OK);
    for (uint64_t heap = 1; heap <= 2; heap++)
        ck_assert_int_eq(nm_definitions_add(&definitions, &(nm_definition){.kind = NM_DEFINE_HEAP, .id = heap}, &err),
                         NM_OK);
}

static void tear_down(void)
{
    nm_definitions_free(&definitions);
    nm_heap_stacks_free(&heap_stacks);
    sqlite3_close(db);
}

static uint64_t add_frame(const char *name, size_t name_len, uint64_t place)
{
    nm_definition text = {.kind = NM_DEFINE_STRING, .id = ++string_count, .string = {(const uint8_t *)name, name_len}};
    nm_definition file = {.kind = NM_DEFINE_STRING, .id = ++string_count, .string = {(const uint8_t *)"program.c", 9}};
    nm_definition frame = {.kind = NM_DEFINE_FRAME, .id = ++frame_count};

    frame.frame.function = text.id;
    frame.frame.file = file.id;
    frame.frame.line = place;
    ck_assert_int_eq(nm_definitions_add(&definitions, &text, &err), NM_OK);
    ck_assert_int_eq(nm_definitions_add(&definitions, &file, &err), NM_OK);
    ck_assert_int_eq(nm_definitions_add(&definitions, &frame, &err), NM_OK);
    return frame.id;
}

/* "inner:1 outer:2 main:3": adds the stack, callers first, and says that `heap` allocates from it. */
static void heap_allocates(uint64_t heap, const char *line)
{
    const char *end = line + strlen(line);
    uint64_t parent = 0;
    size_t number;

    while (end > line) {
        const char *begin = end;
        while (begin > line && begin[-1] != ' ')
            begin--;
        const char *colon = memchr(begin, ':', (size_t)(end - begin));
        nm_definition stack = {.kind = NM_DEFINE_STACK, .id = ++stack_count};
        stack.stack.frame_id = add_frame(begin, (size_t)(colon - begin), strtoull(colon + 1, NULL, 10));
        stack.stack.parent_id = parent;
        ck_assert_int_eq(nm_definitions_add(&definitions, &stack, &err), NM_OK);
        parent = stack.id;
        end = begin > line ? begin - 1 : begin;
    }
    ck_assert_int_eq(nm_heap_stacks_number(&heap_stacks, heap, parent, &number, &err), NM_OK);
}

static void open_sites(nm_sites *sites)
{
    nm_patterns plumbing = {0};

    ck_assert_msg(nm_plumbing_read(db, &plumbing, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_sites_open(&plumbing, &definitions, sites, &err) == NM_OK, "%s", err.text);
    nm_patterns_free(&plumbing);
}

static nm_status take(void *context, uint64_t heap_id, nm_bytes pattern, nm_error *failure)
{
    (void)context;
    (void)failure;
    ck_assert_uint_eq(heap_id, 1);
    ck_assert_uint_lt(taken_count, 8);
    snprintf(taken[taken_count++], sizeof taken[0], "%.*s", (int)pattern.len, (const char *)pattern.data);
    return NM_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The wrappers found, in order, joined by blanks. */
static const char *found(void)
{
    static char names[512];
    nm_sites sites = {0};

    ck_assert_int_eq(nm_definitions_sort(&definitions, &err), NM_OK);
    open_sites(&sites);
    ck_assert_msg(nm_wrappers_find(&definitions, &heap_stacks, &sites, &(nm_wrapper_taker){.take = take}, &err) ==
                      NM_OK,
                  "%s", err.text);
    nm_sites_close(&sites);

    names[0] = 0;
    qsort(taken, taken_count, sizeof taken[0], by_name);
    for (size_t i = 0; i < taken_count; i++) {
        strcat(names, i == 0 ? "" : " ");
        strcat(names, taken[i]);
    }
    return names;
}

START_TEST(a_function_that_many_call_is_a_wrapper)
{
    heap_allocates(1, "pool_take:1 forward:10 main:1");
    heap_allocates(1, "pool_take:1 backward:20 main:2");
    heap_allocates(1, "pool_take:1 leak_one:30 main:3");
    ck_assert_str_eq(found(), "pool_take");
}
END_TEST

START_TEST(a_chain_of_wrappers_is_found_whole)
{
    heap_allocates(1, "tell:5 pool_take:1 take:3 forward:10 main:1");
    heap_allocates(1, "tell:5 pool_take:2 take:3 backward:20 main:2");
    heap_allocates(1, "tell:5 pool_take:1 take:3 optimize:30 main:3");
    heap_allocates(1, "tell:5 pool_take:1 take:3 load:40 main:4");
    heap_allocates(1, "tell:5 pool_take:1 fragment:50 main:5"); /* one of five goes another way */
    ck_assert_str_eq(found(), "pool_take take tell");
}
END_TEST

START_TEST(functions_that_call_each_other_are_named_once)
{
    heap_allocates(1, "take:1 retry:1 take:2 forward:10 main:1");
    heap_allocates(1, "take:1 retry:1 take:2 backward:20 main:2");
    heap_allocates(1, "take:1 retry:1 take:2 optimize:30 main:3");
    ck_assert_str_eq(found(), "retry take");
}
END_TEST

START_TEST(functions_that_allocate_themselves_are_no_wrappers)
{
    heap_allocates(1, "forward:10 main:1");
    heap_allocates(1, "backward:20 main:2");
    heap_allocates(1, "leak_one:30 main:3");
    ck_assert_str_eq(found(), "");
}
END_TEST

START_TEST(a_leaking_function_called_from_many_lines_of_one_is_no_wrapper)
{
    heap_allocates(1, "leak_one:30 main:1");
    heap_allocates(1, "leak_one:30 main:2");
    heap_allocates(1, "leak_one:30 main:3");
    ck_assert_str_eq(found(), "");
}
END_TEST

/* Every line of it allocates, and it is called from three functions. */
START_TEST(a_step_function_with_many_places_is_no_wrapper)
{
    heap_allocates(1, "train_step:1 first_epoch:1 main:1");
    heap_allocates(1, "train_step:2 first_epoch:1 main:1");
    heap_allocates(1, "train_step:3 later_epoch:1 main:2");
    heap_allocates(1, "train_step:4 last_epoch:1 main:3");
    ck_assert_str_eq(found(), "");
}
END_TEST

START_TEST(a_heap_is_judged_by_its_own_stacks)
{
    heap_allocates(1, "pool_take:1 forward:10 main:1");
    heap_allocates(1, "pool_take:1 backward:20 main:2");
    heap_allocates(2, "pool_take:1 leak_one:30 main:3");
    ck_assert_str_eq(found(), "");
}
END_TEST

START_TEST(plumbing_by_pattern_is_passed_over)
{
    heap_allocates(1, "aclrtMalloc:7 make:1 forward:10 main:1");
    heap_allocates(1, "aclrtMalloc:7 make:1 backward:20 main:2");
    heap_allocates(1, "aclrtMalloc:7 make:1 optimize:30 main:3");
    ck_assert_str_eq(found(), "make");
}
END_TEST

START_TEST(a_name_with_special_characters_is_a_pattern_of_itself_alone)
{
    heap_allocates(1, "Pool<T*>::get[abi:1 forward:10 main:1");
    heap_allocates(1, "Pool<T*>::get[abi:1 backward:20 main:2");
    heap_allocates(1, "Pool<T*>::get[abi:1 optimize:30 main:3");
    const char *pattern = found();
    ck_assert_int_eq(sqlite3_strglob(pattern, "Pool<T*>"), 0);
    ck_assert_int_ne(sqlite3_strglob(pattern, "Pool<TXX>"), 0);
}
END_TEST

/* A damaged input: the stack is its own caller. */
START_TEST(a_ring_of_callers_ends)
{
    heap_allocates(1, "pool_take:1 forward:10 main:1");
    heap_allocates(1, "pool_take:1 backward:20 main:2");
    heap_allocates(1, "pool_take:1 optimize:30 main:3");
    for (size_t i = 0; i < definitions.stacks.count; i++)
        if (definitions.stacks.items[i].parent_id == 0)
            definitions.stacks.items[i].parent_id = definitions.stacks.items[i].stack_id;
    ck_assert_str_eq(found(), "pool_take");
}
END_TEST

TEST_SUITE(test_wrapper)
{
    Suite *suite = suite_create("wrapper");
    TCase *tests = tcase_create("wrappers");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_function_that_many_call_is_a_wrapper);
    tcase_add_test(tests, a_chain_of_wrappers_is_found_whole);
    tcase_add_test(tests, functions_that_call_each_other_are_named_once);
    tcase_add_test(tests, functions_that_allocate_themselves_are_no_wrappers);
    tcase_add_test(tests, a_leaking_function_called_from_many_lines_of_one_is_no_wrapper);
    tcase_add_test(tests, a_step_function_with_many_places_is_no_wrapper);
    tcase_add_test(tests, a_heap_is_judged_by_its_own_stacks);
    tcase_add_test(tests, plumbing_by_pattern_is_passed_over);
    tcase_add_test(tests, a_name_with_special_characters_is_a_pattern_of_itself_alone);
    tcase_add_test(tests, a_ring_of_callers_ends);
    suite_add_tcase(suite, tests);
    return suite;
}
