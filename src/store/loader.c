/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of a load: tables are opened, rows taken (loader_rows.c), and in the end all that waited is written in the
 * order in which one needs the other: rows, sums, names.
 */
#include "store/loader.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/loader_pool.h"
#include "store/verdicts/verdicts.h"

static const nm_columns columns_of[NM_TABLE_COUNT] = {
#define TABLE(name, table, names) [NM_TABLE_##name] = {table, names},
#include "store/columns.def"
#undef TABLE
};

static nm_status open_row(nm_loader *loader, nm_row_kind kind, nm_error *err)
{
    const nm_row_table *table = &nm_row_tables[kind];
    nm_columns columns = {table->name, table->columns};

    if (table->name == NULL)
        return NM_OK;
    return table->is_large ? nm_bulk_open(loader->db, &columns, &loader->bulks[kind], err)
                           : nm_insert_open(loader->db, &columns, &loader->inserts[kind], err);
}

nm_status nm_loader_open(sqlite3 *db, nm_retention retention, nm_loader *out, nm_error *err)
{
    nm_status status;

    *out = (nm_loader){.db = db, .retention = retention};
    status = nm_sums_new(&out->definitions, &out->sums, err);
    if (status == NM_OK)
        status = nm_verdicts_begin(db, err);
    for (nm_row_kind kind = 0; status == NM_OK && kind < NM_ROW_KINDS; kind++) {
        status = open_row(out, kind, err);
        assert(out->bulks[kind] == NULL || nm_bulk_columns(out->bulks[kind]) <= NM_RETENTION_COLUMNS_MAX);
    }
    for (int table = 0; status == NM_OK && table < NM_TABLE_COUNT; table++)
        status = nm_insert_open(db, &columns_of[table], &out->tables[table], err);
    return status;
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

    for (nm_row_kind kind = 0; status == NM_OK && kind < NM_ROW_KINDS; kind++)
        if (loader->bulks[kind] != NULL)
            status = nm_bulk_flush(loader->bulks[kind], err);
    if (status == NM_OK)
        status = check_named_rows(loader, err);
    if (status == NM_OK)
        status = nm_sums_finish(loader->sums, &own_sink, err);
    if (status == NM_OK)
        status = nm_loader_write_names(loader, input, err);
    if (status == NM_OK)
        status = nm_loader_settle_misses(loader, err);
    return status;
}

void nm_loader_close(nm_loader *loader)
{
    for (int kind = 0; kind < NM_ROW_KINDS; kind++) {
        nm_insert_close(&loader->inserts[kind]);
        nm_bulk_close(loader->bulks[kind]);
    }
    for (int table = 0; table < NM_TABLE_COUNT; table++)
        nm_insert_close(&loader->tables[table]);
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
