/* SPDX-License-Identifier: Apache-2.0
 *
 * A library in front of ACL and in place of npumem's SDK that writes one line for each call that matters to the file that
 * RECOUNT_LOG names. test_npu_train adds the lines up again and compares the sums with the program's own books: neither
 * knows of the other's code, and npumem is not involved.
 *
 * A line is written while the program still holds the lock under which it made the call, so lines have the order of calls.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acl/acl.h"
#include "npumem.h"

#define EXPORT __attribute__((visibility("default")))

/* One write of one short line: whole, in order, and there even if the program is killed next. */
__attribute__((format(printf, 1, 2))) static void log_line(const char *format, ...)
{
    static int fd = -2;
    const char *path = getenv("RECOUNT_LOG");
    char line[256];
    va_list arguments;
    int length;

    if (fd == -2)
        fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    va_start(arguments, format);
    length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (fd >= 0 && write(fd, line, (size_t)length) != length)
        abort();
}

/* The function that the runtime itself offers under this name. */
static void *real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found)
        abort();
    return found;
}

#define REAL(function) ((__typeof__(&(function)))real(#function))

static int32_t current_device(void)
{
    int32_t device = -1;

    aclrtGetDevice(&device);
    return device;
}

EXPORT aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    aclError error = REAL(aclrtMalloc)(devPtr, size, policy);

    log_line("malloc %d %" PRIxPTR " %zu %d\n", current_device(), error ? 0 : (uintptr_t)*devPtr, size, error);
    return error;
}

EXPORT aclError aclrtFree(void *devPtr)
{
    aclError error = REAL(aclrtFree)(devPtr);

    log_line("free %" PRIxPTR " %d\n", (uintptr_t)devPtr, error);
    return error;
}

EXPORT aclError aclrtMallocHost(void **hostPtr, size_t size)
{
    aclError error = REAL(aclrtMallocHost)(hostPtr, size);

    log_line("malloc -1 %" PRIxPTR " %zu %d\n", error ? 0 : (uintptr_t)*hostPtr, size, error);
    return error;
}

EXPORT aclError aclrtFreeHost(void *hostPtr)
{
    aclError error = REAL(aclrtFreeHost)(hostPtr);

    log_line("free %" PRIxPTR " %d\n", (uintptr_t)hostPtr, error);
    return error;
}

EXPORT aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
    aclError error = REAL(aclrtMemcpy)(dst, destMax, src, count, kind);

    log_line("copy %d %zu 0 %d\n", kind, count, error);
    return error;
}

EXPORT aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                                 aclrtStream stream)
{
    aclError error = REAL(aclrtMemcpyAsync)(dst, destMax, src, count, kind, stream);

    log_line("copy %d %zu 1 %d\n", kind, count, error);
    return error;
}

EXPORT aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    aclError error = REAL(aclrtMemset)(devPtr, maxCount, value, count);

    log_line("copy 5 %zu 0 %d\n", count, error);
    return error;
}

EXPORT aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream)
{
    aclError error = REAL(aclrtMemsetAsync)(devPtr, maxCount, value, count, stream);

    log_line("copy 5 %zu 1 %d\n", count, error);
    return error;
}

EXPORT aclError aclFinalize(void)
{
    log_line("finalize\n");
    return REAL(aclFinalize)();
}

/* ---- The SDK's functions that npu_train calls ---- */

EXPORT npumem_heap npumem_heap_define(const npumem_heap_options *options)
{
    return (npumem_heap)options->device + 1; /* one pool a device */
}

EXPORT void npumem_alloc(npumem_heap heap, const void *address, uint64_t requested_bytes,
                         const npumem_alloc_options *options)
{
    log_line("pool_alloc %d %" PRIxPTR " %" PRIu64 " %" PRIu64 " %d\n", (int)heap - 1, (uintptr_t)address,
             requested_bytes, options->block_bytes, options->outcome == NPUMEM_HIT);
}

EXPORT void npumem_free(npumem_heap heap, const void *address, const npumem_free_options *options)
{
    log_line("pool_free %d %" PRIxPTR " %d\n", (int)heap - 1, (uintptr_t)address, options->is_request);
}

EXPORT void npumem_alloc_failed(npumem_heap heap, uint64_t requested_bytes, int64_t error_code)
{
    log_line("pool_fail %d %" PRIu64 " %" PRId64 "\n", (int)heap - 1, requested_bytes, error_code);
}

EXPORT void npumem_mark(const char *name)
{
    log_line("mark %s\n", name);
}

EXPORT void npumem_step(int64_t number)
{
    log_line("step %" PRId64 "\n", number);
}

EXPORT uint64_t npumem_range_begin(const char *name)
{
    (void)name;
    return 1;
}

EXPORT void npumem_range_end(uint64_t range)
{
    (void)range;
}

EXPORT uint64_t npumem_category_begin(const char *name)
{
    (void)name;
    return 1;
}

EXPORT uint64_t npumem_module_begin(const char *path)
{
    (void)path;
    return 1;
}

EXPORT void npumem_thread_name(const char *name)
{
    (void)name;
}
