/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of CANN's own pool, whose allocations and frees happen in the order of a stream: a heap of level pool for each
 * handle. What the pool itself holds is mapped and taken away by the device: nobody tells it. A free names no pool; the
 * replay finds it by the address.
 */
#include <stdatomic.h>

#include "hook/allocation.h"
#include "hook/current_device.h"
#include "hook/free.h"
#include "hook/handles.h"
#include "hook/hook.h"

#define NAME_PREFIX "CANN memory pool "

/* Numbers that are in use: pools have the lowest free one, so that runs of a program can be compared, and a program that
 * makes pools and destroys them needs few heaps. */
static _Atomic uint64_t used_numbers;

/* From 1; 0: all are in use. */
static uint64_t take_number(void)
{
    /* relaxed: a number, nothing hangs on it. */
    uint64_t used = atomic_load_explicit(&used_numbers, memory_order_relaxed);
    int lowest;

    do {
        if (used == UINT64_MAX)
            return 0;
        lowest = __builtin_ctzll(~used);
    } while (!atomic_compare_exchange_weak_explicit(&used_numbers, &used, used | UINT64_C(1) << lowest,
                                                    memory_order_relaxed, memory_order_relaxed));
    return (uint64_t)lowest + 1;
}

static void give_number(uint64_t number)
{
    if (number != 0) /* relaxed: see take_number */
        atomic_fetch_and_explicit(&used_numbers, ~(UINT64_C(1) << (number - 1)), memory_order_relaxed);
}

/* What is remembered of a pool: its number and its device. */
static uint64_t pool_value(uint64_t number, uint32_t device)
{
    return number << 32 | ((uint64_t)device + 1);
}

/* The pool's heap. One without a number (too many, or made before the recording) shares a heap with others like it; one
 * that was not seen being made is of the thread's device. */
static uint32_t pool_heap(const void *pool)
{
    uint64_t value = nm_handles_get(NM_HANDLE_POOL, (uint64_t)(uintptr_t)pool), number = value >> 32;
    char name[sizeof NAME_PREFIX + 2] = NAME_PREFIX;
    size_t len = sizeof NAME_PREFIX - 1;

    if (number == 0)
        return nm_record_heap("other CANN memory pools", NM_LEVEL_POOL,
                              value != 0 ? (int32_t)((uint32_t)value - 1) : nm_current_device());
    if (number >= 10)
        name[len++] = (char)('0' + number / 10);
    name[len++] = (char)('0' + number % 10);
    name[len] = 0;
    return nm_record_heap(name, NM_LEVEL_POOL, (int32_t)((uint32_t)value - 1));
}

static void remember_pool(void *const *pool, const nm_acl_pool_properties *properties, nm_acl_error error)
{
    if (error == ACL_SUCCESS && properties->location.type == ACL_LOCATION_DEVICE)
        nm_handles_set(NM_HANDLE_POOL, (uint64_t)(uintptr_t)*pool, pool_value(take_number(), properties->location.id));
}

nm_acl_error aclrtMemPoolCreate(void **pool, const nm_acl_pool_properties *properties)
{
    NEED_NEWER(aclrtMemPoolCreate);
    HOOK_CALL(NOTHING, nm_real.aclrtMemPoolCreate(pool, properties), remember_pool(pool, properties, error));
}

/* The handle goes before the call: another thread may be given it anew while that returns. */
static void forget_pool(uint64_t handle, uint64_t value, nm_acl_error error)
{
    if (error == ACL_SUCCESS)
        give_number(value >> 32);
    else
        nm_handles_set(NM_HANDLE_POOL, handle, value);
}

nm_acl_error aclrtMemPoolDestroy(void *pool)
{
    uint64_t value, handle = (uint64_t)(uintptr_t)pool;

    NEED_NEWER(aclrtMemPoolDestroy);
    HOOK_CALL(value = nm_handles_set(NM_HANDLE_POOL, handle, 0), nm_real.aclrtMemPoolDestroy(pool),
              forget_pool(handle, value, error));
}

nm_acl_error aclrtMemPoolMallocAsync(void **address, size_t size, void *pool, void *stream)
{
    nm_allocation_call asked = {
        .size = size, .flags = NM_FLAG_STREAM, .stream = (uint64_t)(uintptr_t)stream, .frame = HERE};

    NEED_NEWER(aclrtMemPoolMallocAsync);
    HOOK_CALL(asked.begin_ticks = nm_record_clock(), nm_real.aclrtMemPoolMallocAsync(address, size, pool, stream),
              asked.heap = pool_heap(pool);
              nm_allocation_end(&asked, error == ACL_SUCCESS ? *address : NULL, error));
}

nm_acl_error aclrtMemPoolFreeAsync(void *address, void *stream)
{
    nm_ring_free event = {.address = (uint64_t)(uintptr_t)address,
                          .where = nm_record_where(0, NM_FLAG_STREAM),
                          .stream = (uint64_t)(uintptr_t)stream,
                          .detail = NM_FREE_POOL};

    NEED_NEWER(aclrtMemPoolFreeAsync);
    HOOK_CALL(nm_record_free(NM_EVENT_FREE, &event, HERE), nm_real.aclrtMemPoolFreeAsync(address, stream),
              nm_free_note_end(NM_FREE_POOL, event.address, error, HERE));
}
