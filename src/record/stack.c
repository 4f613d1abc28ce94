/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk, twice: the fast one reads the frames and makes a hash of the return addresses; only a stack that the thread has
 * not described yet is walked again, checked and put into the ring.
 */
#include "record/stack.h"

#include "record/modules.h"
#include "record/writer.h"

#define FRAME_BYTES (2 * sizeof(uintptr_t)) /* the caller's frame pointer, the return address */

typedef struct nm_walk {
    unsigned depth;
    bool is_whole; /* ended where the thread begins, not at something that is no frame */
} nm_walk;

static inline bool is_on_stack(const nm_thread *thread, uintptr_t frame)
{
    return frame >= thread->stack_begin && frame < thread->stack_end && thread->stack_end - frame >= FRAME_BYTES;
}

/* The caller's frame, or 0: a frame lies above the one it was called from, aligned, inside the stack. */
static inline uintptr_t next_frame(const nm_thread *thread, uintptr_t frame)
{
    uintptr_t next = ((const uintptr_t *)frame)[0];

    /* No sum: `next` may be any number at all. */
    if (next <= frame || next > thread->stack_end - FRAME_BYTES || (next & (sizeof(uintptr_t) - 1)) != 0)
        return 0;
    return next;
}

/* Terms of a sum, so that the multiplications of a deep stack overlap; `salt` makes the place of an address count. */
static inline uint64_t hash_term(uint64_t address, uint64_t salt)
{
    uint64_t term = (address + salt) * UINT64_C(0x9e3779b97f4a7c15);

    term ^= term >> 32;
    return term * UINT64_C(0xd6e8feb86659fd93);
}

__attribute__((no_sanitize("address", "thread"))) static uint64_t hash_stack(const nm_thread *thread, uintptr_t frame)
{
    uint64_t salt = nm_modules_generation() << 48;
    uint64_t hash = 0;
    unsigned depth = thread->stack_mode == NM_STACKS_NATIVE && is_on_stack(thread, frame) ? thread->stack_depth : 1;

    for (unsigned i = 0; i < depth && frame != 0; i++) {
        hash += hash_term(((const uintptr_t *)frame)[1], salt);
        salt += UINT64_C(0xa0761d6478bd642f);
        frame = i + 1 < depth ? next_frame(thread, frame) : 0;
    }
    hash ^= hash >> 29;
    return hash | (hash == 0);
}

__attribute__((no_sanitize("address", "thread"))) static nm_walk collect_stack(const nm_thread *thread, uintptr_t frame,
                                                                               uint64_t *addresses)
{
    nm_walk walk = {0};
    bool is_readable = is_on_stack(thread, frame);
    unsigned limit = thread->stack_mode == NM_STACKS_NATIVE && is_readable ? thread->stack_depth : 1;

    while (frame != 0 && walk.depth < limit) {
        uintptr_t address = nm_plain_address(((const uintptr_t *)frame)[1]);

        if (address == 0)
            break;
        addresses[walk.depth++] = address;
        walk.is_whole = is_readable && ((const uintptr_t *)frame)[0] == 0;
        frame = is_readable ? next_frame(thread, frame) : 0;
    }
    return walk;
}

static bool put_stack(nm_thread *thread, uint32_t id, const uint64_t *addresses, unsigned depth, bool is_caller_only)
{
    nm_ring_stack record = {.local_id = id, .depth = depth, .is_caller_only = is_caller_only};

    if (is_caller_only) /* relaxed: a counter for the summary. */
        atomic_fetch_add_explicit(&nm_process_state.process->unwound_by_caller, 1, memory_order_relaxed);
    return nm_writer_define(thread, NM_RING_STACK, &record, sizeof record, addresses, depth * sizeof *addresses);
}

static uint32_t next_stack_id(nm_thread *thread)
{
    return (uint32_t)nm_local_add(&thread->last_stack_id, 1) + 1;
}

/* In a signal handler that interrupted describe_stack: the table and the buffer are not ours. */
static uint32_t describe_caller(nm_thread *thread, uintptr_t frame)
{
    uint64_t address = nm_plain_address(((const uintptr_t *)frame)[1]);
    uint32_t id = next_stack_id(thread);

    return put_stack(thread, id, &address, 1, thread->stack_depth > 1 && thread->stack_mode == NM_STACKS_NATIVE) ? id
                                                                                                                 : 0;
}

static uint32_t describe_stack(nm_thread *thread, uintptr_t frame)
{
    bool is_certain = true, is_native = thread->stack_mode == NM_STACKS_NATIVE && thread->stack_depth > 1;
    uint32_t id = next_stack_id(thread);
    nm_walk walk = collect_stack(thread, frame, thread->addresses);
    unsigned depth = nm_modules_check(thread, thread->addresses, walk.depth, &is_certain);
    bool is_whole = walk.is_whole && depth == walk.depth;

    if (depth == 0 || !put_stack(thread, id, thread->addresses, depth, is_native && depth == 1 && !is_whole))
        return 0;
    if (is_certain) /* the check may have changed the generation, and the hash with it */
        nm_intern_insert(&thread->intern, hash_stack(thread, frame), id);
    return id;
}

uint32_t nm_stack_number(nm_thread *thread, const void *frame)
{
    uint64_t hash;
    uint32_t id;

    if (thread->stack_mode == NM_STACKS_NONE)
        return 0;
    hash = hash_stack(thread, (uintptr_t)frame);
    id = nm_intern_find(&thread->intern, hash);
    if (nm_likely(id != 0))
        return id;
    if (thread->is_interning)
        return describe_caller(thread, (uintptr_t)frame);
    thread->is_interning = 1;
    id = describe_stack(thread, (uintptr_t)frame);
    thread->is_interning = 0;
    return id;
}
