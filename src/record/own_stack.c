/* SPDX-License-Identifier: Apache-2.0
 *
 * Every page is asked for, by the kernel, which reads a byte of each. A page that cannot be read ends a stack: it has one that
 * guards it. Where the kernel refuses to be asked, or a frame is too far from what is known, the text decides.
 */
#include "record/own_stack.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include "record/maps.h"

#define PAGE_BYTES    4096u
#define BATCH_PAGES   32       /* small: this may be a small stack */
#define REACH_BYTES   1048576u /* what is farther is looked up */

#define LOOKS_FREE    64 /* of other stacks; from then on a look at the text has to wait */
#define LOOK_PAUSE_NS 10000000
#define LOOK_SHARE    20 /* and at least so many times as long as the last one took */

static bool are_readable(uintptr_t page, uintptr_t end)
{
    char bytes[BATCH_PAGES];
    struct iovec there[BATCH_PAGES];

    while (page < end) {
        long count = 0;

        for (; count < BATCH_PAGES && page < end; count++, page += PAGE_BYTES)
            there[count] = (struct iovec){(void *)page, 1};
        if (nm_call(SYS_process_vm_readv, nm_system_pid(), (long)&(struct iovec){bytes, (size_t)count}, 1, (long)there,
                    count, 0) != count)
            return false;
    }
    return true;
}

static uintptr_t page_of(uintptr_t address)
{
    return address & ~(uintptr_t)(PAGE_BYTES - 1);
}

void nm_own_stack_find(nm_recorded_thread *thread, uintptr_t frame)
{
    uintptr_t self = (uintptr_t)__builtin_thread_pointer();

    thread->is_stack_open = self > frame && self - frame <= REACH_BYTES && are_readable(page_of(frame), self);
    thread->stack_begin = thread->is_stack_open ? page_of(frame) : 0;
    thread->stack_end = thread->is_stack_open ? self & ~(uintptr_t)7 : 0;
    thread->is_own_stack =
        thread->is_stack_open || nm_maps_stack_bounds(frame, &thread->stack_begin, &thread->stack_end);
}

/* False: it is of another stack, or so deep that it is as well to know all of this one. */
static bool move_begin(nm_recorded_thread *thread, uintptr_t frame)
{
    if (thread->stack_begin - frame > REACH_BYTES || !are_readable(page_of(frame), thread->stack_begin))
        return false;
    thread->stack_begin = page_of(frame);
    return true;
}

bool nm_own_stack_reaches(nm_recorded_thread *thread, uintptr_t frame)
{
    uintptr_t end;

    if (!thread->is_stack_open || frame >= thread->stack_begin)
        return false;
    if (!move_begin(thread, frame)) {
        thread->is_stack_open = false;
        nm_maps_stack_bounds(thread->stack_begin, &thread->stack_begin, &end);
    }
    return nm_own_stack_has(thread, frame);
}

static const nm_stack_range *find_range(const nm_recorded_thread *thread, uintptr_t address)
{
    for (unsigned i = 0; i < NM_THREAD_STACKS; i++) {
        if (address >= thread->other_stacks[i].begin && address < thread->other_stacks[i].end)
            return &thread->other_stacks[i];
    }
    return NULL;
}

static const nm_stack_range *look_up(nm_recorded_thread *thread, uintptr_t address)
{
    nm_stack_range *range = &thread->other_stacks[thread->look_count % NM_THREAD_STACKS];
    int64_t begin_ns = nm_system_now_ns(), pause_ns;

    if (thread->look_count >= LOOKS_FREE && begin_ns < thread->next_look_ns)
        return NULL;
    *range = (nm_stack_range){0, 0};
    nm_maps_stack_bounds(address, &range->begin, &range->end);
    pause_ns = (nm_system_now_ns() - begin_ns) * LOOK_SHARE;
    thread->next_look_ns = begin_ns + (pause_ns > LOOK_PAUSE_NS ? pause_ns : LOOK_PAUSE_NS);
    thread->look_count++;
    return range->end != 0 ? range : NULL;
}

bool nm_own_stack_other(nm_recorded_thread *thread, uintptr_t address, bool may_look, uintptr_t *begin, uintptr_t *end)
{
    const nm_stack_range *range = find_range(thread, address);

    if (range == NULL && may_look)
        range = look_up(thread, address);
    if (range == NULL)
        return false;
    *begin = range->begin;
    *end = range->end;
    return true;
}
