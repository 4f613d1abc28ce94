/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules that fixtures/cann/README.md states, one test each, on two devices of 64 MiB.
 */
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"
#include "support/emulated.h"
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

static size_t free_bytes_of(aclrtMemAttr attr)
{
    size_t free_bytes = 0;
    size_t total_bytes = 0;

    assert_acl(aclrtGetMemInfo(attr, &free_bytes, &total_bytes), ACL_SUCCESS);
    return free_bytes;
}

static size_t used_bytes(void)
{
    return CAPACITY_BYTES - free_bytes_of(ACL_HBM_MEM);
}

static char *take(size_t size_bytes, aclrtMemMallocPolicy policy)
{
    void *address = NULL;

    assert_acl(aclrtMallocAlign32(&address, size_bytes, policy), ACL_SUCCESS);
    ck_assert_ptr_nonnull(address);
    return address;
}

/* ---- Sizes, pages, capacity ---- */

START_TEST(malloc_pads_by_32_and_align32_does_not)
{
    void *first = NULL;
    void *second = NULL;

    assert_acl(aclrtMalloc(&first, 4064, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 4 * KIB);
    assert_acl(aclrtMalloc(&second, 4065, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 12 * KIB);
    assert_acl(aclrtMallocCached(&second, 4065, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 20 * KIB);
    take(4096, ACL_MEM_MALLOC_NORMAL_ONLY);
    ck_assert_uint_eq(used_bytes(), 24 * KIB);
}
END_TEST

START_TEST(policy_chooses_the_page)
{
    static const struct {
        aclrtMemMallocPolicy policy;
        size_t size_bytes;
        size_t used_bytes;
    } cases[] = {
        {ACL_MEM_MALLOC_HUGE_FIRST, 1, 4 * KIB},
        {ACL_MEM_MALLOC_HUGE_FIRST, MIB, MIB},
        {ACL_MEM_MALLOC_HUGE_FIRST, MIB + 1, 2 * MIB},
        {ACL_MEM_MALLOC_HUGE_FIRST_P2P, MIB + 1, 2 * MIB},
        {ACL_MEM_MALLOC_HUGE_ONLY, 1, 2 * MIB},
        {ACL_MEM_MALLOC_HUGE_ONLY_P2P, 2 * MIB + 1, 4 * MIB},
        {ACL_MEM_MALLOC_NORMAL_ONLY, 3 * MIB, 3 * MIB},
        {ACL_MEM_MALLOC_NORMAL_ONLY_P2P, 4097, 8 * KIB},
        {(aclrtMemMallocPolicy)99, 2 * MIB - 64, 2 * MIB},
        {(aclrtMemMallocPolicy)99, 2 * MIB + 1, 4 * MIB},
        {(aclrtMemMallocPolicy)99, 5000, 8 * KIB},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *address = take(cases[i].size_bytes, cases[i].policy);

        ck_assert_msg(used_bytes() == cases[i].used_bytes, "case %zu: %zu bytes used", i, used_bytes());
        assert_acl(aclrtFree(address), ACL_SUCCESS);
        ck_assert_uint_eq(used_bytes(), 0);
    }
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    void *address = &address;

    assert_acl(aclrtMalloc(NULL, 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMalloc(&address, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMalloc(&address, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMalloc(&address, SIZE_MAX / 2, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    assert_acl(aclrtMalloc(&address, CAPACITY_BYTES, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    assert_acl(aclrtMalloc(&address, 1, ACL_MEM_MALLOC_HUGE1G_ONLY), ACL_ERROR_RT_MEMORY_ALLOCATION);
    assert_acl(aclrtMallocHost(NULL, 1), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMallocHost(&address, 0), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtFree(NULL), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtFreeHost(NULL), ACL_ERROR_INVALID_PARAM);
    ck_assert_ptr_eq(address, &address);
    ck_assert_uint_eq(used_bytes(), 0);
}
END_TEST

START_TEST(a_full_device_is_out_of_memory_until_something_is_freed)
{
    char *taken[CAPACITY_BYTES / (2 * MIB)];
    void *more = NULL;

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        taken[i] = take(2 * MIB, ACL_MEM_MALLOC_HUGE_ONLY);
    ck_assert_uint_eq(free_bytes_of(ACL_HBM_MEM), 0);
    assert_acl(aclrtMalloc(&more, 1, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_ERROR_RT_MEMORY_ALLOCATION);
    assert_acl(aclrtFree(taken[7]), ACL_SUCCESS);
    ck_assert_ptr_eq(take(MIB, ACL_MEM_MALLOC_HUGE_FIRST), taken[7]);
    assert_acl(aclrtSetDevice(1), ACL_SUCCESS);
    ck_assert_uint_eq(free_bytes_of(ACL_HBM_MEM), CAPACITY_BYTES);
    take(CAPACITY_BYTES, ACL_MEM_MALLOC_NORMAL_ONLY);
    ck_assert_uint_eq(free_bytes_of(ACL_HBM_MEM), 0);
}
END_TEST

START_TEST(memory_information_counts_pages)
{
    size_t free_bytes = 1;
    size_t total_bytes = 1;

    take(1, ACL_MEM_MALLOC_NORMAL_ONLY);
    ck_assert_uint_eq(free_bytes_of(ACL_HBM_MEM), CAPACITY_BYTES - 4 * KIB);
    ck_assert_uint_eq(free_bytes_of(ACL_HBM_MEM_NORMAL), CAPACITY_BYTES - 4 * KIB);
    ck_assert_uint_eq(free_bytes_of(ACL_HBM_MEM_HUGE), CAPACITY_BYTES - 2 * MIB);
    ck_assert_uint_eq(free_bytes_of(ACL_HBM_MEM_HUGE1G), 0);
    assert_acl(aclrtGetMemInfo(ACL_HBM_MEM_HUGE, &free_bytes, &total_bytes), ACL_SUCCESS);
    ck_assert_uint_eq(total_bytes, CAPACITY_BYTES);
    assert_acl(aclrtGetMemInfo(ACL_DDR_MEM, &free_bytes, &total_bytes), ACL_SUCCESS);
    ck_assert_uint_eq(free_bytes + total_bytes, 0);
    assert_acl(aclrtGetMemInfo((aclrtMemAttr)77, &free_bytes, &total_bytes), ACL_ERROR_RT_INVALID_MEMORY_TYPE);
    assert_acl(aclrtGetMemInfo(ACL_HBM_MEM, NULL, &total_bytes), ACL_ERROR_INVALID_PARAM);
}
END_TEST

#ifndef __SANITIZE_THREAD__
static size_t resident_bytes(void)
{
    size_t total_pages = 0;
    size_t resident_pages = 0;
    FILE *in = fopen("/proc/self/statm", "r");

    ck_assert_ptr_nonnull(in);
    ck_assert_int_eq(fscanf(in, "%zu %zu", &total_pages, &resident_pages), 2);
    fclose(in);
    return resident_pages * (size_t)sysconf(_SC_PAGESIZE);
}

START_TEST(host_memory_is_used_only_for_what_is_written)
{
    if (is_emulated())
        return; /* the emulator's own memory is in the figure */

    size_t before_bytes = resident_bytes();
    char *address = take(60 * MIB, ACL_MEM_MALLOC_HUGE_FIRST);

    ck_assert_uint_lt(resident_bytes(), before_bytes + 8 * MIB);
    assert_acl(aclrtMemset(address, 60 * MIB, 1, 60 * MIB), ACL_SUCCESS);
    ck_assert_uint_gt(resident_bytes(), before_bytes + 50 * MIB);
    assert_acl(aclrtFree(address), ACL_SUCCESS);
    ck_assert_uint_lt(resident_bytes(), before_bytes + 8 * MIB);
}
END_TEST

#endif

/* ---- Addresses ---- */

START_TEST(addresses_are_a_devices_own)
{
    char *first = take(100, ACL_MEM_MALLOC_HUGE_FIRST);
    char *second = take(100, ACL_MEM_MALLOC_HUGE_FIRST);
    char *other;

    ck_assert_uint_eq((uintptr_t)first % 64, 0);
    ck_assert_uint_eq((uintptr_t)second % 64, 0);
    assert_acl(aclrtSetDevice(1), ACL_SUCCESS);
    other = take(100, ACL_MEM_MALLOC_HUGE_FIRST);
    ck_assert_ptr_ne(first, other);
#ifndef __SANITIZE_THREAD__ /* it says itself where memory may lie */
    ck_assert_uint_eq((uintptr_t)first, 0x12c000000000);
    ck_assert_uint_eq((uintptr_t)other, 0x13c000000000);
#endif
}
END_TEST

/* A slow and obvious first fit: one byte per 4 KiB page. */
#define MODEL_PAGES (3 * (CAPACITY_BYTES / (4 * KIB)))

static size_t model_first_fit(const char *pages, size_t page_count, size_t align_pages)
{
    for (size_t at = 0; at + page_count <= MODEL_PAGES; at += align_pages) {
        size_t run = 0;

        while (run < page_count && !pages[at + run])
            run++;
        if (run == page_count)
            return at;
    }
    return SIZE_MAX;
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

START_TEST(placement_is_first_fit_as_a_page_map_says)
{
    static char pages[MODEL_PAGES];
    static struct {
        char *address;
        size_t at, count;
    } held[512];
    unsigned random = 7;
    size_t used = 0;
    char *base = take(1, ACL_MEM_MALLOC_NORMAL_ONLY);

    assert_acl(aclrtFree(base), ACL_SUCCESS);
    for (int i = 0; i < 20000; i++) {
        size_t slot = next_random(&random) % 512;
        int is_huge = next_random(&random) % 8 == 0;
        size_t align = is_huge ? 512 : 1;
        size_t count = is_huge ? align * (1 + next_random(&random) % 2) : 1 + next_random(&random) % 20;
        void *address = NULL;
        aclError error;

        if (held[slot].address) {
            assert_acl(aclrtFree(held[slot].address), ACL_SUCCESS);
            memset(pages + held[slot].at, 0, held[slot].count);
            used -= held[slot].count;
            held[slot].address = NULL;
            continue;
        }
        error = aclrtMallocAlign32(&address, count * 4 * KIB,
                                   is_huge ? ACL_MEM_MALLOC_HUGE_ONLY : ACL_MEM_MALLOC_NORMAL_ONLY);
        if (used + count > CAPACITY_BYTES / (4 * KIB)) {
            assert_acl(error, ACL_ERROR_RT_MEMORY_ALLOCATION);
            continue;
        }
        assert_acl(error, ACL_SUCCESS);
        held[slot].at = model_first_fit(pages, count, align);
        held[slot].count = count;
        held[slot].address = address;
        ck_assert_msg((char *)address == base + held[slot].at * 4 * KIB, "operation %d", i);
        memset(pages + held[slot].at, 1, count);
        used += count;
        ck_assert_uint_eq(used_bytes(), used * 4 * KIB);
    }
}
END_TEST

/* ---- Frees ---- */

START_TEST(only_what_is_allocated_is_freed_and_by_its_own_call)
{
    char *device = take(10000, ACL_MEM_MALLOC_HUGE_FIRST);
    char local[64];
    void *host = NULL;

    assert_acl(aclrtMallocHost(&host, 1000), ACL_SUCCESS);
    assert_acl(aclrtFree(host), ACL_ERROR_RT_INVALID_MEMORY_TYPE);
    assert_acl(aclrtFreeHost(device), ACL_ERROR_RT_INVALID_MEMORY_TYPE);
    assert_acl(aclrtFree(device + 64), ACL_ERROR_RT_MEMORY_FREE);
    assert_acl(aclrtFreeHost((char *)host + 64), ACL_ERROR_RT_MEMORY_FREE);
    assert_acl(aclrtFree(local), ACL_ERROR_RT_MEMORY_FREE);
    assert_acl(aclrtFreeHost(local), ACL_ERROR_RT_MEMORY_FREE);
    assert_acl(aclrtFree(device), ACL_SUCCESS);
    assert_acl(aclrtFree(device), ACL_ERROR_RT_MEMORY_FREE);
    assert_acl(aclrtFreeHost(host), ACL_SUCCESS);
    assert_acl(aclrtFreeHost(host), ACL_ERROR_RT_MEMORY_FREE);
}
END_TEST

START_TEST(memory_of_another_device_can_be_freed)
{
    char *device = take(10000, ACL_MEM_MALLOC_HUGE_FIRST);

    assert_acl(aclrtSetDevice(1), ACL_SUCCESS);
    assert_acl(aclrtFree(device), ACL_SUCCESS);
    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 0);
}
END_TEST

/* ---- Process, devices, contexts ---- */

START_TEST(initialise_and_finalise_once)
{
    char *device = take(1000, ACL_MEM_MALLOC_HUGE_FIRST);

    assert_acl(aclInit(NULL), ACL_ERROR_REPEAT_INITIALIZE);
    assert_acl(aclFinalize(), ACL_SUCCESS);
    assert_acl(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    assert_acl(aclrtFree(device), ACL_ERROR_RT_CONTEXT_NULL);
    assert_acl(aclInit(NULL), ACL_SUCCESS);
    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 0);
    assert_acl(aclrtFree(device), ACL_ERROR_RT_MEMORY_FREE);
}
END_TEST

START_TEST(facts_of_the_machine)
{
    aclrtRunMode mode = ACL_DEVICE;
    uint32_t count = 0;

    assert_acl(aclrtGetRunMode(&mode), ACL_SUCCESS);
    ck_assert_int_eq(mode, ACL_HOST);
    assert_acl(aclrtGetDeviceCount(&count), ACL_SUCCESS);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(strncmp(aclrtGetSocName(), "Ascend", 6), 0);
    assert_acl(aclrtSetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID);
    assert_acl(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    assert_acl(aclrtGetDevice(NULL), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtGetDeviceCount(NULL), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtGetRunMode(NULL), ACL_ERROR_INVALID_PARAM);
}
END_TEST

START_TEST(reset_counts_down_and_frees_at_zero)
{
    int32_t device = -1;

    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
    take(1000, ACL_MEM_MALLOC_HUGE_FIRST);
    assert_acl(aclrtResetDevice(0), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 4 * KIB);
    assert_acl(aclrtResetDevice(0), ACL_SUCCESS);
    assert_acl(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    assert_acl(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_NULL);
    assert_acl(aclrtResetDeviceForce(0), ACL_ERROR_RT_CONTEXT_NULL);
    assert_acl(aclrtResetDevice(9), ACL_ERROR_RT_INVALID_DEVICEID);
    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 0);
}
END_TEST

START_TEST(forced_reset_frees_one_device_at_once)
{
    char *other;

    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
    take(1000, ACL_MEM_MALLOC_HUGE_FIRST);
    assert_acl(aclrtSetDevice(1), ACL_SUCCESS);
    other = take(1000, ACL_MEM_MALLOC_HUGE_FIRST);
    assert_acl(aclrtResetDeviceForce(0), ACL_SUCCESS);
    assert_acl(aclrtFree(other), ACL_SUCCESS);
    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 0);
}
END_TEST

static void *without_context(void *failures)
{
    void *address = NULL;
    int32_t device = -1;
    size_t bytes;
    char host[4] = {0};
    aclrtStream stream;

    *(int *)failures = (aclrtGetDevice(&device) != ACL_ERROR_RT_CONTEXT_NULL) +
                       (aclrtMalloc(&address, 1, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_ERROR_RT_CONTEXT_NULL) +
                       (aclrtMallocHost(&address, 1) != ACL_ERROR_RT_CONTEXT_NULL) +
                       (aclrtFree(host) != ACL_ERROR_RT_CONTEXT_NULL) +
                       (aclrtGetMemInfo(ACL_HBM_MEM, &bytes, &bytes) != ACL_ERROR_RT_CONTEXT_NULL) +
                       (aclrtMemcpy(host, 4, host, 4, ACL_MEMCPY_HOST_TO_HOST) != ACL_ERROR_RT_CONTEXT_NULL) +
                       (aclrtMemset(host, 4, 0, 4) != ACL_ERROR_RT_CONTEXT_NULL) +
                       (aclrtCreateStream(&stream) != ACL_ERROR_RT_CONTEXT_NULL) +
                       (aclrtSynchronizeDevice() != ACL_ERROR_RT_CONTEXT_NULL);
    return NULL;
}

START_TEST(a_new_thread_has_no_context)
{
    pthread_t thread;
    int failures = -1;

    ck_assert_int_eq(pthread_create(&thread, NULL, without_context, &failures), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(failures, 0);
}
END_TEST

START_TEST(contexts_choose_the_device)
{
    aclrtContext before = NULL;
    aclrtContext own = NULL;
    int32_t device = -1;

    assert_acl(aclrtGetCurrentContext(&before), ACL_SUCCESS);
    assert_acl(aclrtCreateContext(&own, 1), ACL_SUCCESS);
    assert_acl(aclrtGetDevice(&device), ACL_SUCCESS);
    ck_assert_int_eq(device, 1);
    assert_acl(aclrtSetCurrentContext(before), ACL_SUCCESS);
    assert_acl(aclrtGetDevice(&device), ACL_SUCCESS);
    ck_assert_int_eq(device, 0);
    assert_acl(aclrtSetCurrentContext(own), ACL_SUCCESS);
    assert_acl(aclrtDestroyContext(own), ACL_SUCCESS);
    assert_acl(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    assert_acl(aclrtDestroyContext(own), ACL_ERROR_RT_INVALID_HANDLE);
    assert_acl(aclrtSetCurrentContext(own), ACL_ERROR_RT_INVALID_HANDLE);
    assert_acl(aclrtSetCurrentContext(&device), ACL_ERROR_RT_INVALID_HANDLE);
    assert_acl(aclrtSetCurrentContext(NULL), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtDestroyContext(before), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtCreateContext(&own, 5), ACL_ERROR_RT_INVALID_DEVICEID);
    assert_acl(aclrtSetCurrentContext(before), ACL_SUCCESS);
}
END_TEST

START_TEST(streams_belong_to_a_device)
{
    char *target = take(4096, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtStream stream = NULL;
    int32_t id = 0;
    char host[64] = {0};

    assert_acl(aclrtCreateStream(&stream), ACL_SUCCESS);
    assert_acl(aclrtStreamGetId(stream, &id), ACL_SUCCESS);
    ck_assert_int_gt(id, 0);
    assert_acl(aclrtStreamGetId(NULL, &id), ACL_SUCCESS);
    ck_assert_int_eq(id, 0);
    assert_acl(aclrtMemcpyAsync(target, 4096, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStreamWithTimeout(stream, 100), ACL_SUCCESS);
    assert_acl(aclrtSetDevice(1), ACL_SUCCESS);
    assert_acl(aclrtMemsetAsync(target, 4096, 0, 64, stream), ACL_ERROR_RT_STREAM_CONTEXT);
    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
    assert_acl(aclrtDestroyStream(stream), ACL_SUCCESS);
    assert_acl(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    assert_acl(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    assert_acl(aclrtDestroyStream(NULL), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMemcpyAsync(target, 4096, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream),
               ACL_ERROR_RT_INVALID_HANDLE);
}
END_TEST

/* ---- Copies ---- */

START_TEST(copies_move_bytes_in_every_direction)
{
    char *first = take(1000, ACL_MEM_MALLOC_HUGE_FIRST);
    char *second = take(1000, ACL_MEM_MALLOC_HUGE_FIRST);
    char out[8] = "";
    char again[8] = "";
    char *pinned = NULL;

    assert_acl(aclrtMallocHost((void **)&pinned, 8), ACL_SUCCESS);
    memcpy(pinned, "seven..", 8);
    assert_acl(aclrtMemcpy(first, 1000, pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    assert_acl(aclrtMemcpy(second, 1000, first, 8, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
    assert_acl(aclrtMemcpy(out, sizeof out, second, 8, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    assert_acl(aclrtMemcpy(again, sizeof again, out, 8, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
    ck_assert_str_eq(again, "seven..");
    assert_acl(aclrtMemset(first + 2, 998, 'x', 3), ACL_SUCCESS);
    assert_acl(aclrtMemcpyAsync(out, sizeof out, first, 8, ACL_MEMCPY_DEFAULT, NULL), ACL_SUCCESS);
    ck_assert_str_eq(out, "sexxx..");
    assert_acl(aclrtMemcpy(first, 1000, out, 8, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE), ACL_SUCCESS);
}
END_TEST

START_TEST(a_copy_that_does_not_fit_is_refused_and_changes_nothing)
{
    char *device = take(4096, ACL_MEM_MALLOC_NORMAL_ONLY);
    char *next = take(4096, ACL_MEM_MALLOC_NORMAL_ONLY);
    static char host[8192];
    char *pinned = NULL;
    char seen = 0;

    assert_acl(aclrtMallocHost((void **)&pinned, 100), ACL_SUCCESS);
    memset(host, 'z', sizeof host);
    ck_assert_ptr_eq(next, device + 4096);
    assert_acl(aclrtMemcpy(device, 99, host, 100, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemcpy(device, 8192, host, 4097, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemcpy(host, 8192, device + 4000, 97, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemcpy(pinned, 8192, host, 101, ACL_MEMCPY_HOST_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemcpy(next + 4096, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemset(device, 8192, 'z', 4097), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemset(device, 10, 'z', 11), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemcpy(&seen, 1, device, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    ck_assert_int_eq(seen, 0);
    assert_acl(aclrtFree(device), ACL_SUCCESS);
    assert_acl(aclrtMemcpy(device, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
}
END_TEST

START_TEST(the_kind_must_fit_the_addresses)
{
    char *device = take(4096, ACL_MEM_MALLOC_NORMAL_ONLY);
    char host[64] = {0};

    assert_acl(aclrtMemcpy(device, 64, host, 64, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemcpy(device, 64, host, 64, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemcpy(host, 64, device, 64, ACL_MEMCPY_HOST_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
    assert_acl(aclrtMemcpy(host, 64, device, 64, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMemcpy(host, 64, device, 64, (aclrtMemcpyKind)8), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMemcpyAsync(host, 64, host, 64, ACL_MEMCPY_HOST_TO_HOST, NULL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    assert_acl(aclrtMemcpy(NULL, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMemcpy(host, 64, NULL, 64, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMemset(NULL, 64, 0, 64), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtMemcpy(NULL, 0, NULL, 0, (aclrtMemcpyKind)8), ACL_SUCCESS);
    assert_acl(aclrtMemset(NULL, 0, 0, 0), ACL_SUCCESS);
}
END_TEST

/* ---- Threads, forks, both libraries ---- */

typedef struct worker {
    unsigned seed;
    int failures;
} worker;

/* Each buffer is filled with its own value and must still hold it when it is freed: nobody else was given its bytes. */
static void *work(void *context)
{
    worker *self = context;
    char *held[8] = {NULL};
    char back[256];

    self->failures += aclrtSetDevice((int32_t)(self->seed % 2)) != ACL_SUCCESS;
    for (int i = 0; i < 2000; i++) {
        int slot = (int)(next_random(&self->seed) % 8);
        void *address = NULL;

        if (held[slot]) {
            self->failures += aclrtMemcpy(back, 256, held[slot], 256, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS;
            self->failures += memcmp(back, &held[slot], sizeof(char *)) != 0;
            self->failures += aclrtFree(held[slot]) != ACL_SUCCESS;
        }
        self->failures += aclrtMalloc(&address, 256, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS;
        held[slot] = address;
        memcpy(back, &address, sizeof address);
        self->failures += aclrtMemcpy(address, 256, back, 256, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS;
    }
    for (int i = 0; i < 8; i++)
        if (held[i])
            self->failures += aclrtFree(held[i]) != ACL_SUCCESS;
    return NULL;
}

START_TEST(many_threads_share_the_devices)
{
    worker workers[8];
    pthread_t threads[8];

    for (unsigned i = 0; i < 8; i++) {
        workers[i] = (worker){.seed = 100 + i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(workers[i].failures, 0);
    }
    ck_assert_uint_eq(used_bytes(), 0);
}
END_TEST

static int child_works(char *inherited)
{
    void *address = NULL;
    char value = 0;

    if (aclrtMemcpy(&value, 1, inherited, 1, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS || value != 'p')
        return 1;
    if (aclrtMemset(inherited, 1, 'c', 1) != ACL_SUCCESS || aclrtFree(inherited) != ACL_SUCCESS)
        return 2;
    return aclrtMalloc(&address, 10 * MIB, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS ? 0 : 3;
}

START_TEST(a_forked_child_works_on_a_copy)
{
    char *device = take(1000, ACL_MEM_MALLOC_HUGE_FIRST);
#ifndef __SANITIZE_THREAD__
    worker other = {.seed = 3};
    pthread_t thread;
#endif
    char value = 0;

    assert_acl(aclrtMemset(device, 1000, 'p', 1000), ACL_SUCCESS);
#ifndef __SANITIZE_THREAD__ /* it calls the parent's thread a leak of the child */
    ck_assert_int_eq(pthread_create(&thread, NULL, work, &other), 0); /* holds locks while this thread forks */
#endif
    for (int i = 0; i < 50; i++) {
        int status = -1;
        pid_t child = fork();

        if (child == 0)
            _exit(child_works(device));
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
#ifndef __SANITIZE_THREAD__
    pthread_join(thread, NULL);
#endif
    assert_acl(aclrtMemcpy(&value, 1, device, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    ck_assert_int_eq(value, 'p');
    ck_assert_uint_eq(used_bytes(), 4 * KIB);
}
END_TEST

static const char *const exported_names[] = {"aclInit",
                                             "aclFinalize",
                                             "aclFinalizeReference",
                                             "aclrtGetSocName",
                                             "aclrtGetRunMode",
                                             "aclrtGetDeviceCount",
                                             "aclrtSetDevice",
                                             "aclrtGetDevice",
                                             "aclrtResetDevice",
                                             "aclrtResetDeviceForce",
                                             "aclrtSynchronizeDevice",
                                             "aclrtCreateContext",
                                             "aclrtDestroyContext",
                                             "aclrtSetCurrentContext",
                                             "aclrtGetCurrentContext",
                                             "aclrtCreateStream",
                                             "aclrtCreateStreamWithConfig",
                                             "aclrtDestroyStream",
                                             "aclrtSynchronizeStream",
                                             "aclrtSynchronizeStreamWithTimeout",
                                             "aclrtStreamGetId",
                                             "aclrtStreamWaitEvent",
                                             "aclrtCreateEvent",
                                             "aclrtCreateEventWithFlag",
                                             "aclrtCreateEventExWithFlag",
                                             "aclrtRecordEvent",
                                             "aclrtQueryEventStatus",
                                             "aclrtSynchronizeEvent",
                                             "aclrtDestroyEvent",
                                             "aclrtCreateNotify",
                                             "aclrtDestroyNotify",
                                             "aclrtNotifyImportByKey",
                                             "aclrtCntNotifyCreate",
                                             "aclrtCntNotifyDestroy",
                                             "aclrtMalloc",
                                             "aclrtMallocAlign32",
                                             "aclrtMallocCached",
                                             "aclrtMallocWithCfg",
                                             "aclrtMallocForTaskScheduler",
                                             "aclrtMemAllocManaged",
                                             "aclrtFree",
                                             "aclrtFreeWithDevSync",
                                             "aclrtMemFlush",
                                             "aclrtMemInvalidate",
                                             "aclrtMallocHost",
                                             "aclrtMallocHostWithCfg",
                                             "aclrtFreeHost",
                                             "aclrtFreeHostWithDevSync",
                                             "aclrtHostRegister",
                                             "aclrtHostRegisterV2",
                                             "aclrtHostGetDevicePointer",
                                             "aclrtHostUnregister",
                                             "aclrtPointerGetAttributes",
                                             "aclrtGetMemInfo",
                                             "aclrtGetMemUsageInfo",
                                             "aclrtReserveMemAddress",
                                             "aclrtReserveMemAddressNoUCMemory",
                                             "aclrtReleaseMemAddress",
                                             "aclrtMallocPhysical",
                                             "aclrtFreePhysical",
                                             "aclrtMapMem",
                                             "aclrtMemMapNoAccess",
                                             "aclrtUnmapMem",
                                             "aclrtMemRetainAllocationHandle",
                                             "aclrtMemGetAllocationGranularity",
                                             "aclrtMemExportToShareableHandle",
                                             "aclrtMemImportFromShareableHandle",
                                             "aclrtMemSetPidToShareableHandle",
                                             "aclrtMemExportToShareableHandleV2",
                                             "aclrtMemImportFromShareableHandleV2",
                                             "aclrtIpcMemGetExportKey",
                                             "aclrtIpcMemImportByKey",
                                             "aclrtIpcMemSetImportPid",
                                             "aclrtIpcMemClose",
                                             "aclrtMemPoolCreate",
                                             "aclrtMemPoolDestroy",
                                             "aclrtMemPoolSetAttr",
                                             "aclrtMemPoolGetAttr",
                                             "aclrtMemPoolMallocAsync",
                                             "aclrtMemPoolFreeAsync",
                                             "aclrtMemPoolTrimTo",
                                             "aclrtAllocatorCreateDesc",
                                             "aclrtAllocatorDestroyDesc",
                                             "aclrtAllocatorSetObjToDesc",
                                             "aclrtAllocatorSetAllocFuncToDesc",
                                             "aclrtAllocatorSetFreeFuncToDesc",
                                             "aclrtAllocatorSetAllocAdviseFuncToDesc",
                                             "aclrtAllocatorSetGetAddrFromBlockFuncToDesc",
                                             "aclrtAllocatorRegister",
                                             "aclrtAllocatorGetByStream",
                                             "aclrtAllocatorUnregister",
                                             "aclrtMemcpy",
                                             "aclrtMemcpyAsync",
                                             "aclrtMemset",
                                             "aclrtMemsetAsync",
                                             "aclrtMemcpyAsyncWithCondition",
                                             "aclrtMemcpy2d",
                                             "aclrtMemcpy2dAsync",
                                             "aclrtMemcpyBatch",
                                             "aclrtMemcpyBatchAsync",
                                             "aclrtMemcpyBatchV2",
                                             "aclrtMemcpyBatchAsyncV2",
                                             "aclrtMemsetD32",
                                             "aclrtMemsetD32Async"};

START_TEST(both_libraries_hold_all_names_and_share_one_runtime)
{
    void *new_library = dlopen(ACL_RT_PATH, RTLD_NOW | RTLD_LOCAL);
    void *old_library = dlopen(ASCENDCL_PATH, RTLD_NOW | RTLD_LOCAL);
    aclError (*old_free)(void *);

    ck_assert_ptr_nonnull(new_library);
    ck_assert_ptr_nonnull(old_library);
    for (size_t i = 0; i < sizeof exported_names / sizeof *exported_names; i++) {
        void *from_new = dlsym(new_library, exported_names[i]);
        void *from_old = dlsym(old_library, exported_names[i]);

        ck_assert_msg(from_new && from_old && from_new != from_old, "%s", exported_names[i]);
    }
    *(void **)&old_free = dlsym(old_library, "aclrtFree");
    assert_acl(old_free(take(100, ACL_MEM_MALLOC_HUGE_FIRST)), ACL_SUCCESS);
    ck_assert_uint_eq(used_bytes(), 0);
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, malloc_pads_by_32_and_align32_does_not);
    tcase_add_test(tests, policy_chooses_the_page);
    tcase_add_test(tests, what_cannot_be_is_refused);
    tcase_add_test(tests, a_full_device_is_out_of_memory_until_something_is_freed);
    tcase_add_test(tests, memory_information_counts_pages);
#ifndef __SANITIZE_THREAD__ /* its shadow memory counts, too */
    tcase_add_test(tests, host_memory_is_used_only_for_what_is_written);
#endif
    tcase_add_test(tests, addresses_are_a_devices_own);
    tcase_add_test(tests, placement_is_first_fit_as_a_page_map_says);
    tcase_add_test(tests, only_what_is_allocated_is_freed_and_by_its_own_call);
    tcase_add_test(tests, memory_of_another_device_can_be_freed);
    tcase_add_test(tests, initialise_and_finalise_once);
    tcase_add_test(tests, facts_of_the_machine);
    tcase_add_test(tests, reset_counts_down_and_frees_at_zero);
    tcase_add_test(tests, forced_reset_frees_one_device_at_once);
    tcase_add_test(tests, a_new_thread_has_no_context);
    tcase_add_test(tests, contexts_choose_the_device);
    tcase_add_test(tests, streams_belong_to_a_device);
    tcase_add_test(tests, copies_move_bytes_in_every_direction);
    tcase_add_test(tests, a_copy_that_does_not_fit_is_refused_and_changes_nothing);
    tcase_add_test(tests, the_kind_must_fit_the_addresses);
    tcase_add_test(tests, many_threads_share_the_devices);
    tcase_add_test(tests, a_forked_child_works_on_a_copy);
    tcase_add_test(tests, both_libraries_hold_all_names_and_share_one_runtime);
}

TEST_SUITE(test_cann_standin)
{
    Suite *suite = suite_create("cann_standin");
    TCase *tests = tcase_create("rules");

    setenv("NPUMEM_CANN_DEVICES", "2", 1);
    setenv("NPUMEM_CANN_CAPACITY_BYTES", "64M", 1);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    add_tests(tests);
    suite_add_tcase(suite, tests);
    return suite;
}
