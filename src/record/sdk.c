/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of npumem.h but for start and stop. An options struct is copied as far as the caller's own size says, so
 * that a program compiled with an older header gets the defaults of what it does not know.
 */
#include "npumem.h"

#include <string.h>

#include "record/attach.h"
#include "record/heap.h"
#include "record/record.h"
#include "record/text.h"
#include "record/writer.h"

#define HEAP_NAME "heap"

/* *options (of the caller's size, NULL: none) over the defaults in `copy`. */
#define TAKE_OPTIONS(copy, options)                                                                                    \
    do {                                                                                                               \
        if ((options) != NULL)                                                                                         \
            memcpy(&(copy), (options),                                                                                 \
                   (options)->struct_bytes < sizeof(copy) ? (options)->struct_bytes : sizeof(copy));                   \
    } while (0)

static uint32_t stream_flag(uint64_t stream)
{
    return stream != NPUMEM_NO_STREAM ? NM_FLAG_STREAM : 0;
}

int npumem_version(void)
{
    return NPUMEM_VERSION;
}

int npumem_is_recording(void)
{
    return nm_state_is_on();
}

const char *npumem_folder(void)
{
    return nm_attach_is_wanted() ? nm_process_state.folder : NULL;
}

npumem_heap npumem_heap_define(const npumem_heap_options *options)
{
    npumem_heap_options taken = {.level = NPUMEM_LEVEL_POOL, .device = NPUMEM_NO_DEVICE};
    nm_recorded_thread *thread = nm_attach_event_thread(); /* without it nothing of the heap is recorded: a loss */
    char room[NPUMEM_TEXT_BYTES_MAX];
    uint64_t name_bytes;

    if (thread == NULL)
        return nm_heap_without_room();
    TAKE_OPTIONS(taken, options);
    taken.name = nm_text_take(taken.name != NULL ? taken.name : HEAP_NAME, room, &name_bytes);
    return nm_heap_define(thread, &(nm_heap_request){
                                      .name = taken.name,
                                      .name_bytes = name_bytes,
                                      .level = taken.level != 0 ? taken.level : NPUMEM_LEVEL_POOL,
                                      .device = taken.device < 0 ? NPUMEM_NO_DEVICE : taken.device,
                                      .size_basis = taken.uses_block_bytes ? NM_BASIS_BLOCK : NM_BASIS_REQUESTED,
                                      .small_bytes = taken.small_bytes,
                                      .large_bytes = taken.large_bytes,
                                  });
}

void npumem_alloc(npumem_heap heap, const void *address, uint64_t requested_bytes, const npumem_alloc_options *options)
{
    npumem_alloc_options taken = {.stream = NPUMEM_NO_STREAM};
    uint32_t flags;

    if (!nm_state_is_recording() || heap == 0)
        return;
    TAKE_OPTIONS(taken, options);
    flags = stream_flag(taken.stream);
    if (taken.outcome != NPUMEM_UNKNOWN)
        flags |= taken.outcome == NPUMEM_HIT ? NM_FLAG_HIT : NM_FLAG_MISS;
    nm_record_alloc(&(nm_ring_alloc){.address = (uint64_t)(uintptr_t)address,
                                     .requested_bytes = requested_bytes,
                                     .block_bytes = taken.block_bytes,
                                     .stream = flags & NM_FLAG_STREAM ? taken.stream : 0,
                                     .where = nm_record_where(heap, flags)},
                    __builtin_frame_address(0));
}

void npumem_free(npumem_heap heap, const void *address, const npumem_free_options *options)
{
    npumem_free_options taken = {.stream = NPUMEM_NO_STREAM};
    uint32_t flags;

    if (!nm_state_is_recording() || heap == 0)
        return;
    TAKE_OPTIONS(taken, options);
    flags = stream_flag(taken.stream);
    nm_record_free(taken.is_request ? NM_EVENT_FREE_REQUESTED : NM_EVENT_FREE,
                   &(nm_ring_free){.address = (uint64_t)(uintptr_t)address,
                                   .where = nm_record_where(heap, flags),
                                   .stream = flags & NM_FLAG_STREAM ? taken.stream : 0,
                                   .detail = NM_FREE_ANY},
                   __builtin_frame_address(0));
}

void npumem_alloc_failed(npumem_heap heap, uint64_t requested_bytes, int64_t error_code)
{
    if (!nm_state_is_recording() || heap == 0)
        return;
    nm_record_alloc_failed(&(nm_ring_alloc_failed){.requested_bytes = requested_bytes,
                                                   .where = nm_record_where(heap, 0),
                                                   .error_code = error_code},
                           __builtin_frame_address(0));
}

/* Nanoseconds in the ticks that records carry. */
static uint32_t cost_ticks_of(uint64_t cost_ns)
{
    const nm_ring_session *session = nm_process_state.session;
    /* relaxed: both calibrations are good enough for a duration. */
    uint32_t which = atomic_load_explicit(&session->which, memory_order_relaxed) & 1;
    uint64_t slope = session->calibration[which].ns_per_tick_q32;
    uint64_t ticks;

    if (slope == 0 || cost_ns > UINT32_MAX)
        return cost_ns == 0 ? 0 : UINT32_MAX;
    ticks = (cost_ns << 32) / slope;
    return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

void npumem_copy(const void *target, const void *source, uint64_t size_bytes, npumem_copy_kind kind,
                 const npumem_copy_options *options)
{
    npumem_copy_options taken = {.stream = NPUMEM_NO_STREAM};
    uint32_t flags;

    if (nm_attach_event_thread() == NULL)
        return;
    TAKE_OPTIONS(taken, options);
    flags = stream_flag(taken.stream) | (taken.is_async ? NM_FLAG_ASYNC : 0);
    nm_record_copy(&(nm_ring_copy){.target_address = (uint64_t)(uintptr_t)target,
                                   .source_address = (uint64_t)(uintptr_t)source,
                                   .size_bytes = size_bytes,
                                   .limit_bytes = taken.limit_bytes,
                                   .stream = flags & NM_FLAG_STREAM ? taken.stream : 0,
                                   .where = nm_record_where(0, flags),
                                   .kind = (uint32_t)kind,
                                   .cost_ticks = cost_ticks_of(taken.cost_ns)},
                   __builtin_frame_address(0));
}

void npumem_mark(const char *name)
{
    nm_record_mark(name);
}

void npumem_snapshot(const char *name)
{
    nm_record_snapshot(name != NULL ? name : "snapshot");
}

void npumem_pause(void)
{
    nm_record_pause(true);
}

void npumem_resume(void)
{
    nm_record_pause(false);
}

void npumem_step(int64_t number)
{
    nm_record_number(NM_EVENT_STEP, &(nm_ring_number){.number = number}, NULL);
}

uint64_t npumem_range_begin(const char *name)
{
    return nm_record_range_begin(&(nm_ring_range){.detail = NM_RANGE_USER}, name);
}

void npumem_range_end(uint64_t range)
{
    nm_record_range_end(range, 0);
}

uint64_t npumem_category_begin(const char *name)
{
    return nm_record_range_begin(&(nm_ring_range){.detail = NM_RANGE_CATEGORY}, name);
}

uint64_t npumem_module_begin(const char *path)
{
    return nm_record_range_begin(&(nm_ring_range){.detail = NM_RANGE_MODULE}, path);
}

void npumem_thread_name(const char *name)
{
    nm_recorded_thread *thread = nm_attach_thread();
    char room[NPUMEM_TEXT_BYTES_MAX];
    nm_ring_text record = {0};

    name = nm_text_take(name, room, &record.text_bytes);
    if (thread != NULL)
        nm_writer_define(thread, NM_RING_THREAD_NAME, &record, sizeof record, name, record.text_bytes);
}
