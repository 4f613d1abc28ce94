/* SPDX-License-Identifier: Apache-2.0
 *
 * Small tables into maps; a row that comes twice counts as it came last.
 */
#include "export/snapshot_tables.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "export/snapshot_cuts.sql.h"
#include "export/snapshot_heaps.sql.h"
#include "export/snapshot_streams.sql.h"
#include "export/snapshot_used.sql.h"

static nm_key key_of(int64_t id)
{
    return (nm_key){0, (uint64_t)id};
}

static nm_status read_heaps(sqlite3 *db, nm_snapshot_tables *tables, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_snapshot_heaps_row row;
    nm_status status = nm_snapshot_heaps_ask(db, &rows, err);

    while (status == NM_OK && nm_snapshot_heaps_next(rows, &row)) {
        status = nm_array_grow(&tables->heaps.items, &tables->heaps.capacity, tables->heaps.count + 1,
                               sizeof *tables->heaps.items, err);
        if (status == NM_OK)
            status = nm_map_put(&tables->heap_of, key_of(row.heap_id), tables->heaps.count, err);
        if (status == NM_OK)
            tables->heaps.items[tables->heaps.count++] = (nm_snapshot_heap){row.device, row.level_code, row.start_ns};
    }
    return nm_question_end(rows, status, err);
}

static nm_status read_cuts(sqlite3 *db, nm_snapshot_tables *tables, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_snapshot_cuts_row row;
    nm_status status = nm_snapshot_cuts_ask(db, &rows, err);

    while (status == NM_OK && nm_snapshot_cuts_next(rows, &row)) {
        status = nm_array_grow(&tables->cuts.items, &tables->cuts.capacity, tables->cuts.count + 1,
                               sizeof *tables->cuts.items, err);
        if (status == NM_OK)
            status = nm_map_put(&tables->cut_of, key_of(row.allocation_id), tables->cuts.count, err);
        if (status == NM_OK)
            tables->cuts.items[tables->cuts.count++] = (nm_snapshot_cut){row.size_bytes, row.left_bytes};
    }
    return nm_question_end(rows, status, err);
}

static nm_status read_streams(sqlite3 *db, nm_snapshot_tables *tables, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_snapshot_streams_row row;
    nm_status status = nm_snapshot_streams_ask(db, &rows, err);

    while (status == NM_OK && nm_snapshot_streams_next(rows, &row))
        status = nm_map_put(&tables->stream_of, key_of(row.segment_id), (uint64_t)row.stream, err);
    return nm_question_end(rows, status, err);
}

static bool has_workspaces(const nm_snapshot_tables *tables)
{
    for (size_t i = 0; i < tables->heaps.count; i++)
        if (tables->heaps.items[i].level == 3)
            return true;
    return false;
}

static nm_status read_used(sqlite3 *db, nm_snapshot_tables *tables, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_snapshot_used_row row;
    nm_status status = NM_OK;

    if (!has_workspaces(tables))
        return NM_OK;
    status = nm_snapshot_used_ask(db, &rows, err);
    while (status == NM_OK && nm_snapshot_used_next(rows, &row))
        status = nm_map_put(&tables->used, key_of(row.segment_id), 1, err);
    return nm_question_end(rows, status, err);
}

nm_status nm_snapshot_tables_read(sqlite3 *db, nm_snapshot_tables *tables, nm_error *err)
{
    nm_status status = read_heaps(db, tables, err);

    if (status == NM_OK)
        status = read_cuts(db, tables, err);
    if (status == NM_OK)
        status = read_streams(db, tables, err);
    return status == NM_OK ? read_used(db, tables, err) : status;
}

void nm_snapshot_tables_free(nm_snapshot_tables *tables)
{
    free(tables->heaps.items);
    free(tables->cuts.items);
    nm_map_free(&tables->heap_of);
    nm_map_free(&tables->cut_of);
    nm_map_free(&tables->stream_of);
    nm_map_free(&tables->used);
    *tables = (nm_snapshot_tables){0};
}

const nm_snapshot_heap *nm_snapshot_heap_of(const nm_snapshot_tables *tables, int64_t heap_id)
{
    const uint64_t *found = nm_map_get(&tables->heap_of, key_of(heap_id));

    return found == NULL ? NULL : &tables->heaps.items[*found];
}

const nm_snapshot_cut *nm_snapshot_cut_of(const nm_snapshot_tables *tables, int64_t allocation_id)
{
    const uint64_t *found = tables->cuts.count == 0 ? NULL : nm_map_get(&tables->cut_of, key_of(allocation_id));

    return found == NULL ? NULL : &tables->cuts.items[*found];
}

int64_t nm_snapshot_stream_of(const nm_snapshot_tables *tables, int64_t segment_id)
{
    const uint64_t *found = segment_id == NM_NULL ? NULL : nm_map_get(&tables->stream_of, key_of(segment_id));

    return found == NULL ? 0 : (int64_t)*found;
}
