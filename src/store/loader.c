/* SPDX-License-Identifier: Apache-2.0 */
#include "store/loader.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/growth_rows.h"
#include "store/loader_pool.h"

static const nm_columns columns_of[NM_TABLE_COUNT] = {
#define PREPARED(name, table, names) [NM_TABLE_##name] = {table, names},
#define BULK(name, table, names)
#include "store/columns.def"
#undef PREPARED
#undef BULK
};

typedef enum bulk_kind {
#define PREPARED(name, table, names)
#define BULK(name, table, names) BULK_##name,
#include "store/columns.def"
#undef PREPARED
#undef BULK
    BULK_COUNT
} bulk_kind;

static const nm_columns columns_of_bulk[BULK_COUNT] = {
#define PREPARED(name, table, names)
#define BULK(name, table, names) [BULK_##name] = {table, names},
#include "store/columns.def"
#undef PREPARED
#undef BULK
};

nm_status nm_loader_open(sqlite3 *db, nm_retention retention, nm_loader *out, nm_error *err)
{
    nm_status status;

    *out = (nm_loader){.db = db, .retention = retention};
    status = nm_sums_new(&out->definitions, &out->sums, err);
    if (status == NM_OK)
        status = nm_growth_open(db, err);
    if (status == NM_OK)
        status = nm_bulk_open(db, &columns_of_bulk[BULK_ALLOCATION], &out->allocations, err);
    if (status == NM_OK)
        status = nm_bulk_open(db, &columns_of_bulk[BULK_COPY], &out->copies, err);
    if (status == NM_OK)
        status = nm_bulk_open(db, &columns_of_bulk[BULK_WORKSPACE], &out->workspaces, err);
    if (status == NM_OK)
        status = nm_bulk_open(db, &columns_of_bulk[BULK_STREAM_CALL], &out->stream_calls, err);
    if (status == NM_OK)
        status = nm_bulk_open(db, &columns_of_bulk[BULK_POOL_MISS], &out->misses, err);
    assert(status != NM_OK || nm_bulk_columns(out->allocations) <= NM_RETENTION_COLUMNS_MAX);
    for (int table = 0; status == NM_OK && table < NM_TABLE_COUNT; table++)
        status = nm_insert_open(db, &columns_of[table], &out->inserts[table], err);
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
    const nm_sink own_sink = nm_sink_of_all(loader, nm_loader_take);
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
        status = nm_bulk_flush(loader->misses, err);
    if (status == NM_OK)
        status = nm_sums_finish(loader->sums, &own_sink, err);
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
    nm_id_set_free(&loader->stepping_processes);
    nm_sums_free(loader->sums);
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
