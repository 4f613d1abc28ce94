/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of a load: tables are opened, rows taken (loader_rows.c), and in the end all that waited is written in the
 * order in which one needs the other: rows, sums, names.
 */
#include "store/loader.h"

#include <stdlib.h>
#include <string.h>

#include "store/loader_names.h"
#include "store/loader_rows.h"
#include "store/verdicts/verdicts.h"

/* That rows fit into our own tables is known (tests/unit/store/test_columns.c). */
static nm_status open_row(nm_loader *loader, nm_row_kind kind, bool is_plain, nm_error *err)
{
    const nm_row_table *table = &nm_row_tables[kind];
    nm_columns columns = {table->name, table->columns};

    if (table->name == NULL)
        return NM_OK;
    if (table->is_large)
        return nm_bulks_open(loader->bulks, &columns, &loader->bulk_of[kind], err);
    nm_status status = nm_insert_open(loader->db, &columns, !is_plain, &loader->inserts[kind], err);
    if (status == NM_OK && !is_plain)
        nm_insert_gather(&loader->inserts[kind], table->name);
    return status;
}

nm_status nm_loader_open(sqlite3 *db, nm_retention retention, const nm_bulk_options *options, nm_loader *out,
                         nm_error *err)
{
    nm_status status;

    *out = (nm_loader){.db = db, .retained.retention = retention, .sink = nm_sink_of_all(out, nm_loader_take)};
    out->verdict_rows = nm_verdict_rows_none();
    out->sink.wants[NM_ROW_STEP_BEGIN] = retention == NM_RETENTION_WINDOW;
    status = nm_sums_new(&out->definitions, &out->sums, err);
    if (status == NM_OK)
        status = nm_verdicts_begin(db, err);
    if (status == NM_OK)
        status = nm_bulks_new(db, options, &out->bulks, err);
    for (nm_row_kind kind = 0; status == NM_OK && kind < NM_ROW_KINDS; kind++)
        status = open_row(out, kind, options->is_plain, err);
    return status;
}

/* What waited, and was live at the peaks that were the last ones. */
static nm_status write_waiting(nm_loader *loader, nm_error *err)
{
    nm_bulk *bulk = loader->bulk_of[NM_ROW_ALLOCATION];
    nm_waiting_cursor cursor = {0};
    nm_waiting_row row;
    nm_status status;

    while ((status = nm_retention_next(&loader->retained, &cursor, &row, err)) == NM_OK) {
        const nm_definition *heap = nm_definition_find(&loader->definitions.heaps, row.heap_id);
        int64_t *values = NULL;

        if (!nm_retention_is_live(&loader->retained, &row, heap == NULL ? 0 : heap->heap.device_id))
            continue;
        status = nm_bulk_next(bulk, &values, err);
        if (status != NM_OK)
            return status;
        memcpy(values, row.values, sizeof row.values);
    }
    return status == NM_END ? NM_OK : status;
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

/* When all rows are written. Without any detail they are there for sums alone: store/prune.c takes them away. */
static nm_status write_left_out(nm_loader *loader, nm_error *err)
{
    nm_left_out_row row = loader->left_out;

    if (loader->retained.retention == NM_RETENTION_ALL)
        return NM_OK;
    if (loader->retained.retention != NM_RETENTION_NONE)
        row.allocation_count -= nm_bulk_row_count(loader->bulk_of[NM_ROW_ALLOCATION]);
    return nm_give_left_out(&loader->sink, &row, err);
}

nm_status nm_loader_finish(nm_loader *loader, const nm_input_row *input, nm_error *err)
{
    nm_status status =
        loader->retained.retention == NM_RETENTION_WINDOW ? nm_window_end(&loader->retained.window, err) : NM_OK;

    if (status == NM_OK)
        status = write_waiting(loader, err);
    if (status == NM_OK)
        status = check_named_rows(loader, err);
    if (status == NM_OK)
        status = nm_sums_finish(loader->sums, &loader->sink, err);
    if (status == NM_OK)
        status = nm_loader_write_names(loader, input, err);
    if (status == NM_OK)
        status = write_left_out(loader, err);
    for (nm_row_kind kind = 0; status == NM_OK && kind < NM_ROW_KINDS; kind++)
        status = nm_insert_flush(&loader->inserts[kind], err);
    if (status == NM_OK)
        status = nm_bulks_finish(loader->bulks, err);
    return status;
}

void nm_loader_close(nm_loader *loader)
{
    for (int kind = 0; kind < NM_ROW_KINDS; kind++)
        nm_insert_close(&loader->inserts[kind]);
    nm_bulks_free(loader->bulks);
    nm_sums_free(loader->sums);
    nm_retention_rows_free(&loader->retained);
    nm_definitions_free(&loader->definitions);
    nm_id_set_free(&loader->allocation_ids);
    nm_id_set_free(&loader->operation_ids);
    nm_id_set_free(&loader->named_allocations);
    nm_id_set_free(&loader->named_operations);
    nm_heap_stacks_free(&loader->heap_stacks);
    free(loader->process_ends.items);
    nm_verdict_rows_free(&loader->verdict_rows);
    nm_map_free(&loader->process_end_of);
    memset(loader, 0, sizeof *loader);
}
