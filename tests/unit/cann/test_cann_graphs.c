/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in's graphs, callbacks and answers: what is captured is done at each execution and not before, what may disturb
 * a capture is refused, functions of the program take their turn on a stream.
 */
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "support/suites.h"

#define assert_acl(call, expected) ck_assert_int_eq(call, expected)
#define CAPTURED                   107030 /* not while something is captured */

static aclrtStream stream;
static char *device;
static char *pinned;

static void set_up(void)
{
    assert_acl(aclInit(NULL), ACL_SUCCESS);
    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
    assert_acl(aclrtCreateStream(&stream), ACL_SUCCESS);
    assert_acl(aclrtMalloc((void **)&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_acl(aclrtMallocHost((void **)&pinned, 64), ACL_SUCCESS);
    assert_acl(aclrtMemset(device, 64, 'a', 64), ACL_SUCCESS);
}

static void tear_down(void)
{
    aclFinalize();
}

static char first_byte(void)
{
    char value = 0;

    assert_acl(aclrtMemcpy(&value, 1, device, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return value;
}

START_TEST(a_graph_does_at_each_execution_what_was_captured)
{
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
    aclmdlRI graph = NULL;

    assert_acl(aclmdlRICaptureEnd(stream, &graph), 107029);
    assert_acl(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL), ACL_SUCCESS);
    assert_acl(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL), 107027);
    assert_acl(aclmdlRICaptureGetInfo(stream, &status, &graph), ACL_SUCCESS);
    ck_assert_int_eq(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    assert_acl(aclrtMemcpyAsync(device, 64, pinned, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
    assert_acl(aclmdlRICaptureEnd(stream, &graph), ACL_SUCCESS);
    assert_acl(aclmdlRICaptureGetInfo(stream, &status, NULL), ACL_SUCCESS);
    ck_assert_int_eq(status, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    assert_acl(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    ck_assert_int_eq(first_byte(), 'a');
    for (char value = 'p'; value < 's'; value++) {
        pinned[0] = value;
        assert_acl(aclmdlRIExecuteAsync(graph, stream), ACL_SUCCESS);
        assert_acl(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        ck_assert_int_eq(first_byte(), value);
    }
    assert_acl(aclmdlRIDestroy(graph), ACL_SUCCESS);
    assert_acl(aclmdlRIExecuteAsync(graph, stream), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclmdlRIDestroy(graph), ACL_ERROR_RT_PARAM_INVALID);
}
END_TEST

START_TEST(a_stream_that_waits_for_the_capture_joins_it)
{
    aclrtStream other = NULL;
    aclrtEvent event = NULL;
    aclmdlRI graph = NULL;

    assert_acl(aclrtCreateStream(&other), ACL_SUCCESS);
    assert_acl(aclrtCreateEvent(&event), ACL_SUCCESS);
    assert_acl(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
    assert_acl(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    assert_acl(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
    assert_acl(aclrtMemsetAsync(device, 64, 'o', 64, other), ACL_SUCCESS);
    assert_acl(aclmdlRICaptureEnd(other, &graph), 107029);
    assert_acl(aclmdlRICaptureEnd(stream, &graph), ACL_SUCCESS);
    ck_assert_int_eq(first_byte(), 'a');
    assert_acl(aclmdlRIExecute(graph, -1), ACL_SUCCESS);
    ck_assert_int_eq(first_byte(), 'o');
    assert_acl(aclrtMemsetAsync(device, 64, 'n', 64, other), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStream(other), ACL_SUCCESS);
    ck_assert_int_eq(first_byte(), 'n');
}
END_TEST

static void *ask_for_memory(void *result)
{
    size_t free_bytes, total_bytes;

    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
    *(aclError *)result = aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes);
    return NULL;
}

static aclError ask_in_another_thread(void)
{
    aclError result = -1;
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, ask_for_memory, &result), 0);
    pthread_join(thread, NULL);
    return result;
}

START_TEST(what_may_disturb_a_capture_is_refused)
{
    aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    size_t free_bytes, total_bytes;
    aclmdlRI graph = NULL;

    assert_acl(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
    assert_acl(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes), CAPTURED);
    assert_acl(aclrtSynchronizeDevice(), CAPTURED);
    assert_acl(aclrtMemset(device, 64, 0, 64), CAPTURED);
    assert_acl(ask_in_another_thread(), CAPTURED);
    assert_acl(aclmdlRICaptureThreadExchangeMode(&mode), ACL_SUCCESS);
    ck_assert_int_eq(mode, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    assert_acl(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStream(stream), 107027);
    assert_acl(aclmdlRICaptureThreadExchangeMode(&mode), ACL_SUCCESS);
    assert_acl(aclmdlRICaptureGetInfo(stream, &status, NULL), ACL_SUCCESS);
    ck_assert_int_eq(status, ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    assert_acl(aclmdlRICaptureEnd(stream, &graph), CAPTURED);
    assert_acl(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes), ACL_SUCCESS);

    assert_acl(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL), ACL_SUCCESS);
    assert_acl(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes), CAPTURED);
    assert_acl(ask_in_another_thread(), ACL_SUCCESS);
}
END_TEST

static void set_flag(void *flag)
{
    atomic_store((atomic_int *)flag, 1);
}

START_TEST(functions_of_the_program_take_their_turn)
{
    atomic_int is_called = 0, is_reported = 0;
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;

    assert_acl(aclrtLaunchHostFunc(stream, set_flag, &is_called), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    ck_assert_int_eq(is_called, 1);
    assert_acl(aclrtLaunchCallback(set_flag, &is_reported, ACL_CALLBACK_BLOCK, stream), 107015);
    assert_acl(aclrtSubscribeReport((uint64_t)pthread_self(), stream), ACL_SUCCESS);
    assert_acl(aclrtProcessReport(1), 507012);
    assert_acl(aclrtLaunchCallback(set_flag, &is_reported, ACL_CALLBACK_BLOCK, stream), ACL_SUCCESS);
    assert_acl(aclrtProcessReport(-1), ACL_SUCCESS);
    ck_assert_int_eq(is_reported, 1);
    assert_acl(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    assert_acl(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
    ck_assert_int_eq(status, ACL_STREAM_STATUS_COMPLETE);
    assert_acl(aclrtUnSubscribeReport((uint64_t)pthread_self(), stream), ACL_SUCCESS);
}
END_TEST

START_TEST(a_stream_waits_for_a_word_that_another_writes)
{
    aclrtStream other = NULL;
    aclrtEvent begin = NULL, end = NULL;
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    float ms = -1;

    assert_acl(aclrtCreateStream(&other), ACL_SUCCESS);
    assert_acl(aclrtCreateEvent(&begin), ACL_SUCCESS);
    assert_acl(aclrtCreateEvent(&end), ACL_SUCCESS);
    assert_acl(aclrtMemset(device, 64, 0, 64), ACL_SUCCESS);
    assert_acl(aclrtValueWait(NULL, 7, ACL_VALUE_WAIT_EQ, stream), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtRecordEvent(begin, stream), ACL_SUCCESS);
    assert_acl(aclrtEventElapsedTime(&ms, begin, end), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtValueWait(device, 7, ACL_VALUE_WAIT_EQ, stream), ACL_SUCCESS);
    assert_acl(aclrtRecordEvent(end, stream), ACL_SUCCESS);
    assert_acl(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
    ck_assert_int_eq(status, ACL_STREAM_STATUS_NOT_READY);
    assert_acl(aclrtValueWrite(device, 7, 0, other), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    assert_acl(aclrtEventElapsedTime(&ms, begin, end), ACL_SUCCESS);
    ck_assert(ms >= 0 && ms < 60000);
    assert_acl(aclrtValueWait(device, 8, ACL_VALUE_WAIT_EQ, stream), ACL_SUCCESS); /* for ever: the end ends it */
}
END_TEST

START_TEST(the_last_error_is_told_in_its_thread)
{
    const char *text;

    aclrtGetLastError(ACL_RT_THREAD_LEVEL); /* of a test before this one */
    aclGetRecentErrMsg();
    ck_assert_int_eq(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    ck_assert_ptr_null(aclGetRecentErrMsg());
    assert_acl(aclrtMemset(device, 64, 0, 65), ACL_ERROR_RT_PARAM_INVALID);
    ck_assert_int_eq(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
    ck_assert_int_eq(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
    ck_assert_int_eq(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    text = aclGetRecentErrMsg();
    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_nonnull(strstr(text, "107000"));
    ck_assert_ptr_null(aclGetRecentErrMsg());
}
END_TEST

START_TEST(limits_on_cores_hold_for_device_stream_and_thread)
{
    uint32_t all = 0, now = 0;

    assert_acl(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &all), ACL_SUCCESS);
    assert_acl(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 8), ACL_SUCCESS);
    assert_acl(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &now), ACL_SUCCESS);
    ck_assert_uint_eq(now, 8);
    assert_acl(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, 4), ACL_SUCCESS);
    assert_acl(aclrtUseStreamResInCurrentThread(stream), ACL_SUCCESS);
    assert_acl(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &now), ACL_SUCCESS);
    ck_assert_uint_eq(now, 4);
    assert_acl(aclrtUnuseStreamResInCurrentThread(stream), ACL_SUCCESS);
    assert_acl(aclrtResetDeviceResLimit(0), ACL_SUCCESS);
    assert_acl(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &now), ACL_SUCCESS);
    ck_assert_uint_eq(now, all);
}
END_TEST

START_TEST(questions_of_a_framework_at_its_start_are_answered)
{
    aclCANNPackageVersion version;
    aclrtMemUceInfo errors[4];
    aclrtIpcEventHandle shared;
    aclrtEvent event = NULL, same = NULL;
    size_t count = 1;
    int32_t can_access = 0, attribute = 0;
    int64_t value = 0;
    char text[ACL_PKG_VERSION_MAX_SIZE], runtime_name[] = "runtime", driver_name[] = "driver", other_name[] = "none";
    aclrtEventWaitStatus waited = ACL_EVENT_WAIT_STATUS_NOT_READY;

    assert_acl(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), ACL_SUCCESS);
    ck_assert_str_ne(version.version, "");
    assert_acl(aclsysGetVersionStr(runtime_name, text), ACL_SUCCESS);
    ck_assert_str_eq(text, version.version);
    assert_acl(aclsysGetVersionStr(driver_name, text), ACL_SUCCESS);
    ck_assert_str_ne(text, version.version);
    assert_acl(aclsysGetVersionStr(other_name, text), ACL_ERROR_INVALID_FILE);
    assert_acl(aclGetCannAttribute(ACL_CANN_ATTR_BF16, &attribute), ACL_SUCCESS);
    ck_assert_int_eq(attribute, 1);
    assert_acl(aclGetCannAttribute((aclCannAttr)7, &attribute), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &value), ACL_SUCCESS);
    ck_assert_int_eq(value, 48);
    assert_acl(aclrtGetDeviceInfo(1, ACL_DEV_ATTR_CUBE_CORE_NUM, &value), ACL_SUCCESS);
    ck_assert_int_eq(value, 24);
    assert_acl(aclrtGetDeviceInfo(2, ACL_DEV_ATTR_CUBE_CORE_NUM, &value), ACL_ERROR_RT_INVALID_DEVICEID);
    assert_acl(aclrtGetDeviceInfo(0, (aclrtDevAttr)999, &value), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtDeviceTaskAbort(0, 100), ACL_SUCCESS);
    assert_acl(aclrtDeviceTaskAbort(-1, 100), ACL_ERROR_RT_INVALID_DEVICEID);
    assert_acl(aclrtDeviceCanAccessPeer(&can_access, 0, 1), ACL_SUCCESS);
    ck_assert_int_eq(can_access, 1);
    assert_acl(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
    assert_acl(aclrtGetMemUceInfo(0, errors, 4, &count), ACL_SUCCESS);
    ck_assert_uint_eq(count, 0);
    assert_acl(aclrtMemUceRepair(0, errors, 0), ACL_SUCCESS);
    assert_acl(aclrtCmoAsync(device, 64, ACL_RT_CMO_TYPE_PREFETCH, stream), ACL_SUCCESS);
    assert_acl(aclrtCreateEvent(&event), ACL_SUCCESS);
    assert_acl(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeEvent(event), ACL_SUCCESS);
    assert_acl(aclrtQueryEventWaitStatus(event, &waited), ACL_SUCCESS);
    ck_assert_int_eq(waited, ACL_EVENT_WAIT_STATUS_COMPLETE);
    assert_acl(aclrtIpcGetEventHandle(event, &shared), ACL_SUCCESS);
    assert_acl(aclrtIpcOpenEventHandle(shared, &same), ACL_SUCCESS);
    ck_assert_ptr_nonnull(same);
    aclAppLog(ACL_ERROR, __func__, __FILE__, __LINE__, "%s", "written nowhere");
}
END_TEST

START_TEST(the_profiler_is_found_by_name)
{
    static const char *const names[] = {
        "aclprofInit",           "aclprofFinalize",         "aclprofStart",          "aclprofStop",
        "aclprofCreateConfig",   "aclprofSetConfig",        "aclprofWarmup",         "aclprofDestroyConfig",
        "aclprofCreateStepInfo", "aclprofGetStepTimestamp", "aclprofDestroyStepInfo"};
    void *library = dlopen(MSPROFILER_PATH, RTLD_NOW);

    ck_assert_ptr_nonnull(library);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(dlsym(library, names[i]) != NULL, "%s", names[i]);
}
END_TEST

TEST_SUITE(test_cann_graphs)
{
    Suite *suite = suite_create("cann_graphs");
    TCase *tests = tcase_create("rules");

    setenv("NPUMEM_CANN_CAPACITY_BYTES", "64M", 1);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_graph_does_at_each_execution_what_was_captured);
    tcase_add_test(tests, a_stream_that_waits_for_the_capture_joins_it);
    tcase_add_test(tests, what_may_disturb_a_capture_is_refused);
    tcase_add_test(tests, functions_of_the_program_take_their_turn);
    tcase_add_test(tests, a_stream_waits_for_a_word_that_another_writes);
    tcase_add_test(tests, the_last_error_is_told_in_its_thread);
    tcase_add_test(tests, limits_on_cores_hold_for_device_stream_and_thread);
    tcase_add_test(tests, questions_of_a_framework_at_its_start_are_answered);
    tcase_add_test(tests, the_profiler_is_found_by_name);
    suite_add_tcase(suite, tests);
    return suite;
}
