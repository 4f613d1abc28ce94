/* SPDX-License-Identifier: Apache-2.0
 *
 * A runtime for test_hook: each function answers by a simple rule that the test states too, sets errno to 33, and some
 * call others that are hooked, as a real runtime may.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#define API __attribute__((visibility("default")))

API int aclrtGetMemInfo(int kind, size_t *free_bytes, size_t *total_bytes);
API int aclrtMemset(void *target, size_t limit, int32_t value, size_t size);
API int aclInit(const char *path);
API int aclFinalize(void);
API int aclrtSetDevice(int32_t device);
API int aclrtGetDevice(int32_t *device);
API int aclrtResetDevice(int32_t device);
API int aclrtResetDeviceForce(int32_t device);
API int aclrtCreateContext(void **context, int32_t device);
API int aclrtDestroyContext(void *context);
API int aclrtSetCurrentContext(void *context);
API int aclrtMalloc(void **address, size_t size, int policy);
API int aclrtMallocAlign32(void **address, size_t size, int policy);
API int aclrtMallocCached(void **address, size_t size, int policy);
API int aclrtFree(void *address);
API int aclrtMallocHost(void **address, size_t size);
API int aclrtFreeHost(void *address);
API int aclrtMemcpy(void *target, size_t limit, const void *source, size_t size, int kind);
API int aclrtMemcpyAsync(void *target, size_t limit, const void *source, size_t size, int kind, void *stream);
API int aclrtMemsetAsync(void *target, size_t limit, int32_t value, size_t size, void *stream);
API int aclrtGetRunMode(int *run_mode);

static int32_t current = -1;

static int answer(int result)
{
    errno = 33;
    return result;
}

int aclInit(const char *path)
{
    return answer(path == NULL ? 0 : 100000);
}

int aclFinalize(void)
{
    return answer(0);
}

int aclrtSetDevice(int32_t device)
{
    current = device < 8 ? device : current;
    return answer(device < 8 ? 0 : 107001);
}

int aclrtGetDevice(int32_t *device)
{
    *device = current;
    errno = 44; /* the hooks ask for it; the program is to see nothing of that */
    return current < 0 ? 107002 : 0;
}

int aclrtResetDevice(int32_t device)
{
    return answer(device < 8 ? 0 : 107001);
}

int aclrtResetDeviceForce(int32_t device)
{
    return answer(device < 8 ? 0 : 107001);
}

int aclrtCreateContext(void **context, int32_t device)
{
    *context = (void *)(uintptr_t)(0x100 + device);
    return answer(0);
}

int aclrtDestroyContext(void *context)
{
    return answer(context == NULL ? 100000 : 0);
}

int aclrtSetCurrentContext(void *context)
{
    current = (int32_t)((uintptr_t)context - 0x100);
    return answer(0);
}

/* Device memory at 0x1000 plus the size; more than a MiB is too much. Looks at the memory and clears what it gives. */
int aclrtMalloc(void **address, size_t size, int policy)
{
    size_t free_bytes, total_bytes;

    (void)policy;
    aclrtGetMemInfo(1, &free_bytes, &total_bytes);
    if (size > 1 << 20)
        return answer(207001);
    *address = (void *)(0x1000 + size);
    aclrtMemset(*address, size, 0, size);
    return answer(0);
}

int aclrtMallocAlign32(void **address, size_t size, int policy)
{
    return aclrtMalloc(address, size, policy);
}

int aclrtMallocCached(void **address, size_t size, int policy)
{
    return aclrtMalloc(address, size, policy);
}

int aclrtFree(void *address)
{
    return answer((uintptr_t)address < 0x1000 ? 207002 : 0);
}

int aclrtMallocHost(void **address, size_t size)
{
    *address = (void *)(0x2000 + size);
    return answer(size == 0 ? 100000 : 0);
}

int aclrtFreeHost(void *address)
{
    (void)address;
    return answer(0);
}

int aclrtMemcpy(void *target, size_t limit, const void *source, size_t size, int kind)
{
    (void)target, (void)source, (void)kind;
    return answer(size > limit ? 107000 : 0);
}

int aclrtMemcpyAsync(void *target, size_t limit, const void *source, size_t size, int kind, void *stream)
{
    (void)stream;
    return aclrtMemcpy(target, limit, source, size, kind);
}

int aclrtMemset(void *target, size_t limit, int32_t value, size_t size)
{
    (void)target, (void)value;
    return answer(size > limit ? 107000 : 0);
}

int aclrtMemsetAsync(void *target, size_t limit, int32_t value, size_t size, void *stream)
{
    (void)stream;
    return aclrtMemset(target, limit, value, size);
}

int aclrtGetMemInfo(int kind, size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = 600;
    *total_bytes = 1000;
    return answer(kind == 1 ? 0 : 100000);
}

int aclrtGetRunMode(int *run_mode)
{
    *run_mode = 1;
    return answer(0);
}
