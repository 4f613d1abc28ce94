/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of the open step by operation, for each heap, and for each process of operators whose block is not known. When the
 * step ends the largest names have rows of their own and one row has the rest. Of long runs fewer and fewer steps are told,
 * the same as in growth.c.
 */
#include "analysis/passes.h"

#include <stdlib.h>

#include "analysis/peak_delta.h"
#include "base/buffer.h"
#include "base/number.h"
#include "replay/lookup.h"

#define ROWS_MAX 16 /* operations of a heap with rows of their own in each step */

typedef struct step_sums {        /* of the open step: the room of a heap, and of a process */
    nm_map index_of;              /* (kind, name) -> index into items */
    nm_step_operation_row *items; /* owned */
    size_t count, capacity;
    size_t recent; /* the last one looked up */
} step_sums;

static nm_status find_name(step_sums *sums, nm_range_kind kind, uint64_t name, nm_step_operation_row **out,
                           nm_error *err)
{
    uint64_t index = sums->recent;
    nm_status status = NM_OK;

    if (index >= sums->count || sums->items[index].kind != kind || sums->items[index].name != name)
        status = nm_map_number(&sums->index_of, (nm_key){(uint64_t)kind, name}, &index, err);
    if (status == NM_OK && index == sums->count) {
        status = nm_array_grow(&sums->items, &sums->capacity, index + 1, sizeof *sums->items, err);
        if (status == NM_OK)
            sums->items[sums->count++] = (nm_step_operation_row){.name_count = 1, .kind = kind, .name = name};
    }
    sums->recent = index;
    *out = status == NM_OK ? &sums->items[index] : NULL;
    return status;
}

/* Nothing is counted of what has no operation, of the baseline, nor of what is left of a cut mapping. */
static nm_status find_of(const nm_run *run, const nm_live *live, nm_step_operation_row **out, nm_error *err)
{
    *out = NULL;
    if (live->row.operation_source == NM_SOURCE_NONE || live->is_baseline || live->is_kept)
        return NM_OK;
    return find_name(nm_heap_room(run, live->heap), live->row.operation_kind, live->row.operation_name, out, err);
}

/* The block has come to an operation: it is new, or its first operator runs in it. */
static nm_status come(const nm_run *run, const nm_live *live, nm_error *err)
{
    nm_step_operation_row *row = NULL;
    nm_status status = nm_live_more_of(live)->split_from_id != 0 ? NM_OK : find_of(run, live, &row, err);

    if (row != NULL) {
        row->allocation_count++;
        nm_sum_add(&row->allocated_bytes, live->row.size_bytes);
    }
    return status;
}

static nm_status take_end(nm_run *run, const nm_change *change, nm_error *err)
{
    nm_step_operation_row *row = NULL;
    nm_status status = find_of(run, change->live, &row, err);

    if (row != NULL) {
        row->freed_count += change->is_whole;
        nm_sum_add(&row->freed_bytes, change->bytes);
    }
    return status;
}

static nm_status take_refusal(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_live *live = change->live;
    nm_step_operation_row *row = NULL;
    nm_status status = find_of(run, live, &row, err);

    if (row != NULL) {
        row->freed_count -= row->freed_count > 0;
        row->freed_bytes = nm_subtract_saturated(row->freed_bytes, live->row.size_bytes);
    }
    return status;
}

static nm_status add_delta(step_sums *sums, const nm_operation_rise_row *rise, nm_error *err)
{
    nm_step_operation_row *row = NULL;
    nm_status status = find_name(sums, rise->kind, rise->name, &row, err);

    if (row == NULL)
        return status;
    row->doubtful_count += rise->is_doubtful;
    row->run_count += !rise->is_doubtful;
    if (!rise->is_doubtful && rise->rise_bytes > row->max_rise_bytes)
        row->max_rise_bytes = rise->rise_bytes;
    return status;
}

static nm_status take_operation_end(nm_run *run, const nm_change *change, nm_error *err)
{
    size_t count = 0;
    const nm_operation_rise_row *rows = nm_peak_delta_rows(run->needs[0], &count);
    nm_status status = NM_OK;

    (void)change;
    for (size_t i = 0; i < count && status == NM_OK; i++)
        status = add_delta(nm_heap_room(run, nm_replay_heap(run->replay, rows[i].heap_id)), &rows[i], err);
    return status;
}

static nm_status take_workspace(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_workspace_row *workspace = change->workspace;
    step_sums *sums = change->live != NULL      ? nm_heap_room(run, change->live->heap)
                      : change->process != NULL ? nm_process_room(run, change->process)
                                                : NULL;
    nm_step_operation_row *row = NULL;
    nm_status status = change->is_first ? come(run, change->live, err) : NM_OK;

    if (sums != NULL && status == NM_OK)
        status = find_name(sums, workspace->operation_kind, workspace->operation_name, &row, err);
    if (row == NULL)
        return status;
    row->workspace_count++;
    nm_sum_add(&row->workspace_bytes, workspace->requested_bytes);
    nm_sum_add(&row->workspace_block_bytes, workspace->block_bytes);
    return status;
}

/* ---- The end of a step --------------------------------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* The most bytes first. */
static int compare_rows(const void *left, const void *right)
{
    const nm_step_operation_row *a = left, *b = right;
    int order = compare_numbers(nm_add_saturated(b->allocated_bytes, b->workspace_bytes),
                                nm_add_saturated(a->allocated_bytes, a->workspace_bytes));

    if (order == 0)
        order = compare_numbers(b->max_rise_bytes, a->max_rise_bytes);
    if (order == 0)
        order = compare_numbers(a->kind, b->kind);
    return order != 0 ? order : compare_numbers(a->name, b->name);
}

static void add_to_rest(nm_step_operation_row *rest, const nm_step_operation_row *row)
{
    rest->name_count++;
    rest->allocation_count += row->allocation_count;
    nm_sum_add(&rest->allocated_bytes, row->allocated_bytes);
    rest->freed_count += row->freed_count;
    nm_sum_add(&rest->freed_bytes, row->freed_bytes);
    rest->run_count += row->run_count;
    rest->doubtful_count += row->doubtful_count;
    if (row->max_rise_bytes > rest->max_rise_bytes)
        rest->max_rise_bytes = row->max_rise_bytes;
    rest->workspace_count += row->workspace_count;
    nm_sum_add(&rest->workspace_bytes, row->workspace_bytes);
    nm_sum_add(&rest->workspace_block_bytes, row->workspace_block_bytes);
}

static nm_status tell(const nm_run *run, const nm_process *process, const nm_heap *heap, nm_step_operation_row row,
                      nm_error *err)
{
    bool is_step = process->step_count > 0;

    row.process_id = process->id;
    row.heap_id = heap == NULL ? 0 : heap->id;
    row.generation = (int64_t)process->step_count;
    row.number = is_step ? process->step.number : NM_UNKNOWN_NUMBER;
    return nm_give_step_operation(&run->replay->sink, &row, err);
}

static nm_status end_step_of(const nm_run *run, const nm_process *process, const nm_heap *heap, step_sums *sums,
                             bool is_told, nm_error *err)
{
    nm_step_operation_row rest = {.is_rest = true};
    nm_status status = NM_OK;

    if (sums->count == 0)
        return NM_OK;
    if (is_told) {
        qsort(sums->items, sums->count, sizeof *sums->items, compare_rows);
        for (size_t i = 0; i < sums->count && status == NM_OK; i++)
            if (i < ROWS_MAX)
                status = tell(run, process, heap, sums->items[i], err);
            else
                add_to_rest(&rest, &sums->items[i]);
        if (rest.name_count > 0 && status == NM_OK)
            status = tell(run, process, heap, rest, err);
    }
    sums->count = 0;
    nm_map_free(&sums->index_of);
    return status;
}

static nm_status end_step(const nm_run *run, const nm_process *process, bool is_last, nm_error *err)
{
    bool is_told = is_last || nm_step_is_sampled(process->step_count);
    nm_status status = end_step_of(run, process, NULL, nm_process_room(run, process), is_told, err);

    for (const nm_heap *heap = process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process)
        status = end_step_of(run, process, heap, nm_heap_room(run, heap), is_told, err);
    return status;
}

/* ---- The pass ---------------------------------------------------------------------------------------------------- */

static nm_status take_operation(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)change;
    (void)err;
    nm_run_hear(run, NM_CHANGE_BORN, true);
    nm_run_hear(run, NM_CHANGE_ENDING, true);
    nm_run_hear(run, NM_CHANGE_REFUSED, true);
    return NM_OK;
}

static nm_status take_birth(nm_run *run, const nm_change *change, nm_error *err)
{
    return come(run, change->live, err);
}

static nm_status take_step_end(nm_run *run, const nm_change *change, nm_error *err)
{
    return end_step(run, change->process, change->is_last, err);
}

static void free_sums(step_sums *sums)
{
    free(sums->items);
    nm_map_free(&sums->index_of);
}

static void release(nm_run *run)
{
    for (const nm_process *process = run->replay->first_process; process != NULL; process = process->next)
        free_sums(nm_process_room(run, process));
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next)
        free_sums(nm_heap_room(run, heap));
}

static const nm_pass *const needs[] = {&nm_peak_delta_pass, NULL};

const nm_pass nm_operator_sums_pass = {
    .name = "operator sums",
    .gives = {[NM_ROW_STEP_OPERATION] = true},
    .needs = needs,
    .wants = {[NM_CHANGE_OPERATION_BEGUN] = take_operation,
              [NM_CHANGE_BORN] = take_birth,
              [NM_CHANGE_ENDING] = take_end,
              [NM_CHANGE_REFUSED] = take_refusal,
              [NM_CHANGE_WORKSPACE] = take_workspace,
              [NM_CHANGE_OPERATION_ENDED] = take_operation_end,
              [NM_CHANGE_STEP_ENDED] = take_step_end},
    .at_times = {[NM_CHANGE_BORN] = true, /* since there was an operation */
                 [NM_CHANGE_ENDING] = true,
                 [NM_CHANGE_REFUSED] = true},
    .room = {[NM_OWNER_HEAP] = sizeof(step_sums), [NM_OWNER_PROCESS] = sizeof(step_sums)},
    .release = release,
};
