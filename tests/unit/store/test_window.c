/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a window lies, by events told one by one: of two processes whose steps do not begin together, of times, marks and places.
 */
#include <check.h>
#include <string.h>

#include "store/window.h"
#include "support/suites.h"

static void read_window(nm_window *window, const char *text)
{
    nm_window_bounds bounds;
    nm_error err;

    ck_assert_msg(nm_window_read(text, &bounds, &err) == NM_OK, "%s: %s", text, err.text);
    *window = nm_window_of(&bounds);
}

static void step(nm_window *window, int64_t seq, uint64_t process_id, int64_t number)
{
    nm_error err;

    ck_assert_int_eq(nm_window_event(window, seq, seq * 10, &err), NM_OK);
    ck_assert_int_eq(nm_window_step(window, &(nm_step_begin_row){process_id, number}, &err), NM_OK);
}

static void event(nm_window *window, int64_t seq)
{
    nm_error err;

    ck_assert_int_eq(nm_window_event(window, seq, seq * 10, &err), NM_OK);
}

static void expect(nm_window *window, int64_t begin_seq, int64_t end_seq, int64_t end_ns)
{
    nm_error err;

    ck_assert_int_eq(nm_window_end(window, &err), NM_OK);
    ck_assert_int_eq(window->begin_seq, begin_seq);
    ck_assert_int_eq(window->end_seq, end_seq);
    ck_assert_int_eq(window->begin_ns, begin_seq * 10);
    ck_assert_int_eq(window->end_ns, end_ns);
    nm_window_free(window);
}

START_TEST(a_step_lasts_until_each_process_has_begun_a_later_one)
{
    nm_window window;

    read_window(&window, "step:2..step:3");
    step(&window, 1, 1, 1);
    step(&window, 2, 2, 1);
    step(&window, 5, 1, 2);
    step(&window, 7, 2, 2);
    step(&window, 10, 1, 3);
    step(&window, 12, 2, 3);
    step(&window, 20, 1, 4);
    event(&window, 21);
    step(&window, 24, 2, 4);
    event(&window, 25);
    expect(&window, 5, 23, 240);
}
END_TEST

START_TEST(a_process_that_ends_is_not_waited_for)
{
    nm_window window;

    read_window(&window, "step:2..2");
    step(&window, 5, 1, 2);
    step(&window, 7, 2, 2);
    step(&window, 9, 1, 3);
    event(&window, 11);
    nm_window_process_end(&window, 2);
    event(&window, 12);
    expect(&window, 5, 11, 120);
}
END_TEST

START_TEST(numbers_of_steps_may_have_gaps)
{
    nm_window window;

    read_window(&window, "step:15..step:25");
    step(&window, 1, 1, 10);
    step(&window, 3, 1, 20);
    step(&window, 6, 1, 30);
    expect(&window, 3, 5, 60);
}
END_TEST

START_TEST(what_ended_before_it_or_began_behind_it_does_not_meet_it)
{
    nm_window window;

    read_window(&window, "seq:10..seq:20");
    event(&window, 5);
    ck_assert(!nm_window_meets(&window, 1, 5));
    event(&window, 12);
    ck_assert(!nm_window_meets(&window, NM_NO_SEQ, 11)); /* 12 is its first event */
    ck_assert(nm_window_meets(&window, NM_NO_SEQ, 12));
    ck_assert(nm_window_meets(&window, 3, 12));
    event(&window, 30);
    ck_assert(nm_window_meets(&window, 15, 40));
    ck_assert(nm_window_meets(&window, 29, 40)); /* no event lies between */
    ck_assert(!nm_window_meets(&window, 30, 40));
    expect(&window, 12, 29, 300);
}
END_TEST

START_TEST(marks_and_times_are_bounds_too)
{
    nm_window window;
    nm_error err;

    read_window(&window, "mark:a..mark:b");
    event(&window, 1);
    nm_window_mark(&window, (nm_bytes){(const uint8_t *)"b", 1});
    event(&window, 2);
    nm_window_mark(&window, (nm_bytes){(const uint8_t *)"a", 1});
    event(&window, 4);
    nm_window_mark(&window, (nm_bytes){(const uint8_t *)"b", 1});
    ck_assert_int_eq(nm_window_event(&window, 6, NM_NO_TIME, &err), NM_OK);
    event(&window, 7);
    expect(&window, 2, 4, 70);

    read_window(&window, "15ns..ns:40");
    for (int64_t seq = 1; seq <= 4; seq++)
        event(&window, seq);
    expect(&window, 2, 4, NM_NO_TIME);
}
END_TEST

static const char *fault_of(const char *text)
{
    static nm_error err;
    nm_window_bounds bounds;

    ck_assert_int_eq(nm_window_read(text, &bounds, &err), NM_ERR_USAGE);
    return err.text;
}

START_TEST(what_is_no_window_is_refused)
{
    static const char *const bad[] = {"",
                                      "..",
                                      "begin",
                                      "step:1",
                                      "step:1..",
                                      "step:..step:2",
                                      "1..2",
                                      "seq:1..x",
                                      "step:1..peak",
                                      "end..begin",
                                      "10s..20",
                                      "ns:1x..ns:2",
                                      "mark:..end",
                                      "begin..mark:",
                                      "step:1..step:-2",
                                      "seq:1234567890123456789..end"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(strncmp(fault_of(bad[i]), "must be A..B", 12) == 0, "%s: %s", bad[i], fault_of(bad[i]));
    ck_assert_str_eq(fault_of("step:3..step:2"), "the window ends before it begins");
    ck_assert_str_eq(fault_of("2s..1s"), "the window ends before it begins");
}
END_TEST

START_TEST(one_that_never_begins_or_ends_first_is_refused)
{
    nm_window window;
    nm_error err;

    read_window(&window, "step:3..seq:2");
    event(&window, 1);
    ck_assert_int_eq(nm_window_event(&window, 3, 30, &err), NM_ERR_USAGE);
    nm_window_free(&window);
    read_window(&window, "step:3..step:4");
    step(&window, 1, 1, 2);
    step(&window, 2, 1, 5);
    ck_assert_int_eq(nm_window_end(&window, &err), NM_ERR_USAGE);
    ck_assert_str_eq(err.text, "has nothing in the window: there is no such step from step 3 on (the last one is 5)");
    nm_window_free(&window);
    read_window(&window, "begin..end");
    ck_assert_int_eq(nm_window_end(&window, &err), NM_ERR_USAGE);
    nm_window_free(&window);
}
END_TEST

TEST_SUITE(test_window)
{
    Suite *suite = suite_create("window");
    TCase *tests = tcase_create("window");

    suite_add_tcase(suite, tests);
    tcase_add_test(tests, a_step_lasts_until_each_process_has_begun_a_later_one);
    tcase_add_test(tests, a_process_that_ends_is_not_waited_for);
    tcase_add_test(tests, numbers_of_steps_may_have_gaps);
    tcase_add_test(tests, what_ended_before_it_or_began_behind_it_does_not_meet_it);
    tcase_add_test(tests, marks_and_times_are_bounds_too);
    tcase_add_test(tests, what_is_no_window_is_refused);
    tcase_add_test(tests, one_that_never_begins_or_ends_first_is_refused);
    return suite;
}
