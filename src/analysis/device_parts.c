/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of all pools of a device when most of its memory was held. That only rises when memory of the driver comes, which is rare:
 * the figures, of which there are few, are copied each time.
 */
#include "analysis/passes.h"

#include <stdlib.h>

#include "analysis/moments.h"
#include "base/buffer.h"
#include "replay/lookup.h"
#include "replay/pass.h"
#include "replay/sub_pool.h"

enum { NEED_MOMENTS };

typedef struct part_then {
    uint64_t part_id;
    nm_sub_pool_figures figures;
} part_then;

typedef struct hardware_room {
    uint64_t epoch;   /* peak_epoch of the hardware that they are of */
    part_then *parts; /* owned */
    size_t count, capacity;
    bool is_due; /* they are of an older one */
} hardware_room;

static nm_status copy_parts(hardware_room *room, const nm_heap *pool, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_sub_pool *part = pool->parts; part != NULL && status == NM_OK; part = part->next) {
        status = nm_array_grow(&room->parts, &room->capacity, room->count + 1, sizeof *room->parts, err);
        if (status == NM_OK)
            room->parts[room->count++] = (part_then){part->row.part_id, nm_sub_pool_figures_of(part)};
    }
    return status;
}

/* Has the hardware had a new peak? */
static bool begin_peak(nm_run *run, const nm_device_group *group)
{
    hardware_room *room = nm_hardware_room(run, group);

    if (room->epoch == group->peak_epoch)
        return false;
    room->epoch = group->peak_epoch;
    room->count = 0;
    room->is_due = true;
    return true;
}

/* Of all hardware that is due, in one go: there may be much of it. */
static nm_status take_due(nm_run *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next) {
        hardware_room *room =
            nm_is_pool(heap) && heap->device != NULL ? nm_hardware_room(run, heap->device->group) : NULL;

        if (room != NULL && room->is_due)
            status = copy_parts(room, heap, err);
    }
    return status;
}

static nm_status take_peak(nm_run *run, const nm_device_group *group, nm_error *err)
{
    if (!begin_peak(run, group))
        return NM_OK;
    nm_status status = take_due(run, err);
    ((hardware_room *)nm_hardware_room(run, group))->is_due = false;
    return status;
}

/* What the baseline made is one moment: its segments come before their blocks. */
static nm_status take_peaks(nm_run *run, nm_error *err)
{
    bool is_due = false;
    nm_status status = NM_OK;

    for (const nm_device_group *group = run->replay->first_group; group != NULL; group = group->next)
        is_due |= begin_peak(run, group);
    if (is_due)
        status = take_due(run, err);
    for (const nm_device_group *group = run->replay->first_group; group != NULL; group = group->next)
        ((hardware_room *)nm_hardware_room(run, group))->is_due = false;
    return status;
}

static nm_status give(const nm_run *run, nm_error *err)
{
    const nm_sink *sink = &run->replay->sink;
    nm_status status = NM_OK;

    for (const nm_device_group *group = run->replay->first_group; group != NULL; group = group->next) {
        uint64_t moment_id = nm_moments_hardware_peak_of(run->needs[NEED_MOMENTS], group);
        const hardware_room *room = nm_hardware_room(run, group);

        if (moment_id == 0 || room->epoch != group->peak_epoch)
            continue;
        for (size_t i = 0; i < room->count && status == NM_OK; i++) {
            nm_part_sample_row row = {
                .moment_id = moment_id, .part_id = room->parts[i].part_id, .figures = room->parts[i].figures};

            if (row.figures.reserved_bytes > 0)
                status = nm_give_part_sample(sink, &row, err);
        }
    }
    return status;
}

static nm_status take_settled(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_heap *heap = change->heap;

    return heap->level == NM_LEVEL_DRIVER && heap->device != NULL && run->replay->has_events
               ? take_peak(run, heap->device->group, err)
               : NM_OK;
}

static nm_status take_begin(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)change;
    return take_peaks(run, err);
}

static nm_status take_end(nm_run *run, const nm_change *change, nm_error *err)
{
    nm_status status = run->replay->has_events ? NM_OK : take_peaks(run, err);

    (void)change;
    return status == NM_OK ? give(run, err) : status;
}

static void release(nm_run *run)
{
    for (const nm_device_group *group = run->replay->first_group; group != NULL; group = group->next)
        free(((hardware_room *)nm_hardware_room(run, group))->parts);
}

static const nm_pass *const needs[] = {[NEED_MOMENTS] = &nm_moments_pass, NULL};

const nm_pass nm_device_parts_pass = {
    .name = "device parts",
    .gives = {[NM_ROW_PART_SAMPLE] = true},
    .needs = needs,
    .wants = {[NM_CHANGE_SETTLED] = take_settled, [NM_CHANGE_BEGUN] = take_begin, [NM_CHANGE_END] = take_end},
    .room = {[NM_OWNER_HARDWARE] = sizeof(hardware_room)},
    .release = release,
};
