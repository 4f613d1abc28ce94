/* SPDX-License-Identifier: Apache-2.0
 *
 * Events that most hooks tell; see tell.h. Sizes are what was asked for: how the runtime rounds up depends on the chip, so
 * block_bytes stays unknown.
 */
#include "hook/tell.h"

int32_t nm_tell_device(void)
{
    int32_t device = -1;

    if (nm_real.aclrtGetDevice == NULL || nm_real.aclrtGetDevice(&device) != ACL_SUCCESS)
        return -1;
    return device;
}

/* The current device's memory; 0, 0 when it is not told. Chips without HBM have DDR. */
static void device_memory(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = *total_bytes = 0;
    if (nm_real.aclrtGetMemInfo == NULL)
        return;
    if (nm_real.aclrtGetMemInfo(ACL_HBM_MEM, free_bytes, total_bytes) == ACL_SUCCESS && *total_bytes != 0)
        return;
    *free_bytes = *total_bytes = 0;
    if (nm_real.aclrtGetMemInfo(ACL_DDR_MEM, free_bytes, total_bytes) != ACL_SUCCESS)
        *free_bytes = *total_bytes = 0;
}

/* ---- Allocation ---------------------------------------------------------------------------------------------------- */

static void tell_failure(const nm_request *asked, nm_acl_error error)
{
    size_t free_bytes, total_bytes;

    device_memory(&free_bytes, &total_bytes);
    nm_record_alloc_failed(&(nm_ring_alloc_failed){.requested_bytes = asked->size,
                                                   .where = nm_record_where(asked->heap, asked->flags),
                                                   .stream = asked->stream,
                                                   .policy = asked->policy,
                                                   .error_code = error,
                                                   .free_bytes = free_bytes,
                                                   .total_bytes = total_bytes},
                           asked->frame);
}

void nm_tell_request(const nm_request *asked, const void *address, nm_acl_error error)
{
    if (error != ACL_SUCCESS) {
        tell_failure(asked, error);
        return;
    }
    nm_record_alloc(&(nm_ring_alloc){.address = (uint64_t)(uintptr_t)address,
                                     .requested_bytes = asked->size,
                                     .stream = asked->stream,
                                     .where = nm_record_where(asked->heap, asked->flags),
                                     .policy = asked->policy,
                                     .cost_ticks = nm_record_cost(asked->begin_ticks)},
                    asked->frame);
}

void nm_tell_capacity(int32_t device)
{
    size_t free_bytes, total_bytes;

    if (!nm_record_is_capacity_wanted(device))
        return;
    device_memory(&free_bytes, &total_bytes);
    nm_record_capacity(device, total_bytes);
}

/* ---- Free ---------------------------------------------------------------------------------------------------------- */

void nm_tell_freed(nm_free_call call, uint64_t address, const void *frame)
{
    nm_record_free(NM_EVENT_FREE, &(nm_ring_free){.address = address, .detail = call}, frame);
}

void nm_tell_not_freed(nm_free_call call, uint64_t address, nm_acl_error error, const void *frame)
{
    nm_record_free(NM_EVENT_FREE_FAILED, &(nm_ring_free){.address = address, .detail = call, .error_code = error},
                   frame);
}

nm_acl_error nm_tell_free(nm_free_function *real, nm_free_call call, void *address, const void *frame)
{
    nm_acl_error error;
    nm_guard guard;

    if (!nm_record_enter(&guard, frame))
        return real(address);
    nm_tell_freed(call, (uint64_t)(uintptr_t)address, frame);
    error = real(address);
    if (error != ACL_SUCCESS)
        nm_tell_not_freed(call, (uint64_t)(uintptr_t)address, error, frame);
    nm_record_leave(&guard);
    return error;
}
