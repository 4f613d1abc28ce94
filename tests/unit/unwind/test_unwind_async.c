/* SPDX-License-Identifier: Apache-2.0
 *
 * A timer's signal interrupts at any instruction: where a function begins and ends, in the linker's stubs, in libc and the kernel's
 * own page. The handler's stack, from there on, is what the others say.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

#include "oracle.h"
#include "shapes.h"
#include "support/emulated.h"
#include "support/suites.h"

static void look_in_handler(int number)
{
    (void)number;
    oracle_look();
    __asm__ volatile("" : : : "memory");
}

static size_t interruption_count(void)
{
    return is_emulated() ? 1000 : 5000;
}

START_TEST(an_interrupted_stack_is_true_at_any_instruction)
{
#ifdef __SANITIZE_ADDRESS__
    puts("skipped: the others' walk in a handler waits for locks of the sanitizer's");
    return;
#endif
    struct sigaction action = {.sa_handler = look_in_handler, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    long sum = 0;

    shapes_begin(5, false);
    oracle_look();
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; oracle_seen.stack_count < interruption_count(); i++)
        sum += shapes_work(i % 20);
    setitimer(ITIMER_REAL, &never, NULL);
    ck_assert_int_ne(sum, 0);
    oracle_check(interruption_count());
}
END_TEST

TEST_SUITE(test_unwind_async)
{
    Suite *suite = suite_create("unwind_async");
    TCase *tests = tcase_create("unwind_async");

    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, oracle_begin, oracle_end);
    tcase_add_test(tests, an_interrupted_stack_is_true_at_any_instruction);
    suite_add_tcase(suite, tests);
    return suite;
}
