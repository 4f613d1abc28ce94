/* SPDX-License-Identifier: Apache-2.0
 *
 * A client of ACL: ten blocks of 318 MiB in all, which a memory saver, where one is preloaded, gives back and brings again;
 * then all are freed. It finds ACL's functions in the way that its argument says (linked, default, next, handle), and prints
 * what it got: what the saver maps and what the allocator was asked for are the same with a recorder and without.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"

#define MIB         ((size_t)1 << 20)
#define BLOCK_COUNT 10

static void *function_of(const char *way, const char *name)
{
    if (strcmp(way, "handle") == 0)
        return dlsym(dlopen("libascendcl.so", RTLD_NOW | RTLD_LOCAL), name);
    return dlsym(strcmp(way, "next") == 0 ? RTLD_NEXT : RTLD_DEFAULT, name);
}

/* Of a library that may be preloaded. */
static int call(const char *name)
{
    int (*function)(void);

    *(void **)&function = dlsym(RTLD_DEFAULT, name);
    return function == NULL ? -1 : function();
}

static uint64_t allocator_calls(void)
{
    uint64_t (*function)(void);

    *(void **)&function = dlsym(RTLD_DEFAULT, "other_malloc_count");
    return function == NULL ? 0 : function();
}

int main(int count, char **words)
{
    aclError (*allocate)(void **, size_t, aclrtMemMallocPolicy) = aclrtMalloc;
    aclError (*release)(void *) = aclrtFree;
    const char *way = count > 1 ? words[1] : "linked";
    void *blocks[BLOCK_COUNT] = {NULL};
    int error = aclInit(NULL) + aclrtSetDevice(0);

    if (strcmp(way, "linked") != 0) {
        *(void **)&allocate = function_of(way, "aclrtMalloc");
        *(void **)&release = function_of(way, "aclrtFree");
    }
    uint64_t before = allocator_calls();

    for (size_t i = 0; i < BLOCK_COUNT; i++)
        error += allocate(&blocks[i], (i == 0 ? 30 : 32) * MIB, ACL_MEM_MALLOC_HUGE_FIRST);
    printf("paused %d\n", call("saver_pause"));
    printf("resumed %d\n", call("saver_resume"));
    for (size_t i = 0; i < BLOCK_COUNT; i++)
        error += release(blocks[i]);
    printf("allocator called %llu times, error %d\n", (unsigned long long)(allocator_calls() - before), error);
    return error != 0;
}
