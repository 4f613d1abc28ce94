/* SPDX-License-Identifier: Apache-2.0
 *
 * Events that most hooks tell; see tell.h. Sizes are what was asked for; what the driver gave for it, in whole pages, is
 * block_bytes, where its hooks saw it.
 */
#include "hook/tell.h"

#include <errno.h>
#include <stdatomic.h>

#include "hook/hal.h"

/* What the runtime said last; -1: it has not. */
static __thread int32_t known_device __attribute__((tls_model("initial-exec"))) = -1;

int32_t nm_tell_device(void)
{
    int32_t device = -1;
    int saved_errno = errno;

    if (!nm_tell_may_ask())
        return known_device;
    if (nm_real.aclrtGetDevice == NULL || nm_real.aclrtGetDevice(&device) != ACL_SUCCESS)
        device = -1;
    errno = saved_errno;
    known_device = device;
    return device;
}

void nm_tell_device_change(int32_t device)
{
    known_device = device;
}

uint32_t nm_tell_registered_heap(void)
{
    static _Atomic uint32_t kept;
    /* relaxed: a handle is a number, and says itself whether it holds. */
    uint32_t heap = atomic_load_explicit(&kept, memory_order_relaxed);

    if (nm_record_knows_heap(heap))
        return heap;
    heap = nm_record_heap("registered host memory", NM_LEVEL_REGISTERED, -1);
    atomic_store_explicit(&kept, heap, memory_order_relaxed);
    return heap;
}

/* ---- Allocation ---------------------------------------------------------------------------------------------------- */

static void tell_failure(const nm_request *asked, nm_acl_error error)
{
    size_t free_bytes, total_bytes;

    nm_tell_memory(&free_bytes, &total_bytes);
    nm_record_alloc_failed(&(nm_ring_alloc_failed){.requested_bytes = asked->size,
                                                   .where = nm_record_where(asked->heap, asked->flags),
                                                   .stream = asked->stream,
                                                   .policy = asked->policy,
                                                   .error_code = error,
                                                   .free_bytes = free_bytes,
                                                   .total_bytes = total_bytes},
                           asked->frame);
    nm_tell_sample(nm_tell_device());
}

void nm_tell_begin(nm_request *asked)
{
    nm_hal_ask(NM_MODULE_APP);
    asked->begin_ticks = nm_record_clock();
}

void nm_tell_request(const nm_request *asked, const void *address, nm_acl_error error)
{
    uint64_t block_bytes = nm_hal_settle(address, asked->frame);

    if (error != ACL_SUCCESS) {
        tell_failure(asked, error);
        return;
    }
    nm_record_alloc(&(nm_ring_alloc){.address = (uint64_t)(uintptr_t)address,
                                     .requested_bytes = asked->size,
                                     .block_bytes = block_bytes,
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
    nm_tell_memory(&free_bytes, &total_bytes);
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
    nm_hal_give((uint64_t)(uintptr_t)address);
    nm_tell_freed(call, (uint64_t)(uintptr_t)address, frame);
    error = real(address);
    if (error != ACL_SUCCESS)
        nm_tell_not_freed(call, (uint64_t)(uintptr_t)address, error, frame);
    nm_record_leave(&guard);
    return error;
}
