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

static nm_status take_peak(nm_run *run, const nm_heap *changed, nm_error *err)
{
    const nm_device_group *group =
        changed->level == NM_LEVEL_DRIVER && changed->device != NULL ? changed->device->group : NULL;
    hardware_room *room = group == NULL ? NULL : nm_hardware_room(run, group);
    nm_status status = NM_OK;

    if (room == NULL || room->epoch == group->peak_epoch)
        return NM_OK;
    room->epoch = group->peak_epoch;
    room->count = 0;
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        if (nm_is_pool(heap) && heap->device != NULL && heap->device->group == group)
            status = copy_parts(room, heap, err);
    return status;
}

static nm_status end(const nm_run *run, nm_error *err)
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

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    return change->kind == NM_CHANGE_SETTLED ? take_peak(run, change->heap, err) : end(run, err);
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
    .wants = {[NM_CHANGE_SETTLED] = true, [NM_CHANGE_END] = true},
    .room = {[NM_OWNER_HARDWARE] = sizeof(hardware_room)},
    .change = change,
    .release = release,
};
