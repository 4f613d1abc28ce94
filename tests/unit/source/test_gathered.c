/* SPDX-License-Identifier: Apache-2.0
 *
 * What was gathered in any order comes out defined before it is used, by its order, whole, and twice.
 */
#include "source/gathered.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/suites.h"

#define EVENT_COUNT 1000

static nm_gathered *gathered;
static nm_error err;

static void begin(void)
{
    ck_assert_int_eq(nm_gathered_new(&gathered, &err), NM_OK);
}

static void end(void)
{
    nm_gathered_free(gathered);
}

static nm_bytes bytes(const char *word)
{
    return (nm_bytes){(const uint8_t *)word, strlen(word)};
}

static nm_record next(void)
{
    nm_record record;

    ck_assert_int_eq(nm_gathered_next(gathered, &record, &err), NM_OK);
    return record;
}

static void expect_end(void)
{
    nm_record record;

    ck_assert_int_eq(nm_gathered_next(gathered, &record, &err), NM_END);
}

START_TEST(the_same_is_the_same_number)
{
    uint64_t name, again, file, one, two, outer, inner;

    ck_assert_int_eq(nm_gathered_string(gathered, bytes("f"), &name, &err), NM_OK);
    ck_assert_int_eq(nm_gathered_string(gathered, bytes("a.py"), &file, &err), NM_OK);
    ck_assert_int_eq(nm_gathered_string(gathered, bytes("f"), &again, &err), NM_OK);
    ck_assert_uint_eq(name, again);
    ck_assert_int_eq(nm_gathered_string(gathered, bytes(""), &again, &err), NM_OK);
    ck_assert_uint_eq(again, 0);
    ck_assert_int_eq(nm_gathered_frame(gathered, name, file, 7, &one, &err), NM_OK);
    ck_assert_int_eq(nm_gathered_frame(gathered, name, file, 8, &two, &err), NM_OK);
    ck_assert_uint_ne(one, two);
    ck_assert_int_eq(nm_gathered_frame(gathered, file, name, 7, &two, &err), NM_OK);
    ck_assert_uint_ne(one, two);
    ck_assert_int_eq(nm_gathered_frame(gathered, name, file, 7, &two, &err), NM_OK);
    ck_assert_uint_eq(one, two);
    ck_assert_int_eq(nm_gathered_stack(gathered, 0, one, &outer, &err), NM_OK);
    ck_assert_int_eq(nm_gathered_stack(gathered, outer, one, &inner, &err), NM_OK);
    ck_assert_uint_ne(outer, inner);
    ck_assert_int_eq(nm_gathered_stack(gathered, 0, one, &again, &err), NM_OK);
    ck_assert_uint_eq(outer, again);

    nm_gathered_sort(gathered);
    ck_assert_mem_eq(next().definition.string.data, "f", 1);
    ck_assert_mem_eq(next().definition.string.data, "a.py", 4);
    nm_definition frame = next().definition;
    ck_assert_int_eq(frame.kind, NM_DEFINE_FRAME);
    ck_assert_uint_eq(frame.id, one);
    ck_assert_uint_eq(frame.frame.function, name);
    ck_assert_uint_eq(frame.frame.file, file);
    ck_assert_uint_eq(frame.frame.line, 7);
    next(), next(); /* the other two */
    ck_assert_uint_eq(next().definition.stack.parent_id, 0);
    ck_assert_uint_eq(next().definition.stack.parent_id, outer);
    expect_end();
}
END_TEST

/* Each field of an event, by a value of its own. */
static nm_event full_event(uint64_t number)
{
    nm_event event = {.kind = NM_EVENT_ALLOC};

    for (unsigned field = 0; field < NM_FIELD_COUNT; field++)
        *nm_event_field(&event, field) = field % 3 == 0 ? 0 : UINT64_MAX - number * 64 - field;
    event.flags = 0;
    event.time_ns = -(int64_t)number;
    return event;
}

START_TEST(events_come_whole_by_their_order_with_the_baseline_first)
{
    nm_definition process = {.kind = NM_DEFINE_PROCESS, .id = 1, .process.pid = 42};
    nm_event baseline = {.kind = NM_EVENT_ALLOC, .flags = NM_FLAG_BASELINE, .address = 1};

    for (uint64_t i = 0; i < EVENT_COUNT; i++) {
        uint64_t number = i * 7919 % EVENT_COUNT; /* every number once */
        nm_event event = full_event(number);

        ck_assert_int_eq(nm_gathered_event(gathered, (int64_t)(number / 2), &event, &err), NM_OK);
    }
    ck_assert_int_eq(nm_gathered_event(gathered, 5000, &baseline, &err), NM_OK);
    ck_assert_int_eq(nm_gathered_define(gathered, &process, &err), NM_OK);
    ck_assert_uint_eq(nm_gathered_event_count(gathered), EVENT_COUNT);

    nm_gathered_sort(gathered);
    for (int turn = 0; turn < 2; turn++) {
        ck_assert_int_eq(next().definition.process.pid, 42);
        ck_assert_uint_eq(next().event.address, 1);
        for (uint64_t i = 0; i < EVENT_COUNT; i++) {
            nm_event event = next().event, expected = full_event((uint64_t)-event.time_ns);

            ck_assert_uint_eq((uint64_t)-event.time_ns / 2, i / 2);
            ck_assert_uint_eq(event.seq, i);
            expected.seq = i;
            ck_assert_mem_eq(&event, &expected, sizeof event);
        }
        expect_end();
        nm_gathered_rewind(gathered);
    }
}
END_TEST

START_TEST(events_of_one_order_come_as_they_were_given)
{
    for (uint64_t i = 0; i < 100; i++) {
        nm_event event = {.kind = NM_EVENT_MARK, .name_id = i + 1};

        ck_assert_int_eq(nm_gathered_event(gathered, 0, &event, &err), NM_OK);
    }
    nm_gathered_sort(gathered);
    for (uint64_t i = 0; i < 100; i++)
        ck_assert_uint_eq(next().event.name_id, i + 1);
}
END_TEST

TEST_SUITE(test_gathered)
{
    Suite *suite = suite_create("gathered");
    TCase *tcase = tcase_create("gathered");

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, the_same_is_the_same_number);
    tcase_add_test(tcase, events_come_whole_by_their_order_with_the_baseline_first);
    tcase_add_test(tcase, events_of_one_order_come_as_they_were_given);
    suite_add_tcase(suite, tcase);
    return suite;
}
