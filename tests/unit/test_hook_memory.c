/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of what a newer runtime has: configured, managed and registered memory, copies in two dimensions and in
 * batches, virtual memory, memory of other processes and CANN's pool. The test starts itself again as the recorded program
 * and compares every event, written as a line, with what was called. Without the newer functions (test_hook_older is this
 * program without them) each call answers 207000 and nothing is recorded of it.
 */
#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hook/runtime.h"
#include "hook_lines.h"

/* ---- The recorded program ------------------------------------------------------------------------------------------ */

static void *last; /* what was handed out last */

static int call_memory(void)
{
    nm_acl_attribute attribute = {.attr = ACL_MALLOC_ATTR_DEVICE_ID, .value.device = 5};
    nm_acl_config config = {&attribute, 1};

    EXPECT(aclrtMallocWithCfg(&last, 0x100, 2, NULL), 0);
    EXPECT(aclrtMallocWithCfg(&last, 0x110, 1, &config), 0);
    EXPECT(aclrtMallocWithCfg(&last, 13, 1, &config), 207001);
    EXPECT(aclrtMallocForTaskScheduler(&last, 0x120, 0, NULL), 0);
    EXPECT(aclrtMemAllocManaged(&last, 0x130, 1), 0);
    EXPECT(aclrtFreeWithDevSync(AT(0x10100)), 0);
    EXPECT(aclrtFreeWithDevSync(NULL), 207002);
    EXPECT(aclrtMallocHostWithCfg(&last, 0x140, NULL), 0);
    EXPECT(aclrtMallocHostWithCfg(&last, 13, NULL), 207001);
    EXPECT(aclrtFreeHostWithDevSync(AT(0x40140)), 0);
    EXPECT(aclrtHostRegister(AT(0x700000), 0x1000, 8, &last), 0);
    EXPECT(aclrtHostRegister(AT(0x700000), 13, 0, &last), 507910);
    EXPECT(aclrtHostRegisterV2(AT(0x800000), 0x2000, 0x10000002), 0);
    EXPECT(aclrtHostUnregister(AT(0x700000)), 0);
    EXPECT(aclrtHostUnregister(NULL), 507911);
    return 0;
}

static const char *const memory_lines[] = {
    "alloc driver.2 0x10100 256 policy=2",
    "alloc driver.5 0x10110 272 policy=1",
    "failed driver.2 13 error=207001",
    "alloc driver.2 0x20120 288 policy=0",
    "alloc driver.2 0x30130 304 policy=4294967295",
    "free 0x10100 call=1",
    "free 0x0 call=1",
    "not freed 0x0 call=1 error=207002",
    "alloc pinned 0x40140 320 policy=0",
    "failed pinned 13 error=207001",
    "free 0x40140 call=2",
    "alloc registered 0x700000 4096 policy=8",
    "failed registered 13 error=507910",
    "alloc registered 0x800000 8192 policy=268435458",
    "free 0x700000 call=4",
    "free 0x0 call=4",
    "not freed 0x0 call=4 error=507911",
    NULL,
};

static int call_copies(void)
{
    void *targets[] = {AT(0x10100), AT(0x10200), AT(0x700000), AT(0x10300)};
    void *sources[] = {AT(0x700000), AT(0x700100), AT(0x10300), AT(0x10100)};
    size_t limits[] = {64, 65, 66, 67}, sizes[] = {60, 61, 62, 63}, indexes[] = {0, 2, 3}, fail_index;
    nm_acl_batch_attr attrs[] = {
        {.target = {2, ACL_LOCATION_DEVICE}, .source = {0, ACL_LOCATION_HOST}},
        {.target = {0, ACL_LOCATION_UNREGISTERED}, .source = {2, ACL_LOCATION_DEVICE}},
        {.target = {2, ACL_LOCATION_DEVICE}, .source = {4, ACL_LOCATION_DEVICE}},
    };

    EXPECT(aclrtMemcpyAsyncWithCondition(AT(1), 9, AT(2), 8, 1, AT(0x77)), 0);
    EXPECT(aclrtMemcpy2d(AT(1), 64, AT(2), 128, 32, 10, 2), 0);
    EXPECT(aclrtMemcpy2d(AT(1), 64, AT(2), 128, 13, 10, 2), 107000);
    EXPECT(aclrtMemcpy2dAsync(AT(1), 64, AT(2), 128, 32, 2, 1, AT(0x78)), 0);
    EXPECT(aclrtMemsetD32(AT(1), 100, 7, 20), 0);
    EXPECT(aclrtMemsetD32Async(AT(1), 100, 7, 21, NULL), 0);
    EXPECT(aclrtMemcpyBatch(targets, limits, sources, sizes, 4, attrs, indexes, 3, &fail_index), 0);
    EXPECT(aclrtMemcpyBatch(NULL, NULL, NULL, NULL, 13, NULL, NULL, 0, &fail_index), 107000);
    EXPECT(aclrtMemcpyBatchAsync(targets, limits, sources, sizes, 1, attrs, indexes, 1, &fail_index, AT(0x79)), 0);
    EXPECT(aclrtMemcpyBatchV2(targets, NULL, sources, sizes, 2, NULL, NULL, 0), 0);
    EXPECT(aclrtMemcpyBatchAsyncV2(targets, limits, sources, sizes, 1, attrs, indexes, 1, NULL), 0);
    EXPECT(aclrtMemcpyBatchAsyncV2(targets, limits, sources, sizes, 0, attrs, indexes, 1, NULL), 0);
    return 0;
}

static const char *const copy_lines[] = {
    "copy 0x1 0x2 8 of 9 kind=1 to 3 from 0 async 0x77",
    "copy 0x1 0x2 320 of 0 kind=2 to 0 from 3",
    "copy 0x1 0x2 130 of 0 kind=2 to 0 from 3 error=107000",
    "copy 0x1 0x2 64 of 0 kind=1 to 3 from 0 async 0x78",
    "copy 0x1 0x0 80 of 100 kind=100 to 3 from 0",
    "copy 0x1 0x0 84 of 100 kind=100 to 3 from 0 async 0x0",
    "copy 0x10100 0x700000 60 of 64 kind=1 to 3 from 0",
    "copy 0x10200 0x700100 61 of 65 kind=1 to 3 from 0",
    "copy 0x700000 0x10300 62 of 66 kind=2 to 0 from 3",
    "copy 0x10300 0x10100 63 of 67 kind=3 to 3 from 5",
    "copy 0x0 0x0 0 of 0 kind=4 to 0 from 0 error=107000",
    "copy 0x10100 0x700000 60 of 64 kind=1 to 3 from 0 async 0x79",
    "copy 0x10100 0x700000 60 of 0 kind=4 to 0 from 0",
    "copy 0x10200 0x700100 61 of 0 kind=4 to 0 from 0",
    "copy 0x10100 0x700000 60 of 64 kind=1 to 3 from 0 async 0x0",
    NULL,
};

static int call_virtual(void)
{
    nm_acl_physical properties = {.memAttr = 4, .location = {2, ACL_LOCATION_DEVICE}};
    uint64_t shared = 0x20;
    void *handle;

    EXPECT(aclrtMallocPhysical(&handle, 0x200, &properties, 0), 0);
    EXPECT(aclrtMapMem(AT(0x90200), 0x200, 0, handle, 0), 0);
    EXPECT(aclrtMapMem(AT(0x90200), 13, 0, handle, 0), 107000);
    EXPECT(aclrtUnmapMem(AT(0x90200)), 0);
    EXPECT(aclrtUnmapMem(NULL), 107000);
    EXPECT(aclrtMemRetainAllocationHandle(AT(0x90200), &last), 0); /* the same handle: it takes two frees now */
    EXPECT(aclrtFreePhysical(handle), 0);
    EXPECT(aclrtFreePhysical(handle), 0);
    EXPECT(aclrtFreePhysical(NULL), 207002);
    EXPECT(aclrtMallocPhysical(&handle, 13, &properties, 0), 207001);
    EXPECT(aclrtMemImportFromShareableHandle(0x10, 2, &handle), 0);
    EXPECT(aclrtMemMapNoAccess(AT(0xb0000), 0x300, 0, handle, 0), 0);
    EXPECT(aclrtUnmapMem(AT(0xb0000)), 0);
    EXPECT(aclrtFreePhysical(handle), 0);
    EXPECT(aclrtMemImportFromShareableHandleV2(&shared, 1, 0, &handle), 0);
    EXPECT(aclrtIpcMemImportByKey(&last, "key of 107", 0), 0);
    EXPECT(aclrtIpcMemClose("another's key"), 0);
    EXPECT(aclrtIpcMemClose("key of 107"), 0);
    EXPECT(aclrtIpcMemClose("key of 107"), 0);
    EXPECT(aclrtIpcMemClose(NULL), 107000);
    return 0;
}

static const char *const virtual_lines[] = {
    "alloc physical.2 0x50200 512 policy=4",
    "map driver.2 0x90200 512 policy=4",
    "failed driver.2 13 error=107000",
    "unmap 0x90200 0",
    "free 0x50200 call=3",
    "free 0x0 call=3",
    "not freed 0x0 call=3 error=207002",
    "failed physical.2 13 error=207001",
    "alloc imported.2 0x60010 0 policy=0",
    "map imported.2 0xb0000 768",
    "unmap 0xb0000 0",
    "free 0x60010 call=3",
    "alloc imported.2 0x70020 0 policy=0",
    "alloc imported.2 0x8006b 0 policy=0",
    "free 0x8006b call=5",
    NULL,
};

static int call_pools(void)
{
    nm_acl_pool_properties properties = {.location = {4, ACL_LOCATION_DEVICE}};
    nm_acl_pool_properties other_properties = {.location = {2, ACL_LOCATION_DEVICE}};
    void *pool, *other;

    EXPECT(aclrtMemPoolCreate(&pool, &properties), 0);
    EXPECT(aclrtMemPoolMallocAsync(&last, 0x40, pool, AT(0x77)), 0);
    EXPECT(aclrtMemPoolMallocAsync(&last, 13, pool, NULL), 207001);
    EXPECT(aclrtMemPoolMallocAsync(&last, 0x50, AT(0x123), NULL), 0); /* a pool that nobody saw being made */
    EXPECT(aclrtMemPoolFreeAsync(AT(0xa0040), AT(0x77)), 0);
    EXPECT(aclrtMemPoolFreeAsync(NULL, NULL), 207002);
    EXPECT(aclrtMemPoolCreate(&other, &other_properties), 0);
    EXPECT(aclrtMemPoolMallocAsync(&last, 0x60, other, NULL), 0);
    EXPECT(aclrtMemPoolDestroy(pool), 0);
    EXPECT(aclrtMemPoolCreate(&pool, &properties), 0); /* the number is free again */
    EXPECT(aclrtMemPoolMallocAsync(&last, 0x70, pool, NULL), 0);
    return 0;
}

static const char *const pool_lines[] = {
    "alloc pool.4 (CANN memory pool 1) 0xa0040 64 policy=0 stream 0x77",
    "failed pool.4 (CANN memory pool 1) 13 error=207001",
    "alloc pool.2 (other CANN memory pools) 0xa0050 80 policy=0 stream 0x0",
    "free 0xa0040 call=6 stream 0x77",
    "free 0x0 call=6 stream 0x0",
    "not freed 0x0 call=6 error=207002",
    "alloc pool.2 (CANN memory pool 2) 0xa0060 96 policy=0 stream 0x0",
    "alloc pool.4 (CANN memory pool 1) 0xa0070 112 policy=0 stream 0x0",
    NULL,
};

/* A runtime without the newer functions. */
static int call_absent(void)
{
    const int answers[] = {
        aclrtMallocWithCfg(&last, 1, 0, NULL),
        aclrtHostRegister(AT(1), 1, 0, &last),
        aclrtFreeWithDevSync(AT(1)),
        aclrtMallocPhysical(&last, 1, NULL, 0),
        aclrtUnmapMem(AT(1)),
        aclrtIpcMemClose("key"),
        aclrtMemPoolMallocAsync(&last, 1, 0, 0),
        aclrtMemsetD32(AT(1), 1, 1, 1),
        aclrtFreePhysical(AT(1)),
        aclrtMemcpy2d(AT(1), 1, AT(1), 1, 1, 1, 1),
    };

    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i] != 207000)
            return 1;
    return halMemAlloc(&last, 1, 0) != DRV_ERROR_NOT_SUPPORT || halMemFree(AT(1)) != DRV_ERROR_NOT_SUPPORT ||
           halMemUnmap(AT(1)) != DRV_ERROR_NOT_SUPPORT;
}

static int run_child(const char *name)
{
    aclrtSetDevice(2);
    if (strcmp(name, "memory") == 0)
        return call_memory();
    if (strcmp(name, "copies") == 0)
        return call_copies();
    if (strcmp(name, "virtual") == 0)
        return call_virtual();
    return strcmp(name, "pools") == 0 ? call_pools() : call_absent();
}

/* ---- The test ------------------------------------------------------------------------------------------------------ */

#if HAS_NEWER
START_TEST(configured_managed_and_registered_memory_is_recorded)
{
    hook_lines_check("memory", memory_lines);
}
END_TEST

START_TEST(each_copy_is_recorded_and_each_element_of_a_batch)
{
    hook_lines_check("copies", copy_lines);
}
END_TEST

START_TEST(physical_mapped_and_imported_memory_is_recorded)
{
    hook_lines_check("virtual", virtual_lines);
}
END_TEST

START_TEST(a_pool_of_the_runtime_is_a_heap_of_its_own)
{
    hook_lines_check("pools", pool_lines);
}
END_TEST
#else
START_TEST(what_the_runtime_lacks_answers_that_it_is_not_supported)
{
    static const char *const nothing[] = {NULL};

    hook_lines_check("absent", nothing);
}
END_TEST
#endif

static Suite *make_suite(void)
{
    Suite *suite = suite_create("hook memory");
    TCase *tests = tcase_create("hook memory");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, hook_lines_setup, hook_lines_teardown);
#if HAS_NEWER
    tcase_add_test(tests, configured_managed_and_registered_memory_is_recorded);
    tcase_add_test(tests, each_copy_is_recorded_and_each_element_of_a_batch);
    tcase_add_test(tests, physical_mapped_and_imported_memory_is_recorded);
    tcase_add_test(tests, a_pool_of_the_runtime_is_a_heap_of_its_own);
#else
    (void)memory_lines, (void)copy_lines, (void)virtual_lines, (void)pool_lines;
    tcase_add_test(tests, what_the_runtime_lacks_answers_that_it_is_not_supported);
#endif
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
