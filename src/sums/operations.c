/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums by the name of an operation, so that no view has to walk all operations or all allocations: of its runs and their
 * workspaces by process, and of the memory that it allocated by heap.
 */
#include "sums/declared.h"

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

#define FROM(field)      NM_CELL(nm_operation_row, field)
#define WORKSPACE(field) NM_CELL(nm_workspace_row, field)
#define TO(field)        NM_CELL(nm_operation_sum_row, field)

enum { RUN_FAILED = 1, TIMED = 2 };
enum { REUSED = 1, HAS_BLOCK = 2 };

static uint32_t classify_run(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_operation_row *row = told;
    nm_operation_sum_row *sum = key;

    sum->process_id = row->process_id;
    sum->kind = (uint64_t)row->kind;
    sum->name = nm_definitions_number(definitions, row->name);
    return (row->error_code != NM_UNKNOWN_NUMBER && row->error_code != 0 ? RUN_FAILED : 0) |
           (row->begin_ns != NM_NO_TIME && row->end_ns != NM_NO_TIME ? TIMED : 0);
}

static const nm_sum_measure run_measures[] = {
    {NM_SUMMED_COUNT, .to = TO(run_count)},
    {NM_SUMMED_COUNT, RUN_FAILED, .to = TO(error_count)},
    {NM_SUMMED_COUNT, TIMED, .to = TO(timed_count)},
    {NM_SUMMED_DIFFERENCE, TIMED, FROM(end_ns), FROM(begin_ns), .to = TO(duration_ns)},
};
NM_SUM_TAKEN(run_measures)

static uint32_t classify_workspace(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_workspace_row *row = told;
    nm_operation_sum_row *sum = key;

    sum->process_id = row->process_id;
    sum->kind = (uint64_t)row->operation_kind;
    sum->name = nm_definitions_number(definitions, row->operation_name);
    return (row->is_reused == 1 ? REUSED : 0) | (row->heap_id != 0 ? HAS_BLOCK : 0);
}

static const nm_sum_measure workspace_measures[] = {
    {NM_SUMMED_COUNT, .to = TO(workspace_count)},
    {NM_SUMMED_SUM, .from = WORKSPACE(requested_bytes), .to = TO(requested_bytes)},
    {NM_SUMMED_MAX, .from = WORKSPACE(requested_bytes), .to = TO(max_requested_bytes)},
    {NM_SUMMED_MAX, .from = WORKSPACE(block_bytes), .to = TO(max_block_bytes)},
    {NM_SUMMED_COUNT, REUSED, .to = TO(reused_count)},
    {NM_SUMMED_SUM, HAS_BLOCK, .from = WORKSPACE(block_bytes), .to = TO(block_bytes)},
    {NM_SUMMED_SUM, HAS_BLOCK, .from = WORKSPACE(requested_bytes), .to = TO(block_requested_bytes)},
    {NM_SUMMED_SAME, HAS_BLOCK, .from = WORKSPACE(heap_id), .to = TO(heap_id)},
};
NM_SUM_TAKEN(workspace_measures)

static const nm_sum_feed run_feeds[] = {
    {NM_ROW_OPERATION, classify_run, NM_SUM_MEASURES(run_measures)},
    {NM_ROW_WORKSPACE, classify_workspace, NM_SUM_MEASURES(workspace_measures)},
};

const nm_sum nm_sum_of_runs = {.name = "z_operation_sum",
                               .gives = NM_ROW_OPERATION_SUM,
                               .row_bytes = sizeof(nm_operation_sum_row),
                               .key_bytes = TO(run_count),
                               NM_FEEDS(run_feeds)};

#undef FROM
#undef TO

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

#define FROM(field) NM_CELL(nm_allocation_row, field)
#define RISE(field) NM_CELL(nm_operation_rise_row, field)
#define TO(field)   NM_CELL(nm_operation_memory_sum_row, field)

enum {
    COUNTED = 1,
    OUTSTANDING = 2,
    HELD = 4,
    ENDED = 8,
    BY_THREAD = 16,
    BY_WORKSPACE = 32,
    BY_QUEUE = 64,
    UNLOADED = 128
};
enum { CERTAIN = 1, DOUBTFUL = 2 };

static const uint32_t fact_of_source[] = {[NM_SOURCE_NONE] = 0,
                                          [NM_SOURCE_THREAD] = BY_THREAD,
                                          [NM_SOURCE_WORKSPACE] = BY_WORKSPACE,
                                          [NM_SOURCE_QUEUE] = BY_QUEUE};

/* What is left of a cut mapping is no allocation of its own, but may be outstanding; the baseline is neither. */
static uint32_t classify_allocation(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_allocation_row *row = told;
    nm_operation_memory_sum_row *sum = key;
    bool is_counted = row->alloc_seq != NM_NO_SEQ && row->split_from_id == 0;
    bool is_held = row->end_kind == NM_END_NONE && row->generation != NM_UNKNOWN_NUMBER;

    if (!is_counted && !is_held)
        return NM_SUM_SKIP;
    sum->heap_id = row->heap_id;
    sum->has_operation = row->operation_source != NM_SOURCE_NONE;
    if (sum->has_operation) {
        sum->kind = (uint64_t)row->operation_kind;
        sum->name = nm_definitions_number(definitions, row->operation_name);
    }
    return (is_counted ? COUNTED | fact_of_source[row->operation_source] : 0) | (is_held ? HELD : 0) |
           (is_held && !row->is_segment ? OUTSTANDING : 0) | (row->end_kind != NM_END_NONE ? ENDED : 0) |
           (row->is_unloaded ? UNLOADED : 0);
}

static const nm_sum_measure allocation_measures[] = {
    {NM_SUMMED_COUNT, COUNTED, .to = TO(allocation_count)},
    {NM_SUMMED_SUM, COUNTED, .from = FROM(size_bytes), .to = TO(allocated_bytes)},
    {NM_SUMMED_MAX, COUNTED, .from = FROM(size_bytes), .to = TO(max_bytes)},
    {NM_SUMMED_COUNT, BY_THREAD, .to = TO(thread_count)},
    {NM_SUMMED_COUNT, BY_WORKSPACE, .to = TO(workspace_count)},
    {NM_SUMMED_COUNT, BY_QUEUE, .to = TO(queue_count)},
    {NM_SUMMED_COUNT, COUNTED | ENDED, .to = TO(ended_count)},
    {NM_SUMMED_SUM, HELD, .from = FROM(size_bytes), .to = TO(held_bytes)},
    {NM_SUMMED_SUM, COUNTED | ENDED | UNLOADED, .from = FROM(size_bytes), .to = TO(unloaded_bytes)},
    {NM_SUMMED_COUNT, OUTSTANDING, .to = TO(outstanding_count)},
    {NM_SUMMED_SUM, OUTSTANDING, .from = FROM(size_bytes), .to = TO(outstanding_bytes)},
};
NM_SUM_TAKEN(allocation_measures)

static uint32_t classify_rise(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_operation_rise_row *row = told;
    nm_operation_memory_sum_row *sum = key;

    sum->heap_id = row->heap_id;
    sum->has_operation = true;
    sum->kind = (uint64_t)row->kind;
    sum->name = nm_definitions_number(definitions, row->name);
    return row->is_doubtful ? DOUBTFUL : CERTAIN;
}

static const nm_sum_measure rise_measures[] = {
    {NM_SUMMED_COUNT, DOUBTFUL, .to = TO(doubtful_count)},
    {NM_SUMMED_COUNT, CERTAIN, .to = TO(rise_count)},
    {NM_SUMMED_SUM, CERTAIN, .from = RISE(rise_bytes), .to = TO(rise_bytes)},
    {NM_SUMMED_RECORD, CERTAIN, RISE(rise_bytes), RISE(begin_seq), TO(max_rise_bytes), TO(max_rise_seq)},
};
NM_SUM_TAKEN(rise_measures)

static bool is_empty_memory(const void *row)
{
    const nm_operation_memory_sum_row *sum = row;

    return sum->allocation_count == 0 && sum->outstanding_count == 0 && sum->max_rise_bytes == 0 &&
           sum->doubtful_count == 0;
}

static const nm_sum_feed memory_feeds[] = {
    {NM_ROW_ALLOCATION, classify_allocation, NM_SUM_MEASURES(allocation_measures)},
    {NM_ROW_OPERATION_RISE, classify_rise, NM_SUM_MEASURES(rise_measures)},
};

const nm_sum nm_sum_of_memory = {.name = "z_operation_memory_sum",
                                 .gives = NM_ROW_OPERATION_MEMORY_SUM,
                                 .row_bytes = sizeof(nm_operation_memory_sum_row),
                                 .key_bytes = TO(allocation_count),
                                 NM_FEEDS(memory_feeds),
                                 .is_empty = is_empty_memory};
