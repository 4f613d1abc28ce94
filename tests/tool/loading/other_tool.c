/* SPDX-License-Identifier: Apache-2.0
 *
 * Another tool that is preloaded: counts calls of ACL and of the driver and says the numbers, as `KEY VALUE` lines, in the
 * file that OTHER_TOOL names. It finds what it stands in front of in three ways:
 *   TOOL_NEXT    by RTLD_NEXT, and in CANN's own libraries where that finds nothing
 *   TOOL_HANDLE  always in CANN's own libraries, opened for it, from another library of the tool (TOOL_HELPER is that)
 *   TOOL_DLSYM   as TOOL_NEXT, and it stands in front of dlsym too, so that lookups by handle come to it
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "driver/ascend_hal.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void *other_tool_find(const char *library, const char *name);

#ifdef TOOL_HELPER
void *other_tool_find(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void *found = handle != NULL ? dlsym(handle, name) : NULL;

    if (handle != NULL)
        dlclose(handle);
    return found;
}
#else

static uint64_t malloc_count, align_count, free_count, driver_count, dlsym_count;

#ifndef TOOL_HANDLE
static void *find_next(const char *library, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    void *handle = found == NULL ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : NULL;

    if (handle != NULL) {
        found = dlsym(handle, name);
        dlclose(handle);
    }
    return found;
}
#define FIND find_next
#else
#define FIND other_tool_find
#endif

/* Looked up at every call: what it finds must not change to something that leads back here. */
static void *must_find(const char *library, const char *name)
{
    void *found = FIND(library, name);

    if (found == NULL)
        abort();
    return found;
}

#define REAL(library, function) ((__typeof__(&(function)))must_find(library, #function))

EXPORT aclError aclrtMalloc(void **address, size_t size, aclrtMemMallocPolicy policy)
{
    malloc_count++;
    return REAL("libascendcl.so", aclrtMalloc)(address, size, policy);
}

EXPORT aclError aclrtMallocAlign32(void **address, size_t size, aclrtMemMallocPolicy policy)
{
    align_count++;
    return REAL("libascendcl.so", aclrtMallocAlign32)(address, size, policy);
}

EXPORT aclError aclrtFree(void *address)
{
    free_count++;
    return REAL("libascendcl.so", aclrtFree)(address);
}

EXPORT drvError_t halMemAlloc(void **address, unsigned long long size, unsigned long long flag)
{
    driver_count++;
    return REAL("libascend_hal.so", halMemAlloc)(address, size, flag);
}

#ifdef TOOL_DLSYM
static void *own_function(const char *name)
{
    if (strcmp(name, "aclrtMalloc") == 0)
        return (void *)aclrtMalloc;
    if (strcmp(name, "aclrtMallocAlign32") == 0)
        return (void *)aclrtMallocAlign32;
    return strcmp(name, "aclrtFree") == 0 ? (void *)aclrtFree : NULL;
}

/* Its own lookups come here too: those must find what is behind it. A call, not a jump, so it only knows handles. */
static void *lookup(void *handle, const char *name, const void *caller)
{
    static void *(*real)(void *, const char *);
    Dl_info from, self;

    if (real == NULL)
        *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", DLSYM_VERSION);
    dlsym_count++;
    if (dladdr(caller, &from) != 0 && dladdr((void *)lookup, &self) != 0 && from.dli_fbase == self.dli_fbase)
        return real(handle, name);
    if (own_function(name) != NULL && handle != RTLD_NEXT && real(handle, name) != NULL)
        return own_function(name);
    return real(handle, name);
}

EXPORT void *dlsym(void *handle, const char *name)
{
    return lookup(handle, name, __builtin_return_address(0));
}
#endif

__attribute__((destructor)) static void write_report(void)
{
    const char *path = getenv("OTHER_TOOL");
    uint64_t sum = malloc_count + align_count + free_count + driver_count; /* 0: a shell or another helper */
    FILE *out = path != NULL && sum > 0 ? fopen(path, "w") : NULL;

    if (out == NULL)
        return;
    fprintf(out, "malloc_count %llu\nalign_count %llu\n", (unsigned long long)malloc_count,
            (unsigned long long)align_count);
    fprintf(out, "free_count %llu\ndriver_count %llu\ndlsym_count %llu\n", (unsigned long long)free_count,
            (unsigned long long)driver_count, (unsigned long long)dlsym_count);
    fclose(out);
}
#endif
