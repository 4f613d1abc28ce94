/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in's streams: work is done later, in order, by a thread of each stream; events tie streams together; a fork
 * finds nothing half done.
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"
#include "runtime/rt.h"
#include "support/emulated.h"

#define assert_acl(call, expected) ck_assert_int_eq(call, expected)

static atomic_int is_open;   /* lets wait_at_gate end */
static atomic_int order[16]; /* what ran, one after the other */
static atomic_int order_count;

static void wait_at_gate(void *arguments)
{
    (void)arguments;
    while (!atomic_load(&is_open))
        usleep(200);
}

static void note_number(void *arguments)
{
    atomic_store(&order[atomic_fetch_add(&order_count, 1)], *(int *)arguments);
}

static void launch(void (*kernel)(void *), int number, aclrtStream stream)
{
    const void *stub = NULL;

    memcpy(&stub, &kernel, sizeof stub);
    assert_acl(rtKernelLaunch(stub, 1, &number, sizeof number, NULL, stream), ACL_SUCCESS);
}

static void set_up(void)
{
    atomic_store(&is_open, 0);
    atomic_store(&order_count, 0);
    assert_acl(aclInit(NULL), ACL_SUCCESS);
    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
}

static void tear_down(void)
{
    atomic_store(&is_open, 1);
    aclFinalize();
}

START_TEST(work_is_done_later_and_in_order)
{
    aclrtStream stream = NULL;
    char *pinned = NULL;
    void *device = NULL;

    assert_acl(aclrtCreateStream(&stream), ACL_SUCCESS);
    assert_acl(aclrtMallocHost((void **)&pinned, 100), ACL_SUCCESS);
    assert_acl(aclrtMalloc(&device, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_acl(aclrtMemset(device, 100, 'a', 100), ACL_SUCCESS);
    memset(pinned, 'p', 100);
    launch(wait_at_gate, 0, stream);
    assert_acl(aclrtMemcpyAsync(device, 100, pinned, 50, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
    assert_acl(aclrtMemsetAsync(device, 100, 's', 10, stream), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStreamWithTimeout(stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    ck_assert_int_eq(((char *)device)[20], 'a');
    atomic_store(&is_open, 1);
    assert_acl(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    ck_assert_int_eq(((char *)device)[5], 's');
    ck_assert_int_eq(((char *)device)[20], 'p');
    ck_assert_int_eq(((char *)device)[60], 'a');
    assert_acl(aclrtSynchronizeStreamWithTimeout(stream, -1), ACL_SUCCESS);
}
END_TEST

START_TEST(streams_do_not_wait_for_each_other)
{
    aclrtStream held = NULL;
    aclrtStream free_stream = NULL;

    assert_acl(aclrtCreateStream(&held), ACL_SUCCESS);
    assert_acl(aclrtCreateStreamWithConfig(&free_stream, 0, 0), ACL_SUCCESS);
    launch(wait_at_gate, 0, held);
    launch(note_number, 1, held);
    launch(note_number, 2, free_stream);
    assert_acl(aclrtSynchronizeStream(free_stream), ACL_SUCCESS);
    ck_assert_int_eq(order[0], 2);
    atomic_store(&is_open, 1);
    assert_acl(aclrtSynchronizeDevice(), ACL_SUCCESS);
    ck_assert_int_eq(order[1], 1);
}
END_TEST

START_TEST(an_event_orders_two_streams)
{
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    aclrtStream first = NULL;
    aclrtStream second = NULL;
    aclrtEvent event = NULL;

    assert_acl(aclrtCreateStream(&first), ACL_SUCCESS);
    assert_acl(aclrtCreateStream(&second), ACL_SUCCESS);
    assert_acl(aclrtCreateEvent(&event), ACL_SUCCESS);
    assert_acl(aclrtStreamWaitEvent(second, event), ACL_SUCCESS); /* never recorded: nothing to wait for */
    launch(wait_at_gate, 0, first);
    launch(note_number, 1, first);
    assert_acl(aclrtRecordEvent(event, first), ACL_SUCCESS);
    assert_acl(aclrtStreamWaitEvent(second, event), ACL_SUCCESS);
    launch(note_number, 2, second);
    assert_acl(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
    ck_assert_int_eq(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    usleep(20000);
    ck_assert_int_eq(order_count, 0);
    atomic_store(&is_open, 1);
    assert_acl(aclrtSynchronizeEvent(event), ACL_SUCCESS);
    assert_acl(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
    ck_assert_int_eq(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    assert_acl(aclrtSynchronizeStream(second), ACL_SUCCESS);
    ck_assert_int_eq(order[0], 1);
    ck_assert_int_eq(order[1], 2);
    assert_acl(aclrtDestroyEvent(event), ACL_SUCCESS);
    assert_acl(aclrtDestroyEvent(event), ACL_ERROR_RT_INVALID_HANDLE);
    assert_acl(aclrtCreateNotify(&event, 0), ACL_SUCCESS);
    assert_acl(aclrtDestroyNotify(event), ACL_SUCCESS);
    assert_acl(aclrtDestroyNotify(event), ACL_ERROR_RT_INVALID_HANDLE);
    assert_acl(aclrtCntNotifyCreate(&event, 0), ACL_SUCCESS);
    assert_acl(aclrtCntNotifyDestroy(event), ACL_SUCCESS);
    assert_acl(aclrtCntNotifyDestroy(event), ACL_ERROR_RT_INVALID_HANDLE);
    assert_acl(aclrtRecordEvent(event, first), ACL_ERROR_RT_INVALID_HANDLE);
}
END_TEST

START_TEST(a_copy_of_memory_that_is_not_pinned_is_waited_for)
{
    char host[8] = "before";
    void *device = NULL;

    assert_acl(aclrtMalloc(&device, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_acl(aclrtMemcpyAsync(device, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, NULL), ACL_SUCCESS);
    strcpy(host, "after");
    ck_assert_str_eq(device, "before");
}
END_TEST

START_TEST(what_was_freed_before_its_turn_fails_the_stream_and_nothing_else)
{
    aclrtStream stream = NULL;
    char *pinned = NULL;
    void *device = NULL;

    assert_acl(aclrtCreateStream(&stream), ACL_SUCCESS);
    assert_acl(aclrtMallocHost((void **)&pinned, 100), ACL_SUCCESS);
    assert_acl(aclrtMalloc(&device, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    launch(wait_at_gate, 0, stream);
    assert_acl(aclrtMemcpyAsync(device, 100, pinned, 100, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
    assert_acl(aclrtFree(device), ACL_SUCCESS);
    atomic_store(&is_open, 1);
    assert_acl(aclrtSynchronizeStream(stream), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}
END_TEST

START_TEST(destroying_waits_and_a_reset_drops)
{
    aclrtStream stream = NULL;
    aclrtStream dropped = NULL;

    assert_acl(aclrtCreateStream(&stream), ACL_SUCCESS);
    launch(note_number, 1, stream);
    assert_acl(aclrtDestroyStream(stream), ACL_SUCCESS);
    ck_assert_int_eq(order_count, 1);
    assert_acl(aclrtCreateStream(&dropped), ACL_SUCCESS);
    assert_acl(aclrtResetDevice(0), ACL_SUCCESS);
    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStream(dropped), ACL_ERROR_RT_INVALID_HANDLE);
}
END_TEST

START_TEST(forced_destruction_drops_what_still_waits)
{
    aclrtStream held = NULL, waiting = NULL;
    aclrtEvent event = NULL;

    assert_acl(aclrtCreateStream(&held), ACL_SUCCESS);
    assert_acl(aclrtCreateStreamV2(&waiting, NULL), ACL_SUCCESS);
    assert_acl(aclrtCreateEvent(&event), ACL_SUCCESS);
    launch(wait_at_gate, 0, held);
    assert_acl(aclrtRecordEventWithFlag(event, held, 0), ACL_SUCCESS);
    assert_acl(aclrtStreamWaitEventWithTimeout(waiting, event, 1000), ACL_SUCCESS);
    launch(note_number, 1, waiting);
    assert_acl(aclrtDestroyStreamForce(waiting), ACL_SUCCESS);
    assert_acl(aclrtDestroyStreamForce(waiting), ACL_ERROR_RT_INVALID_HANDLE);
    atomic_store(&is_open, 1);
    assert_acl(aclrtSynchronizeStream(held), ACL_SUCCESS);
    ck_assert_int_eq(order_count, 0);
}
END_TEST

START_TEST(waiting_ends_with_its_time)
{
    aclrtStream held = NULL, waiting = NULL;
    aclrtEvent event = NULL;

    assert_acl(aclrtCreateStream(&held), ACL_SUCCESS);
    assert_acl(aclrtCreateStream(&waiting), ACL_SUCCESS);
    assert_acl(aclrtCreateEvent(&event), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeDeviceWithTimeout(20), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeEventWithTimeout(event, 20), ACL_SUCCESS); /* never recorded */
    launch(wait_at_gate, 0, held);
    assert_acl(aclrtRecordEvent(event, held), ACL_SUCCESS);
    assert_acl(aclrtStreamWaitEventWithFlag(waiting, event, 0, 0), ACL_SUCCESS);
    assert_acl(aclrtResetEvent(event, waiting), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeEventWithTimeout(event, 20), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    assert_acl(aclrtSynchronizeDeviceWithTimeout(20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    atomic_store(&is_open, 1);
    assert_acl(aclrtSynchronizeEventWithTimeout(event, -1), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeDeviceWithTimeout(-1), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeEventWithTimeout(NULL, 20), ACL_ERROR_RT_INVALID_HANDLE);
}
END_TEST

/* The thread sanitizer calls the streams' threads a leak of the child; the address sanitizer's own locks are not free in a
 * child if a thread began when it was forked, and it hangs in them. */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CAN_FORK
static int child_goes_on(aclrtStream stream)
{
    if (aclrtSynchronizeStream(stream) != ACL_SUCCESS)
        return 1;
    for (int i = 0; i < atomic_load(&order_count); i++)
        if (order[i] != i)
            return 2;
    return atomic_load(&order_count) == 3 ? 0 : 3;
}

START_TEST(a_forked_child_finishes_what_was_queued)
{
    aclrtStream stream = NULL;

    if (is_emulated())
        return; /* the child's new thread is the end of the emulator */
    assert_acl(aclrtCreateStream(&stream), ACL_SUCCESS);
    for (int i = 0; i < 20; i++) {
        int status = -1;
        pid_t child;

        atomic_store(&order_count, 0);
        for (int number = 0; number < 3; number++)
            launch(note_number, number, stream);
        child = fork();
        if (child == 0)
            _exit(child_goes_on(stream));
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        assert_acl(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        ck_assert_int_eq(order_count, 3);
    }
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("cann_streams");
    TCase *tests = tcase_create("rules");
    SRunner *runner;
    int failed_count;

    setenv("NPUMEM_CANN_CAPACITY_BYTES", "64M", 1);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, work_is_done_later_and_in_order);
    tcase_add_test(tests, streams_do_not_wait_for_each_other);
    tcase_add_test(tests, an_event_orders_two_streams);
    tcase_add_test(tests, a_copy_of_memory_that_is_not_pinned_is_waited_for);
    tcase_add_test(tests, what_was_freed_before_its_turn_fails_the_stream_and_nothing_else);
    tcase_add_test(tests, destroying_waits_and_a_reset_drops);
    tcase_add_test(tests, forced_destruction_drops_what_still_waits);
    tcase_add_test(tests, waiting_ends_with_its_time);
#ifdef CAN_FORK
    tcase_add_test(tests, a_forked_child_finishes_what_was_queued);
#endif
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
