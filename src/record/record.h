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
 * so that what the real call does by calling other hooked functions is not recorded a second time. What an inner call may
 * still record depends on both: see nm_layer.
 */
#ifndef NM_RECORD_RECORD_H
#define NM_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "record/inner.h"
#include "trace/event.h"
#include "trace/ring.h"

#define NM_RECORD_API __attribute__((visibility("default")))

/*
 * What a hook stands for. Inside one of a layer, only hooks of a later layer record: a copy's own allocation is recorded, a
 * copy that a batch copy makes is not. An operator holds no guard at all: whatever it does is recorded.
 */
typedef enum nm_layer {
    NM_LAYER_NONE = 0,
    NM_LAYER_CALL = 1, /* copies, streams, devices, pools' blocks: memory that the call takes for itself is recorded */
    NM_LAYER_TOOL = 2, /* as the next one, while another tool stands between us and the runtime: see below */
    NM_LAYER_MEMORY = 3, /* memory that the program asks the runtime for: owns what the driver does for it */
    NM_LAYER_DRIVER = 4, /* what the driver gives to whoever asks */
} nm_layer;

/*
 * A tool between us and the runtime may make one call into others (a memory saver: an allocation into physical memory and its
 * mapping). Then the calls within are recorded, with the program's own call in their stacks, and of that call itself nothing
 * is. Where there are none within, it is recorded as ever.
 */
NM_RECORD_API void nm_record_expect_tool(void);        /* there is one */
NM_RECORD_API bool nm_record_is_free_told_after(void); /* it has done so: an end is told after its call */

typedef struct nm_guard {
    const void *frame;
    uintptr_t return_address;
    uint32_t layer;
} nm_guard;

/* True while the process records and no hook around this one forbids it. `frame` is the hook's own. nm_record_enter is for
 * NM_LAYER_MEMORY, which also empties nm_record_inner. */
NM_RECORD_API bool nm_record_enter(nm_guard *guard, const void *frame);
NM_RECORD_API bool nm_record_enter_call(nm_guard *guard, const void *frame);
NM_RECORD_API bool nm_record_enter_detail(nm_guard *guard, const void *frame); /* the same; false while paused */
NM_RECORD_API void nm_record_leave(const nm_guard *guard);

/* For the driver's hooks: the layer of the hook around this one, never NM_LAYER_TOOL. NM_LAYER_NONE or NM_LAYER_CALL: entered, leave it as any
 * other; the driver's memory is to be recorded. NM_LAYER_MEMORY: entered too, but the memory belongs to the call around it
 * if that asked for it (nm_record_inner). NM_LAYER_DRIVER: not entered, and not to be recorded. */
NM_RECORD_API nm_layer nm_record_enter_driver(nm_guard *guard, const void *frame);

/* The calling thread's; never NULL. */
NM_RECORD_API nm_inner *nm_record_inner(void);

/* The device that hooks know to be the calling thread's; -1: none. */
NM_RECORD_API int32_t nm_record_known_device(void);
NM_RECORD_API void nm_record_know_device(int32_t device);

/* True inside of a hook that holds a guard. `frame` is the caller's own. */
NM_RECORD_API bool nm_record_is_inside(const void *frame);

/* What this library's constructor does, for hooks that are called before it runs. */
NM_RECORD_API void nm_record_begin(void);

/* True: the program has rights that its caller has not (nm_system_is_privileged). Hooks do nothing but the real call. */
NM_RECORD_API bool nm_record_is_privileged(void);

/* False while the process does not record: for hooks that hold no guard. True also while it waits for its first event to
 * join a recording. */
NM_RECORD_API bool nm_record_is_on(void);

/* True once it has joined: for what is no event of the program's. */
NM_RECORD_API bool nm_record_has_joined(void);

/* A clock for durations, in the ticks that records carry; and such a duration as cost_ticks has it. */
NM_RECORD_API uint64_t nm_record_clock(void);
NM_RECORD_API uint32_t nm_record_cost(uint64_t begin_ticks);

/* Handles of the heaps that hooks record into; device: ordinal as the program counts, negative: unknown. */
NM_RECORD_API uint32_t nm_record_driver_heap(int32_t device);
NM_RECORD_API uint32_t nm_record_pinned_heap(void);

/* The same for any other; level: nm_heap_level. Looks the name up each time. */
NM_RECORD_API uint32_t nm_record_heap(const char *name, uint64_t level, int32_t device);

typedef struct nm_record_heap_wish {
    const char *name; /* borrowed; at most NPUMEM_TEXT_BYTES_MAX count */
    uint64_t level;
    int32_t device;      /* negative: unknown, or host memory */
    uint64_t size_basis; /* nm_size_basis; 0: requested */
    uint64_t module_id;  /* as nm_definition.heap.module_id */
} nm_record_heap_wish;

NM_RECORD_API uint32_t nm_record_heap_of(const nm_record_heap_wish *wish);

/* Does the handle name a heap of this process? One that was kept from a parent or an earlier recording does not. */
NM_RECORD_API bool nm_record_knows_heap(uint32_t heap);

/* The ordinal by which the program knows the device that the driver calls `number`: ASCEND_RT_VISIBLE_DEVICES picks and
 * orders them. */
NM_RECORD_API int32_t nm_record_ordinal(int32_t number);

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
NM_RECORD_API void nm_record_stream_call(nm_ring_stream_call *event, const void *frame);

/* The pool of `heap` says that it holds so many bytes of driver memory. */
NM_RECORD_API void nm_record_reserved(uint32_t heap, uint64_t reserved_bytes);

/* Objects of the runtime (nm_object_kind) are counted, no event each; gone: destroyed, or given to another object that will
 * destroy them. True: the one that was made is to be told as one of NM_RECORD_OBJECT_STEP, and so is its end. */
#define NM_RECORD_OBJECT_STEP 64
NM_RECORD_API bool nm_record_object_made(unsigned kind);
NM_RECORD_API void nm_record_objects_gone(unsigned kind, uint64_t count);
NM_RECORD_API void nm_record_object(nm_ring_objects *event, const void *frame); /* frame NULL: without a stack */

/* Texts: borrowed, cut at NPUMEM_TEXT_BYTES_MAX (record/text.h). A range without a name is one with an empty name. */
NM_RECORD_API void nm_record_mark(const char *text);
NM_RECORD_API void nm_record_snapshot(const char *text); /* a mark that is to be on the disk soon, paused or not */
NM_RECORD_API void nm_record_note(unsigned note, int64_t number, const char *text); /* nm_note */
/* A definition: NAME=VALUE of the process, source an nm_attribute_source. */
NM_RECORD_API void nm_record_attribute(unsigned source, const char *text);
NM_RECORD_API void nm_record_module_sample(int32_t device, const char *module, uint64_t now_bytes, uint64_t peak_bytes);

/* `text_bytes` is filled here, and `number` where it is 0; the number, which pairs the range with its end, is returned; 0:
 * not recorded. A range may be ended by any thread. A caller's own numbers are 2^60 and more. */
NM_RECORD_API uint64_t nm_record_range_begin(nm_ring_range *event, const char *name);
NM_RECORD_API void nm_record_range_end(uint64_t number, int64_t error_code);

/* The same of a model's load, which says the number that the runtime gave the model; 0: it gave none. */
NM_RECORD_API void nm_record_load_end(uint64_t number, int64_t error_code, uint64_t model_id);

/* aclrtRunMode, as the runtime gave it. */
NM_RECORD_API bool nm_record_is_run_mode_wanted(void);
NM_RECORD_API void nm_record_run_mode(int64_t run_mode);

/* The program looks a name up, outside of any hooked call: a moment at which an interpreter's thread holds its lock, so that
 * its frames can be compared with what it says itself. */
NM_RECORD_API void nm_record_lookup(void);

/* A library is being loaded, or was: return addresses in it are new, not wrong. */
NM_RECORD_API void nm_record_load(void);

/* A library was unloaded, so its addresses may come to mean something else. */
NM_RECORD_API void nm_record_unload(void);

/* From here on the process records its memory alone, without stacks, and the trace holds nothing of it; or all again. */
NM_RECORD_API void nm_record_pause(bool is_paused);

/* The process is about to end by itself. */
NM_RECORD_API void nm_record_exit(int status);

#endif
