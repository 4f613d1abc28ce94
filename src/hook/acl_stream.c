/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of AscendCL's streams, events and notifies: what was waited for, how long, and in which order streams may touch memory.
 * Each is told after the call. Programs make these calls for every operator: they are one slot each, and what a query
 * answers (aclrtStreamQuery, aclrtQueryEventStatus) is not told at all.
 */
#include "hook/current_device.h"
#include "hook/hook.h"

/* ---- What is told -------------------------------------------------------------------------------------------------- */

static nm_ring_stream_call on_nothing(nm_stream_call what)
{
    return (nm_ring_stream_call){.detail = what};
}

static nm_ring_stream_call on_stream(nm_stream_call what, const void *stream)
{
    return (nm_ring_stream_call){
        .detail = what, .where = nm_record_where(0, NM_FLAG_STREAM), .stream = (uint64_t)(uintptr_t)stream};
}

static nm_ring_stream_call on_event(nm_stream_call what, const void *event)
{
    return (nm_ring_stream_call){.detail = what, .event = (uint64_t)(uintptr_t)event};
}

static nm_ring_stream_call on_both(nm_stream_call what, const void *stream, const void *event)
{
    nm_ring_stream_call told = on_stream(what, stream);

    told.event = (uint64_t)(uintptr_t)event;
    return told;
}

static nm_ring_stream_call made_stream(nm_acl_error error, void *const *stream)
{
    return error == ACL_SUCCESS ? on_stream(NM_STREAM_CREATE, *stream) : on_nothing(NM_STREAM_CREATE);
}

static nm_ring_stream_call made_event(nm_acl_error error, void *const *event)
{
    return on_event(NM_STREAM_EVENT_CREATE, error == ACL_SUCCESS ? *event : NULL);
}

static nm_ring_stream_call made_notify(nm_acl_error error, void *const *notify)
{
    return on_event(NM_STREAM_NOTIFY_CREATE, error == ACL_SUCCESS ? *notify : NULL);
}

static void tell(nm_ring_stream_call *told, uint64_t begin_ticks, nm_acl_error error, const void *frame)
{
    told->cost_ticks = nm_record_cost(begin_ticks);
    told->error_code = error;
    told->device = nm_record_device(nm_current_device());
    nm_record_stream_call(told, frame);
}

/* The real call between enter and leave; `what`, evaluated after it, is told with its result and duration. */
#define STREAM_CALL(call, what)                                                                                        \
    TIMED(HOOK_DETAIL, call, nm_ring_stream_call told = what; tell(&told, begin_ticks, error, HERE))

/* ---- Streams ------------------------------------------------------------------------------------------------------- */

nm_acl_error aclrtCreateStream(void **stream)
{
    NEED(aclrtCreateStream);
    STREAM_CALL(nm_real.aclrtCreateStream(stream), made_stream(error, stream));
}

nm_acl_error aclrtCreateStreamWithConfig(void **stream, uint32_t priority, uint32_t flag)
{
    NEED_NEWER(aclrtCreateStreamWithConfig);
    STREAM_CALL(nm_real.aclrtCreateStreamWithConfig(stream, priority, flag), made_stream(error, stream));
}

nm_acl_error aclrtCreateStreamV2(void **stream, const void *config)
{
    NEED_NEWER(aclrtCreateStreamV2);
    STREAM_CALL(nm_real.aclrtCreateStreamV2(stream, config), made_stream(error, stream));
}

nm_acl_error aclrtDestroyStream(void *stream)
{
    NEED(aclrtDestroyStream);
    STREAM_CALL(nm_real.aclrtDestroyStream(stream), on_stream(NM_STREAM_DESTROY, stream));
}

nm_acl_error aclrtDestroyStreamForce(void *stream)
{
    NEED_NEWER(aclrtDestroyStreamForce);
    STREAM_CALL(nm_real.aclrtDestroyStreamForce(stream), on_stream(NM_STREAM_DESTROY, stream));
}

nm_acl_error aclrtSynchronizeStream(void *stream)
{
    NEED(aclrtSynchronizeStream);
    STREAM_CALL(nm_real.aclrtSynchronizeStream(stream), on_stream(NM_STREAM_SYNCHRONIZE, stream));
}

nm_acl_error aclrtSynchronizeStreamWithTimeout(void *stream, int32_t timeout)
{
    NEED_NEWER(aclrtSynchronizeStreamWithTimeout);
    STREAM_CALL(nm_real.aclrtSynchronizeStreamWithTimeout(stream, timeout), on_stream(NM_STREAM_SYNCHRONIZE, stream));
}

nm_acl_error aclrtSynchronizeDevice(void)
{
    NEED(aclrtSynchronizeDevice);
    STREAM_CALL(nm_real.aclrtSynchronizeDevice(), on_nothing(NM_STREAM_SYNCHRONIZE_DEVICE));
}

nm_acl_error aclrtSynchronizeDeviceWithTimeout(int32_t timeout)
{
    NEED_NEWER(aclrtSynchronizeDeviceWithTimeout);
    STREAM_CALL(nm_real.aclrtSynchronizeDeviceWithTimeout(timeout), on_nothing(NM_STREAM_SYNCHRONIZE_DEVICE));
}

nm_acl_error aclrtStreamWaitEvent(void *stream, void *event)
{
    NEED(aclrtStreamWaitEvent);
    STREAM_CALL(nm_real.aclrtStreamWaitEvent(stream, event), on_both(NM_STREAM_WAIT_EVENT, stream, event));
}

nm_acl_error aclrtStreamWaitEventWithTimeout(void *stream, void *event, int32_t timeout)
{
    NEED_NEWER(aclrtStreamWaitEventWithTimeout);
    STREAM_CALL(nm_real.aclrtStreamWaitEventWithTimeout(stream, event, timeout),
                on_both(NM_STREAM_WAIT_EVENT, stream, event));
}

nm_acl_error aclrtStreamWaitEventWithFlag(void *stream, void *event, uint32_t timeout, uint32_t flag)
{
    NEED_NEWER(aclrtStreamWaitEventWithFlag);
    STREAM_CALL(nm_real.aclrtStreamWaitEventWithFlag(stream, event, timeout, flag),
                on_both(NM_STREAM_WAIT_EVENT, stream, event));
}

/* ---- Events -------------------------------------------------------------------------------------------------------- */

nm_acl_error aclrtCreateEvent(void **event)
{
    NEED(aclrtCreateEvent);
    STREAM_CALL(nm_real.aclrtCreateEvent(event), made_event(error, event));
}

nm_acl_error aclrtCreateEventWithFlag(void **event, uint32_t flag)
{
    NEED_NEWER(aclrtCreateEventWithFlag);
    STREAM_CALL(nm_real.aclrtCreateEventWithFlag(event, flag), made_event(error, event));
}

nm_acl_error aclrtCreateEventExWithFlag(void **event, uint32_t flag)
{
    NEED_NEWER(aclrtCreateEventExWithFlag);
    STREAM_CALL(nm_real.aclrtCreateEventExWithFlag(event, flag), made_event(error, event));
}

/* Another process's event: a handle of it is made here, and destroyed as any other. */
nm_acl_error aclrtIpcOpenEventHandle(nm_acl_ipc_event shared, void **event)
{
    NEED_NEWER(aclrtIpcOpenEventHandle);
    STREAM_CALL(nm_real.aclrtIpcOpenEventHandle(shared, event), made_event(error, event));
}

nm_acl_error aclrtDestroyEvent(void *event)
{
    NEED(aclrtDestroyEvent);
    STREAM_CALL(nm_real.aclrtDestroyEvent(event), on_event(NM_STREAM_EVENT_DESTROY, event));
}

nm_acl_error aclrtRecordEvent(void *event, void *stream)
{
    NEED(aclrtRecordEvent);
    STREAM_CALL(nm_real.aclrtRecordEvent(event, stream), on_both(NM_STREAM_EVENT_RECORD, stream, event));
}

nm_acl_error aclrtRecordEventWithFlag(void *event, void *stream, uint32_t flag)
{
    NEED_NEWER(aclrtRecordEventWithFlag);
    STREAM_CALL(nm_real.aclrtRecordEventWithFlag(event, stream, flag), on_both(NM_STREAM_EVENT_RECORD, stream, event));
}

nm_acl_error aclrtResetEvent(void *event, void *stream)
{
    NEED(aclrtResetEvent);
    STREAM_CALL(nm_real.aclrtResetEvent(event, stream), on_both(NM_STREAM_EVENT_RESET, stream, event));
}

nm_acl_error aclrtSynchronizeEvent(void *event)
{
    NEED(aclrtSynchronizeEvent);
    STREAM_CALL(nm_real.aclrtSynchronizeEvent(event), on_event(NM_STREAM_EVENT_SYNCHRONIZE, event));
}

nm_acl_error aclrtSynchronizeEventWithTimeout(void *event, int32_t timeout)
{
    NEED_NEWER(aclrtSynchronizeEventWithTimeout);
    STREAM_CALL(nm_real.aclrtSynchronizeEventWithTimeout(event, timeout), on_event(NM_STREAM_EVENT_SYNCHRONIZE, event));
}

/* ---- Notifies ------------------------------------------------------------------------------------------------------ */

nm_acl_error aclrtCreateNotify(void **notify, uint64_t flag)
{
    NEED_NEWER(aclrtCreateNotify);
    STREAM_CALL(nm_real.aclrtCreateNotify(notify, flag), made_notify(error, notify));
}

nm_acl_error aclrtDestroyNotify(void *notify)
{
    NEED_NEWER(aclrtDestroyNotify);
    STREAM_CALL(nm_real.aclrtDestroyNotify(notify), on_event(NM_STREAM_NOTIFY_DESTROY, notify));
}

/* Another process's notify: destroyed as any other, as is an event. */
nm_acl_error aclrtNotifyImportByKey(void **notify, const char *key, uint64_t flags)
{
    NEED_NEWER(aclrtNotifyImportByKey);
    STREAM_CALL(nm_real.aclrtNotifyImportByKey(notify, key, flags), made_notify(error, notify));
}

nm_acl_error aclrtCntNotifyCreate(void **notify, uint64_t flag)
{
    NEED_NEWER(aclrtCntNotifyCreate);
    STREAM_CALL(nm_real.aclrtCntNotifyCreate(notify, flag), made_notify(error, notify));
}

nm_acl_error aclrtCntNotifyDestroy(void *notify)
{
    NEED_NEWER(aclrtCntNotifyDestroy);
    STREAM_CALL(nm_real.aclrtCntNotifyDestroy(notify), on_event(NM_STREAM_NOTIFY_DESTROY, notify));
}

/* ---- A program's own allocator for a stream ------------------------------------------------------------------------ */

nm_acl_error aclrtAllocatorRegister(void *stream, void *description)
{
    NEED_NEWER(aclrtAllocatorRegister);
    STREAM_CALL(nm_real.aclrtAllocatorRegister(stream, description), on_stream(NM_STREAM_ALLOCATOR_REGISTER, stream));
}

nm_acl_error aclrtAllocatorUnregister(void *stream)
{
    NEED_NEWER(aclrtAllocatorUnregister);
    STREAM_CALL(nm_real.aclrtAllocatorUnregister(stream), on_stream(NM_STREAM_ALLOCATOR_UNREGISTER, stream));
}
