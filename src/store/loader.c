/* SPDX-License-Identifier: Apache-2.0 */
#include "store/loader.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/growth_rows.h"
#include "store/loader_pool.h"

static const char *const table_names[NM_TABLE_COUNT] = {
    [NM_TABLE_OPERATION] = "operation",
    [NM_TABLE_ALLOCATION_KIND_SUM] = "allocation_kind_sum",
    [NM_TABLE_OPERATION_SUM] = "operation_sum",
    [NM_TABLE_OPERATION_MEMORY_SUM] = "operation_memory_sum",
    [NM_TABLE_OPERATION_STEP_SUM] = "operation_step_sum",
    [NM_TABLE_WORKSPACE_HOLD_SUM] = "workspace_hold_sum",
    [NM_TABLE_STREAM_CALL_SUM] = "stream_call_sum",
    [NM_TABLE_COPY_SUM] = "copy_sum",
    [NM_TABLE_NOTE] = "note",
    [NM_TABLE_PAUSE] = "pause",
    [NM_TABLE_STEP] = "step",
    [NM_TABLE_STEP_SUM] = "step_sum",
    [NM_TABLE_STEP_ANCHOR] = "step_anchor",
    [NM_TABLE_STACK_SUM] = "stack_sum",
    [NM_TABLE_STACK_STEP] = "stack_step",
    [NM_TABLE_STACK_LIFETIME] = "stack_lifetime",
    [NM_TABLE_STACK_FLOOR] = "stack_floor",
    [NM_TABLE_GRAPH] = "graph",
    [NM_TABLE_FAILURE] = "failure",
    [NM_TABLE_MOMENT] = "moment",
    [NM_TABLE_OUT_OF_MEMORY_CHAIN] = "out_of_memory_chain",
    [NM_TABLE_OUT_OF_MEMORY_STACK] = "out_of_memory_stack",
    [NM_TABLE_POOL_EFFORT] = "pool_effort",
    [NM_TABLE_HEAP_SUM] = "heap_sum",
    [NM_TABLE_PEAK_STACK] = "peak_stack",
    [NM_TABLE_POOL_HIT] = "pool_hit",
    [NM_TABLE_POOL_SUM] = "pool_sum",
    [NM_TABLE_POOL_GROUP] = "pool_group",
    [NM_TABLE_POOL_CLASS] = "pool_class",
    [NM_TABLE_POOL_STEP] = "pool_step",
    [NM_TABLE_POOL_REUSE] = "pool_reuse",
    [NM_TABLE_POOL_MISS_SUM] = "pool_miss_sum",
    [NM_TABLE_PENDING_SUM] = "pending_sum",
    [NM_TABLE_COST_HISTOGRAM] = "cost_histogram",
    [NM_TABLE_SLOWEST_CALL] = "slowest_call",
    [NM_TABLE_DEVICE_SUM] = "device_sum",
    [NM_TABLE_USAGE] = "usage",
    [NM_TABLE_FRAGMENTATION_SAMPLE] = "fragmentation_sample",
    [NM_TABLE_POOL_GROWTH] = "pool_growth",
    [NM_TABLE_POOL_PART] = "pool_part",
    [NM_TABLE_PART_SAMPLE] = "part_sample",
    [NM_TABLE_GAP] = "gap",
    [NM_TABLE_FRAGMENTATION_USAGE] = "fragmentation_usage",
    [NM_TABLE_BLOCKER_SAMPLE] = "blocker_sample",
    [NM_TABLE_MEMORY_SAMPLE] = "memory_sample",
    [NM_TABLE_MODULE_SAMPLE] = "module_sample",
    [NM_TABLE_HEAP_SAMPLE] = "heap_sample",
    [NM_TABLE_DEVICE_SAMPLE] = "device_sample",
    [NM_TABLE_ANOMALY] = "anomaly",
    [NM_TABLE_INPUT] = "input",
    [NM_TABLE_PROCESS] = "process",
    [NM_TABLE_THREAD] = "thread",
    [NM_TABLE_PROCESS_ENVIRONMENT] = "process_environment",
    [NM_TABLE_DEVICE] = "device",
    [NM_TABLE_HEAP] = "heap",
    [NM_TABLE_MODULE] = "module",
    [NM_TABLE_FRAME] = "frame",
    [NM_TABLE_STACK] = "stack",
};

nm_status nm_loader_open(sqlite3 *db, nm_retention retention, nm_loader *out, nm_error *err)
{
    nm_status status;

    *out = (nm_loader){.db = db, .retention = retention};
    status = nm_growth_open(db, err);
    if (status == NM_OK)
        status = nm_db_column_count(db, "allocation", &out->allocation_columns, err);
    assert(out->allocation_columns <= NM_RETENTION_COLUMNS_MAX);
    if (status == NM_OK)
        status = nm_bulk_open(db, "allocation", &out->allocations, err);
    if (status == NM_OK)
        status = nm_bulk_open(db, "copy", &out->copies, err);
    if (status == NM_OK)
        status = nm_bulk_open(db, "workspace", &out->workspaces, err);
    if (status == NM_OK)
        status = nm_bulk_open(db, "stream_call", &out->stream_calls, err);
    if (status == NM_OK)
        status = nm_bulk_open(db, "pool_miss", &out->misses, err);
    for (int table = 0; status == NM_OK && table < NM_TABLE_COUNT; table++)
        status = nm_insert_open(db, table_names[table], &out->inserts[table], err);
    return status;
}

uint64_t nm_loader_known(nm_loader *loader, const nm_id_set *ids, uint64_t id)
{
    if (id == 0 || nm_id_set_has(ids, id))
        return id;
    loader->unknown_reference_count++;
    return 0;
}

static nm_status check_named_rows(const nm_loader *loader, nm_error *err)
{
    uint64_t allocation_id = nm_id_set_missing(&loader->named_allocations, &loader->allocation_ids);
    uint64_t operation_id = nm_id_set_missing(&loader->named_operations, &loader->operation_ids);

    if (allocation_id != 0)
        return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "allocation %llu is named but has no row",
                       (unsigned long long)allocation_id);
    if (operation_id != 0)
        return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "operation %llu is named but has no row",
                       (unsigned long long)operation_id);
    return NM_OK;
}

nm_status nm_loader_finish(nm_loader *loader, const nm_store_input *input, nm_error *err)
{
    nm_status status = nm_loader_write_waiting(loader, err);

    if (status == NM_OK)
        status = nm_bulk_flush(loader->allocations, err);
    if (status == NM_OK)
        status = nm_bulk_flush(loader->copies, err);
    if (status == NM_OK)
        status = nm_bulk_flush(loader->workspaces, err);
    if (status == NM_OK)
        status = nm_bulk_flush(loader->stream_calls, err);
    if (status == NM_OK)
        status = check_named_rows(loader, err);
    if (status == NM_OK)
        status = nm_loader_write_sums(loader, err);
    if (status == NM_OK)
        status = nm_loader_write_pool_sums(loader, err);
    if (status == NM_OK)
        status = nm_loader_write_names(loader, input, err);
    if (status == NM_OK)
        status = nm_growth_finish(loader->db, err);
    if (status == NM_OK)
        status = nm_loader_settle_misses(loader, err);
    return status;
}

void nm_loader_close(nm_loader *loader)
{
    for (int table = 0; table < NM_TABLE_COUNT; table++)
        nm_insert_close(&loader->inserts[table]);
    nm_bulk_close(loader->allocations);
    nm_bulk_close(loader->copies);
    nm_bulk_close(loader->workspaces);
    nm_bulk_close(loader->stream_calls);
    nm_bulk_close(loader->misses);
    nm_pool_sums_free(&loader->pool_sums);
    nm_cost_sums_free(&loader->cost_sums);
    nm_id_set_free(&loader->stepping_processes);
    nm_kind_sums_free(&loader->kind_sums);
    nm_operation_sums_free(&loader->operation_sums);
    nm_hold_sums_free(&loader->hold_sums);
    nm_stream_sums_free(&loader->stream_sums);
    nm_copy_sums_free(&loader->copy_sums);
    nm_retention_rows_free(&loader->retained);
    nm_definitions_free(&loader->definitions);
    nm_id_set_free(&loader->allocation_ids);
    nm_id_set_free(&loader->operation_ids);
    nm_id_set_free(&loader->named_allocations);
    nm_id_set_free(&loader->named_operations);
    nm_stack_uses_free(&loader->stack_uses);
    free(loader->process_ends.items);
    nm_map_free(&loader->process_end_of);
    memset(loader, 0, sizeof *loader);
}
