/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of the driver's message buffers: host memory that processes of a group share, with which queues and data
 * preprocessing work. ACL's buffers (acltdtAllocBuf, aclrtAllocBuf) are these, and are seen here. A second reference to a
 * buffer is no memory of its own.
 */
#include "hook/hal.h"

static uint32_t buffer_heap(void)
{
    return nm_record_heap("message buffers", NM_LEVEL_HOST, -1);
}

static void tell_buffer(const void *buffer, uint64_t size, uint64_t begin_ticks, nm_acl_error error, const void *frame)
{
    uint64_t where = nm_record_where(buffer_heap(), 0);

    if (error == DRV_ERROR_NONE)
        nm_record_alloc(&(nm_ring_alloc){.address = (uint64_t)(uintptr_t)buffer,
                                         .requested_bytes = size,
                                         .where = where,
                                         .policy = NM_POLICY_UNKNOWN,
                                         .cost_ticks = nm_record_cost(begin_ticks)},
                        frame);
    else if (error != DRV_ERROR_NOT_SUPPORT)
        nm_record_alloc_failed(
            &(nm_ring_alloc_failed){
                .requested_bytes = size, .where = where, .policy = NM_POLICY_UNKNOWN, .error_code = error},
            frame);
}

/* The real call between enter and leave; then what it gave into `out`. */
#define ALLOCATE(call, size_bytes, out)                                                                                \
    TIMED(HOOK_DRIVER, call, tell_buffer(error == DRV_ERROR_NONE ? *(out) : NULL, size_bytes, begin_ticks, error, HERE))

nm_acl_error halBuffAlloc(uint64_t size, void **buffer)
{
    NEED_DRIVER(halBuffAlloc);
    ALLOCATE(nm_real.halBuffAlloc(size, buffer), size, buffer);
}

nm_acl_error halBuffAllocEx(uint64_t size, unsigned long flag, int group, void **buffer)
{
    NEED_DRIVER(halBuffAllocEx);
    ALLOCATE(nm_real.halBuffAllocEx(size, flag, group, buffer), size, buffer);
}

nm_acl_error halBuffAllocAlignEx(uint64_t size, unsigned align, unsigned long flag, int group, void **buffer)
{
    NEED_DRIVER(halBuffAllocAlignEx);
    ALLOCATE(nm_real.halBuffAllocAlignEx(size, align, flag, group, buffer), size, buffer);
}

nm_acl_error halBuffFree(void *buffer)
{
    NEED_DRIVER(halBuffFree);
    NM_HAL_FREE(nm_real.halBuffFree(buffer), NM_FREE_ANY, (uint64_t)(uintptr_t)buffer, true);
}

nm_acl_error halMbufAlloc(uint64_t size, void **buffer)
{
    NEED_DRIVER(halMbufAlloc);
    ALLOCATE(nm_real.halMbufAlloc(size, buffer), size, buffer);
}

nm_acl_error halMbufAllocEx(uint64_t size, unsigned align, unsigned long flag, int group, void **buffer)
{
    NEED_DRIVER(halMbufAllocEx);
    ALLOCATE(nm_real.halMbufAllocEx(size, align, flag, group, buffer), size, buffer);
}

nm_acl_error halMbufFree(void *buffer)
{
    NEED_DRIVER(halMbufFree);
    NM_HAL_FREE(nm_real.halMbufFree(buffer), NM_FREE_ANY, (uint64_t)(uintptr_t)buffer, true);
}
