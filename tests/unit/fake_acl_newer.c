/* SPDX-License-Identifier: Apache-2.0
 *
 * What a newer runtime has beside fake_acl.c, for test_hook_memory: each function answers by a simple rule that the test
 * states too and sets errno to 33. A size or a count of 13 is refused.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "hook/runtime.h"

#define REFUSED               13

#define API(name, parameters) __attribute__((visibility("default"))) nm_acl_error name parameters

static int answer(int result)
{
    errno = 33;
    return result;
}

/* Memory at `base` plus its size. */
static int hand_out(void **address, uintptr_t base, size_t size)
{
    if (size == REFUSED)
        return answer(207001);
    *address = (void *)(base + size);
    return answer(0);
}

API(aclrtMallocWithCfg, (void **address, size_t size, int policy, nm_acl_config *config))
{
    (void)policy, (void)config;
    return hand_out(address, 0x10000, size);
}

API(aclrtMallocForTaskScheduler, (void **address, size_t size, int policy, nm_acl_config *config))
{
    (void)policy, (void)config;
    return hand_out(address, 0x20000, size);
}

API(aclrtMemAllocManaged, (void **address, uint64_t size, uint32_t flag))
{
    (void)flag;
    return hand_out(address, 0x30000, size);
}

API(aclrtFreeWithDevSync, (void *address))
{
    return answer(address == NULL ? 207002 : 0);
}

API(aclrtMallocHostWithCfg, (void **address, uint64_t size, nm_acl_config *config))
{
    (void)config;
    return hand_out(address, 0x40000, size);
}

API(aclrtFreeHostWithDevSync, (void *address))
{
    return answer(address == NULL ? 207002 : 0);
}

API(aclrtHostRegister, (void *address, uint64_t size, int type, void **device_address))
{
    (void)type;
    return size == REFUSED ? answer(507910) : (*device_address = address, answer(0));
}

API(aclrtHostRegisterV2, (void *address, uint64_t size, uint32_t flags))
{
    (void)address, (void)flags;
    return answer(size == REFUSED ? 507910 : 0);
}

API(aclrtHostUnregister, (void *address))
{
    return answer(address == NULL ? 507911 : 0);
}

API(aclrtMemcpyAsyncWithCondition,
    (void *target, size_t limit, const void *source, size_t size, int kind, void *stream))
{
    (void)target, (void)limit, (void)source, (void)kind, (void)stream;
    return answer(size == REFUSED ? 107000 : 0);
}

API(aclrtMemcpy2d,
    (void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width, size_t height, int kind))
{
    (void)target, (void)target_pitch, (void)source, (void)source_pitch, (void)height, (void)kind;
    return answer(width == REFUSED ? 107000 : 0);
}

API(aclrtMemcpy2dAsync, (void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                         size_t height, int kind, void *stream))
{
    (void)stream;
    return aclrtMemcpy2d(target, target_pitch, source, source_pitch, width, height, kind);
}

API(aclrtMemcpyBatchV2, (void **targets, size_t *limits, void **sources, size_t *sizes, size_t count,
                         nm_acl_batch_attr *attrs, size_t *attr_indexes, size_t attr_count))
{
    (void)targets, (void)limits, (void)sources, (void)sizes, (void)attrs, (void)attr_indexes, (void)attr_count;
    return answer(count == REFUSED ? 107000 : 0);
}

API(aclrtMemcpyBatch, (void **targets, size_t *limits, void **sources, size_t *sizes, size_t count,
                       nm_acl_batch_attr *attrs, size_t *attr_indexes, size_t attr_count, size_t *fail_index))
{
    *fail_index = count;
    return aclrtMemcpyBatchV2(targets, limits, sources, sizes, count, attrs, attr_indexes, attr_count);
}

API(aclrtMemcpyBatchAsync,
    (void **targets, size_t *limits, void **sources, size_t *sizes, size_t count, nm_acl_batch_attr *attrs,
     size_t *attr_indexes, size_t attr_count, size_t *fail_index, void *stream))
{
    (void)stream;
    return aclrtMemcpyBatch(targets, limits, sources, sizes, count, attrs, attr_indexes, attr_count, fail_index);
}

API(aclrtMemcpyBatchAsyncV2, (void **targets, size_t *limits, void **sources, size_t *sizes, size_t count,
                              nm_acl_batch_attr *attrs, size_t *attr_indexes, size_t attr_count, void *stream))
{
    (void)stream;
    return aclrtMemcpyBatchV2(targets, limits, sources, sizes, count, attrs, attr_indexes, attr_count);
}

API(aclrtMemsetD32, (void *target, size_t limit, uint32_t value, size_t count))
{
    (void)target, (void)limit, (void)value;
    return answer(count == REFUSED ? 107000 : 0);
}

API(aclrtMemsetD32Async, (void *target, size_t limit, uint32_t value, size_t count, void *stream))
{
    (void)stream;
    return aclrtMemsetD32(target, limit, value, count);
}

API(aclrtMallocPhysical, (void **handle, size_t size, const nm_acl_physical *properties, uint64_t flags))
{
    (void)properties, (void)flags;
    return hand_out(handle, 0x50000, size);
}

API(aclrtFreePhysical, (void *handle))
{
    return answer(handle == NULL ? 207002 : 0);
}

API(aclrtMemRetainAllocationHandle, (void *address, void **handle))
{
    *handle = (void *)((uintptr_t)address - 0x90000 + 0x50000);
    return answer(0);
}

API(aclrtMapMem, (void *address, size_t size, size_t offset, void *handle, uint64_t flags))
{
    (void)address, (void)offset, (void)handle, (void)flags;
    return answer(size == REFUSED ? 107000 : 0);
}

API(aclrtMemMapNoAccess, (void *address, size_t size, size_t offset, void *handle, uint64_t flags))
{
    return aclrtMapMem(address, size, offset, handle, flags);
}

API(aclrtUnmapMem, (void *address))
{
    return answer(address == NULL ? 107000 : 0);
}

API(aclrtMemImportFromShareableHandle, (uint64_t shared, int32_t device, void **handle))
{
    (void)device;
    return hand_out(handle, 0x60000, (size_t)shared);
}

API(aclrtMemImportFromShareableHandleV2, (void *shared, int type, uint64_t flags, void **handle))
{
    (void)type, (void)flags;
    return hand_out(handle, 0x70000, (size_t) * (uint64_t *)shared);
}

API(aclrtIpcMemImportByKey, (void **address, const char *key, uint64_t flags))
{
    (void)flags;
    return hand_out(address, 0x80000, (unsigned char)key[0]);
}

API(aclrtIpcMemClose, (const char *key))
{
    return answer(key == NULL ? 107000 : 0);
}

API(aclrtMemPoolCreate, (void **pool, const nm_acl_pool_properties *properties))
{
    *pool = (void *)(uintptr_t)(0xabc0 + properties->location.id);
    return answer(0);
}

API(aclrtMemPoolDestroy, (void *pool))
{
    (void)pool;
    return answer(0);
}

API(aclrtMemPoolMallocAsync, (void **address, size_t size, void *pool, void *stream))
{
    (void)pool, (void)stream;
    return hand_out(address, 0xa0000, size);
}

API(aclrtMemPoolFreeAsync, (void *address, void *stream))
{
    (void)stream;
    return answer(address == NULL ? 207002 : 0);
}
