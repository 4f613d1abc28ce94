/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory is given to a page by the kernel's writing into it: that fails where a store of ours would raise SIGBUS, and needs
 * neither a descriptor nor a path, so a ring grows also where the program has changed its root, its user or its limits since.
 */
#include "record/ring_file.h"

#include <errno.h>

#include "record/text.h"

#define RING_SHARE 16 /* threads that come later need rings too: nobody takes more than this part of what is free */
#define PAGE_BYTES 4096

/* So many bytes of slots, or less where less is free; NM_RING_BYTES_MIN may be had by all. */
static uint64_t fair_bytes(uint64_t slot_bytes)
{
    uint64_t free_bytes = nm_system_free_bytes(nm_process_state.folder);

    while (slot_bytes > NM_RING_BYTES_MIN && slot_bytes > free_bytes / RING_SHARE)
        slot_bytes /= 2;
    return slot_bytes;
}

/* Whoever wants no thread ever to wait wants no system calls later on, either. */
static bool grows(void)
{
    return nm_process_state.session->on_full != NM_ON_FULL_DROP;
}

/* Of the session's size, or of the largest smaller one for which there is room. */
bool nm_ring_file_make(nm_recorded_thread *thread, uint64_t ring_id)
{
    char path[NM_FILE_BYTES_MAX];
    uint64_t wanted_bytes = nm_process_state.session->ring_bytes;
    uint64_t slot_bytes = grows() ? wanted_bytes : fair_bytes(wanted_bytes), first_bytes;
    void *memory = NULL;
    long result;

    if (!nm_text_path(path, sizeof path, nm_process_state.folder, "r.", ring_id))
        return false;
    do {
        first_bytes = grows() ? NM_RING_BYTES_MIN : slot_bytes;
        result = nm_system_make(path, NM_RING_HEADER_BYTES + first_bytes, NM_RING_HEADER_BYTES + slot_bytes, &memory);
        if (result == 0)
            break;
        slot_bytes /= 2;
    } while ((result == -ENOSPC || result == -EDQUOT || result == -EFBIG || result == -ENOMEM) &&
             slot_bytes >= NM_RING_BYTES_MIN);
    if (result < 0) {
        atomic_store_explicit(&nm_process_state.process->ring_errno, -result,
                              memory_order_relaxed); /* relaxed: a number */
        return false;
    }
    thread->ring = memory;
    thread->map_bytes = NM_RING_HEADER_BYTES + slot_bytes;
    thread->slot_count = slot_bytes / NM_RING_SLOT_BYTES;
    thread->slot_backed = first_bytes / NM_RING_SLOT_BYTES;
    thread->ring->slot_count = thread->slot_count;
    return true;
}

/* Gives memory to the slots from `from` up to `to`. Nothing of what the kernel writes is where a record would be looked for. */
static bool back(nm_ring *ring, uint64_t from, uint64_t to)
{
    bool is_backed = true;

    for (uint64_t at = from; at < to && is_backed; at += PAGE_BYTES / NM_RING_SLOT_BYTES)
        is_backed = nm_system_touch(&nm_ring_slot(ring, at)->word[NM_SLOT_WORDS - 1]);
    return is_backed;
}

void nm_ring_file_grow(nm_recorded_thread *thread)
{
    /* A handler would grow it, too. */
    uint64_t mask = nm_system_block_signals();
    uint64_t backed = thread->slot_backed, wanted_bytes = 2 * backed * NM_RING_SLOT_BYTES;

    if (backed < thread->slot_count) {
        if (fair_bytes(wanted_bytes) == wanted_bytes && back(thread->ring, backed, 2 * backed)) {
            thread->slot_backed = 2 * backed;
        } else {
            thread->slot_count = backed;
            __atomic_store_n(&thread->ring->slot_count, backed, __ATOMIC_RELAXED);
            /* release: pairs with the drain's acquire of head, which moves past `backed` only after this. */
            atomic_thread_fence(memory_order_release);
        }
    }
    nm_system_restore_signals(mask);
}
