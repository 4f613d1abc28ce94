/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of AscendCL's memory functions. Each calls the real one, gives back what it gave, and tells the recorder:
 * a free before the call, since the address may be handed out again before it returns; everything else after it.
 *
 * A reset is told after the call. Told before, a refused one would end allocations that still stand; and memory that a
 * reset frees is not handed out again while it runs, since the device has to be set anew first.
 *
 * Sizes are what was asked for: how the runtime rounds up depends on the chip, so block_bytes stays unknown.
 */
#include <stdatomic.h>

#include "hook/runtime.h"
#include "record/record.h"

#define COUNTED_DEVICES 64
#define HERE            __builtin_frame_address(0)

/* The real function, looked for again where it is missing. */
#define NEED(name)                                                                                                     \
    do {                                                                                                               \
        if (__builtin_expect(nm_real.name == NULL, 0)) {                                                               \
            nm_runtime_find();                                                                                         \
            if (nm_real.name == NULL)                                                                                  \
                return ACL_ERROR_API_NOT_SUPPORT;                                                                      \
        }                                                                                                              \
    } while (0)

/* The calling thread's device, -1 when it has none. */
static int32_t current_device(void)
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

typedef struct nm_request {
    size_t size;
    int policy;
    uint32_t heap;
    uint64_t begin_ticks;
    const void *frame;
} nm_request;

static void tell_alloc(const nm_request *asked, void *const *address)
{
    nm_record_alloc(&(nm_ring_alloc){.address = (uint64_t)(uintptr_t)*address,
                                     .requested_bytes = asked->size,
                                     .where = nm_record_where(asked->heap, 0),
                                     .policy = (uint32_t)asked->policy,
                                     .cost_ticks = nm_record_cost(asked->begin_ticks)},
                    asked->frame);
}

static void tell_failure(const nm_request *asked, nm_acl_error error)
{
    size_t free_bytes, total_bytes;

    device_memory(&free_bytes, &total_bytes);
    nm_record_alloc_failed(&(nm_ring_alloc_failed){.requested_bytes = asked->size,
                                                   .where = nm_record_where(asked->heap, 0),
                                                   .policy = (uint64_t)asked->policy,
                                                   .error_code = error,
                                                   .free_bytes = free_bytes,
                                                   .total_bytes = total_bytes},
                           asked->frame);
}

/* Once per device: how much memory it has. */
static void tell_capacity(int32_t device)
{
    size_t free_bytes, total_bytes;

    if (!nm_record_is_capacity_wanted(device))
        return;
    device_memory(&free_bytes, &total_bytes);
    nm_record_capacity(device, total_bytes);
}

typedef nm_acl_error device_malloc(void **address, size_t size, int policy);

static nm_acl_error hooked_malloc(device_malloc *real, void **address, size_t size, int policy, const void *frame)
{
    nm_request asked = {.size = size, .policy = policy, .frame = frame};
    nm_acl_error error;
    nm_guard guard;
    int32_t device;

    if (!nm_record_enter(&guard, frame))
        return real(address, size, policy);
    asked.begin_ticks = nm_record_clock();
    error = real(address, size, policy);
    device = current_device();
    asked.heap = nm_record_driver_heap(device);
    if (error == ACL_SUCCESS) {
        tell_alloc(&asked, address);
        tell_capacity(device);
    } else {
        tell_failure(&asked, error);
    }
    nm_record_leave(&guard);
    return error;
}

nm_acl_error aclrtMalloc(void **address, size_t size, int policy)
{
    NEED(aclrtMalloc);
    return hooked_malloc(nm_real.aclrtMalloc, address, size, policy, HERE);
}

nm_acl_error aclrtMallocAlign32(void **address, size_t size, int policy)
{
    NEED(aclrtMallocAlign32);
    return hooked_malloc(nm_real.aclrtMallocAlign32, address, size, policy, HERE);
}

nm_acl_error aclrtMallocCached(void **address, size_t size, int policy)
{
    NEED(aclrtMallocCached);
    return hooked_malloc(nm_real.aclrtMallocCached, address, size, policy, HERE);
}

nm_acl_error aclrtMallocHost(void **address, size_t size)
{
    nm_request asked = {.size = size, .frame = HERE};
    nm_acl_error error;
    nm_guard guard;

    NEED(aclrtMallocHost);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclrtMallocHost(address, size);
    asked.begin_ticks = nm_record_clock();
    error = nm_real.aclrtMallocHost(address, size);
    asked.heap = nm_record_pinned_heap();
    if (error == ACL_SUCCESS)
        tell_alloc(&asked, address);
    else
        tell_failure(&asked, error);
    nm_record_leave(&guard);
    return error;
}

static nm_acl_error hooked_free(nm_acl_error (*real)(void *), nm_free_call call, void *address, const void *frame)
{
    nm_ring_free event = {.address = (uint64_t)(uintptr_t)address, .detail = call};
    nm_acl_error error;
    nm_guard guard;

    if (!nm_record_enter(&guard, frame))
        return real(address);
    nm_record_free(NM_EVENT_FREE, &event, frame);
    error = real(address);
    if (error != ACL_SUCCESS)
        nm_record_free(NM_EVENT_FREE_FAILED,
                       &(nm_ring_free){.address = (uint64_t)(uintptr_t)address, .detail = call, .error_code = error},
                       frame);
    nm_record_leave(&guard);
    return error;
}

nm_acl_error aclrtFree(void *address)
{
    NEED(aclrtFree);
    return hooked_free(nm_real.aclrtFree, NM_FREE_DEVICE, address, HERE);
}

nm_acl_error aclrtFreeHost(void *address)
{
    NEED(aclrtFreeHost);
    return hooked_free(nm_real.aclrtFreeHost, NM_FREE_HOST, address, HERE);
}

/* ---- Copies and sets ----------------------------------------------------------------------------------------------- */

/* Which side of a copy is the thread's device. Between two devices, and where the runtime decides, it is not known. */
static void set_devices(nm_ring_copy *event)
{
    uint32_t device = (uint32_t)nm_record_device(current_device());

    if (event->kind == NM_COPY_HOST_TO_DEVICE || event->kind == NM_COPY_HOST_TO_BUFFER_TO_DEVICE ||
        event->kind == NM_COPY_INNER_DEVICE || event->kind == NM_COPY_MEMSET)
        event->target_device = device;
    if (event->kind == NM_COPY_DEVICE_TO_HOST || event->kind == NM_COPY_INNER_DEVICE)
        event->source_device = device;
}

static void tell_copy(nm_ring_copy *event, uint64_t begin_ticks, nm_acl_error error, const void *frame)
{
    event->cost_ticks = nm_record_cost(begin_ticks);
    event->error_code = error;
    set_devices(event);
    nm_record_copy(event, frame);
}

static nm_ring_copy copy_event(const void *target, size_t limit, const void *source, size_t size, int kind)
{
    return (nm_ring_copy){
        .target_address = (uint64_t)(uintptr_t)target,
        .source_address = (uint64_t)(uintptr_t)source,
        .size_bytes = size,
        .limit_bytes = limit,
        .kind = (uint32_t)kind,
    };
}

static nm_ring_copy queued_event(nm_ring_copy event, const void *stream)
{
    event.stream = (uint64_t)(uintptr_t)stream;
    event.where = nm_record_where(0, NM_FLAG_STREAM | NM_FLAG_ASYNC);
    return event;
}

/* The real call between enter and leave, with its duration. */
#define COPY(call, event)                                                                                              \
    do {                                                                                                               \
        nm_ring_copy copy = event;                                                                                     \
        nm_acl_error error;                                                                                            \
        uint64_t begin_ticks;                                                                                          \
        nm_guard guard;                                                                                                \
                                                                                                                       \
        if (!nm_record_enter(&guard, HERE))                                                                            \
            return call;                                                                                               \
        begin_ticks = nm_record_clock();                                                                               \
        error = call;                                                                                                  \
        tell_copy(&copy, begin_ticks, error, HERE);                                                                    \
        nm_record_leave(&guard);                                                                                       \
        return error;                                                                                                  \
    } while (0)

nm_acl_error aclrtMemcpy(void *target, size_t limit, const void *source, size_t size, int kind)
{
    NEED(aclrtMemcpy);
    COPY(nm_real.aclrtMemcpy(target, limit, source, size, kind), copy_event(target, limit, source, size, kind));
}

nm_acl_error aclrtMemcpyAsync(void *target, size_t limit, const void *source, size_t size, int kind, void *stream)
{
    NEED(aclrtMemcpyAsync);
    COPY(nm_real.aclrtMemcpyAsync(target, limit, source, size, kind, stream),
         queued_event(copy_event(target, limit, source, size, kind), stream));
}

nm_acl_error aclrtMemset(void *target, size_t limit, int32_t value, size_t size)
{
    NEED(aclrtMemset);
    COPY(nm_real.aclrtMemset(target, limit, value, size), copy_event(target, limit, NULL, size, NM_COPY_MEMSET));
}

nm_acl_error aclrtMemsetAsync(void *target, size_t limit, int32_t value, size_t size, void *stream)
{
    NEED(aclrtMemsetAsync);
    COPY(nm_real.aclrtMemsetAsync(target, limit, value, size, stream),
         queued_event(copy_event(target, limit, NULL, size, NM_COPY_MEMSET), stream));
}

/* ---- Devices and contexts ------------------------------------------------------------------------------------------ */

/* aclrtSetDevice counts and aclrtResetDevice counts down: memory goes with the last one. */
static _Atomic int32_t set_counts[COUNTED_DEVICES];

/* The count after adding `change`; for a device that is not counted, as if each reset were the last. */
static int32_t count_set(int32_t device, int32_t change)
{
    if (device < 0 || device >= COUNTED_DEVICES)
        return 0;
    /* relaxed: the program itself orders its sets and resets. */
    return atomic_fetch_add_explicit(&set_counts[device], change, memory_order_relaxed) + change;
}

static void clear_count(int32_t device)
{
    if (device >= 0 && device < COUNTED_DEVICES) /* relaxed: see count_set */
        atomic_store_explicit(&set_counts[device], 0, memory_order_relaxed);
}

/* A refused call names no device: there may be none of that number, and the trace must not hold one. */
static void tell_call(nm_device_call call, int32_t device, nm_acl_error error, const void *frame)
{
    uint64_t number = error == ACL_SUCCESS ? nm_record_device(device) : 0;

    nm_record_number(NM_EVENT_DEVICE_CALL, &(nm_ring_number){.detail = call, .device = number, .error_code = error},
                     frame);
}

/* Device -1: everything of the process. */
static void tell_reset(int32_t device, const void *frame)
{
    nm_record_number(NM_EVENT_RESET, &(nm_ring_number){.device = device < 0 ? 0 : nm_record_device(device)}, frame);
}

/* Once: is this the host or the device's own processor? The runtime knows from its first use on. */
static void tell_run_mode(void)
{
    int run_mode;

    if (nm_record_is_run_mode_wanted() && nm_real.aclrtGetRunMode != NULL &&
        nm_real.aclrtGetRunMode(&run_mode) == ACL_SUCCESS)
        nm_record_run_mode(run_mode);
}

nm_acl_error aclInit(const char *path)
{
    nm_acl_error error;
    nm_guard guard;

    NEED(aclInit);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclInit(path);
    error = nm_real.aclInit(path);
    tell_call(NM_DEVICE_INIT, -1, error, HERE);
    nm_record_leave(&guard);
    return error;
}

nm_acl_error aclFinalize(void)
{
    nm_acl_error error;
    nm_guard guard;

    NEED(aclFinalize);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclFinalize();
    error = nm_real.aclFinalize();
    tell_call(NM_DEVICE_FINALIZE, -1, error, HERE);
    if (error == ACL_SUCCESS) {
        for (int32_t device = 0; device < COUNTED_DEVICES; device++)
            clear_count(device);
        tell_reset(-1, HERE);
    }
    nm_record_leave(&guard);
    return error;
}

nm_acl_error aclrtSetDevice(int32_t device)
{
    nm_acl_error error;
    nm_guard guard;

    NEED(aclrtSetDevice);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclrtSetDevice(device);
    error = nm_real.aclrtSetDevice(device);
    tell_call(NM_DEVICE_SET, device, error, HERE);
    if (error == ACL_SUCCESS) {
        count_set(device, 1);
        tell_run_mode();
    }
    nm_record_leave(&guard);
    return error;
}

static void tell_device_end(nm_device_call call, int32_t device, nm_acl_error error, const void *frame)
{
    tell_call(call, device, error, frame);
    if (error != ACL_SUCCESS)
        return;
    if (call == NM_DEVICE_RESET && count_set(device, -1) > 0)
        return;
    clear_count(device);
    tell_reset(device, frame);
}

nm_acl_error aclrtResetDevice(int32_t device)
{
    nm_acl_error error;
    nm_guard guard;

    NEED(aclrtResetDevice);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclrtResetDevice(device);
    error = nm_real.aclrtResetDevice(device);
    tell_device_end(NM_DEVICE_RESET, device, error, HERE);
    nm_record_leave(&guard);
    return error;
}

nm_acl_error aclrtResetDeviceForce(int32_t device)
{
    nm_acl_error error;
    nm_guard guard;

    NEED(aclrtResetDeviceForce);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclrtResetDeviceForce(device);
    error = nm_real.aclrtResetDeviceForce(device);
    tell_device_end(NM_DEVICE_RESET_FORCE, device, error, HERE);
    nm_record_leave(&guard);
    return error;
}

nm_acl_error aclrtCreateContext(void **context, int32_t device)
{
    nm_acl_error error;
    nm_guard guard;

    NEED(aclrtCreateContext);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclrtCreateContext(context, device);
    error = nm_real.aclrtCreateContext(context, device);
    tell_call(NM_DEVICE_CONTEXT_CREATE, device, error, HERE);
    nm_record_leave(&guard);
    return error;
}

nm_acl_error aclrtDestroyContext(void *context)
{
    nm_acl_error error;
    nm_guard guard;

    NEED(aclrtDestroyContext);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclrtDestroyContext(context);
    error = nm_real.aclrtDestroyContext(context);
    tell_call(NM_DEVICE_CONTEXT_DESTROY, -1, error, HERE);
    nm_record_leave(&guard);
    return error;
}

nm_acl_error aclrtSetCurrentContext(void *context)
{
    nm_acl_error error;
    nm_guard guard;

    NEED(aclrtSetCurrentContext);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclrtSetCurrentContext(context);
    error = nm_real.aclrtSetCurrentContext(context);
    tell_call(NM_DEVICE_CONTEXT_SET, current_device(), error, HERE);
    nm_record_leave(&guard);
    return error;
}

/* ---- State --------------------------------------------------------------------------------------------------------- */

nm_acl_error aclrtGetMemInfo(int kind, size_t *free_bytes, size_t *total_bytes)
{
    nm_acl_error error;
    nm_guard guard;

    NEED(aclrtGetMemInfo);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclrtGetMemInfo(kind, free_bytes, total_bytes);
    error = nm_real.aclrtGetMemInfo(kind, free_bytes, total_bytes);
    if (error == ACL_SUCCESS)
        nm_record_sample(&(nm_ring_sample){.device = nm_record_device(current_device()),
                                           .detail = (uint64_t)kind,
                                           .free_bytes = *free_bytes,
                                           .total_bytes = *total_bytes});
    nm_record_leave(&guard);
    return error;
}

nm_acl_error aclrtGetRunMode(int *run_mode)
{
    nm_acl_error error;
    nm_guard guard;

    NEED(aclrtGetRunMode);
    if (!nm_record_enter(&guard, HERE))
        return nm_real.aclrtGetRunMode(run_mode);
    error = nm_real.aclrtGetRunMode(run_mode);
    if (error == ACL_SUCCESS)
        nm_record_run_mode(*run_mode);
    nm_record_leave(&guard);
    return error;
}
