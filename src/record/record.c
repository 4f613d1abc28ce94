/* SPDX-License-Identifier: Apache-2.0
 *
 * Records for the hooks and for the SDK: the stack first, then the event, so that the ring never refers to what is not in
 * it yet.
 */
#include "record/record.h"

#include <string.h>

#include "npumem.h"
#include "record/attach.h"
#include "record/heap.h"
#include "record/modules.h"
#include "record/own_stack.h"
#include "record/python.h"
#include "record/session.h"
#include "record/stack.h"
#include "record/text.h"
#include "record/writer.h"

#define DRIVER_HEAP_NAME    "device memory"
#define PINNED_HEAP_NAME    "pinned host memory"
#define CACHED_DEVICE_COUNT 64

/* ---- Nested hooks -------------------------------------------------------------------------------------------------- */

/* The layer of the hook that set the guard, if it still runs. Its frame may have been left by longjmp, and then its place on the stack has
 * been written over by the calls that led here. */
static nm_layer layer_around(const void *frame)
{
    const nm_local *local = &nm_thread_local;
    nm_recorded_thread *thread = local->thread;
    bool still_runs;

    if (nm_likely(local->guard_frame == NULL))
        return NM_LAYER_NONE;
    if (thread == NULL || !nm_own_stack_holds(thread, (uintptr_t)frame) ||
        !nm_own_stack_holds(thread, (uintptr_t)local->guard_frame))
        return (nm_layer)local->guard_layer;
    still_runs = (uintptr_t)frame < (uintptr_t)local->guard_frame &&
                 ((const uintptr_t *)local->guard_frame)[1] == local->guard_return;
    return still_runs ? (nm_layer)local->guard_layer : NM_LAYER_NONE;
}

static inline void set_guard(nm_guard *guard, const void *frame, nm_layer layer)
{
    nm_local *local = &nm_thread_local;

    nm_python_check(); /* hooked functions are no signal handler's, so here it may */
    *guard = (nm_guard){local->guard_frame, local->guard_return, local->guard_layer};
    local->guard_return = ((const uintptr_t *)frame)[1];
    local->guard_layer = layer;
    local->guard_frame = frame;
}

/* NM_LAYER_TOOL once there is a tool, and for good. */
static _Atomic uint32_t memory_layer = NM_LAYER_MEMORY;
static _Atomic bool is_transformed; /* a call has been made into others */

void nm_record_expect_tool(void)
{
    atomic_store_explicit(&memory_layer, NM_LAYER_TOOL, memory_order_relaxed); /* relaxed: a number */
}

bool nm_record_is_free_told_after(void)
{
    return nm_unlikely(atomic_load_explicit(&is_transformed, memory_order_relaxed)); /* relaxed: a flag */
}

bool nm_record_enter(nm_guard *guard, const void *frame)
{
    nm_layer around;

    if (!nm_attach_is_wanted() || nm_unlikely((around = layer_around(frame)) >= NM_LAYER_MEMORY))
        return false;
    set_guard(guard, frame,
              (nm_layer)atomic_load_explicit(&memory_layer, memory_order_relaxed)); /* relaxed: a number */
    nm_thread_local.inner.freed = 0;
    nm_thread_local.inner.is_asking = 0;
    nm_thread_local.inner.is_outer = 0;
    if (nm_likely(around != NM_LAYER_TOOL)) /* else what is held back is settled by this call */
        nm_thread_local.inner.count = 0;
    return true;
}

/* What the thread records now is of a call that a tool has made into others. */
static bool is_outer_call(void)
{
    return nm_unlikely(nm_thread_local.inner.is_outer != 0) && nm_thread_local.guard_layer == NM_LAYER_TOOL;
}

bool nm_record_enter_call(nm_guard *guard, const void *frame)
{
    if (!nm_attach_is_wanted() || nm_unlikely(layer_around(frame) >= NM_LAYER_CALL))
        return false;
    set_guard(guard, frame, NM_LAYER_CALL);
    return true;
}

bool nm_record_enter_detail(nm_guard *guard, const void *frame)
{
    return nm_state_is_recording() && nm_likely(nm_state_pauses() == 0) && nm_record_enter_call(guard, frame);
}

nm_layer nm_record_enter_driver(nm_guard *guard, const void *frame)
{
    nm_layer around;

    if (!nm_attach_is_wanted())
        return NM_LAYER_DRIVER;
    around = layer_around(frame);
    if (around < NM_LAYER_DRIVER)
        set_guard(guard, frame, NM_LAYER_DRIVER);
    return around == NM_LAYER_TOOL ? NM_LAYER_MEMORY : around;
}

void nm_record_leave(const nm_guard *guard)
{
    if (nm_unlikely(guard->layer == NM_LAYER_TOOL) && guard->frame != NULL &&
        nm_thread_local.guard_layer == NM_LAYER_TOOL) {
        nm_thread_local.inner.is_outer = 1;
        atomic_store_explicit(&is_transformed, true, memory_order_relaxed); /* relaxed: a flag */
    }
    nm_thread_local.guard_frame = guard->frame;
    nm_thread_local.guard_return = guard->return_address;
    nm_thread_local.guard_layer = guard->layer;
}

nm_inner *nm_record_inner(void)
{
    return &nm_thread_local.inner;
}

int32_t nm_record_known_device(void)
{
    return nm_thread_local.next_device - 1;
}

void nm_record_know_device(int32_t device)
{
    nm_thread_local.next_device = device + 1;
}

bool nm_record_is_inside(const void *frame)
{
    return nm_state_is_recording() && layer_around(frame) != NM_LAYER_NONE;
}

bool nm_record_is_privileged(void)
{
    return nm_system_is_privileged();
}

bool nm_record_is_on(void)
{
    return nm_state_is_on();
}

bool nm_record_has_joined(void)
{
    return nm_state_is_recording();
}

uint64_t nm_record_clock(void)
{
    return nm_state_ticks_unordered();
}

uint32_t nm_record_cost(uint64_t begin_ticks)
{
    uint64_t cost = nm_state_ticks_unordered() - begin_ticks;

    return cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
}

/* ---- Heaps and devices --------------------------------------------------------------------------------------------- */

static uint32_t define_wished(nm_recorded_thread *thread, const nm_record_heap_wish *wish)
{
    char room[NPUMEM_TEXT_BYTES_MAX];
    uint64_t name_bytes;
    const char *name = nm_text_take(wish->name, room, &name_bytes);

    return nm_heap_define(thread, &(nm_heap_request){
                                      .name = name,
                                      .name_bytes = name_bytes,
                                      .level = wish->level,
                                      .device = wish->device,
                                      .size_basis = wish->size_basis != 0 ? wish->size_basis : NM_BASIS_REQUESTED,
                                      .module_id = wish->module_id,
                                  });
}

static uint32_t define_heap(nm_recorded_thread *thread, const char *name, uint64_t level, int32_t device)
{
    return define_wished(thread, &(nm_record_heap_wish){.name = name, .level = level, .device = device});
}

/* A handle names its generation, so one that is kept from a parent or an earlier recording is seen to be stale. */
static uint32_t cached_heap(_Atomic uint32_t *cache, const char *name, uint64_t level, int32_t device)
{
    nm_recorded_thread *thread = nm_attach_thread();
    /* relaxed: a handle is a number. */
    uint32_t handle = atomic_load_explicit(cache, memory_order_relaxed);

    if (thread == NULL || nm_heap_number(thread, handle) != 0)
        return handle;
    handle = define_heap(thread, name, level, device);
    atomic_store_explicit(cache, handle, memory_order_relaxed);
    return handle;
}

uint32_t nm_record_driver_heap(int32_t device)
{
    static _Atomic uint32_t cache[CACHED_DEVICE_COUNT + 1]; /* the last: device unknown */
    nm_recorded_thread *thread;

    if (device < CACHED_DEVICE_COUNT)
        return cached_heap(&cache[device < 0 ? CACHED_DEVICE_COUNT : device], DRIVER_HEAP_NAME, NM_LEVEL_DRIVER,
                           device < 0 ? -1 : device);
    thread = nm_attach_thread();
    return thread != NULL ? define_heap(thread, DRIVER_HEAP_NAME, NM_LEVEL_DRIVER, device) : 0;
}

uint32_t nm_record_pinned_heap(void)
{
    static _Atomic uint32_t cache;

    return cached_heap(&cache, PINNED_HEAP_NAME, NM_LEVEL_PINNED, -1);
}

uint32_t nm_record_heap(const char *name, uint64_t level, int32_t device)
{
    nm_recorded_thread *thread = nm_attach_thread();

    return thread != NULL ? define_heap(thread, name, level, device) : 0;
}

uint32_t nm_record_heap_of(const nm_record_heap_wish *wish)
{
    nm_recorded_thread *thread = nm_attach_thread();

    return thread != NULL ? define_wished(thread, wish) : 0;
}

bool nm_record_knows_heap(uint32_t heap)
{
    nm_recorded_thread *thread = nm_attach_thread();

    return thread != NULL && nm_heap_number(thread, heap) != 0;
}

int32_t nm_record_ordinal(int32_t number)
{
    return nm_device_ordinal(number);
}

uint64_t nm_record_device(int32_t ordinal)
{
    nm_recorded_thread *thread = nm_attach_thread();

    return thread != NULL ? nm_device_number(thread, ordinal) : 0;
}

bool nm_record_is_capacity_wanted(int32_t device)
{
    return nm_attach_thread() != NULL && nm_device_is_capacity_wanted(device);
}

void nm_record_capacity(int32_t device, uint64_t capacity_bytes)
{
    nm_recorded_thread *thread = nm_attach_thread();

    if (thread != NULL)
        nm_device_set_capacity(thread, device, capacity_bytes);
}

/* ---- Events -------------------------------------------------------------------------------------------------------- */

/* May a process that is paused for these reasons record it? */
static bool is_let_through(uint32_t pauses, bool is_memory)
{
    if (pauses & NM_PAUSED_FOR_GOOD)
        nm_state_leave();
    return is_memory && (pauses & NM_PAUSED_FOR_GOOD) == 0;
}

static inline bool is_recorded_now(bool is_memory)
{
    uint32_t pauses = nm_state_pauses();

    return nm_likely(pauses == 0) || is_let_through(pauses, is_memory);
}

static inline uint64_t where_of(nm_recorded_thread *thread, uint32_t heap, uint32_t flags, const void *frame)
{
    if (nm_unlikely(nm_state_pauses() != 0))
        return nm_ring_where(heap, flags | NM_FLAG_PAUSED, 0);
    return nm_ring_where(heap, flags, nm_stack_number(thread, frame));
}

/* Turns nm_record_where into nm_ring_where. False: the heap is not this process's, or it is not recorded now. */
static inline bool complete_where(nm_recorded_thread *thread, uint64_t *where, bool is_memory, const void *frame)
{
    uint32_t handle = (uint32_t)(*where >> 32);
    uint32_t heap = handle != 0 ? nm_heap_number(thread, handle) : 0;

    if (!is_recorded_now(is_memory) || is_outer_call())
        return false;
    if (nm_unlikely(heap == 0 && handle != 0)) {
        if (nm_heap_is_without_room(handle))
            nm_thread_count_lost();
        return false;
    }
    *where = where_of(thread, heap, (uint32_t)*where, frame);
    return true;
}

void nm_record_alloc(nm_ring_alloc *event, const void *frame)
{
    nm_recorded_thread *thread = nm_attach_event_thread();

    if (thread != NULL && complete_where(thread, &event->where, true, frame))
        nm_writer_put_slot(thread, NM_EVENT_ALLOC, (const uint64_t *)event);
}

void nm_record_map(nm_ring_alloc *event, const void *frame)
{
    nm_recorded_thread *thread = nm_attach_event_thread();

    if (thread != NULL && complete_where(thread, &event->where, true, frame))
        nm_writer_put_slot(thread, NM_EVENT_MAP, (const uint64_t *)event);
}

void nm_record_free(unsigned kind, nm_ring_free *event, const void *frame)
{
    nm_recorded_thread *thread = nm_attach_event_thread();

    if (thread != NULL && complete_where(thread, &event->where, true, frame))
        nm_writer_put_slot(thread, kind, (const uint64_t *)event);
}

void nm_record_alloc_failed(nm_ring_alloc_failed *event, const void *frame)
{
    nm_recorded_thread *thread = nm_attach_event_thread();

    if (thread != NULL && complete_where(thread, &event->where, true, frame))
        nm_writer_put(thread, NM_EVENT_ALLOC_FAILED, event, sizeof *event, NULL, 0);
}

void nm_record_copy(nm_ring_copy *event, const void *frame)
{
    nm_recorded_thread *thread = nm_attach_event_thread();

    if (thread != NULL && complete_where(thread, &event->where, false, frame))
        nm_writer_put(thread, NM_EVENT_COPY, event, sizeof *event, NULL, 0);
}

/* What is between the steps to record in full is recorded in full, the two steps included. */
static bool is_outside_steps(int64_t step)
{
    const nm_ring_session *session = nm_process_state.session;

    return step < session->from_step || step > session->to_step;
}

static void put_number(nm_recorded_thread *thread, unsigned kind, const nm_ring_number *event)
{
    uint64_t words[NM_WRITER_SLOT_WORDS] = {0};

    memcpy(words, event, sizeof *event);
    nm_writer_put_slot(thread, kind, words);
}

void nm_record_number(unsigned kind, nm_ring_number *event, const void *frame)
{
    nm_recorded_thread *thread = nm_attach_event_thread();
    bool is_outside = kind == NM_EVENT_STEP && thread != NULL && is_outside_steps(event->number);

    if (thread == NULL || !is_recorded_now(kind != NM_EVENT_RANGE_END))
        return;
    if (frame != NULL)
        event->where = where_of(thread, 0, 0, frame);
    /* relaxed, both: flags. What is recorded in full lies behind the begin of the first step and before the end of the
     * last, where the drain draws the line. */
    if (kind == NM_EVENT_STEP && !is_outside)
        atomic_fetch_and_explicit(&nm_process_state.pauses, ~(uint32_t)NM_PAUSED_BY_STEPS, memory_order_relaxed);
    put_number(thread, kind, event);
    if (is_outside)
        atomic_fetch_or_explicit(&nm_process_state.pauses, NM_PAUSED_BY_STEPS, memory_order_relaxed);
}

void nm_record_pause(bool is_paused)
{
    nm_recorded_thread *thread = nm_attach_thread();
    nm_ring_number event = {.detail = is_paused ? NM_PAUSE_BEGIN : NM_PAUSE_END};

    if (thread == NULL)
        return;
    /* relaxed, all: flags. The record comes first or last, so that what it lets through is recorded in full. */
    if (!is_paused) {
        atomic_fetch_and_explicit(&nm_process_state.pauses, ~(uint32_t)NM_PAUSED_BY_PROGRAM, memory_order_relaxed);
        atomic_fetch_and_explicit(&nm_process_state.heeded, ~(uint32_t)NM_PAUSED_AT_START, memory_order_relaxed);
    }
    put_number(thread, NM_EVENT_PAUSE, &event);
    if (is_paused)
        atomic_fetch_or_explicit(&nm_process_state.pauses, NM_PAUSED_BY_PROGRAM, memory_order_relaxed);
}

void nm_record_sample(nm_ring_sample *event)
{
    nm_recorded_thread *thread = nm_attach_event_thread();
    uint64_t words[NM_WRITER_SLOT_WORDS] = {0};

    if (thread == NULL)
        return;
    memcpy(words, event, sizeof *event);
    nm_writer_put_slot(thread, NM_EVENT_MEMORY_SAMPLE, words);
}

void nm_record_stream_call(nm_ring_stream_call *event, const void *frame)
{
    nm_recorded_thread *thread = nm_attach_event_thread();

    if (thread != NULL && complete_where(thread, &event->where, false, frame))
        nm_writer_put_slot(thread, NM_EVENT_STREAM_CALL, (const uint64_t *)event);
}

void nm_record_reserved(uint32_t heap, uint64_t reserved_bytes)
{
    nm_recorded_thread *thread = nm_attach_event_thread();
    uint32_t number = thread != NULL ? nm_heap_number(thread, heap) : 0;
    nm_ring_alloc event = {.block_bytes = reserved_bytes, .where = nm_ring_where(number, 0, 0)};

    if (number != 0)
        nm_writer_put_slot(thread, NM_EVENT_RESERVED, (const uint64_t *)&event);
    else if (thread != NULL && nm_heap_is_without_room(heap))
        nm_thread_count_lost();
}

/* ---- Texts --------------------------------------------------------------------------------------------------------- */

static void put_text(unsigned kind, nm_ring_text *record, const char *text)
{
    nm_recorded_thread *thread = nm_attach_event_thread();
    char room[NPUMEM_TEXT_BYTES_MAX];

    text = nm_text_take(text, room, &record->text_bytes);
    if (thread != NULL)
        nm_writer_put(thread, kind, record, sizeof *record, text, record->text_bytes);
}

void nm_record_mark(const char *text)
{
    if (nm_state_is_recording() && is_recorded_now(false))
        put_text(NM_EVENT_MARK, &(nm_ring_text){0}, text);
}

void nm_record_snapshot(const char *text)
{
    put_text(NM_EVENT_MARK, &(nm_ring_text){.detail = 1}, text);
}

void nm_record_note(unsigned note, int64_t number, const char *text)
{
    put_text(NM_EVENT_NOTE, &(nm_ring_text){.number = number, .detail = note}, text);
}

void nm_record_attribute(unsigned source, const char *text)
{
    nm_recorded_thread *thread = nm_attach_event_thread();
    nm_ring_text record = {.detail = source};
    char room[NPUMEM_TEXT_BYTES_MAX];

    text = nm_text_take(text, room, &record.text_bytes);
    if (thread != NULL)
        nm_writer_define(thread, NM_RING_ATTRIBUTE, &record, sizeof record, text, record.text_bytes);
}

void nm_record_module_sample(int32_t device, const char *module, uint64_t now_bytes, uint64_t peak_bytes)
{
    nm_recorded_thread *thread = nm_attach_event_thread();
    nm_ring_module_sample record = {.size_bytes = now_bytes, .total_bytes = peak_bytes};
    char room[NPUMEM_TEXT_BYTES_MAX];

    if (thread == NULL)
        return;
    module = nm_text_take(module, room, &record.text_bytes);
    record.device = nm_device_number(thread, device);
    nm_writer_put(thread, NM_EVENT_MODULE_SAMPLE, &record, sizeof record, module, record.text_bytes);
}

uint64_t nm_record_range_begin(nm_ring_range *event, const char *name)
{
    nm_recorded_thread *thread = nm_attach_event_thread();
    char room[NPUMEM_TEXT_BYTES_MAX];

    if (thread == NULL || !is_recorded_now(false))
        return 0;
    /* Numbers of one thread do not meet those of another: no counter is shared. */
    if (event->number == 0)
        event->number = (int64_t)(thread->number << 32 | ((nm_local_add(&thread->last_range, 1) + 1) & UINT32_MAX));
    name = nm_text_take(name, room, &event->text_bytes);
    nm_writer_put(thread, NM_EVENT_RANGE_BEGIN, event, sizeof *event, name, event->text_bytes);
    return (uint64_t)event->number;
}

void nm_record_range_end(uint64_t number, int64_t error_code)
{
    nm_record_load_end(number, error_code, 0);
}

void nm_record_load_end(uint64_t number, int64_t error_code, uint64_t model_id)
{
    nm_ring_number event = {.number = (int64_t)number, .detail = model_id, .error_code = error_code};

    if (number != 0)
        nm_record_number(NM_EVENT_RANGE_END, &event, NULL);
}

/* ---- The process --------------------------------------------------------------------------------------------------- */

bool nm_record_is_run_mode_wanted(void)
{
    /* relaxed: a flag; asked twice it gives the same. */
    return nm_attach_thread() != NULL &&
           atomic_load_explicit(&nm_process_state.process->run_mode, memory_order_relaxed) == INT64_MIN;
}

void nm_record_run_mode(int64_t run_mode)
{
    if (nm_attach_thread() != NULL) /* relaxed: the drain reads it when it likes. */
        atomic_store_explicit(&nm_process_state.process->run_mode, run_mode, memory_order_relaxed);
}

void nm_record_lookup(void)
{
    if (nm_state_is_recording())
        nm_python_check();
}

void nm_record_load(void)
{
    if (nm_state_is_recording())
        nm_modules_note_load();
}

void nm_record_unload(void)
{
    if (nm_state_is_recording())
        nm_modules_note_change();
}

void nm_record_exit(int status)
{
    const char *unchecked = nm_python_take_unchecked();

    if (unchecked != NULL)
        nm_record_note(NM_NOTE_PYTHON_UNCHECKED, 0, unchecked);
    nm_session_note_end(NM_PROCESS_EXIT, status & 0xff);
}
