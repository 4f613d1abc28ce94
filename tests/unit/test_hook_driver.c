/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of the driver, and what they leave to the hooks of ACL above them: fake_driver.c's runtime takes its memory from
 * its driver in the ways of real ones, and every event is compared with what was called.
 */
#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hook/runtime.h"
#include "hook_lines.h"

#define FLAG(module, space, bits) ((uint64_t)(module) << 56 | (space) << 10 | (bits))
#define HUGE                      (1u << 17)
#define P2P                       (1u << 25)
#define GIANT                     (1u << 31)

static void *last; /* what was handed out last */

/* ---- Libraries beside ACL ------------------------------------------------------------------------------------------ */

static int call_libraries(void)
{
    EXPECT(halMemAlloc(&last, 200 << 20, FLAG(3, 1, HUGE | 2)), 0);
    EXPECT(halMemAlloc(&last, 5000, FLAG(45, 0, 2)), 0);
    EXPECT(halMemAlloc(&last, 5000, FLAG(45, 1, GIANT | P2P | 4)), 0);
    EXPECT(halMemAlloc(&last, 100, FLAG(33, 1, 2)), 0);
    EXPECT(halMemAlloc(&last, 100, FLAG(33, 2, 2)), 0);
    EXPECT(halMemAlloc(&last, 100, FLAG(7, 2, 2)), 0);
    EXPECT(halMemAlloc(&last, 100, FLAG(33, 3, HUGE | P2P | 2)), 0);
    EXPECT(halMemAlloc(&last, 100, FLAG(200, 1, 2)), 0);
    EXPECT(halMemAlloc(&last, 100, FLAG(33, 5, 2)), 0); /* addresses alone */
    EXPECT(halMemAlloc(&last, 13, FLAG(3, 1, 2)), 6);
    EXPECT(halMemFree(AT(0x100000)), 0);
    EXPECT(halMemFree(AT(0x100001)), 3);
    EXPECT(halMemFree(NULL), 0);
    EXPECT(halHostRegister(AT(0x700000), 4096, 0, 2, &last), 0);
    EXPECT(halHostRegister(AT(0x800000), 4096, 2, 2, &last), 0); /* the device's memory, for the host */
    EXPECT(halHostRegister(AT(0x700000), 13, 0, 2, &last), 3);
    EXPECT(halHostUnregister(AT(0x700000), 2), 0);
    EXPECT(halHostUnregisterEx(AT(0x800000), 2, 2), 0);
    EXPECT(halHostUnregisterEx(AT(0x700000), 2, 0), 0);
    return 0;
}

static const char *const library_lines[] = {
    "alloc driver.2 (HCCL) 0x100000 209715200 policy=1 block=209715200",
    "alloc driver.2 (GE) 0x200000 5000 policy=2 block=8192",
    "alloc driver.4 (GE) 0x300000 5000 policy=7 block=1073741824",
    "alloc driver.2 0x400000 100 policy=2 block=4096",
    "alloc pinned 0x500000 100 policy=4294967295 block=4096",
    "alloc pinned (RUNTIME) 0x600000 100 policy=4294967295 block=4096",
    "alloc driver.2 (DVPP) 0x700000 100 policy=4 block=2097152",
    "alloc driver.2 (module 200) 0x800000 100 policy=2 block=4096",
    "failed driver.2 (HCCL) 13 error=6",
    "free 0x100000 call=0 driver",
    "free 0x100001 call=0 driver",
    "not freed 0x100001 call=0 error=3",
    "alloc registered 0x700000 4096 policy=0",
    "free 0x700000 call=4 driver",
    "free 0x700000 call=4 driver",
    NULL,
};

static int call_handles(void)
{
    nm_hal_properties huge = {1, 2, 3, 1, 0, 0}, normal = {1, 2, 33, 0, 2, 0};
    void *one, *other, *third;
    uint64_t shared, address;
    char name[8];

    EXPECT(halMemCreate(&one, 4 << 20, &huge, 0), 0);
    EXPECT(halMemCreate(&other, 4096, &normal, 0), 0);
    EXPECT(halMemCreate(&last, 13, &huge, 0), 6);
    EXPECT(halMemMap(AT(0x9000000), 4 << 20, 0, one, 0), 0);
    EXPECT(halMemMap(AT(0xa000000), 4096, 0, other, 0), 0);
    EXPECT(halMemMap(AT(0xb000000), 13, 0, other, 0), 3);
    EXPECT(aclrtMapMem(AT(0xc000000), 4 << 20, 0, one, 0), 0); /* GE's memory, mapped through ACL */
    EXPECT(halMemUnmap(AT(0x9000000)), 0);
    EXPECT(halMemUnmap(NULL), 3);
    EXPECT(halMemRetainAllocationHandle(&last, one), 0);
    EXPECT(halMemRelease(one), 0);
    EXPECT(halMemRelease(one), 0);
    EXPECT(halMemRelease(NULL), 3);
    EXPECT(halMemExportToShareableHandle(other, 0, 0, &shared), 0);
    EXPECT(halMemImportFromShareableHandle(shared, 2, &third), 0);
    EXPECT(halMemMap(AT(0xd000000), 4096, 0, third, 0), 0);
    EXPECT(halMemRelease(third), 0);
    EXPECT(halMemImportFromShareableHandleV2(0, &shared, 4, &third), 0);
    EXPECT(halShmemCreateHandle(0x400000, 64, name, sizeof name), 0);
    EXPECT(halShmemOpenHandle(name, &address), 0);
    EXPECT(halShmemCloseHandle(address), 0);
    EXPECT(halShmemOpenHandleByDevId(2, name, &address), 0);
    EXPECT(halShmemCloseHandle(address), 0);
    EXPECT(halShmemOpenHandleV2(4, name, &address, 0), 0);
    EXPECT(halShmemOpenHandleV2(4, NULL, &shared, 0), 6);
    EXPECT(halShmemCloseHandle(address), 0);
    return 0;
}

static const char *const handle_lines[] = {
    "alloc physical.2 (HCCL) 0x100000 4194304 policy=4 block=4194304",
    "alloc physical.2 0x200000 4096 policy=9 block=4096",
    "failed physical.2 (HCCL) 13 error=6",
    "map driver.2 (HCCL) 0x9000000 4194304 policy=4",
    "map driver.2 0xa000000 4096 policy=9",
    "map driver.2 (HCCL) 0xc000000 4194304 policy=4",
    "unmap 0x9000000 0 driver",
    "free 0x100000 call=3 driver",
    "export 0x200000 call=3",
    "alloc imported.2 0x300000 0 policy=4294967295",
    "map imported 0xd000000 4096",
    "free 0x300000 call=3 driver",
    "alloc imported.4 0x400000 0 policy=4294967295",
    "export 0x400000 call=0",
    "alloc imported 0x500000 0 policy=4294967295",
    "free 0x500000 call=5 driver",
    "alloc imported.2 0x600000 0 policy=4294967295",
    "free 0x600000 call=5 driver",
    "alloc imported.4 0x700000 0 policy=4294967295",
    "free 0x700000 call=5 driver",
    NULL,
};

static int call_buffers(void)
{
    void *one, *other;

    EXPECT(halBuffAlloc(100, &one), 0);
    EXPECT(halBuffFree(one), 0);
    EXPECT(halBuffAllocEx(200, 0, 1, &one), 0);
    EXPECT(halBuffAllocAlignEx(300, 64, 0, 1, &other), 0);
    EXPECT(halBuffAlloc(13, &last), 6);
    EXPECT(halBuffFree(other), 0);
    EXPECT(halMbufAlloc(400, &other), 0);
    EXPECT(halMbufFree(other), 0);
    EXPECT(halMbufAllocEx(500, 64, 0, 1, &other), 0);
    EXPECT(halMbufFree(NULL), 3);
    return 0;
}

static const char *const buffer_lines[] = {
    "alloc host 0x100000 100 policy=4294967295",
    "free 0x100000 call=0 driver",
    "alloc host 0x200000 200 policy=4294967295",
    "alloc host 0x300000 300 policy=4294967295",
    "failed host 13 error=6",
    "free 0x300000 call=0 driver",
    "alloc host 0x400000 400 policy=4294967295",
    "free 0x400000 call=0 driver",
    "alloc host 0x500000 500 policy=4294967295",
    NULL,
};

/* ---- Through ACL, and once ----------------------------------------------------------------------------------------- */

static int call_once(void)
{
    nm_acl_attribute attribute = {.attr = ACL_MALLOC_ATTR_MODULE_ID, .value.module = 3};
    nm_acl_config config = {&attribute, 1};
    nm_acl_physical properties = {.memAttr = 4, .location = {2, ACL_LOCATION_DEVICE}};
    void *handle;

    EXPECT(aclrtMalloc(&last, 100, 0), 0);
    EXPECT(aclrtFree(last), 0);
    EXPECT(aclrtMalloc(&last, 200, 0), 0);
    EXPECT(aclrtFree(last), 0);
    EXPECT(aclrtMalloc(&last, 300, 0), 0);
    EXPECT(aclrtMalloc(&last, 400, 0), 0);
    EXPECT(aclrtMalloc(&last, 500, 0), 0);
    EXPECT(aclrtMalloc(&last, 13, 0), 207001);
    EXPECT(aclrtMallocWithCfg(&last, 600, 0, &config), 0);
    EXPECT(aclrtMallocHost(&last, 700), 0);
    EXPECT(aclrtFreeHost(last), 0);
    EXPECT(aclrtMallocPhysical(&handle, 2 << 20, &properties, 0), 0);
    EXPECT(aclrtMapMem(AT(0x9000000), 2 << 20, 0, handle, 0), 0);
    EXPECT(aclrtUnmapMem(AT(0x9000000)), 0);
    EXPECT(aclrtFreePhysical(handle), 0);
    EXPECT(aclrtHostRegister(AT(0x7000000), 4096, 0, &last), 0);
    EXPECT(aclrtHostUnregister(AT(0x7000000)), 0);
    EXPECT(aclrtIpcMemImportByKey(&last, "key", 0), 0);
    EXPECT(aclrtIpcMemClose("key"), 0);
    return 0;
}

static const char *const once_lines[] = {
    "alloc driver.2 0x100000 100 policy=0 block=4096",
    "free 0x100000 call=1",
    "alloc driver.2 (RUNTIME) 0x200000 64 policy=2 block=4096",
    "alloc driver.2 0x300000 200 policy=0 block=4096",
    "free 0x300000 call=1",
    "free 0x200000 call=0 driver",
    "alloc driver.2 0x400000 8192 policy=2 block=8192",
    "alloc driver.2 (RUNTIME) 0x600000 128 policy=2 block=4096",
    "alloc driver.2 0x500000 300 policy=0 block=4096",
    "alloc driver.2 0x700000 400 policy=0 block=4096",
    "alloc driver.2 0x800000 500 policy=2 block=4096",
    "alloc driver.2 0x800100 500 policy=0",
    "failed driver.2 13 error=207001",
    "alloc driver.2 (RUNTIME) 0x900000 256 policy=2 block=4096", /* to answer the question for a sample */
    "free 0x900000 call=0 driver",
    "alloc driver.2 (HCCL) 0xa00000 600 policy=0 block=4096",
    "alloc pinned 0xb00000 700 policy=0 block=4096",
    "free 0xb00000 call=2",
    "alloc physical.2 0xc00000 2097152 policy=4 block=2097152",
    "map driver.2 0x9000000 2097152 policy=4",
    "unmap 0x9000000 0",
    "free 0xc00000 call=3",
    "alloc registered 0x7000000 4096 policy=2",
    "free 0x7000000 call=4",
    "alloc imported.2 0xd00000 0 policy=0",
    "free 0xd00000 call=5",
    NULL,
};

/* A device's own memory, and the chunks of a pool, are told beside the call. */
static int call_beside(void)
{
    EXPECT(aclrtSetDevice(2), 0);
    EXPECT(aclrtMemPoolMallocAsync(&last, 512, AT(0x55), AT(0x66)), 0);
    EXPECT(aclrtResetDevice(2), 0);
    return 0;
}

static const char *const beside_lines[] = {
    "alloc driver.2 (RUNTIME) 0x100000 4194304 policy=1 block=4194304",
    "alloc driver.2 (RUNTIME) 0x200000 256 policy=2 block=4096", /* for a sample */
    "free 0x200000 call=0 driver",
    "alloc driver.2 0x300000 512 policy=1 block=2097152",
    "alloc pool.2 (other CANN memory pools) 0x300000 512 policy=0 stream 0x66",
    "alloc driver.2 (RUNTIME) 0x400000 256 policy=2 block=4096",
    "free 0x400000 call=0 driver",
    "free 0x100000 call=0 driver",
    "reset 3",
    NULL,
};

/* ---- Samples ------------------------------------------------------------------------------------------------------- */

static int call_samples(void)
{
    nm_acl_usage info[4];
    size_t count = 0;

    EXPECT(aclrtSetDevice(2), 0);
    EXPECT(aclrtSetDevice(2), 0);
    EXPECT(aclrtGetMemUsageInfo(2, info, 4, &count), 0);
    EXPECT(aclrtGetMemUsageInfo(2, info, 1, &count), 100000);
    EXPECT(aclrtResetDevice(2), 0);
    EXPECT(aclFinalize(), 0);
    return 0;
}

#define OF_MODULES "sample 3 HCCL 5 peak 9", "sample 3 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 0 peak 1"

static const char *const sample_lines[] = {
    "sample 3 kind=0 400 of 1000",
    OF_MODULES, /* set */
    OF_MODULES, /* asked for */
    "sample 3 kind=0 400 of 1000",
    OF_MODULES, /* before all ends */
    NULL,
};

/* ---- The test ------------------------------------------------------------------------------------------------------ */

static int run_child(const char *name)
{
    static const struct {
        const char *name;
        int (*call)(void);
    } calls[] = {
        {"libraries", call_libraries}, {"handles", call_handles}, {"buffers", call_buffers},
        {"once", call_once},           {"beside", call_beside},   {"samples", call_samples},
    };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, calls[i].name) == 0)
            return calls[i].call();
    return 1;
}

START_TEST(memory_is_its_modules_by_space_and_page)
{
    hook_lines_check("libraries", library_lines);
}
END_TEST

START_TEST(handles_and_mappings_are_their_makers)
{
    hook_lines_check("handles", handle_lines);
}
END_TEST

START_TEST(message_buffers_are_told)
{
    hook_lines_check("buffers", buffer_lines);
}
END_TEST

START_TEST(what_the_program_asks_for_is_told_once)
{
    hook_lines_check("once", once_lines);
}
END_TEST

START_TEST(what_the_runtime_takes_beside_it_is_told_too)
{
    hook_lines_check("beside", beside_lines);
}
END_TEST

START_TEST(samples_are_taken_where_memory_comes_and_goes)
{
    hook_lines_check_samples("samples", sample_lines);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("hook driver");
    TCase *tests = tcase_create("hook_driver");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, hook_lines_setup, hook_lines_teardown);
    tcase_add_test(tests, memory_is_its_modules_by_space_and_page);
    tcase_add_test(tests, handles_and_mappings_are_their_makers);
    tcase_add_test(tests, message_buffers_are_told);
    tcase_add_test(tests, what_the_program_asks_for_is_told_once);
    tcase_add_test(tests, what_the_runtime_takes_beside_it_is_told_too);
    tcase_add_test(tests, samples_are_taken_where_memory_comes_and_goes);
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
