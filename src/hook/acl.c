/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of AscendCL's devices, contexts and state; the memory functions stand in acl_*.c beside it.
 *
 * A reset is told after the call. Told before, a refused one would end allocations that still stand; and memory that a
 * reset frees is not handed out again while it runs, since the device has to be set anew first.
 */
#include <errno.h>
#include <stdatomic.h>

#include "hook/capture.h"
#include "hook/current_device.h"
#include "hook/device_memory.h"
#include "hook/hook.h"
#include "hook/notes.h"

#define COUNTED_DEVICES 64

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

    nm_notes_tell();
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
    int saved_errno = errno;
    int run_mode;

    if (!nm_capture_is_open() && nm_record_is_run_mode_wanted() && nm_real.aclrtGetRunMode != NULL &&
        nm_real.aclrtGetRunMode(&run_mode) == ACL_SUCCESS)
        nm_record_run_mode(run_mode);
    errno = saved_errno;
}

static int32_t count_of(int32_t device)
{
    return device >= 0 && device < COUNTED_DEVICES /* relaxed: see count_set */
               ? atomic_load_explicit(&set_counts[device], memory_order_relaxed)
               : 0;
}

/* What each device holds before all of it goes. */
static void sample_all(void)
{
    for (int32_t device = 0; device < COUNTED_DEVICES; device++)
        if (count_of(device) > 0)
            nm_device_memory_sample_now(device);
}

nm_acl_error aclInit(const char *path)
{
    NEED(aclInit);
    HOOK_CALL(NOTHING, nm_real.aclInit(path), tell_call(NM_DEVICE_INIT, -1, error, HERE));
}

static void tell_finalize(nm_acl_error error, const void *frame)
{
    tell_call(NM_DEVICE_FINALIZE, -1, error, frame);
    if (error != ACL_SUCCESS)
        return;
    for (int32_t device = 0; device < COUNTED_DEVICES; device++)
        clear_count(device);
    nm_capture_end_all();
    tell_reset(-1, frame);
}

nm_acl_error aclFinalize(void)
{
    NEED(aclFinalize);
    HOOK_CALL(sample_all(), nm_real.aclFinalize(), tell_finalize(error, HERE));
}

static void tell_set(int32_t device, nm_acl_error error, const void *frame)
{
    tell_call(NM_DEVICE_SET, device, error, frame);
    if (error != ACL_SUCCESS)
        return;
    nm_record_know_device(device);
    tell_run_mode();
    if (count_set(device, 1) == 1)
        nm_device_memory_sample_now(device);
}

nm_acl_error aclrtSetDevice(int32_t device)
{
    NEED(aclrtSetDevice);
    HOOK_CALL(NOTHING, nm_real.aclrtSetDevice(device), tell_set(device, error, HERE));
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

static void sample_if(bool is_last, int32_t device)
{
    if (is_last)
        nm_device_memory_sample_now(device);
}

nm_acl_error aclrtResetDevice(int32_t device)
{
    NEED(aclrtResetDevice);
    HOOK_CALL(sample_if(count_of(device) == 1, device), nm_real.aclrtResetDevice(device),
              tell_device_end(NM_DEVICE_RESET, device, error, HERE));
}

nm_acl_error aclrtResetDeviceForce(int32_t device)
{
    NEED(aclrtResetDeviceForce);
    HOOK_CALL(sample_if(count_of(device) > 0, device), nm_real.aclrtResetDeviceForce(device),
              tell_device_end(NM_DEVICE_RESET_FORCE, device, error, HERE));
}

/* As what is made on it, by its handle: in acl_stream.c. Device -1: not known. */
static void tell_context(nm_ring_stream_call told, int32_t device, uint64_t begin_ticks, const void *frame)
{
    bool has_device = told.error_code == ACL_SUCCESS && device >= 0;

    told.cost_ticks = nm_record_cost(begin_ticks);
    if (has_device)
        nm_record_know_device(device);
    told.device = has_device ? nm_record_device(device) : 0;
    nm_notes_tell();
    nm_record_stream_call(&told, frame);
}

static nm_ring_stream_call on_context(nm_stream_call what, const void *context, nm_acl_error error)
{
    return (nm_ring_stream_call){.detail = what, .event = (uint64_t)(uintptr_t)context, .error_code = error};
}

nm_acl_error aclrtCreateContext(void **context, int32_t device)
{
    NEED(aclrtCreateContext);
    TIMED(HOOK_CALL, nm_real.aclrtCreateContext(context, device),
          tell_context(on_context(NM_STREAM_CONTEXT_CREATE, error == ACL_SUCCESS ? *context : NULL, error), device,
                       begin_ticks, HERE));
}

nm_acl_error aclrtDestroyContext(void *context)
{
    NEED(aclrtDestroyContext);
    TIMED(HOOK_CALL, nm_real.aclrtDestroyContext(context),
          tell_context(on_context(NM_STREAM_CONTEXT_DESTROY, context, error), -1, begin_ticks, HERE));
}

static void tell_context_set(nm_acl_error error, const void *frame)
{
    nm_record_know_device(-1);
    tell_call(NM_DEVICE_CONTEXT_SET, nm_current_device(), error, frame);
}

nm_acl_error aclrtSetCurrentContext(void *context)
{
    NEED(aclrtSetCurrentContext);
    HOOK_CALL(NOTHING, nm_real.aclrtSetCurrentContext(context), tell_context_set(error, HERE));
}

/* ---- State --------------------------------------------------------------------------------------------------------- */

static void tell_memory(int kind, const size_t *free_bytes, const size_t *total_bytes, nm_acl_error error)
{
    if (error == ACL_SUCCESS)
        nm_record_sample(&(nm_ring_sample){.device = nm_record_device(nm_current_device()),
                                           .detail = (uint64_t)kind,
                                           .free_bytes = *free_bytes,
                                           .total_bytes = *total_bytes});
}

nm_acl_error aclrtGetMemInfo(int kind, size_t *free_bytes, size_t *total_bytes)
{
    NEED(aclrtGetMemInfo);
    HOOK_CALL(NOTHING, nm_real.aclrtGetMemInfo(kind, free_bytes, total_bytes),
              tell_memory(kind, free_bytes, total_bytes, error));
}

static void tell_usage(int32_t device, const nm_acl_usage *info, size_t room, const size_t *count, nm_acl_error error)
{
    if (error == ACL_SUCCESS && info != NULL && count != NULL)
        nm_device_memory_usage(device, info, *count < room ? *count : room);
}

nm_acl_error aclrtGetMemUsageInfo(int32_t device, nm_acl_usage *info, size_t room, size_t *count)
{
    NEED_NEWER(aclrtGetMemUsageInfo);
    HOOK_CALL(NOTHING, nm_real.aclrtGetMemUsageInfo(device, info, room, count),
              tell_usage(device, info, room, count, error));
}

static void note_run_mode(const int *run_mode, nm_acl_error error)
{
    if (error == ACL_SUCCESS)
        nm_record_run_mode(*run_mode);
}

nm_acl_error aclrtGetRunMode(int *run_mode)
{
    NEED(aclrtGetRunMode);
    HOOK_CALL(NOTHING, nm_real.aclrtGetRunMode(run_mode), note_run_mode(run_mode, error));
}
