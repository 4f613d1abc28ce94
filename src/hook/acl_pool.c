/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of CANN's own pool, whose allocations and frees happen in the order of a stream: a heap of level pool for each
 * handle. What the pool itself takes from the driver is not seen here. A free names no pool; the replay finds it by the
 * address.
 */
#include "hook/handles.h"
#include "hook/tell.h"

#define NAME_PREFIX "CANN memory pool 0x"

/* Writes the pool's name: snprintf may allocate. */
static void name_pool(char name[static sizeof NAME_PREFIX + 16], uint64_t handle)
{
    size_t len = sizeof NAME_PREFIX - 1;
    int digit_count = 1;

    for (size_t i = 0; i < len; i++)
        name[i] = NAME_PREFIX[i];
    for (uint64_t rest = handle >> 4; rest != 0; rest >>= 4)
        digit_count++;
    for (int i = digit_count - 1; i >= 0; i--)
        name[len++] = "0123456789abcdef"[handle >> 4 * i & 15];
    name[len] = 0;
}

/* The device that the pool was made for; the thread's where its making was not seen. */
static int32_t pool_device(uint64_t handle)
{
    uint64_t known = nm_handles_get(NM_HANDLE_POOL, handle);

    return known != 0 ? (int32_t)(known - 1) : nm_tell_device();
}

nm_acl_error aclrtMemPoolCreate(void **pool, const nm_acl_pool_properties *properties)
{
    nm_acl_error error;
    nm_guard guard;

    NEED_NEWER(aclrtMemPoolCreate);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclrtMemPoolCreate(pool, properties);
    error = nm_real.aclrtMemPoolCreate(pool, properties);
    if (error == ACL_SUCCESS && properties->location.type == ACL_LOCATION_DEVICE)
        nm_handles_set(NM_HANDLE_POOL, (uint64_t)(uintptr_t)*pool, (uint64_t)properties->location.id + 1);
    nm_record_leave(&guard);
    return error;
}

nm_acl_error aclrtMemPoolDestroy(void *pool)
{
    nm_acl_error error;
    nm_guard guard;

    NEED_NEWER(aclrtMemPoolDestroy);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclrtMemPoolDestroy(pool);
    error = nm_real.aclrtMemPoolDestroy(pool);
    if (error == ACL_SUCCESS)
        nm_handles_set(NM_HANDLE_POOL, (uint64_t)(uintptr_t)pool, 0);
    nm_record_leave(&guard);
    return error;
}

nm_acl_error aclrtMemPoolMallocAsync(void **address, size_t size, void *pool, void *stream)
{
    nm_request asked = {.size = size, .flags = NM_FLAG_STREAM, .stream = (uint64_t)(uintptr_t)stream, .frame = HERE};
    char name[sizeof NAME_PREFIX + 16];
    int32_t device;
    nm_acl_error error;
    nm_guard guard;

    NEED_NEWER(aclrtMemPoolMallocAsync);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclrtMemPoolMallocAsync(address, size, pool, stream);
    asked.begin_ticks = nm_record_clock();
    error = nm_real.aclrtMemPoolMallocAsync(address, size, pool, stream);
    device = pool_device((uint64_t)(uintptr_t)pool);
    name_pool(name, (uint64_t)(uintptr_t)pool);
    asked.heap = nm_record_heap(name, NM_LEVEL_POOL, device);
    nm_tell_request(&asked, error == ACL_SUCCESS ? *address : NULL, error);
    nm_record_leave(&guard);
    return error;
}

nm_acl_error aclrtMemPoolFreeAsync(void *address, void *stream)
{
    nm_ring_free event = {.address = (uint64_t)(uintptr_t)address,
                          .where = nm_record_where(0, NM_FLAG_STREAM),
                          .stream = (uint64_t)(uintptr_t)stream,
                          .detail = NM_FREE_POOL};
    nm_acl_error error;
    nm_guard guard;

    NEED_NEWER(aclrtMemPoolFreeAsync);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclrtMemPoolFreeAsync(address, stream);
    nm_record_free(NM_EVENT_FREE, &event, HERE);
    error = nm_real.aclrtMemPoolFreeAsync(address, stream);
    if (error != ACL_SUCCESS)
        nm_tell_not_freed(NM_FREE_POOL, event.address, error, HERE);
    nm_record_leave(&guard);
    return error;
}
