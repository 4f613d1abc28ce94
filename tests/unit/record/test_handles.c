/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks' table of handles: far more handles than its first chunk holds, counts from many threads at once, and a fork.
 */
#include "hook/handles.h"
#include "support/suites.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY         50000 /* the first two chunks hold 5,120 */
#define THREADS      4
#define THREAD_TURNS 20000

/* Addresses as a heap hands them out: aligned, near each other. */
static uint64_t handle_at(uint64_t index)
{
    return UINT64_C(0x7f0000000000) + index * 64;
}

START_TEST(every_handle_is_remembered_however_many_there_are)
{
    errno = 5;
    for (uint64_t i = 0; i < MANY; i++)
        ck_assert_uint_eq(nm_handles_set(NM_HANDLE_PHYSICAL, handle_at(i), i + 1), 0);
    for (uint64_t i = 0; i < MANY; i++)
        ck_assert_uint_eq(nm_handles_get(NM_HANDLE_PHYSICAL, handle_at(i)), i + 1);
    ck_assert_uint_eq(nm_handles_get(NM_HANDLE_PHYSICAL, handle_at(MANY)), 0);
    ck_assert_uint_eq(nm_handles_get(NM_HANDLE_POOL, handle_at(0)), 0);
    for (uint64_t i = 0; i < MANY; i++)
        ck_assert_uint_eq(nm_handles_set(NM_HANDLE_PHYSICAL, handle_at(i), 0), i + 1);
    ck_assert_uint_eq(nm_handles_get(NM_HANDLE_PHYSICAL, handle_at(7)), 0);
    ck_assert_int_eq(errno, 5);
}
END_TEST

START_TEST(what_was_never_seen_is_nothing_and_takes_nothing)
{
    ck_assert_uint_eq(nm_handles_get(NM_HANDLE_IPC_KEY, UINT64_MAX), 0);
    ck_assert_uint_eq(nm_handles_set(NM_HANDLE_IPC_KEY, UINT64_MAX, 0), 0);
    ck_assert(!nm_handles_take(NM_HANDLE_RETAINED, 0));
    nm_handles_add(NM_HANDLE_RETAINED, 0);
    ck_assert(nm_handles_take(NM_HANDLE_RETAINED, 0));
    ck_assert(!nm_handles_take(NM_HANDLE_RETAINED, 0));
}
END_TEST

static uint64_t taken[THREADS];

/* Adds to handles that all threads have, most of them new to the table, and takes away what it gets. */
static void *count_up_and_down(void *context)
{
    uint64_t *own_taken = context;

    for (uint64_t i = 0; i < THREAD_TURNS; i++)
        nm_handles_add(NM_HANDLE_RETAINED, handle_at(i / 4));
    for (uint64_t i = 0; i < THREAD_TURNS; i++)
        *own_taken += nm_handles_take(NM_HANDLE_RETAINED, handle_at(i / 4));
    return NULL;
}

START_TEST(threads_lose_no_count)
{
    pthread_t threads[THREADS];
    uint64_t left = 0, taken_count = 0;

    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, count_up_and_down, &taken[i]), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        taken_count += taken[i];
    for (uint64_t i = 0; i < THREAD_TURNS / 4; i++)
        left += nm_handles_get(NM_HANDLE_RETAINED, handle_at(i));
    ck_assert_uint_eq(taken_count + left, (uint64_t)THREADS * THREAD_TURNS);
}
END_TEST

START_TEST(a_forked_child_goes_on_with_a_table_of_its_own)
{
    int pid, status;

    nm_handles_add(NM_HANDLE_RETAINED, handle_at(1));
    pid = fork();
    if (pid == 0) {
        for (uint64_t i = 0; i < MANY / 10; i++)
            nm_handles_set(NM_HANDLE_POOL, handle_at(i), i + 1);
        _exit(nm_handles_take(NM_HANDLE_RETAINED, handle_at(1)) && nm_handles_get(NM_HANDLE_POOL, handle_at(99)) == 100
                  ? 0
                  : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(nm_handles_get(NM_HANDLE_POOL, handle_at(99)), 0);
    ck_assert(nm_handles_take(NM_HANDLE_RETAINED, handle_at(1)));
}
END_TEST

TEST_SUITE(test_handles)
{
    Suite *suite = suite_create("handles");
    TCase *tests = tcase_create("handles");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_was_never_seen_is_nothing_and_takes_nothing);
    tcase_add_test(tests, every_handle_is_remembered_however_many_there_are);
    tcase_add_test(tests, a_forked_child_goes_on_with_a_table_of_its_own);
    tcase_add_test(tests, threads_lose_no_count);
    suite_add_tcase(suite, tests);
    return suite;
}
