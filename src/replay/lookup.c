/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the things that numbers name, and answers what follows from one object alone. It lies below every other file of
 * the folder, so it may call none of them.
 */
#include "replay/lookup.h"

#include <stdlib.h>

#define CODE_BAD_ALLOC         200000
#define CODE_MEMORY_ALLOCATION 207001
#define CODE_RESOURCES         207005 /* streams, events and the like, though it is memory that was asked for */
#define CODE_DEVICE_MEMORY     207018
#define CODE_DRIVER_MEMORY     6 /* of the driver below ACL */

void *nm_replay_allocate(size_t bytes, nm_error *err)
{
    void *made = calloc(1, bytes);

    if (made == NULL)
        nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    return made;
}

static void *find(const nm_map *map, uint64_t id)
{
    const uint64_t *known = nm_map_get(map, (nm_key){0, id});

    return known == NULL ? NULL : (void *)(uintptr_t)*known;
}

nm_thread *nm_replay_find_thread(const nm_replay *replay, uint64_t id)
{
    nm_thread *thread = id == 0 ? NULL : find(&replay->threads, id);

    if (thread != NULL)
        replay->scratch->thread = thread;
    return thread;
}

nm_heap *nm_replay_find_heap(const nm_replay *replay, uint64_t id)
{
    nm_heap *heap = id == 0 ? NULL : find(&replay->heaps, id);

    if (heap != NULL)
        replay->scratch->heap = heap;
    return heap;
}

nm_device *nm_replay_device(const nm_replay *replay, uint64_t id)
{
    return id == 0 ? NULL : find(&replay->devices, id);
}

nm_process *nm_replay_process(const nm_replay *replay, uint64_t id)
{
    return find(&replay->processes, id);
}

bool nm_replay_knows_stack(const nm_replay *replay, uint64_t id)
{
    if (id / 8 < replay->stack_bits.len)
        return replay->stack_bits.data[id / 8] >> id % 8 & 1;
    return id >= NM_STACK_BITS_MAX && nm_map_get(&replay->stacks, (nm_key){0, id}) != NULL;
}

/* ---- Operations ---- */

const nm_operation *nm_replay_innermost(const nm_replay *replay, const nm_thread *thread)
{
    return (thread != NULL ? thread : replay->nobody)->operations;
}

uint64_t nm_replay_operation(const nm_replay *replay, const nm_thread *thread)
{
    const nm_operation *operation = nm_replay_innermost(replay, thread);

    return operation == NULL ? 0 : operation->row.operation_id;
}

#define SAMPLED_STEPS_MIN 512

bool nm_step_is_sampled(uint64_t generation)
{
    uint64_t stride = 1;

    while (generation / stride >= 2 * SAMPLED_STEPS_MIN)
        stride *= 2;
    return generation % stride == 0;
}

/* ---- Events ---- */

bool nm_event_is_lack(const nm_event *event)
{
    switch (event->error_code) {
    case CODE_BAD_ALLOC:
    case CODE_MEMORY_ALLOCATION:
    case CODE_DEVICE_MEMORY:
    case CODE_DRIVER_MEMORY:
    case CODE_RESOURCES:
        return true;
    default:
        return false;
    }
}

/* ---- Live memory ---- */

int nm_free_misfit(uint64_t level, uint64_t free_call)
{
    switch (free_call) {
    case NM_FREE_PHYSICAL:
        return level == NM_LEVEL_PHYSICAL ? 0 : level == NM_LEVEL_IMPORTED ? 1 : NM_MISFIT_NEVER;
    case NM_FREE_REGISTERED:
        return level == NM_LEVEL_REGISTERED ? 0 : NM_MISFIT_NEVER;
    case NM_FREE_IMPORTED:
        return level == NM_LEVEL_IMPORTED ? 0 : NM_MISFIT_NEVER;
    case NM_FREE_POOL:
        return level == NM_LEVEL_POOL ? 0 : level == NM_LEVEL_WORKSPACE ? 1 : NM_MISFIT_NEVER;
    default:
        break;
    }
    switch (level) {
    case NM_LEVEL_DRIVER:
        return free_call == NM_FREE_HOST ? 3 : 0;
    case NM_LEVEL_PINNED:
        return free_call == NM_FREE_HOST ? 0 : 1;
    case NM_LEVEL_HOST:
        return free_call == NM_FREE_HOST ? 1 : 2;
    case NM_LEVEL_REGISTERED:
        return free_call == NM_FREE_HOST ? 2 : 3;
    default:
        return NM_MISFIT_NEVER;
    }
}

bool nm_free_is_past(int64_t since_ns, int64_t now_ns)
{
    return now_ns > since_ns && (uint64_t)now_ns - (uint64_t)since_ns > NM_LATE_FREE_NS;
}

uint64_t nm_live_usable_end(const nm_live *live)
{
    uint64_t bytes = live->row.requested_bytes != 0 ? live->row.requested_bytes : live->row.block_bytes;

    return nm_live_address(live) + bytes < nm_live_address(live) ? UINT64_MAX : nm_live_address(live) + bytes;
}

/* ---- Pools ---- */

uint64_t nm_pool_reserved_bytes(const nm_heap *pool)
{
    if (nm_pool_is_unseen(pool))
        return pool->total.live_bytes;
    return nm_pool_is_stated(pool) ? pool->stated_reserved_bytes : pool->total.reserved_bytes;
}
