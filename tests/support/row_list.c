/* SPDX-License-Identifier: Apache-2.0 */
#include "support/row_list.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "replay/replay.h"
#include "support/text_trace.h"

static nm_status keep_definition(void *context, const nm_definition *row, nm_error *err)
{
    (void)row;
    (void)err;
    ((nm_row_list *)context)->definition_count++;
    return NM_OK;
}

#define KEEP(name, type, rows)                                                                                         \
    static nm_status keep_##name(void *context, const type *row, nm_error *err)                                        \
    {                                                                                                                  \
        nm_row_list *list = context;                                                                                   \
        nm_status status =                                                                                             \
            nm_array_grow(&list->rows.items, &list->rows.capacity, list->rows.count + 1, sizeof *row, err);            \
                                                                                                                       \
        if (status == NM_OK)                                                                                           \
            list->rows.items[list->rows.count++] = *row;                                                               \
        return status;                                                                                                 \
    }

KEEP(process_end, nm_process_end_row, process_ends)
KEEP(allocation, nm_allocation_row, allocations)
KEEP(failure, nm_failure_row, failures)
KEEP(out_of_memory, nm_out_of_memory_row, chains)
KEEP(out_of_memory_stack, nm_out_of_memory_stack_row, chain_stacks)
KEEP(copy, nm_copy_row, copies)
KEEP(operation, nm_operation_row, operations)
KEEP(workspace, nm_workspace_row, workspaces)
KEEP(stream_call, nm_stream_call_row, stream_calls)
KEEP(note, nm_note_row, notes)
KEEP(step, nm_step_row, steps)
KEEP(moment, nm_moment_row, moments)
KEEP(usage, nm_usage_row, usages)
KEEP(fragmentation, nm_fragmentation_row, fragmentations)
KEEP(pool_part, nm_pool_part_row, parts)
KEEP(part_sample, nm_part_sample_row, part_samples)
KEEP(gap, nm_gap_row, gaps)
KEEP(fragment_usage, nm_fragment_usage_row, fragment_usages)
KEEP(blocker, nm_blocker_row, blockers)
KEEP(memory_sample, nm_memory_sample_row, samples)
KEEP(module_sample, nm_module_sample_row, module_samples)
KEEP(heap_sample, nm_heap_sample_row, heap_samples)
KEEP(device_sample, nm_device_sample_row, device_samples)
KEEP(anomaly, nm_anomaly_row, anomalies)
KEEP(heap_total, nm_heap_total_row, totals)
KEEP(peak_stack, nm_peak_stack_row, peak_stacks)
KEEP(hit, nm_hit_row, hits)
KEEP(miss, nm_miss_row, misses)
KEEP(pending, nm_pending_row, pendings)
KEEP(pool_group, nm_pool_group_row, groups)
KEEP(pool_class, nm_pool_class_row, classes)
KEEP(pool_step, nm_pool_step_row, pool_steps)
KEEP(pool_reuse, nm_pool_reuse_row, reuses)
KEEP(pool_sum, nm_pool_sum_row, pool_sums)
KEEP(device_peak, nm_device_peak_row, device_peaks)

nm_sink nm_row_list_sink(nm_row_list *list)
{
    return (nm_sink){
        .context = list,
        .definition = keep_definition,
        .process_end = keep_process_end,
        .allocation = keep_allocation,
        .failure = keep_failure,
        .out_of_memory = keep_out_of_memory,
        .out_of_memory_stack = keep_out_of_memory_stack,
        .copy = keep_copy,
        .operation = keep_operation,
        .workspace = keep_workspace,
        .stream_call = keep_stream_call,
        .note = keep_note,
        .step = keep_step,
        .moment = keep_moment,
        .usage = keep_usage,
        .fragmentation = keep_fragmentation,
        .pool_part = keep_pool_part,
        .part_sample = keep_part_sample,
        .gap = keep_gap,
        .fragment_usage = keep_fragment_usage,
        .blocker = keep_blocker,
        .memory_sample = keep_memory_sample,
        .module_sample = keep_module_sample,
        .heap_sample = keep_heap_sample,
        .device_sample = keep_device_sample,
        .anomaly = keep_anomaly,
        .heap_total = keep_heap_total,
        .peak_stack = keep_peak_stack,
        .hit = keep_hit,
        .miss = keep_miss,
        .pending = keep_pending,
        .pool_group = keep_pool_group,
        .pool_class = keep_pool_class,
        .pool_step = keep_pool_step,
        .pool_reuse = keep_pool_reuse,
        .pool_sum = keep_pool_sum,
        .device_peak = keep_device_peak,
    };
}

void nm_row_list_free(nm_row_list *list)
{
    free(list->process_ends.items);
    free(list->allocations.items);
    free(list->failures.items);
    free(list->chains.items);
    free(list->chain_stacks.items);
    free(list->copies.items);
    free(list->operations.items);
    free(list->workspaces.items);
    free(list->stream_calls.items);
    free(list->notes.items);
    free(list->steps.items);
    free(list->moments.items);
    free(list->usages.items);
    free(list->fragmentations.items);
    free(list->parts.items);
    free(list->part_samples.items);
    free(list->gaps.items);
    free(list->fragment_usages.items);
    free(list->blockers.items);
    free(list->samples.items);
    free(list->module_samples.items);
    free(list->heap_samples.items);
    free(list->device_samples.items);
    free(list->anomalies.items);
    free(list->totals.items);
    free(list->peak_stacks.items);
    free(list->hits.items);
    free(list->misses.items);
    free(list->pendings.items);
    free(list->groups.items);
    free(list->classes.items);
    free(list->pool_steps.items);
    free(list->reuses.items);
    free(list->pool_sums.items);
    free(list->device_peaks.items);
    *list = (nm_row_list){0};
}

nm_status nm_row_list_replay(nm_row_list *list, const char *text, nm_error *err)
{
    nm_sink sink = nm_row_list_sink(list);
    nm_text_trace *trace = NULL;
    nm_replay *replay = NULL;
    nm_record record;
    nm_status status = nm_text_trace_open(text, &trace, err);

    if (status == NM_OK)
        status = nm_replay_new(&sink, &replay, err);
    while (status == NM_OK && (status = nm_text_trace_next(trace, &record, err)) == NM_OK)
        status = nm_replay_record(replay, &record, err);
    if (status == NM_END)
        status = nm_replay_finish(replay, err);
    nm_replay_free(replay);
    nm_text_trace_close(trace);
    return status;
}

const nm_allocation_row *nm_row_list_allocation(const nm_row_list *list, uint64_t allocation_id)
{
    for (size_t i = 0; i < list->allocations.count; i++)
        if (list->allocations.items[i].allocation_id == allocation_id)
            return &list->allocations.items[i];
    return NULL;
}

const nm_heap_total_row *nm_row_list_total(const nm_row_list *list, uint64_t heap_id)
{
    for (size_t i = 0; i < list->totals.count; i++)
        if (list->totals.items[i].heap_id == heap_id)
            return &list->totals.items[i];
    return NULL;
}

const nm_hit_row *nm_row_list_hit(const nm_row_list *list, uint64_t heap_id, int bucket)
{
    for (size_t i = 0; i < list->hits.count; i++)
        if (list->hits.items[i].heap_id == heap_id && list->hits.items[i].bucket == bucket)
            return &list->hits.items[i];
    return NULL;
}

const nm_fragmentation_row *nm_row_list_figures(const nm_row_list *list, nm_moment_kind kind, size_t n,
                                                uint64_t heap_id)
{
    uint64_t moment_id = 0;

    for (size_t i = 0; i < list->moments.count && moment_id == 0; i++) {
        const nm_moment_row *moment = &list->moments.items[i];

        if (moment->kind != kind || (kind == NM_MOMENT_PEAK && moment->heap_id != heap_id))
            continue;
        if (n-- == 0)
            moment_id = moment->moment_id;
    }
    for (size_t i = 0; i < list->fragmentations.count; i++)
        if (list->fragmentations.items[i].moment_id == moment_id && list->fragmentations.items[i].heap_id == heap_id)
            return &list->fragmentations.items[i];
    return NULL;
}

const nm_peak_stack_row *nm_row_list_peak_stack(const nm_row_list *list, uint64_t heap_id, uint64_t stack_id,
                                                bool is_baseline)
{
    for (size_t i = 0; i < list->peak_stacks.count; i++) {
        const nm_peak_stack_row *row = &list->peak_stacks.items[i];

        if (row->heap_id == heap_id && row->stack_id == stack_id && row->is_baseline == is_baseline)
            return row;
    }
    return NULL;
}
