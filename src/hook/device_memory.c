/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the runtime how much of a device is in use, and by which of its modules. The hooks ask where the answer tells most:
 * when an allocation failed, when a device is first set, before its memory goes, and at marks and steps of the program.
 */
#include "hook/device_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "hook/capture.h"
#include "hook/current_device.h"
#include "hook/hook.h"
#include "record/machine.h"

#define SAMPLED_DEVICES 64
#define PAUSE_NS        INT64_C(100000000)
#define MODULES_MAX     256

static _Atomic int64_t last_ns[SAMPLED_DEVICES]; /* of the last sample; 0: none */

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Chips without HBM have DDR. */
static int ask_memory(size_t *free_bytes, size_t *total_bytes)
{
    static const int kinds[] = {ACL_HBM_MEM, ACL_DDR_MEM};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && nm_real.aclrtGetMemInfo != NULL; i++) {
        *free_bytes = *total_bytes = 0;
        if (nm_real.aclrtGetMemInfo(kinds[i], free_bytes, total_bytes) == ACL_SUCCESS && *total_bytes != 0)
            return kinds[i];
    }
    *free_bytes = *total_bytes = 0;
    return ACL_DDR_MEM;
}

int nm_device_memory(size_t *free_bytes, size_t *total_bytes)
{
    int saved_errno = errno;
    int kind = ACL_DDR_MEM;

    *free_bytes = *total_bytes = 0;
    if (!nm_capture_is_open())
        kind = ask_memory(free_bytes, total_bytes);
    errno = saved_errno;
    return kind;
}

/* The runtime tells it of the thread's device alone. */
static void sample_memory(int32_t device)
{
    size_t free_bytes, total_bytes;
    int kind;

    if (device != nm_current_device())
        return;
    kind = nm_device_memory(&free_bytes, &total_bytes);
    if (total_bytes != 0)
        nm_record_sample(&(nm_ring_sample){.device = nm_record_device(device),
                                           .detail = (uint64_t)kind,
                                           .free_bytes = free_bytes,
                                           .total_bytes = total_bytes});
}

void nm_device_memory_usage(int32_t device, const nm_acl_usage *info, size_t count)
{
    char name[sizeof info->name + 1];

    for (size_t i = 0; i < count; i++) {
        memcpy(name, info[i].name, sizeof info->name);
        name[sizeof info->name] = 0;
        nm_record_module_sample(device, name, info[i].curMemSize, info[i].memPeakSize);
    }
}

/* Too large for the stack of a small thread, so there is one, and who finds it in use does without. A child does not
 * inherit the thread that used it. */
static void sample_modules(int32_t device)
{
    static nm_acl_usage info[MODULES_MAX];
    static _Atomic int user; /* process of the thread that uses it; 0: none */
    int pid = (int)nm_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    int before = atomic_load_explicit(&user, memory_order_relaxed); /* relaxed: decided below */
    size_t count = 0;

    /* acquire: pairs with the release below. */
    if (nm_real.aclrtGetMemUsageInfo == NULL || before == pid ||
        !atomic_compare_exchange_strong_explicit(&user, &before, pid, memory_order_acquire, memory_order_relaxed))
        return;
    if (nm_real.aclrtGetMemUsageInfo(device, info, MODULES_MAX, &count) == ACL_SUCCESS)
        nm_device_memory_usage(device, info, count < MODULES_MAX ? count : MODULES_MAX);
    atomic_store_explicit(&user, 0, memory_order_release);
}

static void take_sample(int32_t device)
{
    int saved_errno = errno;
    nm_guard guard;
    bool is_entered = nm_record_enter_call(&guard, HERE);

    sample_memory(device);
    sample_modules(device);
    if (is_entered)
        nm_record_leave(&guard);
    errno = saved_errno;
}

void nm_device_memory_sample_now(int32_t device)
{
    if (device < 0 || device >= SAMPLED_DEVICES || !nm_record_is_on() || nm_capture_is_open())
        return;
    /* relaxed: a time, nothing hangs on it. */
    atomic_store_explicit(&last_ns[device], now_ns(), memory_order_relaxed);
    take_sample(device);
}

void nm_device_memory_sample(int32_t device)
{
    int64_t last, now;

    if (device < 0 || device >= SAMPLED_DEVICES || !nm_record_is_on() || nm_capture_is_open())
        return;
    now = now_ns();
    last = atomic_load_explicit(&last_ns[device], memory_order_relaxed); /* relaxed: as above */
    if (last != 0 && now - last < PAUSE_NS)
        return;
    if (atomic_compare_exchange_strong_explicit(&last_ns[device], &last, now, memory_order_relaxed,
                                                memory_order_relaxed))
        take_sample(device);
}

void nm_device_memory_capacity(int32_t device)
{
    size_t free_bytes, total_bytes;

    if (!nm_record_is_capacity_wanted(device))
        return;
    nm_device_memory(&free_bytes, &total_bytes);
    nm_record_capacity(device, total_bytes);
}
