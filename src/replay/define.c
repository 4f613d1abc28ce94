/* SPDX-License-Identifier: Apache-2.0
 *
 * Definitions: what the replay itself must know of processes, threads, devices and heaps. A definition may come again
 * with more known; what would move a heap to another process, device or level is not taken over. Numbers that were never
 * defined are made up for processes alone, so that everything has one.
 */
#include "replay/define.h"

#include <stdlib.h>
#include <string.h>

#include "replay/lookup.h"
#include "replay/pass.h"
#include "replay/pool.h"
#include "replay/sub_pool.h"
#include "replay/usage.h"

/* A zeroed thing of `bytes`, kept in the map; NULL when memory is out. */
static void *make(nm_map *map, uint64_t high, uint64_t low, size_t bytes, nm_error *err)
{
    void *made = nm_replay_allocate(bytes, err);

    if (made != NULL && nm_map_put(map, (nm_key){high, low}, (uintptr_t)made, err) != NM_OK) {
        free(made);
        return NULL;
    }
    return made;
}

static nm_process *find_or_make_process(nm_replay *replay, uint64_t id, nm_error *err)
{
    nm_process *process = nm_map_pointer(&replay->processes, (nm_key){0, id});

    if (process != NULL)
        return process;
    process = make(&replay->processes, 0, id, nm_runs_bytes_of(replay, NM_OWNER_PROCESS), err);
    if (process == NULL)
        return NULL;
    process->id = id;
    process->last_heap = &process->heaps;
    process->loss_seq = NM_NO_SEQ;
    process->moment_seq = NM_NO_SEQ;
    process->loss_until_ns = NM_NO_TIME;
    *replay->last_process = process;
    replay->last_process = &process->next;
    return process;
}

static nm_status define_process(nm_replay *replay, const nm_definition *definition, nm_error *err)
{
    nm_process *process = find_or_make_process(replay, definition->id, err);

    if (process == NULL)
        return NM_ERR_MEMORY;
    process->host = definition->process.host;
    process->begin_ns = definition->process.begin_ns;
    process->is_late = definition->process.is_late != 0;
    return NM_OK;
}

static nm_status define_thread(nm_replay *replay, const nm_definition *definition, nm_error *err)
{
    nm_thread *thread = nm_replay_thread(replay, definition->id);
    nm_process *process;

    if (thread != NULL)
        return NM_OK;
    process = find_or_make_process(replay, definition->thread.process_id, err);
    if (process == NULL)
        return NM_ERR_MEMORY;
    thread = make(&replay->threads, 0, definition->id, nm_runs_bytes_of(replay, NM_OWNER_THREAD), err);
    if (thread == NULL)
        return NM_ERR_MEMORY;
    thread->id = definition->id;
    thread->process = process;
    thread->queue_seq = NM_NO_SEQ;
    *replay->last_thread = thread;
    replay->last_thread = &thread->next;
    return NM_OK;
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static nm_status make_group(nm_replay *replay, nm_key key, uint64_t device_id, nm_device_group **out, nm_error *err)
{
    nm_device_group *group = make(&replay->groups, key.high, key.low, nm_runs_bytes_of(replay, NM_OWNER_HARDWARE), err);

    if (group == NULL)
        return NM_ERR_MEMORY;
    group->peak = (nm_device_peak_row){.device_id = device_id, .peak_seq = NM_NO_SEQ, .peak_ns = NM_NO_TIME};
    *replay->last_group = group;
    replay->last_group = &group->next;
    *out = group;
    return NM_OK;
}

/* The device no longer belongs to its group: another one gives it its number, or it is empty (0) and its peak goes with
 * the device, for it was the device's alone. */
static void leave_group(nm_replay *replay, const nm_device *device, nm_device_group *group)
{
    nm_device_group *old = device->group;
    uint64_t first_id = 0;
    uint64_t value;
    size_t at = 0;

    while (nm_map_next(&replay->devices, &at, NULL, &value)) {
        const nm_device *other = (const nm_device *)(uintptr_t)value;

        if (other != device && other->group == old && (first_id == 0 || other->id < first_id))
            first_id = other->id;
    }
    if (first_id == 0 && old->peak.peak_bytes > group->peak.peak_bytes) {
        group->peak.peak_bytes = old->peak.peak_bytes;
        group->peak.peak_seq = old->peak.peak_seq;
        group->peak.peak_ns = old->peak.peak_ns;
    }
    if (first_id == 0 || old->peak.device_id == device->id)
        old->peak.device_id = first_id;
    old->live_bytes = nm_subtract_saturated(old->live_bytes, device->live_bytes);
}

/* Devices with the same host and physical ordinal are one; where that is not known, a device is a group of its own. */
static nm_status set_group(nm_replay *replay, nm_device *device, nm_error *err)
{
    bool is_physical = device->physical_ordinal != NM_UNKNOWN_NUMBER;
    /* The high half keeps the two kinds of keys apart: numbers of strings are small. */
    nm_key key =
        is_physical ? (nm_key){device->host, (uint64_t)device->physical_ordinal} : (nm_key){UINT64_MAX, device->id};
    nm_device_group *group = nm_map_pointer(&replay->groups, (nm_key){key.high, key.low});
    nm_device_group *old = device->group;
    nm_status status = NM_OK;

    if (group == NULL)
        status = make_group(replay, key, device->id, &group, err);
    if (status != NM_OK || group == old)
        return status;
    if (group->peak.device_id == 0) /* it was left by all */
        group->peak.device_id = device->id;
    if (old != NULL)
        leave_group(replay, device, group);
    nm_sum_add(&group->live_bytes, device->live_bytes);
    device->group = group;
    return old == NULL ? NM_OK : NM_TELL(replay, NM_CHANGE_DEVICE_MOVED, err, .device = device, .hardware = old);
}

static nm_status define_device(nm_replay *replay, const nm_definition *definition, nm_error *err)
{
    nm_device *device = nm_replay_device(replay, definition->id);

    if (device == NULL) {
        nm_process *process = find_or_make_process(replay, definition->device.process_id, err);

        device = process == NULL
                     ? NULL
                     : make(&replay->devices, 0, definition->id, nm_runs_bytes_of(replay, NM_OWNER_DEVICE), err);
        if (device == NULL)
            return NM_ERR_MEMORY;
        device->id = definition->id;
        device->process = process;
    }
    device->host = device->process->host;
    device->physical_ordinal = definition->device.physical_ordinal;
    device->is_npu = definition->device.device_kind != 0 && definition->device.device_kind == replay->npu_string;
    return set_group(replay, device, err);
}

/* ---- Heaps ------------------------------------------------------------------------------------------------------- */

static nm_arena *find_arena(nm_replay *replay, nm_process *process, uint64_t device_id, nm_error *err)
{
    nm_arena *arena = nm_map_pointer(&replay->arenas, (nm_key){process->id, device_id});

    if (arena != NULL)
        return arena;
    arena = make(&replay->arenas, process->id, device_id, sizeof *arena, err);
    if (arena == NULL)
        return NULL;
    arena->process = process;
    arena->device_id = device_id;
    arena->next = process->arenas;
    process->arenas = arena;
    return arena;
}

static void init_rows(nm_heap *heap)
{
    heap->total = (nm_heap_total_row){.heap_id = heap->id,
                                      .last_alloc_seq = NM_NO_SEQ,
                                      .peak_seq = NM_NO_SEQ,
                                      .peak_ns = NM_NO_TIME,
                                      .peak_reserved_seq = NM_NO_SEQ};
    heap->first_alloc_seq = NM_NO_SEQ;
    heap->reserve_seq = NM_NO_SEQ;
}

static void init_heap(nm_heap *heap, const nm_definition *definition, nm_process *process, nm_arena *arena,
                      nm_device *device)
{
    heap->id = definition->id;
    heap->process = process;
    heap->arena = arena;
    heap->device = device;
    heap->level = definition->heap.level;
    heap->module_id = definition->heap.module_id;
    heap->block_cut = definition->heap.block_cut;
    heap->peak_stated_reserved_seq = NM_NO_SEQ;
    heap->size_basis = definition->heap.size_basis == NM_BASIS_BLOCK ? NM_BASIS_BLOCK : NM_BASIS_REQUESTED;
    heap->small_bytes = definition->heap.small_bytes != 0 ? definition->heap.small_bytes : NM_SMALL_BYTES_DEFAULT;
    heap->large_bytes = definition->heap.large_bytes != 0 ? definition->heap.large_bytes : NM_LARGE_BYTES_DEFAULT;
    if (nm_is_pool(heap) || heap->level == NM_LEVEL_PHYSICAL || heap->level == NM_LEVEL_IMPORTED)
        heap->space = &heap->blocks;
    else
        heap->space = heap->level == NM_LEVEL_DRIVER       ? &arena->ranges
                      : heap->level == NM_LEVEL_REGISTERED ? &process->registered_ranges
                                                           : &process->host_ranges;
    init_rows(heap);
}

static nm_status define_heap(nm_replay *replay, const nm_definition *definition, nm_error *err)
{
    nm_heap *heap = nm_replay_heap(replay, definition->id);
    nm_process *process;
    nm_arena *arena;
    nm_status status;

    if (heap != NULL)
        return NM_OK;
    process = find_or_make_process(replay, definition->heap.process_id, err);
    arena = process == NULL ? NULL : find_arena(replay, process, definition->heap.device_id, err);
    heap = arena == NULL ? NULL : make(&replay->heaps, 0, definition->id, nm_runs_bytes_of(replay, NM_OWNER_HEAP), err);
    if (heap == NULL)
        return NM_ERR_MEMORY;
    heap->baseline_site = nm_replay_allocate(nm_runs_bytes_of(replay, NM_OWNER_SITE), err);
    if (heap->baseline_site == NULL)
        return NM_ERR_MEMORY;
    init_heap(heap, definition, process, arena, nm_replay_device(replay, definition->heap.device_id));
    heap->replay = replay;
    *replay->last_heap = heap;
    replay->last_heap = &heap->next;
    *process->last_heap = heap;
    process->last_heap = &heap->next_of_process;
    process->heap_count++;
    status = NM_TELL(replay, NM_CHANGE_HEAP_DEFINED, err, .heap = heap);
    if (status != NM_OK || !nm_is_pool(heap) || arena->pool != NULL)
        return status;
    arena->pool = heap;
    status = nm_pool_adopt(heap, err);
    return status == NM_OK ? nm_usage_done(replay, NULL, err) : status;
}

/* ---- Stacks ------------------------------------------------------------------------------------------------------ */

static nm_status define_stack(nm_replay *replay, uint64_t id, nm_error *err)
{
    nm_buffer *bits = &replay->stack_bits;
    nm_status status = NM_OK;

    if (id >= NM_STACK_BITS_MAX)
        return nm_map_put(&replay->stacks, (nm_key){0, id}, 1, err);
    if (id / 8 >= bits->len) {
        size_t more = id / 8 + 1 - bits->len;

        status = nm_buffer_reserve(bits, more, err);
        if (status != NM_OK)
            return status;
        memset(bits->data + bits->len, 0, more);
        bits->len += more;
    }
    bits->data[id / 8] |= (uint8_t)(1u << id % 8);
    return status;
}

/* ---- Strings ----------------------------------------------------------------------------------------------------- */

static void note_string(nm_replay *replay, const nm_definition *definition)
{
    if (definition->string.len == 3 && memcmp(definition->string.data, "npu", 3) == 0)
        replay->npu_string = definition->id;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

nm_status nm_replay_define(nm_replay *replay, const nm_definition *definition, nm_error *err)
{
    nm_status status = NM_OK;

    switch (definition->id == 0 ? 0 : definition->kind) {
    case NM_DEFINE_STRING:
        note_string(replay, definition);
        break;
    case NM_DEFINE_PROCESS:
        status = define_process(replay, definition, err);
        break;
    case NM_DEFINE_THREAD:
        status = define_thread(replay, definition, err);
        break;
    case NM_DEFINE_DEVICE:
        status = define_device(replay, definition, err);
        break;
    case NM_DEFINE_HEAP:
        status = define_heap(replay, definition, err);
        break;
    case NM_DEFINE_STACK:
        status = define_stack(replay, definition->id, err);
        break;
    default:
        break;
    }
    if (status == NM_OK)
        status = NM_TELL(replay, NM_CHANGE_DEFINED, err, .definition = definition);
    return status == NM_OK ? nm_give_definition(&replay->sink, definition, err) : status;
}

void nm_define_free(nm_replay *replay)
{
    for (nm_heap *heap = replay->first_heap; heap != NULL; heap = heap->next) {
        nm_usage_free(heap);
        nm_parts_free(heap);
    }
    nm_map_free_pointers(&replay->heaps);
    nm_map_free_pointers(&replay->arenas);
    nm_map_free_pointers(&replay->groups);
    nm_map_free_pointers(&replay->devices);
    nm_map_free_pointers(&replay->threads);
    nm_map_free_pointers(&replay->processes);
    nm_map_free(&replay->stacks);
    nm_buffer_free(&replay->stack_bits);
    nm_map_free(&replay->operations);
}
