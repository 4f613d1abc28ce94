/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of AscendCL's copies and sets: each is told after the call, with its result and how long it took. Where the
 * addresses stand in memory of the device they are known from the call that put them there, or not at all: a hook reads no
 * device memory.
 */
#include <errno.h>

#include "hook/capture.h"
#include "hook/current_device.h"
#include "hook/handles.h"
#include "hook/hook.h"

/* Which side of a copy is the thread's device. Between two devices, and where the runtime decides, it is not known. */
static void set_devices(nm_ring_copy *event)
{
    uint32_t device = (uint32_t)nm_record_device(nm_current_device());

    if (event->kind == NM_COPY_HOST_TO_DEVICE || event->kind == NM_COPY_HOST_TO_BUFFER_TO_DEVICE ||
        event->kind == NM_COPY_INNER_DEVICE || event->kind == NM_COPY_MEMSET)
        event->target_device = device;
    if (event->kind == NM_COPY_DEVICE_TO_HOST || event->kind == NM_COPY_INNER_DEVICE)
        event->source_device = device;
}

static void tell_copy(nm_ring_copy *event, uint32_t cost_ticks, nm_acl_error error, const void *frame)
{
    event->cost_ticks = cost_ticks;
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

/* The real call between enter and leave, with its duration; `event` is evaluated after it. */
#define COPY(call, event)                                                                                              \
    TIMED(HOOK_DETAIL, call, nm_ring_copy copy; uint32_t cost_ticks = nm_record_cost(begin_ticks); copy = event;       \
          tell_copy(&copy, cost_ticks, error, HERE))

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

nm_acl_error aclrtMemcpyAsyncWithCondition(void *target, size_t limit, const void *source, size_t size, int kind,
                                           void *stream)
{
    NEED_NEWER(aclrtMemcpyAsyncWithCondition);
    COPY(nm_real.aclrtMemcpyAsyncWithCondition(target, limit, source, size, kind, stream),
         queued_event(copy_event(target, limit, source, size, kind), stream));
}

/* The room behind a two-dimensional target is not told: limit 0. */
nm_acl_error aclrtMemcpy2d(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                           size_t height, int kind)
{
    NEED_NEWER(aclrtMemcpy2d);
    COPY(nm_real.aclrtMemcpy2d(target, target_pitch, source, source_pitch, width, height, kind),
         copy_event(target, 0, source, width * height, kind));
}

nm_acl_error aclrtMemcpy2dAsync(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                                size_t width, size_t height, int kind, void *stream)
{
    NEED_NEWER(aclrtMemcpy2dAsync);
    COPY(nm_real.aclrtMemcpy2dAsync(target, target_pitch, source, source_pitch, width, height, kind, stream),
         queued_event(copy_event(target, 0, source, width * height, kind), stream));
}

nm_acl_error aclrtMemsetD32(void *target, size_t limit, uint32_t value, size_t count)
{
    NEED_NEWER(aclrtMemsetD32);
    COPY(nm_real.aclrtMemsetD32(target, limit, value, count),
         copy_event(target, limit, NULL, count * sizeof value, NM_COPY_MEMSET));
}

nm_acl_error aclrtMemsetD32Async(void *target, size_t limit, uint32_t value, size_t count, void *stream)
{
    NEED_NEWER(aclrtMemsetD32Async);
    COPY(nm_real.aclrtMemsetD32Async(target, limit, value, count, stream),
         queued_event(copy_event(target, limit, NULL, count * sizeof value, NM_COPY_MEMSET), stream));
}

/* ---- Batches: one event for each element --------------------------------------------------------------------------- */

typedef struct nm_batch {
    void **targets;
    size_t *limits;
    void **sources;
    size_t *sizes;
    size_t count;
    nm_acl_batch_attr *attrs;
    size_t *attr_indexes; /* attrs[i] holds from element attr_indexes[i] on */
    size_t attr_count;
} nm_batch;

static bool is_host(const nm_acl_location *location)
{
    return location->type == ACL_LOCATION_HOST || location->type == ACL_LOCATION_UNREGISTERED ||
           location->type == ACL_LOCATION_HOST_NUMA;
}

/* Direction and devices of an element. Managed memory is on neither side for sure. */
static void set_places(nm_ring_copy *event, const nm_acl_batch_attr *attr)
{
    bool is_from_host = is_host(&attr->source), is_to_host = is_host(&attr->target);
    bool is_from_device = attr->source.type == ACL_LOCATION_DEVICE;
    bool is_to_device = attr->target.type == ACL_LOCATION_DEVICE;

    if (is_to_device)
        event->target_device = (uint32_t)nm_record_device((int32_t)attr->target.id);
    if (is_from_device)
        event->source_device = (uint32_t)nm_record_device((int32_t)attr->source.id);
    if (is_from_host && (is_to_host || is_to_device))
        event->kind = is_to_host ? NM_COPY_HOST_TO_HOST : NM_COPY_HOST_TO_DEVICE;
    else if (is_from_device && (is_to_host || is_to_device))
        event->kind = is_to_host ? NM_COPY_DEVICE_TO_HOST : NM_COPY_DEVICE_TO_DEVICE;
}

/* The whole call's duration stands with the first element. */
static void tell_elements(const nm_batch *batch, const nm_ring_copy *queued, uint64_t begin_ticks, const void *frame)
{
    uint32_t cost_ticks = nm_record_cost(begin_ticks);
    size_t attr_index = 0;

    for (size_t i = 0; i < batch->count; i++) {
        nm_ring_copy event = copy_event(batch->targets[i], batch->limits == NULL ? 0 : batch->limits[i],
                                        batch->sources[i], batch->sizes[i], NM_COPY_DEFAULT);

        event.stream = queued->stream;
        event.where = queued->where;
        event.cost_ticks = i == 0 ? cost_ticks : 0;
        if (batch->attrs != NULL && batch->attr_indexes != NULL && batch->attr_count > 0) {
            while (attr_index + 1 < batch->attr_count && batch->attr_indexes[attr_index + 1] <= i)
                attr_index++;
            set_places(&event, &batch->attrs[attr_index]);
        }
        nm_record_copy(&event, frame);
    }
}

/* What was refused may hold anything, so nothing of it is read: one failed copy of unknown size. */
static void tell_batch(const nm_batch *batch, const nm_ring_copy *queued, uint64_t begin_ticks, nm_acl_error error,
                       const void *frame)
{
    nm_ring_copy failed = *queued;

    if (error == ACL_SUCCESS) {
        tell_elements(batch, queued, begin_ticks, frame);
        return;
    }
    failed.kind = NM_COPY_DEFAULT;
    failed.error_code = error;
    failed.cost_ticks = nm_record_cost(begin_ticks);
    nm_record_copy(&failed, frame);
}

#define BATCH(call, queued)                                                                                            \
    do {                                                                                                               \
        nm_batch batch = {targets, limits, sources, sizes, count, attrs, attr_indexes, attr_count};                    \
        nm_ring_copy like = queued;                                                                                    \
                                                                                                                       \
        TIMED(HOOK_DETAIL, call, tell_batch(&batch, &like, begin_ticks, error, HERE));                                 \
    } while (0)

nm_acl_error aclrtMemcpyBatch(void **targets, size_t *limits, void **sources, size_t *sizes, size_t count,
                              nm_acl_batch_attr *attrs, size_t *attr_indexes, size_t attr_count, size_t *fail_index)
{
    NEED_NEWER(aclrtMemcpyBatch);
    BATCH(nm_real.aclrtMemcpyBatch(targets, limits, sources, sizes, count, attrs, attr_indexes, attr_count, fail_index),
          (nm_ring_copy){0});
}

nm_acl_error aclrtMemcpyBatchAsync(void **targets, size_t *limits, void **sources, size_t *sizes, size_t count,
                                   nm_acl_batch_attr *attrs, size_t *attr_indexes, size_t attr_count,
                                   size_t *fail_index, void *stream)
{
    NEED_NEWER(aclrtMemcpyBatchAsync);
    BATCH(nm_real.aclrtMemcpyBatchAsync(targets, limits, sources, sizes, count, attrs, attr_indexes, attr_count,
                                        fail_index, stream),
          queued_event((nm_ring_copy){0}, stream));
}

nm_acl_error aclrtMemcpyBatchV2(void **targets, size_t *limits, void **sources, size_t *sizes, size_t count,
                                nm_acl_batch_attr *attrs, size_t *attr_indexes, size_t attr_count)
{
    NEED_NEWER(aclrtMemcpyBatchV2);
    BATCH(nm_real.aclrtMemcpyBatchV2(targets, limits, sources, sizes, count, attrs, attr_indexes, attr_count),
          (nm_ring_copy){0});
}

nm_acl_error aclrtMemcpyBatchAsyncV2(void **targets, size_t *limits, void **sources, size_t *sizes, size_t count,
                                     nm_acl_batch_attr *attrs, size_t *attr_indexes, size_t attr_count, void *stream)
{
    NEED_NEWER(aclrtMemcpyBatchAsyncV2);
    BATCH(nm_real.aclrtMemcpyBatchAsyncV2(targets, limits, sources, sizes, count, attrs, attr_indexes, attr_count,
                                          stream),
          queued_event((nm_ring_copy){0}, stream));
}

/* ---- Copies that are described elsewhere --------------------------------------------------------------------------- */

static void remember_desc(const void *desc, const void *source, const void *target, size_t size, nm_acl_error error)
{
    uint64_t key = (uint64_t)(uintptr_t)desc;

    if (error != ACL_SUCCESS)
        return;
    nm_handles_set(NM_HANDLE_DESC_SOURCE, key, (uint64_t)(uintptr_t)source);
    nm_handles_set(NM_HANDLE_DESC_TARGET, key, (uint64_t)(uintptr_t)target);
    nm_handles_set(NM_HANDLE_DESC_SIZE, key, size);
}

static nm_ring_copy desc_event(const void *desc, int kind)
{
    uint64_t key = (uint64_t)(uintptr_t)desc;

    return (nm_ring_copy){
        .target_address = nm_handles_get(NM_HANDLE_DESC_TARGET, key),
        .source_address = nm_handles_get(NM_HANDLE_DESC_SOURCE, key),
        .size_bytes = nm_handles_get(NM_HANDLE_DESC_SIZE, key),
        .kind = (uint32_t)kind,
    };
}

/* No copy yet: the program may have it done as often as it likes. */
nm_acl_error aclrtSetMemcpyDesc(void *desc, int kind, void *source, void *target, size_t size, void *config)
{
    NEED_NEWER(aclrtSetMemcpyDesc);
    HOOK_DETAIL(NOTHING, nm_real.aclrtSetMemcpyDesc(desc, kind, source, target, size, config),
                remember_desc(desc, source, target, size, error));
}

nm_acl_error aclrtMemcpyAsyncWithDesc(void *desc, int kind, void *stream)
{
    NEED_NEWER(aclrtMemcpyAsyncWithDesc);
    COPY(nm_real.aclrtMemcpyAsyncWithDesc(desc, kind, stream), queued_event(desc_event(desc, kind), stream));
}

/* The base addresses stand on the device. The room is what is left of it behind the offset. */
nm_acl_error aclrtMemcpyAsyncWithOffset(void **target, size_t limit, size_t target_offset, const void **source,
                                        size_t size, size_t source_offset, int kind, void *stream)
{
    NEED_NEWER(aclrtMemcpyAsyncWithOffset);
    COPY(nm_real.aclrtMemcpyAsyncWithOffset(target, limit, target_offset, source, size, source_offset, kind, stream),
         queued_event(copy_event(NULL, limit > target_offset ? limit - target_offset : 0, NULL, size, kind), stream));
}

/* ---- Variables of the device, named by a symbol of the program ----------------------------------------------------- */

/* Where the variable lies on the device, from `offset` on; NULL: the runtime does not say. Asked after the call, when the
 * runtime knows the symbol if it ever will. */
static const void *symbol_address(const void *symbol, size_t offset)
{
    int saved_errno = errno;
    void *address = NULL;
    bool is_known = !nm_capture_is_open() && nm_real.aclrtGetSymbolAddress != NULL &&
                    nm_real.aclrtGetSymbolAddress(symbol, &address) == ACL_SUCCESS;

    errno = saved_errno;
    return is_known ? (const char *)address + offset : NULL;
}

/* The room in it from `offset` on; 0: not known. */
static size_t symbol_room(const void *symbol, size_t offset)
{
    int saved_errno = errno;
    size_t size = 0;
    bool is_known = !nm_capture_is_open() && nm_real.aclrtGetSymbolSize != NULL &&
                    nm_real.aclrtGetSymbolSize(symbol, &size) == ACL_SUCCESS;

    errno = saved_errno;
    return is_known && size > offset ? size - offset : 0;
}

nm_acl_error aclrtMemcpyToSymbol(const void *symbol, const void *source, size_t size, size_t offset, int kind)
{
    NEED_NEWER(aclrtMemcpyToSymbol);
    COPY(nm_real.aclrtMemcpyToSymbol(symbol, source, size, offset, kind),
         copy_event(symbol_address(symbol, offset), symbol_room(symbol, offset), source, size, kind));
}

nm_acl_error aclrtMemcpyToSymbolAsync(const void *symbol, const void *source, size_t size, size_t offset, int kind,
                                      void *stream)
{
    NEED_NEWER(aclrtMemcpyToSymbolAsync);
    COPY(nm_real.aclrtMemcpyToSymbolAsync(symbol, source, size, offset, kind, stream),
         queued_event(copy_event(symbol_address(symbol, offset), symbol_room(symbol, offset), source, size, kind),
                      stream));
}

nm_acl_error aclrtMemcpyFromSymbol(void *target, size_t limit, const void *symbol, size_t size, size_t offset, int kind)
{
    NEED_NEWER(aclrtMemcpyFromSymbol);
    COPY(nm_real.aclrtMemcpyFromSymbol(target, limit, symbol, size, offset, kind),
         copy_event(target, limit, symbol_address(symbol, offset), size, kind));
}

nm_acl_error aclrtMemcpyFromSymbolAsync(void *target, size_t limit, const void *symbol, size_t size, size_t offset,
                                        int kind, void *stream)
{
    NEED_NEWER(aclrtMemcpyFromSymbolAsync);
    COPY(nm_real.aclrtMemcpyFromSymbolAsync(target, limit, symbol, size, offset, kind, stream),
         queued_event(copy_event(target, limit, symbol_address(symbol, offset), size, kind), stream));
}
