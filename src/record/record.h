/* SPDX-License-Identifier: Apache-2.0
 *
 * What the hooks call: exported by libnpumem.so under a version of its own, for libnpumem_hook.so of the same build and
 * nobody else. The rules of npumem.h hold for every function: any thread, no lock, no heap, errno left alone.
 *
 * A hook is:
 *
 *     nm_guard guard;
 *     bool is_recorded = nm_record_enter(&guard, __builtin_frame_address(0));
 *     ... the real call, and nm_record_* before or after it when is_recorded ...
 *     nm_record_leave(&guard) when is_recorded
 *
 * so that what the real call does by calling other hooked functions is not recorded a second time.
 */
#ifndef NM_RECORD_RECORD_H
#define NM_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/event.h"
#include "trace/ring.h"

#define NM_RECORD_API __attribute__((visibility("default")))

typedef struct nm_guard {
    const void *frame;
    uintptr_t return_address;
} nm_guard;

/* True for the outermost hook of a thread while the process records. `frame` is the hook's own. */
NM_RECORD_API bool nm_record_enter(nm_guard *guard, const void *frame);
NM_RECORD_API void nm_record_leave(const nm_guard *guard);

/* A clock for durations, in the ticks that records carry; and such a duration as cost_ticks has it. */
NM_RECORD_API uint64_t nm_record_clock(void);
NM_RECORD_API uint32_t nm_record_cost(uint64_t begin_ticks);

/* Handles of the heaps that hooks record into; device: ordinal as the program counts, negative: unknown. */
NM_RECORD_API uint32_t nm_record_driver_heap(int32_t device);
NM_RECORD_API uint32_t nm_record_pinned_heap(void);

/* The same for any other; level: nm_heap_level. Looks the name up each time. */
NM_RECORD_API uint32_t nm_record_heap(const char *name, uint64_t level, int32_t device);

/* The process's number for a device, for the fields of records; 0: unknown. */
NM_RECORD_API uint64_t nm_record_device(int32_t ordinal);

/* True once per device: somebody should ask how much memory it has and tell. */
NM_RECORD_API bool nm_record_is_capacity_wanted(int32_t device);
NM_RECORD_API void nm_record_capacity(int32_t device, uint64_t capacity_bytes);

/* Events. `ticks` is filled here. `where` comes with the handle of a heap and with NM_FLAG_*, by nm_record_where; the
 * stack is added, from `frame`. What names a heap that is not this process's is not recorded. */
static inline uint64_t nm_record_where(uint32_t heap, uint32_t flags)
{
    return (uint64_t)heap << 32 | flags;
}

NM_RECORD_API void nm_record_alloc(nm_ring_alloc *event, const void *frame);
NM_RECORD_API void nm_record_map(nm_ring_alloc *event, const void *frame);
NM_RECORD_API void nm_record_free(unsigned kind, nm_ring_free *event, const void *frame);
NM_RECORD_API void nm_record_alloc_failed(nm_ring_alloc_failed *event, const void *frame);
NM_RECORD_API void nm_record_copy(nm_ring_copy *event, const void *frame);
NM_RECORD_API void nm_record_number(unsigned kind, nm_ring_number *event, const void *frame);
NM_RECORD_API void nm_record_sample(nm_ring_sample *event);

/* aclrtRunMode, as the runtime gave it. */
NM_RECORD_API bool nm_record_is_run_mode_wanted(void);
NM_RECORD_API void nm_record_run_mode(int64_t run_mode);

/* A library was unloaded, so its addresses may come to mean something else. */
NM_RECORD_API void nm_record_unload(void);

/* The process is about to end by itself. */
NM_RECORD_API void nm_record_exit(int status);

#endif
