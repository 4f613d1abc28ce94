/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of each heap by step of its process, and by stack over all of the recording. A heap keeps what its sums were when
 * the step began; the end of the step gives the difference to the sink.
 */
#include "replay/totals.h"

#include "replay/lookup.h"
#include "replay/pass.h"

nm_step_total_row nm_totals_since(const nm_heap *heap)
{
    const nm_heap_total_row *total = &heap->total;
    const nm_step_base *base = &heap->step_base;

    return (nm_step_total_row){
        .process_id = heap->process->id,
        .heap_id = heap->id,
        .allocation_count = nm_subtract_saturated(total->allocation_count, base->allocation_count),
        .free_count = nm_subtract_saturated(total->free_count, base->free_count),
        .allocated_bytes = nm_subtract_saturated(total->allocated_bytes, base->allocated_bytes),
        .freed_bytes = nm_subtract_saturated(total->freed_bytes, base->freed_bytes),
        .miss_count = nm_subtract_saturated(heap->miss_count, base->miss_count),
        .peak_bytes = base->peak_bytes,
        .live_bytes = total->live_bytes,
        .live_count = heap->live_count,
        .left_count = base->is_left_unknown ? NM_UNKNOWN_NUMBER : (int64_t)base->left_count,
        .left_bytes = base->is_left_unknown ? NM_UNKNOWN_NUMBER : (int64_t)base->left_bytes,
        .peak_reserved_bytes = !nm_is_pool(heap)         ? 0
                               : nm_pool_is_stated(heap) ? base->peak_stated_bytes
                                                         : base->peak_reserved_bytes,
        .graph_bytes = base->graph_bytes,
        .graph_reserved_bytes = base->graph_reserved_bytes,
    };
}

static void begin_step(nm_heap *heap)
{
    const nm_heap_total_row *total = &heap->total;

    heap->step_base = (nm_step_base){
        .allocation_count = total->allocation_count,
        .free_count = total->free_count,
        .allocated_bytes = total->allocated_bytes,
        .freed_bytes = total->freed_bytes,
        .miss_count = heap->miss_count,
        .peak_bytes = total->live_bytes,
        .peak_reserved_bytes = total->reserved_bytes,
        .peak_stated_bytes = heap->stated_reserved_bytes,
        .graph_bytes = heap->graph_bytes,
        .graph_reserved_bytes = heap->graph_reserved_bytes,
    };
}

/* Driver calls of the step, summed up for each device of the process. */
static void count_driver_calls(const nm_process *process)
{
    for (nm_heap *heap = process->heaps; heap != NULL; heap = heap->next_of_process)
        if (heap->device != NULL)
            heap->device->step_call_count = 0;
    for (nm_heap *heap = process->heaps; heap != NULL; heap = heap->next_of_process) {
        const nm_step_base *base = &heap->step_base;

        if (heap->device != NULL && heap->level == NM_LEVEL_DRIVER)
            heap->device->step_call_count +=
                nm_subtract_saturated(heap->total.allocation_count, base->allocation_count) +
                nm_subtract_saturated(heap->total.free_count, base->free_count);
    }
}

static nm_step_total_row name_step(nm_step_total_row row, const nm_process *process, int64_t end_seq, int64_t end_ns)
{
    bool is_step = process->step_count > 0;

    row.number = is_step ? process->step.number : NM_UNKNOWN_NUMBER;
    row.generation = row.last_generation = (int64_t)process->step_count;
    row.begin_seq = is_step ? process->step.begin_seq : NM_NO_SEQ;
    row.begin_ns = is_step ? process->step.begin_ns : NM_NO_TIME;
    row.end_seq = end_seq;
    row.end_ns = end_ns;
    return row;
}

nm_status nm_totals_end_step(nm_replay *replay, nm_process *process, int64_t end_seq, int64_t end_ns, bool is_last,
                             nm_error *err)
{
    nm_status status = NM_TELL(replay, NM_CHANGE_STEP_ENDED, err, .process = process, .is_last = is_last);

    count_driver_calls(process);
    for (nm_heap *heap = process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process) {
        nm_step_total_row row = nm_totals_since(heap);

        if (row.allocation_count == 0 && row.free_count == 0 && row.freed_bytes == 0) {
            begin_step(heap); /* its segments may have come or gone */
            continue;
        }
        row = name_step(row, process, end_seq, end_ns);
        row.driver_call_count = heap->device == NULL ? 0 : heap->device->step_call_count;
        begin_step(heap);
        if (status == NM_OK)
            status = nm_give_step_total(&replay->sink, &row, err);
    }
    return status;
}

nm_status nm_totals_write_site(nm_replay *replay, const nm_heap *heap, const nm_site *site, nm_error *err)
{
    nm_site_total_row row = {
        .heap_id = heap->id,
        .stack_id = site->stack_id,
        .allocation_count = site->allocation_count,
        .free_count = site->free_count,
        .allocated_bytes = site->allocated_bytes,
        .freed_bytes = site->freed_bytes,
        .in_step_bytes = site->in_step_bytes,
    };

    if (!replay->sink.wants[NM_ROW_SITE_TOTAL] || row.allocation_count == 0)
        return NM_OK;
    return nm_give_site_total(&replay->sink, &row, err);
}
