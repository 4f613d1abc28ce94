/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call that allocates or frees makes known. Sizes are what was asked for; what the driver gave for it, in whole
 * pages, is block_bytes, where its hooks saw it: hal.c is told before the real call that one is under way, and settles
 * after it what belongs to it. A failure comes with how much was free at that moment.
 */
#include "hook/allocation.h"

#include "hook/current_device.h"
#include "hook/device_memory.h"
#include "hook/free.h"
#include "hook/hal.h"

static void tell_failure(const nm_allocation_call *asked, nm_acl_error error)
{
    size_t free_bytes, total_bytes;

    nm_device_memory(&free_bytes, &total_bytes);
    nm_record_alloc_failed(&(nm_ring_alloc_failed){.requested_bytes = asked->size,
                                                   .where = nm_record_where(asked->heap, asked->flags),
                                                   .stream = asked->stream,
                                                   .policy = asked->policy,
                                                   .error_code = error,
                                                   .free_bytes = free_bytes,
                                                   .total_bytes = total_bytes},
                           asked->frame);
    nm_device_memory_sample(nm_current_device());
}

void nm_allocation_begin(nm_allocation_call *asked)
{
    nm_hal_ask(NM_MODULE_APP);
    asked->begin_ticks = nm_record_clock();
}

void nm_allocation_end(const nm_allocation_call *asked, const void *address, nm_acl_error error)
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

static void begin_free(nm_free_call call, uint64_t address, bool is_told_after, const void *frame)
{
    nm_hal_give(address);
    if (!is_told_after)
        nm_free_note(call, address, frame);
}

static void end_free(nm_free_call call, uint64_t address, bool is_told_after, nm_acl_error error, const void *frame)
{
    if (!is_told_after)
        nm_free_note_end(call, address, error, frame);
    else if (error == ACL_SUCCESS)
        nm_free_note(call, address, frame);
}

nm_acl_error nm_allocation_free(nm_free_function *real, nm_free_call call, void *address, const void *frame)
{
    uint64_t freed = (uint64_t)(uintptr_t)address;
    bool is_told_after = nm_record_is_free_told_after();

    HOOK(nm_record_enter(&guard, frame), begin_free(call, freed, is_told_after, frame), real(address),
         end_free(call, freed, is_told_after, error, frame));
}
