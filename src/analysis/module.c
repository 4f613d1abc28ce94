/* SPDX-License-Identifier: Apache-2.0
 *
 * The path is noted at the birth, and summed up at the end: see peak_sums.h. Where no range of a module was ever open,
 * nothing is.
 */
#include "analysis/passes.h"
#include "analysis/peak_sums.h"
#include "replay/lookup.h"
#include "replay/pass.h"

typedef struct path_room { /* of an operation: its own, else that of the operation around it. Of what lives: its path */
    uint64_t path;         /* string; 0: none */
} path_room;

static nm_status take_operation(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_operation *operation = change->operation;
    path_room *room = nm_operation_room(run, operation);

    (void)err;
    if (operation->row.kind == NM_RANGE_MODULE) {
        room->path = operation->row.name;
        nm_run_hear(run, NM_CHANGE_BORN, true);
        nm_run_hear(run, NM_CHANGE_ENDED, true);
        nm_run_hear(run, NM_CHANGE_OUTSTANDING, true);
    } else if (operation->outer != NULL)
        *room = *(const path_room *)nm_operation_room(run, operation->outer);
    return NM_OK;
}

static nm_status take_birth(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_operation *operation = nm_replay_innermost(run->replay, change->context->thread);

    (void)err;
    if (operation != NULL && !change->live->is_baseline)
        *(path_room *)nm_live_room(run, change->live) = *(const path_room *)nm_operation_room(run, operation);
    return NM_OK;
}

static nm_status end(nm_run *run, const nm_live *live, int64_t peak_seq, nm_error *err)
{
    const path_room *room = nm_live_room(run, live);

    return room->path == 0 || live->row.is_segment
               ? NM_OK
               : nm_peak_sums_add(nm_heap_room(run, live->heap), &live->row, peak_seq, (nm_key){0, room->path}, err);
}

static nm_status take_end(nm_run *run, const nm_change *change, nm_error *err)
{
    return end(run, change->live, change->live->more->peak_seq, err);
}

static nm_status take_outstanding(nm_run *run, const nm_change *change, nm_error *err)
{
    return end(run, change->live, change->live->heap->total.peak_seq, err);
}

static nm_status finish(nm_run *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next) {
        nm_peak_sums *sums = nm_heap_room(run, heap);

        nm_peak_sums_settle(sums, heap->total.peak_seq);
        for (size_t i = 0; i < sums->count && status == NM_OK; i++)
            status = nm_give_peak_module(&run->replay->sink,
                                         &(nm_peak_module_row){.heap_id = heap->id,
                                                               .module = sums->items[i].key.low,
                                                               .live_count = sums->items[i].live_count,
                                                               .live_bytes = sums->items[i].live_bytes},
                                         err);
    }
    return status;
}

static void release(nm_run *run)
{
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next)
        nm_peak_sums_free(nm_heap_room(run, heap));
}

const nm_pass nm_module_pass = {
    .name = "module",
    .gives = {[NM_ROW_PEAK_MODULE] = true},
    .wants = {[NM_CHANGE_OPERATION_BEGUN] = take_operation,
              [NM_CHANGE_BORN] = take_birth,
              [NM_CHANGE_ENDED] = take_end,
              [NM_CHANGE_OUTSTANDING] = take_outstanding},
    .at_times = {[NM_CHANGE_BORN] = true, /* since there was a range of a module */
                 [NM_CHANGE_ENDED] = true,
                 [NM_CHANGE_OUTSTANDING] = true},
    .room = {[NM_OWNER_HEAP] = sizeof(nm_peak_sums),
             [NM_OWNER_LIVE] = sizeof(path_room),
             [NM_OWNER_OPERATION] = sizeof(path_room)},
    .finish = finish,
    .release = release,
};
