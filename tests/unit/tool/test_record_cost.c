/* SPDX-License-Identifier: Apache-2.0
 *
 * What recording took, from events of known times and a known cost of one: by hand.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "support/suites.h"
#include "tool/record/child.h"
#include "tool/record/cost.h"

static const char *measured;

bool record_child_ask(const char *folder, const char *library, const char *option, char *answer, size_t answer_bytes)
{
    ck_assert_str_eq(folder, "folder");
    ck_assert_str_eq(library, "library");
    ck_assert_str_eq(option, RECORD_COST_PROGRAM);
    snprintf(answer, answer_bytes, "%s", measured == NULL ? "" : measured);
    return measured != NULL;
}

static record_cost *new_cost(const char *answer)
{
    record_cost *cost = NULL;

    measured = answer;
    ck_assert_int_eq(record_cost_new(&cost, NULL), NM_OK);
    record_cost_measure(cost, "folder", "library");
    return cost;
}

static void take(record_cost *cost, nm_event event)
{
    record_cost_take(cost, &(nm_record){.kind = NM_RECORD_EVENT, .event = event});
}

/* Three events of a thread in 3 s and two of another in 1 s, at 50 ns each: 250 ns of 4 s. */
START_TEST(the_share_is_of_each_threads_first_event_to_its_last)
{
    record_cost *cost = new_cost("50.0\n");
    record_cost_estimate told;

    take(cost, (nm_event){.kind = NM_EVENT_ALLOC, .thread_id = 7, .time_ns = 1000});
    take(cost, (nm_event){.kind = NM_EVENT_ALLOC, .thread_id = 3, .time_ns = 500000});
    take(cost, (nm_event){.kind = NM_EVENT_FREE, .thread_id = 7, .time_ns = 3000001000});
    take(cost, (nm_event){.kind = NM_EVENT_FREE, .thread_id = 3, .time_ns = 1000500000});
    take(cost, (nm_event){.kind = NM_EVENT_FREE, .thread_id = 7, .time_ns = 2000}); /* late in the stream */
    ck_assert(record_cost_tell(cost, &told));
    ck_assert_double_eq_tol(told.cost_ns, 250, 1e-9);
    ck_assert_double_eq_tol(told.ratio, 6.25e-8, 1e-15);
    record_cost_free(cost);
}
END_TEST

/* The recorder's own, what stands twice, and what was dropped cost the program nothing that is known. */
START_TEST(only_events_of_the_programs_threads_count)
{
    record_cost *cost = new_cost("50.0\n");
    record_cost_estimate told;

    take(cost, (nm_event){.kind = NM_EVENT_PROCESS_END, .time_ns = 9000});
    take(cost, (nm_event){.kind = NM_EVENT_LOSS, .thread_id = 1, .time_ns = 10, .number = 1000});
    take(cost, (nm_event){.kind = NM_EVENT_ALLOC, .thread_id = 1, .time_ns = 20, .flags = NM_FLAG_REPEAT});
    record_cost_take(cost, &(nm_record){.kind = NM_RECORD_DEFINITION});
    ck_assert(!record_cost_tell(cost, &told));
    take(cost, (nm_event){.kind = NM_EVENT_ALLOC, .thread_id = 1, .time_ns = 30});
    ck_assert(record_cost_tell(cost, &told));
    ck_assert_double_eq_tol(told.cost_ns, 50, 1e-9);
    ck_assert_double_lt(told.ratio, 0); /* one event takes no time */
    take(cost, (nm_event){.kind = NM_EVENT_FREE, .thread_id = 1, .time_ns = 1000000029});
    ck_assert(record_cost_tell(cost, &told));
    ck_assert_double_lt(told.ratio, 0); /* less than a second says nothing */
    take(cost, (nm_event){.kind = NM_EVENT_FREE, .thread_id = 1, .time_ns = 1000000030});
    ck_assert(record_cost_tell(cost, &told));
    ck_assert_double_eq_tol(told.ratio, 150e-9, 1e-15);
    record_cost_free(cost);
}
END_TEST

START_TEST(an_estimate_is_never_more_than_all)
{
    record_cost *cost = new_cost("900000\n");
    record_cost_estimate told;

    for (int64_t i = 0; i < 2000; i++)
        take(cost, (nm_event){.kind = NM_EVENT_ALLOC, .thread_id = 1, .time_ns = i * 600000});
    ck_assert(record_cost_tell(cost, &told));
    ck_assert_double_eq_tol(told.ratio, 1, 1e-9);
    record_cost_free(cost);
}
END_TEST

START_TEST(what_could_not_be_measured_is_not_told)
{
    static const char *const answers[] = {NULL, "", "nonsense", "0", "-3", "nan", "1e9"};
    record_cost_estimate told;

    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        record_cost *cost = new_cost(answers[i]);

        take(cost, (nm_event){.kind = NM_EVENT_ALLOC, .thread_id = 1, .time_ns = 30});
        ck_assert(!record_cost_tell(cost, &told));
        record_cost_free(cost);
    }
}
END_TEST

TEST_SUITE(test_record_cost)
{
    Suite *suite = suite_create("record_cost");
    TCase *tests = tcase_create("record_cost");

    tcase_add_test(tests, the_share_is_of_each_threads_first_event_to_its_last);
    tcase_add_test(tests, only_events_of_the_programs_threads_count);
    tcase_add_test(tests, an_estimate_is_never_more_than_all);
    tcase_add_test(tests, what_could_not_be_measured_is_not_told);
    suite_add_tcase(suite, tests);
    return suite;
}
