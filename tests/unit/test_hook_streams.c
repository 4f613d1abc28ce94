/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of streams and events, of memory that is given to other processes, and of copies whose addresses stand on the
 * device or behind a symbol, as test_hook_memory does it.
 */
#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hook/runtime.h"
#include "hook_lines.h"

static void *last; /* what was handed out last */

/* ---- The recorded program ------------------------------------------------------------------------------------------ */

static int call_streams(void)
{
    EXPECT(aclrtCreateStream(&last), 0);
    EXPECT(aclrtCreateStream(NULL), 100000);
    EXPECT(aclrtCreateStreamWithConfig(&last, 1, 2), 0);
    EXPECT(aclrtCreateStreamV2(&last, NULL), 0);
    EXPECT(aclrtSynchronizeStream(NULL), 0);
    EXPECT(aclrtSynchronizeStreamWithTimeout(AT(0xe001), 12), 0);
    EXPECT(aclrtSynchronizeStreamWithTimeout(AT(0xe001), 13), 507046);
    EXPECT(aclrtSynchronizeDevice(), 0);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(13), 507046);
    EXPECT(aclrtAllocatorRegister(AT(0xe001), AT(0x77)), 0);
    EXPECT(aclrtAllocatorUnregister(AT(0xe001)), 0);
    EXPECT(aclrtDestroyStream(AT(0xe001)), 0);
    EXPECT(aclrtDestroyStream(NULL), 107017);
    EXPECT(aclrtDestroyStreamForce(AT(0xe002)), 0);
    return 0;
}

static const char *const stream_lines[] = {
    "call 1 on 3 stream 0xe001",
    "call 1 on 3 error=100000",
    "call 1 on 3 stream 0xe002",
    "call 1 on 3 stream 0xe003",
    "call 3 on 3 stream 0x0",
    "call 3 on 3 stream 0xe001",
    "call 3 on 3 stream 0xe001 error=507046",
    "call 4 on 3",
    "call 4 on 3 error=507046",
    "call 11 on 3 stream 0xe001",
    "call 12 on 3 stream 0xe001",
    "call 2 on 3 stream 0xe001",
    "call 2 on 3 stream 0x0 error=107017",
    "call 2 on 3 stream 0xe002",
    NULL,
};

static int call_graphs(void)
{
    EXPECT(aclmdlRICaptureBegin(AT(0xe001), 0), 0);
    EXPECT(aclmdlRICaptureEnd(AT(0xe001), &last), 0);
    EXPECT(aclmdlRICaptureBegin(NULL, 0), 107017);
    EXPECT(aclmdlRICaptureToModelRIBegin(AT(0xe002), AT(0xb001), 0), 0);
    EXPECT(aclmdlRICaptureEnd(AT(0xe002), &last), 0);
    EXPECT(aclmdlRICaptureToModelRIBegin(AT(0xe002), NULL, 0), 107017);
    EXPECT(aclmdlRIExecute(AT(0xb001), 0), 0);
    EXPECT(aclmdlRIExecute(AT(0xb001), 13), 507046);
    EXPECT(aclmdlRIExecuteAsync(AT(0xb002), AT(0xe001)), 0);
    EXPECT(aclmdlRIDestroy(AT(0xb001)), 0);
    EXPECT(aclmdlRIDestroy(NULL), 107017);
    return 0;
}

/* A graph stands where events do. */
static const char *const graph_lines[] = {
    "call 13 on 3 stream 0xe001",
    "call 14 on 3 stream 0xe001 event 0xb001",
    "call 13 on 3 error=107017",
    "call 13 on 3 stream 0xe002 event 0xb001",
    "call 14 on 3 stream 0xe002 event 0xb002",
    "call 13 on 3 stream 0xe002 error=107017",
    "call 15 on 3 event 0xb001",
    "call 15 on 3 event 0xb001 error=507046",
    "call 15 on 3 stream 0xe001 event 0xb002",
    "call 16 on 3 event 0xb001",
    "call 16 on 3 error=107017",
    NULL,
};

static int call_events(void)
{
    nm_acl_ipc_event shared = {{0}};

    EXPECT(aclrtCreateEvent(&last), 0);
    EXPECT(aclrtCreateEvent(NULL), 100000);
    EXPECT(aclrtCreateEventWithFlag(&last, 8), 0);
    EXPECT(aclrtCreateEventExWithFlag(&last, 1), 0);
    EXPECT(aclrtIpcOpenEventHandle(shared, &last), 0);
    shared.reserved[sizeof shared.reserved - 1] = 13;
    EXPECT(aclrtIpcOpenEventHandle(shared, &last), 107000);
    EXPECT(aclrtRecordEvent(AT(0xf001), AT(0xe009)), 0);
    EXPECT(aclrtRecordEventWithFlag(AT(0xf001), NULL, 1), 0);
    EXPECT(aclrtStreamWaitEvent(AT(0xe008), AT(0xf001)), 0);
    EXPECT(aclrtStreamWaitEventWithTimeout(AT(0xe008), AT(0xf001), 13), 507046);
    EXPECT(aclrtStreamWaitEventWithFlag(NULL, AT(0xf001), 12, 1), 0);
    EXPECT(aclrtResetEvent(AT(0xf001), AT(0xe009)), 0);
    EXPECT(aclrtSynchronizeEvent(AT(0xf001)), 0);
    EXPECT(aclrtSynchronizeEvent(NULL), 107017);
    EXPECT(aclrtSynchronizeEventWithTimeout(AT(0xf001), 13), 507046);
    EXPECT(aclrtDestroyEvent(AT(0xf001)), 0);
    EXPECT(aclrtCreateNotify(&last, 0), 0);
    EXPECT(aclrtCreateNotify(&last, 13), 207005);
    EXPECT(aclrtDestroyNotify(AT(0xd005)), 0);
    EXPECT(aclrtDestroyNotify(NULL), 107017);
    EXPECT(aclrtNotifyImportByKey(&last, "key", 1), 0);
    EXPECT(aclrtNotifyImportByKey(&last, "lock", 1), 107000);
    EXPECT(aclrtCntNotifyCreate(&last, 0), 0);
    EXPECT(aclrtCntNotifyCreate(&last, 13), 207005);
    EXPECT(aclrtCntNotifyDestroy(AT(0xc007)), 0);
    EXPECT(aclrtCntNotifyDestroy(NULL), 107017);
    return 0;
}

static const char *const event_lines[] = {
    "call 6 on 3 event 0xf001",
    "call 6 on 3 error=100000",
    "call 6 on 3 event 0xf002",
    "call 6 on 3 event 0xf003",
    "call 6 on 3 event 0xf004",
    "call 6 on 3 error=107000",
    "call 8 on 3 stream 0xe009 event 0xf001",
    "call 8 on 3 stream 0x0 event 0xf001",
    "call 5 on 3 stream 0xe008 event 0xf001",
    "call 5 on 3 stream 0xe008 event 0xf001 error=507046",
    "call 5 on 3 stream 0x0 event 0xf001",
    "call 10 on 3 stream 0xe009 event 0xf001",
    "call 9 on 3 event 0xf001",
    "call 9 on 3 error=107017",
    "call 9 on 3 event 0xf001 error=507046",
    "call 7 on 3 event 0xf001",
    "call 17 on 3 event 0xd005",
    "call 17 on 3 error=207005",
    "call 18 on 3 event 0xd005",
    "call 18 on 3 error=107017",
    "call 17 on 3 event 0xd006",
    "call 17 on 3 error=107000",
    "call 17 on 3 event 0xc007",
    "call 17 on 3 error=207005",
    "call 18 on 3 event 0xc007",
    "call 18 on 3 error=107017",
    NULL,
};

static int call_exports(void)
{
    nm_acl_physical properties = {.memAttr = 10, .location = {2, ACL_LOCATION_DEVICE}};
    uint64_t shared;
    char key[ACL_IPC_KEY_BYTES];
    void *handle;

    EXPECT(aclrtMallocPhysical(&handle, 0x200, &properties, 0), 0);
    EXPECT(aclrtMemExportToShareableHandle(handle, 0, 0, &shared), 0);
    EXPECT(aclrtMemExportToShareableHandleV2(handle, 1, 1, &shared), 0);
    EXPECT(aclrtMemExportToShareableHandle(NULL, 0, 0, &shared), 107017);
    EXPECT(aclrtIpcMemGetExportKey(AT(0x10100), 0x100, key, sizeof key, 0), 0);
    EXPECT(aclrtIpcMemGetExportKey(NULL, 0x100, key, sizeof key, 0), 107017);
    EXPECT(aclrtMapMem(AT(0x90200), 0x200, 0, handle, 0), 0);
    EXPECT(aclrtMapMem(AT(0x90400), 0x200, 0, AT(0x123), 0), 0); /* a handle that nobody saw being made */
    EXPECT(aclrtFreePhysical(handle), 0);
    EXPECT(aclrtMapMem(AT(0x90600), 0x200, 0, handle, 0), 0); /* and one that is gone */
    return 0;
}

static const char *const export_lines[] = {
    "alloc physical.2 0x50200 512 policy=10",
    "export 0x50200 call=3",
    "export 0x50200 call=3",
    "export 0x10100 call=0",
    "map driver.2 0x90200 512 policy=10",
    "map driver.2 0x90400 512",
    "free 0x50200 call=3",
    "map driver.2 0x90600 512",
    NULL,
};

static int call_copies(void)
{
    void *base = AT(0x10100);
    const void *other = AT(0x10200);

    EXPECT(aclrtSetMemcpyDesc(AT(0xc000), 6, AT(0x10200), AT(0x10100), 50, NULL), 0);
    EXPECT(aclrtSetMemcpyDesc(NULL, 6, AT(0x10200), AT(0x10100), 51, NULL), 107017);
    EXPECT(aclrtMemcpyAsyncWithDesc(AT(0xc000), 6, AT(0x77)), 0);
    EXPECT(aclrtMemcpyAsyncWithDesc(AT(0xc000), 6, NULL), 0);
    EXPECT(aclrtMemcpyAsyncWithDesc(AT(0xc040), 6, NULL), 0); /* a description that nobody saw being made */
    EXPECT(aclrtMemcpyAsyncWithDesc(NULL, 6, NULL), 107017);
    EXPECT(aclrtMemcpyAsyncWithOffset(&base, 100, 30, &other, 60, 20, 6, AT(0x78)), 0);
    EXPECT(aclrtMemcpyToSymbol(AT(0x40), AT(0x2), 70, 0x10, 1), 0);
    EXPECT(aclrtMemcpyToSymbol(NULL, AT(0x2), 71, 0, 1), 107017);
    EXPECT(aclrtMemcpyToSymbolAsync(AT(0x40), AT(0x2), 72, 0x200, 1, AT(0x79)), 0);
    EXPECT(aclrtMemcpyFromSymbol(AT(0x1), 80, AT(0x40), 73, 0x20, 2), 0);
    EXPECT(aclrtMemcpyFromSymbolAsync(AT(0x1), 80, AT(0x40), 74, 0, 2, NULL), 0);
    return 0;
}

static const char *const copy_lines[] = {
    "copy 0x10100 0x10200 50 of 0 kind=6 to 3 from 3 async 0x77",
    "copy 0x10100 0x10200 50 of 0 kind=6 to 3 from 3 async 0x0",
    "copy 0x0 0x0 0 of 0 kind=6 to 3 from 3 async 0x0",
    "copy 0x0 0x0 0 of 0 kind=6 to 3 from 3 async 0x0 error=107017",
    "copy 0x0 0x0 60 of 70 kind=6 to 3 from 3 async 0x78",
    "copy 0xd0050 0x2 70 of 240 kind=1 to 3 from 0",
    "copy 0x0 0x2 71 of 0 kind=1 to 3 from 0 error=107017",
    "copy 0xd0240 0x2 72 of 0 kind=1 to 3 from 0 async 0x79",
    "copy 0x1 0xd0060 73 of 80 kind=2 to 0 from 3",
    "copy 0x1 0xd0040 74 of 80 kind=2 to 0 from 3 async 0x0",
    NULL,
};

static int run_child(const char *name)
{
    aclrtSetDevice(2);
    if (strcmp(name, "streams") == 0)
        return call_streams();
    if (strcmp(name, "events") == 0)
        return call_events();
    if (strcmp(name, "graphs") == 0)
        return call_graphs();
    return strcmp(name, "exports") == 0 ? call_exports() : call_copies();
}

/* ---- The test ------------------------------------------------------------------------------------------------------ */

START_TEST(each_call_of_a_stream_is_recorded_once)
{
    hook_lines_check("streams", stream_lines);
}
END_TEST

START_TEST(each_call_of_an_event_is_recorded)
{
    hook_lines_check("events", event_lines);
}
END_TEST

START_TEST(each_call_of_a_graph_is_recorded)
{
    hook_lines_check("graphs", graph_lines);
}
END_TEST

START_TEST(exports_are_recorded_and_a_mapping_keeps_its_kind)
{
    hook_lines_check("exports", export_lines);
}
END_TEST

START_TEST(of_a_copy_described_elsewhere_what_is_known_is_recorded)
{
    hook_lines_check("copies", copy_lines);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("hook streams");
    TCase *tests = tcase_create("hook streams");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, hook_lines_setup, hook_lines_teardown);
    tcase_add_test(tests, each_call_of_a_stream_is_recorded_once);
    tcase_add_test(tests, each_call_of_an_event_is_recorded);
    tcase_add_test(tests, each_call_of_a_graph_is_recorded);
    tcase_add_test(tests, exports_are_recorded_and_a_mapping_keeps_its_kind);
    tcase_add_test(tests, of_a_copy_described_elsewhere_what_is_known_is_recorded);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv)
{
    SRunner *runner;
    int failed_count;

    if (argc == 2)
        return run_child(argv[1]);
    runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_ENV);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed_count != 0;
}
