/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of AscendCL that acl.c stands in front of: names, arguments and values as CANN's acl_rt.h has them, in
 * declarations of our own; and the real functions behind them.
 */
#ifndef NM_HOOK_RUNTIME_H
#define NM_HOOK_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

typedef int nm_acl_error; /* aclError */

#define ACL_SUCCESS               0
#define ACL_ERROR_API_NOT_SUPPORT 200001
#define ACL_DDR_MEM               0 /* aclrtMemAttr */
#define ACL_HBM_MEM               1

/* X(name, parameters): enums of the interface are ints, handles are pointers. */
#define NM_HOOKED_FUNCTIONS(X)                                                                                         \
    X(aclInit, (const char *path))                                                                                     \
    X(aclFinalize, (void))                                                                                             \
    X(aclrtSetDevice, (int32_t device))                                                                                \
    X(aclrtResetDevice, (int32_t device))                                                                              \
    X(aclrtResetDeviceForce, (int32_t device))                                                                         \
    X(aclrtCreateContext, (void **context, int32_t device))                                                            \
    X(aclrtDestroyContext, (void *context))                                                                            \
    X(aclrtSetCurrentContext, (void *context))                                                                         \
    X(aclrtMalloc, (void **address, size_t size, int policy))                                                          \
    X(aclrtMallocAlign32, (void **address, size_t size, int policy))                                                   \
    X(aclrtMallocCached, (void **address, size_t size, int policy))                                                    \
    X(aclrtFree, (void *address))                                                                                      \
    X(aclrtMallocHost, (void **address, size_t size))                                                                  \
    X(aclrtFreeHost, (void *address))                                                                                  \
    X(aclrtMemcpy, (void *target, size_t limit, const void *source, size_t size, int kind))                            \
    X(aclrtMemcpyAsync, (void *target, size_t limit, const void *source, size_t size, int kind, void *stream))         \
    X(aclrtMemset, (void *target, size_t limit, int32_t value, size_t size))                                           \
    X(aclrtMemsetAsync, (void *target, size_t limit, int32_t value, size_t size, void *stream))                        \
    X(aclrtGetMemInfo, (int kind, size_t *free_bytes, size_t *total_bytes))                                            \
    X(aclrtGetRunMode, (int *run_mode))

/* Called, not hooked. */
#define NM_USED_FUNCTIONS(X)              X(aclrtGetDevice, (int32_t * device))

#define NM_DECLARE_HOOK(name, parameters) __attribute__((visibility("default"))) nm_acl_error name parameters;
NM_HOOKED_FUNCTIONS(NM_DECLARE_HOOK)
#undef NM_DECLARE_HOOK

/* The functions behind the hooks, NULL where the program has none. */
typedef struct nm_runtime {
#define NM_DECLARE_REAL(name, parameters) nm_acl_error(*name) parameters;
    NM_HOOKED_FUNCTIONS(NM_DECLARE_REAL) NM_USED_FUNCTIONS(NM_DECLARE_REAL) int (*dlclose)(void *library);
#undef NM_DECLARE_REAL
} nm_runtime;

extern nm_runtime nm_real;

/*
 * Looks again for every function that is missing. The real functions are found when the library is loaded; a hook comes
 * here only while its own has none, when nothing else is left but to fail: the runtime was opened with dlopen later.
 * Takes the loader's lock, as the program's own look-up did a moment before.
 */
void nm_runtime_find(void);

#endif
