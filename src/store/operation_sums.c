/* SPDX-License-Identifier: Apache-2.0 */
#include "store/operation_sums.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/number.h"

static void raise(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

static uint64_t name_key(nm_range_kind kind, uint32_t name)
{
    return ((uint64_t)kind + 1) << 32 | name;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static nm_status find_run(nm_operation_sums *sums, uint64_t process_id, nm_range_kind kind, uint32_t name,
                          nm_run_sum **out, nm_error *err)
{
    uint64_t index = 0;
    nm_status status = nm_map_number(&sums->run_of, (nm_key){process_id, name_key(kind, name)}, &index, err);

    if (status == NM_OK && index == sums->runs.count) {
        status = nm_array_grow(&sums->runs.items, &sums->runs.capacity, index + 1, sizeof **out, err);
        if (status == NM_OK)
            sums->runs.items[sums->runs.count++] = (nm_run_sum){.process_id = process_id, .kind = kind, .name = name};
    }
    if (status == NM_OK)
        *out = &sums->runs.items[index];
    return status;
}

nm_status nm_operation_sums_run(nm_operation_sums *sums, const nm_operation_row *row, uint32_t name, nm_error *err)
{
    nm_run_sum *sum = NULL;
    nm_status status = find_run(sums, row->process_id, row->kind, name, &sum, err);

    if (status != NM_OK)
        return status;
    sum->run_count++;
    sum->error_count += row->error_code != NM_UNKNOWN_NUMBER && row->error_code != 0;
    if (row->begin_ns == NM_NO_TIME || row->end_ns == NM_NO_TIME)
        return NM_OK;
    sum->has_duration = true;
    if (row->end_ns > row->begin_ns)
        nm_sum_add(&sum->duration_ns, (uint64_t)row->end_ns - (uint64_t)row->begin_ns);
    return NM_OK;
}

nm_status nm_operation_sums_workspace(nm_operation_sums *sums, const nm_workspace_row *row, uint32_t name,
                                      nm_error *err)
{
    nm_run_sum *sum = NULL;
    nm_status status = find_run(sums, row->process_id, row->operation_kind, name, &sum, err);

    if (status != NM_OK)
        return status;
    sum->workspace_count++;
    nm_sum_add(&sum->requested_bytes, row->requested_bytes);
    raise(&sum->max_requested_bytes, row->requested_bytes);
    raise(&sum->max_block_bytes, row->block_bytes);
    sum->reused_count += row->is_reused == 1;
    if (row->heap_id == 0)
        return NM_OK;
    nm_sum_add(&sum->block_bytes, row->block_bytes);
    nm_sum_add(&sum->block_requested_bytes, row->requested_bytes);
    sum->has_many_heaps |= sum->heap_id != 0 && sum->heap_id != row->heap_id;
    sum->heap_id = row->heap_id;
    return NM_OK;
}

/* ---- Allocations ------------------------------------------------------------------------------------------------- */

static nm_status find_memory(nm_operation_sums *sums, uint64_t heap_id, bool has_operation, nm_range_kind kind,
                             uint32_t name, nm_memory_sum **out, nm_error *err)
{
    nm_key key = {heap_id, has_operation ? name_key(kind, name) : 0};
    uint64_t index = 0;
    nm_status status = nm_map_number(&sums->memory_of, key, &index, err);

    if (status == NM_OK && index == sums->memory.count) {
        status = nm_array_grow(&sums->memory.items, &sums->memory.capacity, index + 1, sizeof **out, err);
        if (status == NM_OK)
            sums->memory.items[sums->memory.count++] = (nm_memory_sum){.heap_id = heap_id,
                                                                       .has_operation = has_operation,
                                                                       .kind = kind,
                                                                       .max_rise_seq = NM_NO_SEQ,
                                                                       .name = has_operation ? name : 0};
    }
    if (status == NM_OK)
        *out = &sums->memory.items[index];
    return status;
}

/* What is left of a cut mapping is no allocation of its own, but may be outstanding; the baseline is neither. */
nm_status nm_operation_sums_allocation(nm_operation_sums *sums, const nm_allocation_row *row, uint32_t name,
                                       nm_error *err)
{
    bool is_counted = row->alloc_seq != NM_NO_SEQ && row->split_from_id == 0;
    bool is_outstanding = row->end_kind == NM_END_NONE && !row->is_segment && row->generation != NM_UNKNOWN_NUMBER;
    bool is_held = row->end_kind == NM_END_NONE && row->generation != NM_UNKNOWN_NUMBER;
    nm_memory_sum *sum = NULL;
    nm_status status;

    if (!is_counted && !is_outstanding && !is_held)
        return NM_OK;
    status =
        find_memory(sums, row->heap_id, row->operation_source != NM_SOURCE_NONE, row->operation_kind, name, &sum, err);
    if (status != NM_OK)
        return status;
    if (is_counted) {
        sum->allocation_count++;
        nm_sum_add(&sum->allocated_bytes, row->size_bytes);
        raise(&sum->max_bytes, row->size_bytes);
        sum->source_counts[row->operation_source]++;
        sum->ended_count += row->end_kind != NM_END_NONE;
    }
    if (is_held)
        nm_sum_add(&sum->held_bytes, row->size_bytes);
    if (is_outstanding) {
        sum->outstanding_count++;
        nm_sum_add(&sum->outstanding_bytes, row->size_bytes);
    }
    return NM_OK;
}

nm_status nm_operation_sums_rise(nm_operation_sums *sums, const nm_operation_rise_row *row, uint32_t name,
                                 nm_error *err)
{
    nm_memory_sum *sum = NULL;
    nm_status status = find_memory(sums, row->heap_id, true, row->kind, name, &sum, err);

    if (status != NM_OK)
        return status;
    sum->doubtful_count += row->is_doubtful;
    if (row->is_doubtful)
        return NM_OK;
    sum->rise_count++;
    nm_sum_add(&sum->rise_bytes, row->rise_bytes);
    bool is_first = row->rise_bytes == sum->max_rise_bytes && row->begin_seq < sum->max_rise_seq;
    if (sum->max_rise_seq == NM_NO_SEQ || row->rise_bytes > sum->max_rise_bytes || is_first) {
        sum->max_rise_bytes = row->rise_bytes;
        sum->max_rise_seq = row->begin_seq;
    }
    return NM_OK;
}

bool nm_memory_sum_is_empty(const nm_memory_sum *sum)
{
    return sum->allocation_count == 0 && sum->outstanding_count == 0 && sum->max_rise_bytes == 0 &&
           sum->doubtful_count == 0;
}

void nm_operation_sums_free(nm_operation_sums *sums)
{
    free(sums->runs.items);
    free(sums->memory.items);
    nm_map_free(&sums->run_of);
    nm_map_free(&sums->memory_of);
    *sums = (nm_operation_sums){0};
}
