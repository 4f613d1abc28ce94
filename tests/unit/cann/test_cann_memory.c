/* SPDX-License-Identifier: Apache-2.0
 *
 * The rest of ACL's memory in the stand-in, one test for each rule of fixtures/cann/README.md: configured and managed
 * allocation, host memory, virtual memory, sharing, CANN's pool, and copies of more than one row or range.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "support/suites.h"

#define CAPACITY_BYTES             ((size_t)64 << 20)
#define KIB                        ((size_t)1 << 10)
#define MIB                        ((size_t)1 << 20)

#define assert_acl(call, expected) ck_assert_int_eq(call, expected)

static void set_up(void)
{
    assert_acl(aclInit(NULL), ACL_SUCCESS);
    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
}

static void tear_down(void)
{
    aclFinalize();
}

static size_t used_bytes(void)
{
    size_t free_bytes = 0;
    size_t total_bytes = 0;

    assert_acl(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes), ACL_SUCCESS);
    ck_assert_uint_eq(total_bytes, CAPACITY_BYTES);
    return total_bytes - free_bytes;
}

/* ---- Allocation ---- */

START_TEST(a_configured_size_goes_down_as_it_is_and_says_module_and_device)
{
    aclrtMallocAttribute attributes[2] = {{ACL_RT_MEM_ATTR_MODULE_ID, {.moduleId = 45}},
                                          {ACL_RT_MEM_ATTR_DEVICE_ID, {.deviceId = 1}}};
    aclrtMallocConfig config = {attributes, 2};
    aclrtMemUsageInfo usage[4];
    size_t count = 0;
    void *address = NULL;

    assert_acl(aclrtMallocWithCfg(&address, 4096, ACL_MEM_MALLOC_NORMAL_ONLY, &config), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 0);
    assert_acl(aclrtSetDevice(1), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 4 * KIB); /* no 32 bytes more */
    assert_acl(aclrtGetMemUsageInfo(1, usage, 4, &count), ACL_SUCCESS);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(usage[0].name, "GE");
    ck_assert_uint_eq(usage[0].curMemSize, 4 * KIB);
    assert_acl(aclrtFree(address), ACL_SUCCESS);
    assert_acl(aclrtGetMemUsageInfo(1, usage, 4, &count), ACL_SUCCESS);
    ck_assert_uint_eq(usage[0].curMemSize, 0);
    ck_assert_uint_eq(usage[0].memPeakSize, 4 * KIB);
    attributes[0].attr = (aclrtMallocAttrType)9;
    assert_acl(aclrtMallocWithCfg(&address, 1, ACL_MEM_MALLOC_NORMAL_ONLY, &config), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMallocForTaskScheduler(&address, 1, ACL_MEM_MALLOC_HUGE_ONLY, NULL), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 2 * MIB);
    assert_acl(aclrtMallocWithCfg(&address, 0, ACL_MEM_MALLOC_HUGE_ONLY, NULL), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtGetMemUsageInfo(2, usage, 4, &count), ACL_ERROR_RT_INVALID_DEVICEID);
}
END_TEST

START_TEST(managed_memory_wants_its_flag_and_is_freed_as_device_memory)
{
    void *address = NULL;

    assert_acl(aclrtMemAllocManaged(&address, 3 * MIB, 2), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMemAllocManaged(&address, 3 * MIB, ACL_RT_MEM_ATTACH_GLOBAL), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 4 * MIB);
    assert_acl(aclrtFreeWithDevSync(address), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 0);
    assert_acl(aclrtFreeWithDevSync(address), ACL_ERROR_RT_MEMORY_FREE);
}
END_TEST

START_TEST(memory_is_flushed_only_where_there_is_some)
{
    void *address = NULL;

    assert_acl(aclrtMallocCached(&address, 4000, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    assert_acl(aclrtMemFlush(address, 4000), ACL_SUCCESS);
    assert_acl(aclrtMemInvalidate(address, 4000), ACL_SUCCESS);
    assert_acl(aclrtMemFlush(address, 8192), ACL_ERROR_RT_PARAM_INVALID);
}
END_TEST

/* ---- Host memory ---- */

START_TEST(pinned_memory_by_configuration_is_pinned_memory)
{
    aclrtPtrAttributes attributes;
    void *address = NULL;

    assert_acl(aclrtMallocHostWithCfg(&address, 100, NULL), ACL_SUCCESS);
    assert_acl(aclrtPointerGetAttributes(address, &attributes), ACL_SUCCESS);
    ck_assert_int_eq(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    assert_acl(aclrtFree(address), ACL_ERROR_RT_INVALID_MEMORY_TYPE);
    assert_acl(aclrtFreeHostWithDevSync(address), ACL_SUCCESS);
    assert_acl(aclrtFreeHost(address), ACL_ERROR_RT_MEMORY_FREE);
}
END_TEST

START_TEST(host_memory_is_registered_once_and_copied_asynchronously)
{
    static char host[8192];
    void *seen = NULL;
    void *device = NULL;

    assert_acl(aclrtHostRegister(host, sizeof host, ACL_HOST_REGISTER_MAPPED, &seen), ACL_SUCCESS);
    ck_assert_ptr_eq(seen, host);
    assert_acl(aclrtHostRegisterV2(host + 4096, 4096, ACL_HOST_REG_PINNED), ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    assert_acl(aclrtHostRegisterV2(host, 4096, 1), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtHostGetDevicePointer(host + 5, &seen, 0), ACL_SUCCESS);
    ck_assert_ptr_eq(seen, host + 5);
    assert_acl(aclrtMalloc(&device, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    strcpy(host, "registered");
    assert_acl(aclrtMemcpyAsync(device, 100, host, 11, ACL_MEMCPY_HOST_TO_DEVICE, NULL), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    ck_assert_str_eq(device, "registered");
    assert_acl(aclrtFree(host), ACL_ERROR_RT_INVALID_MEMORY_TYPE);
    assert_acl(aclrtHostUnregister(host), ACL_SUCCESS);
    assert_acl(aclrtHostUnregister(host), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
    assert_acl(aclrtHostGetDevicePointer(host, &seen, 0), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
    assert_acl(aclrtHostRegisterV2(host, sizeof host, ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED), ACL_SUCCESS);
}
END_TEST

/* ---- Virtual memory ---- */

static aclrtPhysicalMemProp huge_of(uint32_t device)
{
    return (aclrtPhysicalMemProp){.memAttr = ACL_HBM_MEM_HUGE, .location = {device, ACL_MEM_LOCATION_TYPE_DEVICE}};
}

static aclrtDrvMemHandle make_handle(size_t size_bytes)
{
    aclrtPhysicalMemProp prop = huge_of(0);
    aclrtDrvMemHandle handle = NULL;

    assert_acl(aclrtMallocPhysical(&handle, size_bytes, &prop, 0), ACL_SUCCESS);
    return handle;
}

START_TEST(physical_memory_counts_from_its_creation_to_its_release)
{
    aclrtPhysicalMemProp prop = huge_of(0);
    aclrtDrvMemHandle handle = NULL;
    aclrtDrvMemHandle other = NULL;
    size_t granularity = 0;

    assert_acl(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, &granularity),
               ACL_SUCCESS);
    ck_assert_uint_eq(granularity, 2 * MIB);
    prop.memAttr = ACL_HBM_MEM_HUGE1G;
    assert_acl(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity),
               ACL_SUCCESS);
    ck_assert_uint_eq(granularity, 1024 * MIB);
    prop = huge_of(0);
    assert_acl(aclrtMallocPhysical(&handle, 3 * MIB, &prop, 0), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMallocPhysical(&handle, 66 * MIB, &prop, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
    assert_acl(aclrtMallocPhysical(&handle, 60 * MIB, &prop, 0), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 60 * MIB);
    assert_acl(aclrtMallocPhysical(&other, 6 * MIB, &prop, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
    assert_acl(aclrtFreePhysical(handle), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 0);
    assert_acl(aclrtFreePhysical(handle), ACL_ERROR_RT_MEMORY_FREE);
    prop.location.type = ACL_MEM_LOCATION_TYPE_HOST;
    assert_acl(aclrtMallocPhysical(&handle, 2 * MIB, &prop, 0), ACL_ERROR_RT_PARAM_INVALID);
}
END_TEST

/* As torch_npu asks before it uses expandable segments. */
START_TEST(any_size_of_address_space_is_rounded_up)
{
    aclrtDrvMemHandle handle = make_handle(2 * MIB);
    char *range = NULL;

    assert_acl(aclrtReserveMemAddress((void **)&range, 0, 0, NULL, 1), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtReserveMemAddress((void **)&range, SIZE_MAX, 0, NULL, 1), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtReserveMemAddress((void **)&range, 512, 0, NULL, 1), ACL_SUCCESS);
    assert_acl(aclrtMapMem(range, 2 * MIB, 0, handle, 0), ACL_SUCCESS);
    assert_acl(aclrtUnmapMem(range), ACL_SUCCESS);
    assert_acl(aclrtReleaseMemAddress(range), ACL_SUCCESS);
}
END_TEST

START_TEST(what_is_mapped_side_by_side_is_one_range)
{
    aclrtDrvMemHandle first = make_handle(2 * MIB);
    aclrtDrvMemHandle second = make_handle(4 * MIB);
    char *range = NULL;
    char host[64] = "across";

    assert_acl(aclrtReserveMemAddress((void **)&range, 64 * MIB, 0, NULL, 1), ACL_SUCCESS);
    ck_assert_uint_eq((uintptr_t)range % (2 * MIB), 0);
    assert_acl(aclrtMapMem(range, 4 * MIB, 0, first, 0), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMapMem(range, 2 * MIB, 0, first, 0), ACL_SUCCESS);
    assert_acl(aclrtMapMem(range, 4 * MIB, 0, second, 0), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMapMem(range + 2 * MIB, 4 * MIB, 0, second, 0), ACL_SUCCESS);
    assert_acl(aclrtMemcpy(range + 2 * MIB - 3, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    ck_assert_str_eq(range + 2 * MIB - 3, "across");
    assert_acl(aclrtMemset(range, 6 * MIB + 1, 0, 6 * MIB + 1), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtReleaseMemAddress(range), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtUnmapMem(range), ACL_SUCCESS);
    assert_acl(aclrtUnmapMem(range), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemcpy(range, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    ck_assert_uint_eq(used_bytes(), 6 * MIB);
    assert_acl(aclrtUnmapMem(range + 2 * MIB), ACL_SUCCESS);
    assert_acl(aclrtReleaseMemAddress(range), ACL_SUCCESS);
    assert_acl(aclrtReleaseMemAddress(range), ACL_ERROR_RT_PARAM_INVALID);
}
END_TEST

START_TEST(bytes_stay_with_the_handle_and_pages_with_the_last_holder)
{
    aclrtDrvMemHandle handle = make_handle(2 * MIB);
    aclrtDrvMemHandle again = NULL;
    char *range = NULL;

    assert_acl(aclrtReserveMemAddressNoUCMemory((void **)&range, 8 * MIB, 0, NULL, 0), ACL_SUCCESS);
    assert_acl(aclrtMapMem(range, 2 * MIB, 0, handle, 0), ACL_SUCCESS);
    assert_acl(aclrtMemset(range, 2 * MIB, 'k', 2 * MIB), ACL_SUCCESS);
    assert_acl(aclrtUnmapMem(range), ACL_SUCCESS);
    assert_acl(aclrtMapMem(range + 4 * MIB, 2 * MIB, 0, handle, 0), ACL_SUCCESS);
    ck_assert_int_eq(range[4 * MIB + 77], 'k');
    assert_acl(aclrtMemRetainAllocationHandle(range + 5 * MIB, &again), ACL_SUCCESS);
    ck_assert_ptr_eq(again, handle);
    assert_acl(aclrtFreePhysical(handle), ACL_SUCCESS);
    assert_acl(aclrtUnmapMem(range + 4 * MIB), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 2 * MIB);
    assert_acl(aclrtFreePhysical(again), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 0);
    assert_acl(aclrtMapMem(range, 2 * MIB, 0, handle, 0), ACL_ERROR_RT_PARAM_INVALID);
}
END_TEST

START_TEST(new_physical_memory_is_empty_and_a_reset_takes_all)
{
    char *range = NULL;
    aclrtDrvMemHandle handle = make_handle(2 * MIB);

    assert_acl(aclrtReserveMemAddress((void **)&range, 8 * MIB, 0, NULL, 0), ACL_SUCCESS);
    assert_acl(aclrtMapMem(range, 2 * MIB, 0, handle, 0), ACL_SUCCESS);
    memset(range, 'o', 2 * MIB);
    assert_acl(aclrtResetDevice(0), ACL_SUCCESS);
    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 0);
    assert_acl(aclrtUnmapMem(range), ACL_ERROR_RT_PARAM_INVALID);
    handle = make_handle(2 * MIB);
    assert_acl(aclrtMapMem(range, 2 * MIB, 0, handle, 0), ACL_SUCCESS);
    ck_assert_int_eq(range[12345], 0);
}
END_TEST

/* ---- Sharing ---- */

START_TEST(imported_memory_takes_no_pages)
{
    aclrtDrvMemHandle handle = make_handle(2 * MIB);
    aclrtDrvMemHandle imported = NULL;
    char key[ACL_IPC_KEY_BYTES];
    uint64_t shared = 0;
    void *device = NULL;
    void *seen = NULL;
    int32_t pid = 1;

    assert_acl(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 0, &shared), ACL_SUCCESS);
    assert_acl(aclrtMemSetPidToShareableHandle(shared, &pid, 1), ACL_SUCCESS);
    assert_acl(aclrtMemImportFromShareableHandle(shared, 0, &imported), ACL_SUCCESS);
    assert_acl(aclrtMemImportFromShareableHandleV2(&shared, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &imported),
               ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 2 * MIB);
    assert_acl(aclrtMemImportFromShareableHandle(shared + 99, 0, &imported), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMalloc(&device, MIB + 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_acl(aclrtIpcMemGetExportKey(device, MIB, key, 64, 0), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtIpcMemGetExportKey(device, MIB, key, sizeof key, 1), ACL_SUCCESS);
    assert_acl(aclrtIpcMemSetImportPid(key, &pid, 1), ACL_SUCCESS);
    assert_acl(aclrtIpcMemImportByKey(&seen, key, 0), ACL_SUCCESS);
    ck_assert_ptr_ne(seen, device);
    ck_assert_uint_eq(used_bytes(), 4 * MIB);
    assert_acl(aclrtMemset(seen, MIB, 1, MIB), ACL_SUCCESS);
    assert_acl(aclrtMemset(seen, 2 * MIB, 1, MIB + 1), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtIpcMemClose(key), ACL_SUCCESS); /* the import */
    assert_acl(aclrtIpcMemClose(key), ACL_SUCCESS); /* the export */
    assert_acl(aclrtIpcMemClose("no such key"), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtIpcMemImportByKey(&seen, "no such key", 0), ACL_ERROR_RT_PARAM_INVALID);
}
END_TEST

/* ---- CANN's pool ---- */

static uint64_t attribute(aclrtMemPool pool, aclrtMemPoolAttr attr)
{
    uint64_t value = 0;

    assert_acl(aclrtMemPoolGetAttr(pool, attr, &value), ACL_SUCCESS);
    return value;
}

START_TEST(the_pool_takes_whole_pages_and_gives_them_back_when_waited_for)
{
    aclrtMemPoolProps props = {.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}, .maxSize = 8 * MIB};
    aclrtMemPool pool = NULL;
    void *first = NULL;
    void *second = NULL;

    assert_acl(aclrtMemPoolCreate(&pool, &props), ACL_SUCCESS);
    assert_acl(aclrtMemPoolMallocAsync(&first, 100, pool, NULL), ACL_SUCCESS);
    assert_acl(aclrtMemPoolMallocAsync(&second, MIB, pool, NULL), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 4 * MIB);
    ck_assert_uint_eq(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 4 * MIB);
    ck_assert_uint_eq(attribute(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), 4 * MIB);
    assert_acl(aclrtMemPoolMallocAsync(&second, 5 * MIB, pool, NULL), ACL_ERROR_RT_MEMORY_ALLOCATION);
    assert_acl(aclrtMemPoolDestroy(pool), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemPoolFreeAsync(first, NULL), ACL_SUCCESS);
    assert_acl(aclrtMemPoolFreeAsync(first, NULL), ACL_ERROR_RT_MEMORY_FREE);
    assert_acl(aclrtMemPoolFreeAsync(second, NULL), ACL_SUCCESS);
    ck_assert_uint_eq(attribute(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), 0);
    ck_assert_uint_eq(attribute(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), 4 * MIB);
    assert_acl(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 0);
    assert_acl(aclrtMemPoolDestroy(pool), ACL_SUCCESS);
    assert_acl(aclrtMemPoolDestroy(pool), ACL_ERROR_RT_PARAM_INVALID);
}
END_TEST

START_TEST(the_pool_keeps_what_its_threshold_says_until_it_is_trimmed)
{
    aclrtMemPoolProps props = {.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    uint64_t threshold_bytes = 4 * MIB;
    aclrtMemPool pool = NULL;
    void *blocks[3];

    assert_acl(aclrtMemPoolCreate(&pool, &props), ACL_SUCCESS);
    assert_acl(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold_bytes), ACL_SUCCESS);
    assert_acl(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &threshold_bytes),
               ACL_ERROR_INVALID_PARAM);
    for (int i = 0; i < 3; i++)
        assert_acl(aclrtMemPoolMallocAsync(&blocks[i], 2 * MIB, pool, NULL), ACL_SUCCESS);
    for (int i = 0; i < 3; i++)
        assert_acl(aclrtMemPoolFreeAsync(blocks[i], NULL), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeDevice(), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 4 * MIB);
    assert_acl(aclrtMemPoolTrimTo(pool, 2 * MIB), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 2 * MIB);
    assert_acl(aclrtMemPoolTrimTo(pool, 0), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 0);
}
END_TEST

START_TEST(a_block_goes_round_on_its_stream_at_once_and_on_another_when_reached)
{
    aclrtMemPoolProps props = {.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    uint64_t threshold_bytes = 64 * MIB;
    aclrtStream other = NULL;
    aclrtMemPool pool = NULL;
    void *first = NULL;
    void *again = NULL;

    assert_acl(aclrtCreateStream(&other), ACL_SUCCESS);
    assert_acl(aclrtMemPoolCreate(&pool, &props), ACL_SUCCESS);
    assert_acl(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold_bytes), ACL_SUCCESS);
    assert_acl(aclrtMemPoolMallocAsync(&first, 2 * MIB, pool, NULL), ACL_SUCCESS);
    assert_acl(aclrtMemPoolFreeAsync(first, NULL), ACL_SUCCESS);
    assert_acl(aclrtMemPoolMallocAsync(&again, 2 * MIB, pool, NULL), ACL_SUCCESS);
    ck_assert_ptr_eq(again, first);
    assert_acl(aclrtMemPoolFreeAsync(again, NULL), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    assert_acl(aclrtMemPoolMallocAsync(&again, 2 * MIB, pool, other), ACL_SUCCESS);
    ck_assert_ptr_eq(again, first);
    ck_assert_uint_eq(used_bytes(), 2 * MIB);
}
END_TEST

/* The device gives what the pool's address space promises only while it has it. */
START_TEST(a_pool_maps_no_more_than_the_device_has)
{
    aclrtMemPoolProps props = {.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtMemPool pool = NULL;
    void *all = NULL, *block = NULL;

    assert_acl(aclrtMemPoolCreate(&pool, &props), ACL_SUCCESS);
    assert_acl(aclrtMallocAlign32(&all, CAPACITY_BYTES - 6 * MIB, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
    assert_acl(aclrtMemPoolMallocAsync(&block, 8 * MIB, pool, NULL), ACL_ERROR_RT_MEMORY_ALLOCATION);
    ck_assert_uint_eq(used_bytes(), CAPACITY_BYTES - 6 * MIB);
    assert_acl(aclrtMemPoolMallocAsync(&block, 4 * MIB, pool, NULL), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), CAPACITY_BYTES - 2 * MIB);
    assert_acl(aclrtMemset(block, 4 * MIB, 7, 4 * MIB), ACL_SUCCESS);
    assert_acl(aclrtMemset(block, 4 * MIB + 1, 7, 4 * MIB + 1), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemPoolFreeAsync(block, NULL), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    assert_acl(aclrtMemset(block, 1, 7, 1), ACL_ERROR_RT_PARAM_INVALID);
    ck_assert_uint_eq(used_bytes(), CAPACITY_BYTES - 6 * MIB);
    assert_acl(aclrtMemPoolDestroy(pool), ACL_SUCCESS);
}
END_TEST

/* ---- Copies and sets ---- */

START_TEST(a_copy_in_two_dimensions_leaves_the_gaps_alone)
{
    char host[] = "abcdefghijkl";
    char back[13] = "............";
    void *device = NULL;

    assert_acl(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_acl(aclrtMemset(device, 64, '-', 64), ACL_SUCCESS);
    assert_acl(aclrtMemcpy2d(device, 8, host, 4, 3, 3, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    ck_assert_int_eq(memcmp(device, "abc-----efg-----ijk-----", 24), 0);
    assert_acl(aclrtMemcpy2dAsync(back, 4, device, 8, 2, 3, ACL_MEMCPY_DEVICE_TO_HOST, NULL), ACL_SUCCESS);
    ck_assert_str_eq(back, "ab..ef..ij..");
    assert_acl(aclrtMemcpy2d(device, 2, host, 4, 3, 3, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMemcpy2d(device, 4096, host, 4, 3, 2, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
}
END_TEST

START_TEST(a_batch_stops_at_the_copy_that_fails_and_names_it)
{
    aclrtMemcpyBatchAttr attributes[2] = {
        {.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE}, .srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST}},
        {.dstLoc = {0, ACL_MEM_LOCATION_TYPE_HOST}, .srcLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE}}};
    size_t first_indexes[2] = {0, 2};
    char *device = NULL;
    char one[] = "one";
    char two[] = "two";
    char back[4] = "";
    void *targets[3];
    void *sources[3];
    size_t limits[3] = {4, 4, 4};
    size_t sizes[3] = {4, 4, 4};
    size_t failed = 7;

    assert_acl(aclrtMalloc((void **)&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    memcpy(targets, (void *[]){device, device + 4, back}, sizeof targets);
    memcpy(sources, (void *[]){one, two, device + 4}, sizeof sources);
    assert_acl(aclrtMemcpyBatch(targets, limits, sources, sizes, 3, attributes, first_indexes, 2, &failed),
               ACL_SUCCESS);
    ck_assert_uint_eq(failed, SIZE_MAX);
    ck_assert_str_eq(back, "two");
    limits[1] = 3;
    assert_acl(aclrtMemcpyBatchAsync(targets, limits, sources, sizes, 3, attributes, first_indexes, 2, &failed, NULL),
               ACL_ERROR_RT_PARAM_INVALID);
    ck_assert_uint_eq(failed, 1);
    assert_acl(aclrtMemcpyBatchV2(targets, limits, sources, sizes, 1, attributes, first_indexes, 1), ACL_SUCCESS);
    assert_acl(aclrtMemcpyBatchAsyncV2(targets, limits, sources, sizes, 0, attributes, first_indexes, 1, NULL),
               ACL_ERROR_INVALID_PARAM);
}
END_TEST

START_TEST(words_are_set_within_their_room)
{
    uint32_t back[4] = {0};
    void *device = NULL;

    assert_acl(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_acl(aclrtMemsetD32(device, 16, 0xdeadbeef, 3), ACL_SUCCESS);
    assert_acl(aclrtMemsetD32Async((char *)device + 4, 12, 7, 1, NULL), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    assert_acl(aclrtMemcpy(back, 16, device, 16, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    ck_assert_uint_eq(back[0], 0xdeadbeef);
    ck_assert_uint_eq(back[1], 7);
    ck_assert_uint_eq(back[2], 0xdeadbeef);
    ck_assert_uint_eq(back[3], 0);
    assert_acl(aclrtMemsetD32(device, 8, 1, 3), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMemsetD32((char *)device + 1, 8, 1, 1), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMemcpyAsyncWithCondition(back, 16, device, 4, ACL_MEMCPY_DEVICE_TO_HOST, NULL), ACL_SUCCESS);
}
END_TEST

START_TEST(a_described_copy_is_done_as_the_description_says_when_its_turn_comes)
{
    char back[8] = "";
    char *device = NULL, *descs = NULL;
    size_t size = 0;

    assert_acl(aclrtMalloc((void **)&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_acl(aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &size), ACL_SUCCESS);
    assert_acl(aclrtGetMemcpyDescSize(ACL_MEMCPY_HOST_TO_DEVICE, &size), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMalloc((void **)&descs, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_acl(aclrtMemcpy(device, 64, "abcdefg", 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    assert_acl(aclrtMemcpyAsyncWithDesc(descs, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, NULL), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStream(NULL), ACL_ERROR_RT_PARAM_INVALID); /* was never set */
    assert_acl(aclrtSetMemcpyDesc(descs, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, device + 2, device + 32, 3, NULL),
               ACL_SUCCESS);
    assert_acl(aclrtMemcpyAsyncWithDesc(descs, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, NULL), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    assert_acl(aclrtMemcpy(back, 8, device + 32, 3, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    ck_assert_str_eq(back, "cde");
    assert_acl(aclrtSetMemcpyDesc(back, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, device, device, 3, NULL),
               ACL_ERROR_RT_PARAM_INVALID); /* not on the device */
}
END_TEST

START_TEST(base_addresses_are_read_from_the_device)
{
    char back[8] = "";
    char *device = NULL;
    char **bases = NULL;

    assert_acl(aclrtMalloc((void **)&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_acl(aclrtMalloc((void **)&bases, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_acl(aclrtMemcpy(device, 64, "abcdefg", 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    assert_acl(aclrtMemcpy(bases, 64, &device, sizeof device, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    assert_acl(aclrtMemcpyAsyncWithOffset((void **)bases, 40, 36, (const void **)bases, 4, 1,
                                          ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, NULL),
               ACL_SUCCESS);
    assert_acl(aclrtMemcpyAsyncWithOffset((void **)bases, 40, 37, (const void **)bases, 4, 1,
                                          ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, NULL),
               ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    assert_acl(aclrtMemcpy(back, 8, device + 36, 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    ck_assert_str_eq(back, "bcde");
}
END_TEST

START_TEST(a_symbol_has_one_variable_on_each_device)
{
    static const char symbol[1], other[1];
    char back[8] = "";
    void *first = NULL, *second = NULL;
    size_t size = 0;

    assert_acl(aclrtMemcpyToSymbol(symbol, "abc", 4, 10, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    assert_acl(aclrtGetSymbolAddress(symbol, &first), ACL_SUCCESS);
    assert_acl(aclrtGetSymbolAddress(other, &second), ACL_SUCCESS);
    assert_acl(aclrtGetSymbolSize(symbol, &size), ACL_SUCCESS);
    ck_assert_ptr_ne(first, second);
    ck_assert_str_eq((char *)first + 10, "abc");
    assert_acl(aclrtMemcpyToSymbolAsync(symbol, "xyz", 3, size - 3, ACL_MEMCPY_HOST_TO_DEVICE, NULL), ACL_SUCCESS);
    assert_acl(aclrtMemcpyFromSymbolAsync(back, 8, symbol, 3, size - 3, ACL_MEMCPY_DEVICE_TO_HOST, NULL), ACL_SUCCESS);
    ck_assert_str_eq(back, "xyz");
    assert_acl(aclrtMemcpyFromSymbol(back, 8, symbol, 4, size - 3, ACL_MEMCPY_DEVICE_TO_HOST),
               ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemcpyFromSymbol(back, 2, symbol, 3, 0, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtResetDevice(0), ACL_SUCCESS);
    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
    assert_acl(aclrtMemcpyFromSymbol(back, 8, symbol, 4, 10, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    ck_assert_str_eq(back, ""); /* a new one */
}
END_TEST

START_TEST(references_are_counted_down_before_the_end)
{
    uint64_t left = 9;

    assert_acl(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    assert_acl(aclFinalizeReference(&left), ACL_SUCCESS);
    ck_assert_uint_eq(left, 1);
    ck_assert_uint_eq(used_bytes(), 0);
    assert_acl(aclFinalizeReference(&left), ACL_SUCCESS);
    ck_assert_uint_eq(left, 0);
    assert_acl(aclFinalizeReference(&left), ACL_ERROR_REPEAT_FINALIZE);
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, a_configured_size_goes_down_as_it_is_and_says_module_and_device);
    tcase_add_test(tests, managed_memory_wants_its_flag_and_is_freed_as_device_memory);
    tcase_add_test(tests, memory_is_flushed_only_where_there_is_some);
    tcase_add_test(tests, pinned_memory_by_configuration_is_pinned_memory);
    tcase_add_test(tests, host_memory_is_registered_once_and_copied_asynchronously);
    tcase_add_test(tests, physical_memory_counts_from_its_creation_to_its_release);
    tcase_add_test(tests, any_size_of_address_space_is_rounded_up);
    tcase_add_test(tests, what_is_mapped_side_by_side_is_one_range);
    tcase_add_test(tests, bytes_stay_with_the_handle_and_pages_with_the_last_holder);
    tcase_add_test(tests, new_physical_memory_is_empty_and_a_reset_takes_all);
    tcase_add_test(tests, imported_memory_takes_no_pages);
    tcase_add_test(tests, the_pool_takes_whole_pages_and_gives_them_back_when_waited_for);
    tcase_add_test(tests, the_pool_keeps_what_its_threshold_says_until_it_is_trimmed);
    tcase_add_test(tests, a_pool_maps_no_more_than_the_device_has);
    tcase_add_test(tests, a_block_goes_round_on_its_stream_at_once_and_on_another_when_reached);
    tcase_add_test(tests, a_copy_in_two_dimensions_leaves_the_gaps_alone);
    tcase_add_test(tests, a_batch_stops_at_the_copy_that_fails_and_names_it);
    tcase_add_test(tests, words_are_set_within_their_room);
    tcase_add_test(tests, a_described_copy_is_done_as_the_description_says_when_its_turn_comes);
    tcase_add_test(tests, base_addresses_are_read_from_the_device);
    tcase_add_test(tests, a_symbol_has_one_variable_on_each_device);
    tcase_add_test(tests, references_are_counted_down_before_the_end);
}

TEST_SUITE(test_cann_memory)
{
    Suite *suite = suite_create("cann_memory");
    TCase *tests = tcase_create("rules");

    setenv("NPUMEM_CANN_DEVICES", "2", 1);
    setenv("NPUMEM_CANN_CAPACITY_BYTES", "64M", 1);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    add_tests(tests);
    suite_add_tcase(suite, tests);
    return suite;
}
