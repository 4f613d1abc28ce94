/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of the open step by operation, for each heap, and for each process of operators whose block is not known. When the
 * step ends the largest names have rows of their own and one row has the rest. Of long runs fewer and fewer steps are told,
 * the same as in growth.c.
 */
#include "replay/names.h"

#include <stdlib.h>

#include "replay/lookup.h"

static nm_status find_name(nm_step_names *names, nm_range_kind kind, uint64_t name, nm_step_operation_row **out,
                           nm_error *err)
{
    uint64_t index = names->recent;
    nm_status status = NM_OK;

    if (index >= names->count || names->items[index].kind != kind || names->items[index].name != name)
        status = nm_map_number(&names->index_of, (nm_key){(uint64_t)kind, name}, &index, err);
    if (status == NM_OK && index == names->count) {
        status = nm_array_grow(&names->items, &names->capacity, index + 1, sizeof *names->items, err);
        if (status == NM_OK)
            names->items[names->count++] = (nm_step_operation_row){.name_count = 1, .kind = kind, .name = name};
    }
    names->recent = index;
    *out = status == NM_OK ? &names->items[index] : NULL;
    return status;
}

/* Nothing is counted of what has no operation, of the baseline, nor of what is left of a cut mapping. */
static nm_status find_of(const nm_live *live, nm_step_operation_row **out, nm_error *err)
{
    *out = NULL;
    if (live->row.operation_source == NM_SOURCE_NONE || live->is_baseline || live->is_kept)
        return NM_OK;
    return find_name(&live->heap->names, live->row.operation_kind, live->row.operation_name, out, err);
}

nm_status nm_names_allocated(const nm_live *live, nm_error *err)
{
    nm_step_operation_row *row = NULL;
    nm_status status = live->row.split_from_id != 0 ? NM_OK : find_of(live, &row, err);

    if (row != NULL) {
        row->allocation_count++;
        nm_sum_add(&row->allocated_bytes, live->row.size_bytes);
    }
    return status;
}

nm_status nm_names_freed(const nm_live *live, uint64_t bytes, bool is_whole, nm_error *err)
{
    nm_step_operation_row *row = NULL;
    nm_status status = find_of(live, &row, err);

    if (row != NULL) {
        row->freed_count += is_whole;
        nm_sum_add(&row->freed_bytes, bytes);
    }
    return status;
}

nm_status nm_names_unfree(const nm_live *live, nm_error *err)
{
    nm_step_operation_row *row = NULL;
    nm_status status = find_of(live, &row, err);

    if (row != NULL) {
        row->freed_count -= row->freed_count > 0;
        row->freed_bytes = nm_subtract_saturated(row->freed_bytes, live->row.size_bytes);
    }
    return status;
}

nm_status nm_names_rise(nm_heap *heap, const nm_operation_rise_row *rise, nm_error *err)
{
    nm_step_operation_row *row = NULL;
    nm_status status = find_name(&heap->names, rise->kind, rise->name, &row, err);

    if (row == NULL)
        return status;
    row->doubtful_count += rise->is_doubtful;
    row->run_count += !rise->is_doubtful;
    if (!rise->is_doubtful && rise->rise_bytes > row->max_rise_bytes)
        row->max_rise_bytes = rise->rise_bytes;
    return status;
}

nm_status nm_names_workspace(nm_process *process, nm_heap *heap, const nm_workspace_row *workspace, nm_error *err)
{
    nm_step_names *names = heap != NULL ? &heap->names : process != NULL ? &process->names : NULL;
    nm_step_operation_row *row = NULL;
    nm_status status =
        names == NULL ? NM_OK : find_name(names, workspace->operation_kind, workspace->operation_name, &row, err);

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

static nm_status tell(const nm_replay *replay, const nm_process *process, const nm_heap *heap,
                      nm_step_operation_row row, nm_error *err)
{
    bool is_step = process->step_count > 0;

    row.process_id = process->id;
    row.heap_id = heap == NULL ? 0 : heap->id;
    row.generation = (int64_t)process->step_count;
    row.number = is_step ? process->step.number : NM_UNKNOWN_NUMBER;
    return nm_give_step_operation(&replay->sink, &row, err);
}

static nm_status end_step(const nm_replay *replay, const nm_process *process, const nm_heap *heap, nm_step_names *names,
                          bool is_told, nm_error *err)
{
    nm_step_operation_row rest = {.is_rest = true};
    nm_status status = NM_OK;

    if (names->count == 0)
        return NM_OK;
    if (is_told) {
        qsort(names->items, names->count, sizeof *names->items, compare_rows);
        for (size_t i = 0; i < names->count && status == NM_OK; i++)
            if (i < NM_STEP_NAMES_MAX)
                status = tell(replay, process, heap, names->items[i], err);
            else
                add_to_rest(&rest, &names->items[i]);
        if (rest.name_count > 0 && status == NM_OK)
            status = tell(replay, process, heap, rest, err);
    }
    names->count = 0;
    nm_map_free(&names->index_of);
    return status;
}

nm_status nm_names_end_step(const nm_replay *replay, nm_process *process, bool is_last, nm_error *err)
{
    bool is_told = replay->sink.wants[NM_ROW_STEP_OPERATION] && (is_last || nm_step_is_sampled(process->step_count));
    nm_status status = end_step(replay, process, NULL, &process->names, is_told, err);

    for (nm_heap *heap = process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process)
        status = end_step(replay, process, heap, &heap->names, is_told, err);
    return status;
}

void nm_names_free(nm_step_names *names)
{
    free(names->items);
    nm_map_free(&names->index_of);
    *names = (nm_step_names){0};
}
