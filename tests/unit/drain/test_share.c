/* SPDX-License-Identifier: Apache-2.0
 *
 * When the drain asks for more of the processors, and when it gives that back; the scheduler's two calls are this file's own, so
 * that it takes no privilege to see it, and no test of this program gets a higher priority.
 */
#include "drain/share.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "support/drain_bench.h"
#include "support/suites.h"

#define SLOTS 4096

static int niceness, set_count;
static bool may_raise;

int getpriority(__priority_which_t which, id_t who)
{
    ck_assert_int_eq(which, PRIO_PROCESS);
    ck_assert_int_eq(who, 0);
    errno = 0;
    return niceness;
}

int setpriority(__priority_which_t which, id_t who, int value)
{
    ck_assert_int_eq(which, PRIO_PROCESS);
    ck_assert_int_eq(who, 0);
    set_count++;
    errno = EACCES;
    if (value < niceness && !may_raise)
        return -1;
    niceness = value;
    return 0;
}

static void begin_with(int usual, bool is_allowed)
{
    niceness = usual;
    may_raise = is_allowed;
    set_count = 0;
}

START_TEST(more_is_asked_for_once_and_given_back)
{
    nm_share share = {0};

    begin_with(3, true);
    errno = ENOSPC;
    for (int i = 0; i < 3; i++)
        nm_share_set(&share, true);
    ck_assert_int_eq(niceness, -7);
    for (int i = 0; i < 3; i++)
        nm_share_set(&share, false);
    ck_assert_int_eq(niceness, 3);
    nm_share_set(&share, true);
    ck_assert_int_eq(niceness, -7);
    ck_assert_int_eq(set_count, 3);
    ck_assert_int_eq(errno, ENOSPC);
}
END_TEST

START_TEST(who_may_not_have_more_does_not_ask_again)
{
    nm_share share = {0};

    begin_with(0, false);
    errno = 0;
    for (int i = 0; i < 3; i++) {
        nm_share_set(&share, true);
        nm_share_set(&share, false);
    }
    ck_assert_int_eq(niceness, 0);
    ck_assert_int_eq(set_count, 1);
    ck_assert_int_eq(errno, 0);
}
END_TEST

START_TEST(there_is_a_highest_priority)
{
    nm_share share = {0};

    begin_with(-15, true);
    nm_share_set(&share, true);
    ck_assert_int_eq(niceness, -20);
    nm_share_set(&share, false);
    ck_assert_int_eq(niceness, -15);
}
END_TEST

/* A ring that was filled by a sixteenth, by almost a half, and written since: another thread was in the middle of a record. */
START_TEST(the_drain_has_more_while_rings_fill_up)
{
    drain_bench bench;
    hand_process process;
    hand_ring ring, holder;
    hand_mortal mortal;
    trace_content content;

    begin_with(0, true);
    hand_mortal_begin(&mortal);
    hand_mortal_end(&mortal);
    drain_bench_open(&bench);
    hand_process_join(&process, bench.folder_path, mortal.pid, mortal.start_time);
    hand_ring_make(&ring, &process, SLOTS, mortal.pid, "thread");
    hand_ring_make(&holder, &process, SLOTS, mortal.pid, "holder");
    uint64_t held = hand_claim(&holder, 1);
    nm_ring_number step = {.ticks = hand_ticks(&holder)};
    for (uint64_t address = 1; address <= SLOTS / 16; address++)
        hand_alloc(&ring, 0, 0, address, 1, 0);
    drain_bench_pass(&bench);
    ck_assert_int_eq(niceness, 0);
    for (uint64_t address = 1; address <= SLOTS / 3; address++)
        hand_alloc(&ring, 0, 0, address, 1, 0);
    drain_bench_pass(&bench);
    ck_assert_int_lt(niceness, 0);
    hand_publish(&holder, held, NM_EVENT_STEP, &step, sizeof step);
    drain_bench_run_until_written(&bench, &ring);
    drain_bench_pass(&bench);
    ck_assert_int_eq(niceness, 0);
    drain_bench_finish(&bench, &content);
    trace_content_free(&content);
    hand_ring_unmap(&ring);
    hand_ring_unmap(&holder);
    hand_process_leave(&process);
    drain_bench_close(&bench);
}
END_TEST

TEST_SUITE(test_share)
{
    Suite *suite = suite_create("share");
    TCase *tests = tcase_create("share");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, more_is_asked_for_once_and_given_back);
    tcase_add_test(tests, who_may_not_have_more_does_not_ask_again);
    tcase_add_test(tests, there_is_a_highest_priority);
    tcase_add_test(tests, the_drain_has_more_while_rings_fill_up);
    suite_add_tcase(suite, tests);
    return suite;
}
