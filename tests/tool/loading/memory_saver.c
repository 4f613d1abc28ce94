/* SPDX-License-Identifier: Apache-2.0
 *
 * A memory saver, as they are preloaded: an allocation becomes reserved addresses, physical memory and a mapping, so that the
 * memory can be given back and come again at the same place. What it did not make is none of its business. It calls ACL by
 * name, and the function that it stands in front of by RTLD_NEXT.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#include "acl/acl.h"

#define EXPORT     __attribute__((visibility("default")))
#define SAVED_MAX  64
#define PAGE_BYTES ((size_t)2 << 20)

EXPORT int saver_pause(void);
EXPORT int saver_resume(void);

static struct {
    void *address;
    size_t bytes;
    aclrtDrvMemHandle handle;
} saved[SAVED_MAX];
static size_t saved_count;

static int map(size_t i)
{
    aclrtPhysicalMemProp asked = {.handleType = ACL_MEM_HANDLE_TYPE_NONE,
                                  .allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED,
                                  .memAttr = ACL_HBM_MEM_HUGE,
                                  .location = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE}};

    return aclrtMallocPhysical(&saved[i].handle, saved[i].bytes, &asked, 0) +
           aclrtMapMem(saved[i].address, saved[i].bytes, 0, saved[i].handle, 0);
}

static int unmap(size_t i)
{
    return aclrtUnmapMem(saved[i].address) + aclrtFreePhysical(saved[i].handle);
}

EXPORT aclError aclrtMalloc(void **address, size_t size, aclrtMemMallocPolicy policy)
{
    size_t i = saved_count;

    (void)policy;
    if (i == SAVED_MAX)
        abort();
    saved[i].bytes = (size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    if (aclrtReserveMemAddress(&saved[i].address, saved[i].bytes, 0, NULL, 0) + map(i) != 0)
        abort();
    *address = saved[i].address;
    saved_count++;
    return ACL_SUCCESS;
}

EXPORT aclError aclrtFree(void *address)
{
    aclError (*next)(void *);

    for (size_t i = 0; i < saved_count; i++) {
        if (saved[i].address != address)
            continue;
        int error = unmap(i) + aclrtReleaseMemAddress(address);

        saved[i] = saved[--saved_count];
        return error;
    }
    *(void **)&next = dlsym(RTLD_NEXT, "aclrtFree");
    return next(address);
}

int saver_pause(void)
{
    int error = 0;

    for (size_t i = 0; i < saved_count; i++)
        error += unmap(i);
    return error;
}

int saver_resume(void)
{
    int error = 0;

    for (size_t i = 0; i < saved_count; i++)
        error += map(i);
    return error;
}
