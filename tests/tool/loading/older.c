/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that asks before it uses what an older CANN lacks, in every way there is to ask, and goes another way then.
 * Linked to such an older library, weakly to some of it.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "acl/acl.h"

#pragma weak aclrtMallocCached
#pragma weak aclrtMemset
#pragma weak aclrtFreeHost

typedef aclError malloc_function(void **address, size_t size, aclrtMemMallocPolicy policy);

static const char *error_text(void)
{
    const char *error = dlerror();

    return error != NULL ? error : "no error";
}

static void ask(const char *name, void *handle)
{
    void *found = dlsym(handle, name);

    printf("%s: %s, %s\n", name, found != NULL ? "there" : "missing", error_text());
}

static void ask_all(const char *where, void *handle)
{
    static const char *const names[] = {"aclrtMalloc", "aclrtMallocAlign32", "aclrtMallocWithCfg",
                                        "aclrtMapMem", "aclrtFree",          "aclrtMemPoolCreate"};

    printf("-- %s\n", where);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ask(names[i], handle);
}

/* Volatile: a compiler may take any function to be there. */
static void ask_references(void)
{
    malloc_function *volatile cached = aclrtMallocCached;
    __typeof__(&aclrtMemset) volatile set = aclrtMemset;
    __typeof__(&aclrtFreeHost) volatile free_host = aclrtFreeHost;

    printf("-- by reference\n%s, %s, %s\n", cached != NULL ? "there" : "missing", set != NULL ? "there" : "missing",
           free_host != NULL ? "there" : "missing");
}

int main(void)
{
    malloc_function *take = NULL;
    void *address = NULL;
    size_t free_bytes = 0, total_bytes = 0;

    ask_all("the program", dlopen(NULL, RTLD_NOW));
    ask_all("the library", dlopen("libascendcl.so", RTLD_NOW));
    ask_all("by default", RTLD_DEFAULT);
    ask_references();
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS)
        return 2;
    *(void **)&take = dlsym(RTLD_DEFAULT, "aclrtMallocAlign32");
    if (take == NULL)
        *(void **)&take = dlsym(RTLD_DEFAULT, "aclrtMalloc");
    if (take == NULL || take(&address, 8192, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS)
        return 3;
    if (aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes) != ACL_SUCCESS || aclrtFree(address) != ACL_SUCCESS)
        return 4;
    printf("used %zu\n", total_bytes - free_bytes);
    ask_all("at last", RTLD_DEFAULT);
    return 0;
}
