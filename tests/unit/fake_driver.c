/* SPDX-License-Identifier: Apache-2.0
 *
 * A runtime and its driver for test_hook_driver: ACL's functions take their memory by halMemAlloc and the like, called by
 * symbol, in the ways that a runtime may; what the driver hands out begins at 0x100000 and is told apart by its order. A
 * size of 13 is refused. Every function but aclrtGetDevice sets errno to 33.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hook/runtime.h"

#define API(name, parameters) __attribute__((visibility("default"))) nm_acl_error name parameters
#define REFUSED               13
#define STEP_BYTES            0x100000
#define RUNTIME_FLAG          (7ull << 56 | 1 << 10)
#define APP_FLAG              (33ull << 56 | 1 << 10)

static uintptr_t last_address;
static void *held[2]; /* by the device, of the runtime's; and beside the program's allocation of 200 */

static int answer(int result)
{
    errno = 33;
    return result;
}

static int hand_out(void **address, uint64_t size)
{
    if (size == REFUSED)
        return answer(6);
    last_address += STEP_BYTES;
    *address = (void *)last_address;
    return answer(0);
}

/* ---- The driver ---------------------------------------------------------------------------------------------------- */

API(halMemAlloc, (void **address, unsigned long long size, unsigned long long flag))
{
    (void)flag;
    return hand_out(address, size);
}

API(halMemFree, (void *address))
{
    return answer((uintptr_t)address % STEP_BYTES == 0 ? 0 : 3);
}

API(halMemCreate, (void **handle, size_t size, const nm_hal_properties *properties, uint64_t flag))
{
    (void)properties, (void)flag;
    return hand_out(handle, size);
}

API(halMemRelease, (void *handle))
{
    return answer(handle == NULL ? 3 : 0);
}

API(halMemRetainAllocationHandle, (void **handle, void *address))
{
    *handle = address;
    return answer(0);
}

API(halMemMap, (void *address, size_t size, size_t offset, void *handle, uint64_t flag))
{
    (void)address, (void)offset, (void)handle, (void)flag;
    return answer(size == REFUSED ? 3 : 0);
}

API(halMemUnmap, (void *address))
{
    return answer(address == NULL ? 3 : 0);
}

API(halHostRegister, (void *address, uint64_t size, uint32_t flag, uint32_t device, void **device_address))
{
    (void)flag, (void)device, (void)device_address, (void)address;
    return answer(size == REFUSED ? 3 : 0);
}

API(halHostUnregister, (void *address, uint32_t device))
{
    (void)address, (void)device;
    return answer(0);
}

API(halHostUnregisterEx, (void *address, uint32_t device, uint32_t flag))
{
    (void)address, (void)device, (void)flag;
    return answer(0);
}

API(halMemExportToShareableHandle, (void *handle, int type, uint64_t flags, uint64_t *shared))
{
    (void)handle, (void)type, (void)flags;
    *shared = 5;
    return answer(0);
}

API(halMemImportFromShareableHandle, (uint64_t shared, uint32_t device, void **handle))
{
    (void)device;
    return hand_out(handle, shared);
}

API(halMemImportFromShareableHandleV2, (int type, void *shared, uint32_t device, void **handle))
{
    (void)type, (void)device, (void)shared;
    return hand_out(handle, 1);
}

API(halShmemCreateHandle, (uint64_t address, size_t size, char *name, unsigned name_bytes))
{
    (void)address, (void)size;
    strncpy(name, "key", name_bytes);
    return answer(0);
}

API(halShmemOpenHandle, (const char *name, uint64_t *address))
{
    void *given = NULL;
    int error = hand_out(&given, name == NULL ? REFUSED : 1);

    *address = (uint64_t)(uintptr_t)given;
    return error;
}

API(halShmemOpenHandleByDevId, (uint32_t device, const char *name, uint64_t *address))
{
    (void)device;
    return halShmemOpenHandle(name, address);
}

API(halShmemOpenHandleV2, (uint32_t device, const char *name, uint64_t *address, uint64_t flag))
{
    (void)device, (void)flag;
    return halShmemOpenHandle(name, address);
}

API(halBuffAlloc, (uint64_t size, void **buffer))
{
    return hand_out(buffer, size);
}

API(halBuffAllocEx, (uint64_t size, unsigned long flag, int group, void **buffer))
{
    (void)flag, (void)group;
    return hand_out(buffer, size);
}

API(halBuffAllocAlignEx, (uint64_t size, unsigned align, unsigned long flag, int group, void **buffer))
{
    (void)align, (void)flag, (void)group;
    return hand_out(buffer, size);
}

API(halBuffFree, (void *buffer))
{
    return answer(buffer == NULL ? 3 : 0);
}

API(halMbufAlloc, (uint64_t size, void **buffer))
{
    return hand_out(buffer, size);
}

API(halMbufAllocEx, (uint64_t size, unsigned align, unsigned long flag, int group, void **buffer))
{
    (void)align, (void)flag, (void)group;
    return hand_out(buffer, size);
}

API(halMbufFree, (void *buffer))
{
    return answer(buffer == NULL ? 3 : 0);
}

API(halShmemCloseHandle, (uint64_t address))
{
    (void)address;
    return answer(0);
}

/* ---- The runtime --------------------------------------------------------------------------------------------------- */

__attribute__((visibility("default"))) nm_acl_error aclrtGetDevice(int32_t *device);

int aclrtGetDevice(int32_t *device)
{
    *device = 2;
    errno = 44; /* the hooks ask for it; the program is to see nothing of that */
    return 0;
}

API(aclrtSetDevice, (int32_t device))
{
    return answer(halMemAlloc(&held[0], 4 << 20, RUNTIME_FLAG | 1 << 17 | (unsigned)device));
}

API(aclrtResetDevice, (int32_t device))
{
    (void)device;
    return answer(halMemFree(held[0]));
}

API(aclFinalize, (void))
{
    return answer(0);
}

/* 200: its own bookkeeping first; 300: after it, of two allocations for the program; 400: under another module's name;
 * 500: a part of what it took. */
API(aclrtMalloc, (void **address, size_t size, int policy))
{
    void *other;
    int error = 0;

    (void)policy;
    if (size == 200)
        halMemAlloc(&held[1], 64, RUNTIME_FLAG | 2);
    if (size == 300)
        halMemAlloc(&other, 8192, APP_FLAG | 2);
    error = halMemAlloc(address, size, (size == 400 ? 48ull << 56 | 1 << 10 : APP_FLAG) | 2);
    if (size == 300)
        halMemAlloc(&other, 128, RUNTIME_FLAG | 2);
    if (size == 500)
        *address = (char *)*address + 0x100;
    return answer(error == 0 ? 0 : 207001);
}

API(aclrtMallocWithCfg, (void **address, size_t size, int policy, nm_acl_config *config))
{
    (void)policy;
    return answer(halMemAlloc(address, size, (uint64_t)config->attrs[0].value.module << 56 | 1 << 10 | 2));
}

/* The bookkeeping of 200 goes with it. */
API(aclrtFree, (void *address))
{
    if (held[1] != NULL && address == (char *)held[1] + STEP_BYTES)
        halMemFree(held[1]);
    return answer(halMemFree(address) == 0 ? 0 : 207002);
}

API(aclrtMallocHost, (void **address, size_t size))
{
    return answer(halMemAlloc(address, size, 33ull << 56 | 2 << 10 | 2));
}

API(aclrtFreeHost, (void *address))
{
    return answer(halMemFree(address));
}

API(aclrtMallocPhysical, (void **handle, size_t size, const nm_acl_physical *properties, uint64_t flags))
{
    nm_hal_properties wanted = {1, properties->location.id, 33, 1, 0, 0};

    return answer(halMemCreate(handle, size, &wanted, flags));
}

API(aclrtFreePhysical, (void *handle))
{
    return answer(halMemRelease(handle));
}

API(aclrtMapMem, (void *address, size_t size, size_t offset, void *handle, uint64_t flags))
{
    return answer(halMemMap(address, size, offset, handle, flags));
}

API(aclrtUnmapMem, (void *address))
{
    return answer(halMemUnmap(address));
}

API(aclrtHostRegister, (void *address, uint64_t size, int type, void **device_address))
{
    return answer(halHostRegister(address, size, (uint32_t)type, 2, device_address));
}

API(aclrtHostUnregister, (void *address))
{
    return answer(halHostUnregister(address, 2));
}

API(aclrtMemPoolMallocAsync, (void **address, size_t size, void *pool, void *stream))
{
    (void)pool, (void)stream;
    return answer(halMemAlloc(address, size, APP_FLAG | 1 << 17 | 2));
}

API(aclrtIpcMemImportByKey, (void **address, const char *key, uint64_t flags))
{
    uint64_t given = 0;
    int error = halShmemOpenHandle(key, &given);

    (void)flags;
    *address = (void *)(uintptr_t)given;
    return answer(error);
}

API(aclrtIpcMemClose, (const char *key))
{
    (void)key;
    return answer(halShmemCloseHandle(last_address));
}

API(aclrtGetMemInfo, (int kind, size_t *free_bytes, size_t *total_bytes))
{
    *free_bytes = kind == ACL_DDR_MEM ? 400 : 0; /* a chip without HBM */
    *total_bytes = kind == ACL_DDR_MEM ? 1000 : 0;
    return answer(0);
}

/* Allocates to answer; and a name may fill its room. */
API(aclrtGetMemUsageInfo, (int32_t device, nm_acl_usage *info, size_t room, size_t *count))
{
    void *place;

    (void)device;
    halMemAlloc(&place, 256, RUNTIME_FLAG | 2);
    halMemFree(place);
    if (room < 2)
        return answer(100000);
    memcpy(info[0].name, "HCCL", 5);
    memset(info[1].name, 'x', sizeof info[1].name);
    info[0].curMemSize = 5;
    info[0].memPeakSize = 9;
    info[1].curMemSize = 0;
    info[1].memPeakSize = 1;
    *count = 2;
    return answer(0);
}
