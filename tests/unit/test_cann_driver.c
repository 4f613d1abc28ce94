/* SPDX-License-Identifier: Apache-2.0
 *
 * The layers of the stand-in below ACL, as a preloaded library sees them: this program exports the driver's allocation
 * functions and rtMalloc, like a preload, hands the driver's on to libascend_hal.so, and looks at what arrives.
 */
#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "driver/ascend_hal.h"
#include "hccl/hccl.h"
#include "runtime/rt.h"

#define MIB                        ((size_t)1 << 20)
#define EXPORT                     __attribute__((visibility("default")))

#define assert_acl(call, expected) ck_assert_int_eq(call, expected)

static struct {
    int alloc_count;
    int free_count;
    int create_count;
    int map_count;
    int register_count;
    int rt_count;
    unsigned long long size_bytes[8]; /* of allocations, in order */
    unsigned long long flags[8];
    struct drv_mem_prop prop;
} seen;

static void *in_library(const char *path, const char *name)
{
    void *library = dlopen(path, RTLD_NOW);
    void *found = library ? dlsym(library, name) : NULL;

    if (!found)
        abort();
    return found;
}

#define HAL(function) ((__typeof__(&(function)))in_library(HAL_PATH, #function))

EXPORT drvError_t halMemAlloc(void **pp, unsigned long long size, unsigned long long flag)
{
    if (seen.alloc_count < 8) {
        seen.size_bytes[seen.alloc_count] = size;
        seen.flags[seen.alloc_count] = flag;
    }
    seen.alloc_count++;
    return HAL(halMemAlloc)(pp, size, flag);
}

EXPORT drvError_t halMemFree(void *pp)
{
    seen.free_count++;
    return HAL(halMemFree)(pp);
}

EXPORT drvError_t halMemCreate(drv_mem_handle_t **handle, size_t size, const struct drv_mem_prop *prop, uint64_t flag)
{
    seen.create_count++;
    seen.prop = *prop;
    return HAL(halMemCreate)(handle, size, prop, flag);
}

EXPORT drvError_t halMemMap(void *ptr, size_t size, size_t offset, drv_mem_handle_t *handle, uint64_t flag)
{
    seen.map_count++;
    return HAL(halMemMap)(ptr, size, offset, handle, flag);
}

EXPORT drvError_t halHostRegister(void *src_ptr, UINT64 size, UINT32 flag, UINT32 devid, void **dst_ptr)
{
    seen.register_count++;
    return HAL(halHostRegister)(src_ptr, size, flag, devid, dst_ptr);
}

/* Never reached from ACL, since libruntime.so is bound to its own; reached from other libraries. */
EXPORT rtError_t rtMalloc(void **devPtr, uint64_t size, rtMemType_t type, const uint16_t moduleId)
{
    seen.rt_count++;
    return ((__typeof__(&rtMalloc))in_library(RUNTIME_PATH, "rtMalloc"))(devPtr, size, type, moduleId);
}

static void set_up(void)
{
    memset(&seen, 0, sizeof seen);
    assert_acl(aclInit(NULL), ACL_SUCCESS);
    assert_acl(aclrtSetDevice(1), ACL_SUCCESS);
}

static void tear_down(void)
{
    aclFinalize();
}

START_TEST(an_allocation_arrives_with_device_space_page_and_module)
{
    void *addresses[4];

    assert_acl(aclrtMalloc(&addresses[0], 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_acl(aclrtMallocAlign32(&addresses[1], 3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_acl(aclrtMallocHost(&addresses[2], 100), ACL_SUCCESS);
    assert_acl(aclrtMemAllocManaged(&addresses[3], 100, 1), ACL_SUCCESS);
    ck_assert_int_eq(seen.alloc_count, 4);
    ck_assert_uint_eq(seen.size_bytes[0], 160);
    ck_assert_uint_eq(seen.flags[0], 0x2100000000000401u); /* module 33, space DEV, device 1 */
    ck_assert_uint_eq(seen.size_bytes[1], 3 * MIB);
    ck_assert_uint_eq(seen.flags[1], 0x2100000000020401u); /* and pages of 2 MiB */
    ck_assert_uint_eq(seen.flags[2], 0x2100000000000801u); /* space HOST */
    ck_assert_uint_eq(seen.flags[3], 0x2100000000000001u); /* space SVM */
    assert_acl(aclrtFree(addresses[0]), ACL_SUCCESS);
    assert_acl(aclrtFreeHost(addresses[2]), ACL_SUCCESS);
    ck_assert_int_eq(seen.free_count, 2);
    ck_assert_int_eq(seen.rt_count, 0);
}
END_TEST

START_TEST(one_gigabyte_pages_have_a_bit_of_their_own)
{
    void *address = NULL;

    assert_acl(aclrtMalloc(&address, 100, ACL_MEM_MALLOC_HUGE1G_ONLY), ACL_ERROR_RT_MEMORY_ALLOCATION);
    ck_assert_uint_eq(seen.flags[0], 0x2100000080000401u);
    ck_assert_uint_eq(seen.size_bytes[0], 128);
}
END_TEST

START_TEST(virtual_memory_and_registration_arrive)
{
    static char host[4096];
    aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_HUGE, .location = {1, ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtDrvMemHandle handle = NULL;
    void *range = NULL;

    assert_acl(aclrtMallocPhysical(&handle, 2 * MIB, &prop, 0), ACL_SUCCESS);
    ck_assert_uint_eq(seen.prop.devid, 1);
    ck_assert_uint_eq(seen.prop.module_id, 33);
    ck_assert_uint_eq(seen.prop.pg_type, HAL_PAGE_HUGE);
    ck_assert_uint_eq(seen.prop.side, HAL_SIDE_DEVICE);
    assert_acl(aclrtReserveMemAddress(&range, 2 * MIB, 0, NULL, 0), ACL_SUCCESS);
    assert_acl(aclrtMapMem(range, 2 * MIB, 0, handle, 0), ACL_SUCCESS);
    assert_acl(aclrtHostRegisterV2(host, sizeof host, ACL_HOST_REG_PINNED), ACL_SUCCESS);
    ck_assert_int_eq(seen.create_count, 1);
    ck_assert_int_eq(seen.map_count, 1);
    ck_assert_int_eq(seen.register_count, 1);
}
END_TEST

START_TEST(a_communicator_takes_two_buffers_as_module_hccl)
{
    static const char *const collectives[] = {"HcclAllReduce", "HcclReduce", "HcclReduceScatter", "HcclAllGather",
                                              "HcclBroadcast", "HcclSend",   "HcclRecv"};
    void *library = dlopen(HCCL_PATH, RTLD_NOW);
    __typeof__(&HcclCommInitRootInfo) init = NULL;
    __typeof__(&HcclCommDestroy) destroy = NULL;
    HcclRootInfo root = {{0}};
    HcclComm comm = NULL;

    ck_assert_ptr_nonnull(library);
    *(void **)&init = dlsym(library, "HcclCommInitRootInfo");
    *(void **)&destroy = dlsym(library, "HcclCommDestroy");
    ck_assert_int_eq(init(2, &root, 2, &comm), HCCL_E_PARA);
    ck_assert_int_eq(init(1, &root, 0, &comm), HCCL_SUCCESS);
    ck_assert_int_eq(seen.alloc_count, 2);
    ck_assert_uint_eq(seen.size_bytes[0], 200 * MIB);
    ck_assert_uint_eq(seen.size_bytes[1], 200 * MIB);
    ck_assert_uint_eq(seen.flags[0], 0x0300000000020401u);
    ck_assert_int_eq(seen.rt_count, 2);
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        ck_assert_msg(dlsym(library, collectives[i]) != NULL, "%s", collectives[i]);
    ck_assert_int_eq(destroy(comm), HCCL_SUCCESS);
    ck_assert_int_eq(seen.free_count, 2);
}
END_TEST

START_TEST(what_the_driver_holds_adds_up_with_what_acl_says)
{
    aclrtMemUsageInfo usage[8];
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    size_t count = 0;
    uint64_t sum_bytes = 0;
    void *address = NULL;

    for (uint64_t module = 1; module <= 5; module++) /* one page of 2 MiB each */
        ck_assert_int_eq(HAL(halMemAlloc)(&address, 100, module << 56 | 1 << 17 | 1 << 10 | 1), DRV_ERROR_NONE);
    assert_acl(aclrtMalloc(&address, 5000, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    assert_acl(aclrtGetMemUsageInfo(1, usage, 8, &count), ACL_SUCCESS);
    for (size_t i = 0; i < count; i++)
        sum_bytes += usage[i].curMemSize;
    ck_assert_uint_eq(count, 6);
    ck_assert_str_eq(usage[0].name, "MODULE_1");
    ck_assert_str_eq(usage[2].name, "HCCL");
    ck_assert_str_eq(usage[5].name, "APP");
    ck_assert_uint_eq(sum_bytes, 10 * MIB + 8192);
    assert_acl(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes), ACL_SUCCESS);
    ck_assert_uint_eq(total_bytes - free_bytes, sum_bytes + 64 * MIB); /* of another process */
}
END_TEST

START_TEST(the_driver_refuses_what_it_does_not_know)
{
    void *address = NULL;

    ck_assert_int_eq(HAL(halMemAlloc)(&address, 100, 7 | 1 << 10), DRV_ERROR_INVALID_DEVICE);
    ck_assert_int_eq(HAL(halMemAlloc)(&address, 100, 9 << 10), DRV_ERROR_INVALID_VALUE);
    ck_assert_int_eq(HAL(halMemAlloc)(&address, 0, 1 << 10), DRV_ERROR_INVALID_VALUE);
    ck_assert_int_eq(HAL(halMemAlloc)(&address, 4096 * MIB, 1 << 10), DRV_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(HAL(halMemFree)(&address), DRV_ERROR_INVALID_VALUE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cann_driver");
    TCase *tests = tcase_create("layers");
    SRunner *runner;
    int failed_count;

    setenv("NPUMEM_CANN_DEVICES", "2", 1);
    setenv("NPUMEM_CANN_CAPACITY_BYTES", "512M", 1);
    setenv("NPUMEM_CANN_FOREIGN_BYTES", "64M", 1);
    unsetenv("HCCL_BUFFSIZE");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, an_allocation_arrives_with_device_space_page_and_module);
    tcase_add_test(tests, one_gigabyte_pages_have_a_bit_of_their_own);
    tcase_add_test(tests, virtual_memory_and_registration_arrive);
    tcase_add_test(tests, a_communicator_takes_two_buffers_as_module_hccl);
    tcase_add_test(tests, what_the_driver_holds_adds_up_with_what_acl_says);
    tcase_add_test(tests, the_driver_refuses_what_it_does_not_know);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
