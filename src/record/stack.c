/* SPDX-License-Identifier: Apache-2.0
 *
 * A stack's hash is made of its return addresses; only one that the thread has not described yet is put into the ring. By rules
 * (unwind.h) the hash is remembered or one walk gives all; by frame pointers the fast walk makes the hash, and a new stack is
 * walked again and checked. Where the thread runs Python, the native walk ends at the interpreter, and the Python frames
 * follow (python_walk.h).
 */
#include "record/stack.h"

#include "record/modules.h"
#include "record/open_call.h"
#include "record/own_stack.h"
#include "record/python.h"
#include "record/unwind.h"
#include "record/writer.h"
#include "trace/event.h"

#define FRAME_BYTES (2 * sizeof(uintptr_t)) /* the caller's frame pointer, the return address */
#define UNSOUND_MAX 8

typedef struct nm_plan { /* which frames this stack is made of */
    unsigned native_limit;
    unsigned python_limit;
    uintptr_t python; /* thread state; 0: no Python frames */
} nm_plan;

/* The caller's frame, or 0: a frame lies above the one it was called from, aligned, inside the stack. */
static inline uintptr_t next_frame(const nm_recorded_thread *thread, uintptr_t frame)
{
    uintptr_t next = ((const uintptr_t *)frame)[0];

    /* No sum: `next` may be any number at all. */
    if (next <= frame || next > thread->stack_end - FRAME_BYTES || (next & (sizeof(uintptr_t) - 1)) != 0)
        return 0;
    return next;
}

/* ---- Which frames -------------------------------------------------------------------------------------------------- */

/* False: in a handler that interrupted a call which has them, the tables and the buffers are not ours. */
static bool begin_interning(nm_recorded_thread *thread, uintptr_t frame)
{
    if (thread->interning.frame != 0) {
        if (!nm_open_frame_is_dead(thread, &thread->interning, frame))
            return false;
        nm_intern_clear(&thread->intern); /* it was left in the middle of anything */
        nm_intern_clear(&thread->python_intern);
    }
    nm_open_frame_note(&thread->interning, frame);
    return true;
}

/* The first look at a thread's frames is a careful one; what it finds wrong again and again is not looked at any more. */
static bool has_sound_frames(nm_recorded_thread *thread, uintptr_t python)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

    if (thread->has_sound_python || thread->unsound_count >= UNSOUND_MAX || !begin_interning(thread, frame))
        return thread->has_sound_python;
    thread->has_sound_python =
        nm_python_collect(&nm_process_python.model, python, thread->stack_depth, thread->places).is_sound;
    nm_open_frame_forget(&thread->interning);
    if (!thread->has_sound_python) {
        thread->unsound_count++;
        nm_python_give_up();
    }
    return thread->has_sound_python;
}

/* With Python, native frames get half of the room at most: deep ones of a callback must not push the line out. */
static nm_plan plan_with_python(nm_recorded_thread *thread, uintptr_t frame)
{
    bool is_both = thread->stack_mode == NM_STACKS_BOTH;
    nm_plan plan = {.native_limit = is_both ? thread->stack_depth : 1};
    uintptr_t python = nm_python_thread_state();

    if (python != 0 && has_sound_frames(thread, python) && nm_python_has_frames(&nm_process_python.model, python)) {
        plan.python = python;
        plan.python_limit = thread->stack_depth;
        plan.native_limit = is_both ? (thread->stack_depth + 1) / 2 : 0;
        if (thread->stack_depth == 1)
            plan.native_limit = 0;
    }
    if (plan.native_limit > 1 && !thread->is_by_rules && !nm_own_stack_holds(thread, frame))
        plan.native_limit = 1;
    return plan;
}

static inline nm_plan make_plan(nm_recorded_thread *thread, uintptr_t frame)
{
    bool is_deep =
        thread->stack_mode == NM_STACKS_NATIVE && (thread->is_by_rules != 0 || nm_own_stack_holds(thread, frame));

    if (nm_unlikely(thread->stack_mode > NM_STACKS_NATIVE))
        return plan_with_python(thread, frame);
    return (nm_plan){.native_limit = is_deep ? thread->stack_depth : 1};
}

/* ---- The fast walk ------------------------------------------------------------------------------------------------- */

static inline bool is_interpreter(uintptr_t address)
{
    return address >= nm_process_python.code_begin && address < nm_process_python.code_end;
}

/* Code without frame pointers leaves in their place whatever the register held, which differs from call to call. So where a
 * check found the end of the true frames, the walk ends the next time, and the hash is the same. */
static inline uintptr_t *last_call_place(nm_recorded_thread *thread, uintptr_t address)
{
    return &thread->last_calls[nm_unwind_hash_term(address, 0) >> 56 & (NM_THREAD_LAST_CALLS - 1)];
}

__attribute__((no_sanitize("address", "thread"))) static uint64_t
hash_above_python(nm_recorded_thread *thread, uintptr_t frame, const nm_plan *plan)
{
    uint64_t salt = nm_modules_generation() << 48;
    uint64_t hash = 0;

    for (unsigned i = 0; i < plan->native_limit && frame != 0; i++) {
        uintptr_t address = nm_plain_address(((const uintptr_t *)frame)[1]);

        if (is_interpreter(address))
            break;
        hash += nm_unwind_hash_term(address, salt);
        salt += NM_UNWIND_NEXT_SALT;
        if (*last_call_place(thread, address) == address)
            break;
        frame = i + 1 < plan->native_limit ? next_frame(thread, frame) : 0;
    }
    hash += nm_python_hash(&nm_process_python.model, plan->python, plan->python_limit) + salt;
    hash ^= hash >> 29;
    return hash | (hash == 0);
}

__attribute__((no_sanitize("address", "thread"))) static uint64_t hash_native(const nm_recorded_thread *thread,
                                                                              uintptr_t frame, unsigned depth)
{
    uint64_t salt = nm_modules_generation() << 48;
    uint64_t hash = 0;

    for (unsigned i = 0; i < depth && frame != 0; i++) {
        hash += nm_unwind_hash_term(((const uintptr_t *)frame)[1], salt);
        salt += NM_UNWIND_NEXT_SALT;
        frame = i + 1 < depth ? next_frame(thread, frame) : 0;
    }
    hash ^= hash >> 29;
    return hash | (hash == 0);
}

static inline uint64_t hash_stack(nm_recorded_thread *thread, uintptr_t frame, const nm_plan *plan)
{
    return nm_unlikely(plan->python != 0) ? hash_above_python(thread, frame, plan)
                                          : hash_native(thread, frame, plan->native_limit);
}

/* ---- Describing a new stack ---------------------------------------------------------------------------------------- */

__attribute__((no_sanitize("address", "thread"))) static unsigned
collect_stack(nm_recorded_thread *thread, uintptr_t frame, const nm_plan *plan, uint64_t *addresses)
{
    bool is_readable = nm_own_stack_holds(thread, frame);
    unsigned depth = 0;

    while (frame != 0 && depth < plan->native_limit) {
        uintptr_t address = nm_plain_address(((const uintptr_t *)frame)[1]);

        if (address == 0 || (plan->python != 0 && is_interpreter(address)))
            break;
        addresses[depth++] = address;
        if (plan->python != 0 && *last_call_place(thread, address) == address)
            break;
        frame = is_readable ? next_frame(thread, frame) : 0;
    }
    return depth;
}

static bool put_stack(nm_recorded_thread *thread, uint32_t id, const uint64_t *frames, unsigned depth, nm_stack_end end)
{
    nm_ring_stack record = {.local_id = id, .depth = depth, .end = end};

    return nm_writer_define(thread, NM_RING_STACK, &record, sizeof record, frames, depth * sizeof *frames);
}

static uint32_t next_stack_id(nm_recorded_thread *thread)
{
    return (uint32_t)nm_local_add(&thread->last_stack_id, 1) + 1;
}

/* In a signal handler that interrupted describe_stack: the table and the buffer are not ours. */
static uint32_t describe_caller(nm_recorded_thread *thread, uintptr_t frame)
{
    uint64_t address = nm_plain_address(((const uintptr_t *)frame)[1]);
    uint32_t id = next_stack_id(thread);

    return put_stack(thread, id, &address, 1, thread->is_by_rules ? NM_STACK_END_CUT : NM_STACK_END_UNKNOWN) ? id : 0;
}

/* The thread's number for a Python frame, described if it is new; 0: no room for that now. */
static uint64_t number_place(nm_recorded_thread *thread, const nm_python_place *place)
{
    const nm_python_model *model = &nm_process_python.model;
    nm_python_text *text = &thread->python_text;
    uint64_t hash = place->fingerprint | (place->fingerprint == 0);
    uint32_t id = nm_intern_find(&thread->python_intern, hash);
    nm_ring_python record = {.version = model->layout.version};

    if (id != 0)
        return id;
    nm_python_describe(model, place, text);
    id = (uint32_t)nm_local_add(&thread->last_python_id, 1) + 1;
    record.local_id = id;
    record.line = text->line;
    record.function_bytes = text->function_bytes;
    record.text_bytes = text->function_bytes + text->file_bytes;
    if (!nm_writer_define(thread, NM_RING_PYTHON, &record, sizeof record, text->text, record.text_bytes))
        return 0;
    nm_intern_insert(&thread->python_intern, hash, id);
    atomic_store_explicit(&nm_process_python.is_used, 1, memory_order_relaxed); /* relaxed: a flag */
    return id;
}

/* Appends the Python frames to thread->addresses; the new depth, 0: no room in the ring now. */
static unsigned append_python(nm_recorded_thread *thread, const nm_plan *plan, unsigned depth)
{
    nm_python_walk walk = nm_python_collect(&nm_process_python.model, plan->python, plan->python_limit, thread->places);

    for (unsigned i = 0; i < walk.count && depth < thread->stack_depth; i++) {
        uint64_t id = number_place(thread, &thread->places[i]);

        if (id == 0)
            return 0;
        thread->addresses[depth++] = NM_RING_PYTHON_FRAME | id;
    }
    return depth;
}

static uint32_t describe_stack(nm_recorded_thread *thread, uintptr_t frame, const nm_plan *plan)
{
    bool is_certain = true;
    uint32_t id = next_stack_id(thread);
    unsigned found = collect_stack(thread, frame, plan, thread->addresses);
    unsigned native = nm_modules_check(thread, thread->addresses, found, false, &is_certain), depth = native;

    if (thread->stack_mode > NM_STACKS_NATIVE)
        nm_python_note_trouble(thread);
    if (plan->python != 0) {
        if (is_certain && native > 0 && native < found)
            *last_call_place(thread, thread->addresses[native - 1]) = thread->addresses[native - 1];
        depth = append_python(thread, plan, native);
    }
    if (depth == 0 || !put_stack(thread, id, thread->addresses, depth, NM_STACK_END_UNKNOWN))
        return 0;
    if (is_certain) /* the check may have changed the generation, and the hash with it */
        nm_intern_insert(&thread->intern, hash_stack(thread, frame, plan), id);
    return id;
}

/* ---- By rules ------------------------------------------------------------------------------------------------------ */

static inline uint64_t add_python(const nm_plan *plan, uint64_t hash)
{
    if (nm_likely(plan->python == 0))
        return hash;
    hash = nm_unwind_hash_term(hash, nm_python_hash(&nm_process_python.model, plan->python, plan->python_limit));
    return hash | (hash == 0);
}

/* Above Python alone, with no native frame but the interpreter's, a walk has no address at all. */
static uint32_t describe_walk(nm_recorded_thread *thread, const nm_plan *plan, nm_unwind *walk)
{
    bool is_certain = true;
    uint32_t id = next_stack_id(thread);
    unsigned native = nm_modules_check(thread, walk->addresses, walk->count, true, &is_certain), depth = native;
    nm_stack_end end = walk->is_cut ? NM_STACK_END_CUT : walk->is_whole ? NM_STACK_END_WHOLE : NM_STACK_END_UNKNOWN;

    if (thread->stack_mode > NM_STACKS_NATIVE)
        nm_python_note_trouble(thread);
    if (plan->python != 0) {
        depth = append_python(thread, plan, native);
        end = NM_STACK_END_UNKNOWN; /* Python's frames, whose names say it */
    }
    if (depth == 0 || !put_stack(thread, id, thread->addresses, depth, end))
        return 0;
    if (is_certain && walk->is_certain && walk->generation == nm_modules_generation()) {
        nm_intern_insert(&thread->intern, add_python(plan, walk->hash), id);
        return id;
    }
    walk->is_memoable = false; /* the modules changed meanwhile */
    return id;
}

__attribute__((noinline)) static uint32_t walk_by_rules(nm_recorded_thread *thread, uintptr_t frame,
                                                        const nm_plan *plan)
{
    nm_unwind walk; /* some hundred bytes, which the walk fills */
    uint32_t id = 0;

    walk.frame = frame;
    walk.limit = plan->native_limit;
    walk.is_above_python = plan->python != 0;
    walk.may_describe = begin_interning(thread, (uintptr_t)__builtin_frame_address(0));
    walk.addresses = walk.may_describe ? thread->addresses : NULL;
    walk.places = walk.may_describe ? thread->memo.places : NULL;
    nm_unwind_walk(thread, &walk);
    if (walk.is_certain)
        id = nm_intern_find(&thread->intern, add_python(plan, walk.hash));
    if (!walk.may_describe)
        return id != 0 ? id : describe_caller(thread, frame);
    if (id == 0)
        id = describe_walk(thread, plan, &walk);
    if (walk.is_memoable && id != 0)
        nm_memo_put(&thread->memo, frame, nm_memo_kind(walk.generation, walk.is_above_python), walk.places,
                    walk.place_count, walk.place_sum, walk.hash);
    nm_open_frame_forget(&thread->interning);
    return id;
}

static inline uint32_t number_by_rules(nm_recorded_thread *thread, uintptr_t frame, const nm_plan *plan)
{
    uint32_t kind = nm_memo_kind(nm_modules_generation(), plan->python != 0);
    uint64_t hash = 0;
    uint32_t id = 0;

    if (nm_likely(nm_own_stack_has(thread, frame)))
        hash = nm_memo_find(&thread->memo, frame, thread->stack_end, kind);
    if (nm_likely(hash != 0))
        id = nm_intern_find(&thread->intern, add_python(plan, hash));
    return nm_likely(id != 0) ? id : walk_by_rules(thread, frame, plan);
}

uint32_t nm_stack_number(nm_recorded_thread *thread, const void *frame)
{
    nm_plan plan;
    uint64_t hash;
    uint32_t id;

    if (thread->stack_mode == NM_STACKS_NONE)
        return 0;
    plan = make_plan(thread, (uintptr_t)frame);
    if (thread->is_by_rules && plan.native_limit > 1)
        return number_by_rules(thread, (uintptr_t)frame, &plan);
    hash = hash_stack(thread, (uintptr_t)frame, &plan);
    id = nm_intern_find(&thread->intern, hash);
    if (nm_likely(id != 0))
        return id;
    if (!begin_interning(thread, (uintptr_t)__builtin_frame_address(0)))
        return describe_caller(thread, (uintptr_t)frame);
    id = describe_stack(thread, (uintptr_t)frame, &plan);
    nm_open_frame_forget(&thread->interning);
    return id;
}
