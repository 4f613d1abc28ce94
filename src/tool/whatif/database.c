/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows come back as the replay gave them. Of what has names, each table is one statement and one function that makes a
 * definition of its columns: names are texts here and numbers of strings there, so each gets a string of its own first.
 */
#include "tool/whatif/database.h"

#include <stdlib.h>
#include <string.h>

#include "store/database.h"
#include "store/foreign.h"
#include "store/row_read.h"

typedef struct database {
    sqlite3 *db;
    nm_gather *gather;
    const nm_sink *sink;
    uint64_t string_count;
} database;

typedef nm_status take_row(database *base, sqlite3_stmt *row, nm_error *err);

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

static int64_t int_of(sqlite3_stmt *row, int column, int64_t if_null)
{
    return nm_db_is_null(row, column) ? if_null : sqlite3_column_int64(row, column);
}

static uint64_t id_of(sqlite3_stmt *row, int column)
{
    return (uint64_t)int_of(row, column, 0);
}

static nm_status text_of(database *base, sqlite3_stmt *row, int column, uint64_t *string, nm_error *err)
{
    const uint8_t *text = sqlite3_column_text(row, column);

    *string = 0;
    if (text == NULL)
        return NM_OK;
    *string = ++base->string_count;
    return nm_give_definition(base->sink,
                              &(nm_definition){
                                  .kind = NM_DEFINE_STRING,
                                  .id = *string,
                                  .string = {text, (size_t)sqlite3_column_bytes(row, column)},
                              },
                              err);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static nm_status take_input(database *base, sqlite3_stmt *row, nm_error *err)
{
    (void)err;
    base->gather->has_unknown_baseline = base->gather->has_unknown_baseline || sqlite3_column_int(row, 0) != 0;
    return NM_OK;
}

static nm_status take_process(database *base, sqlite3_stmt *row, nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_PROCESS, .id = id_of(row, 0)};

    definition.process.pid = int_of(row, 1, NM_UNKNOWN_NUMBER);
    definition.process.rank = int_of(row, 2, NM_UNKNOWN_NUMBER);
    definition.process.is_late = id_of(row, 3);
    nm_status status = nm_give_definition(base->sink, &definition, err);
    const uint64_t *index = nm_map_get(&base->gather->process_of, (nm_key){0, definition.id});
    if (status != NM_OK || index == NULL)
        return status;
    base->gather->processes.items[*index].is_partial = id_of(row, 4) == 0;
    base->gather->processes.items[*index].is_kept = id_of(row, 5) != 0;
    return NM_OK;
}

static nm_status take_setting(database *base, sqlite3_stmt *row, nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_ATTRIBUTE};
    nm_status status = text_of(base, row, 1, &definition.attribute.name, err);

    definition.attribute.process_id = id_of(row, 0);
    definition.attribute.source = NM_ATTRIBUTE_ENVIRONMENT;
    if (status == NM_OK)
        status = text_of(base, row, 2, &definition.attribute.value, err);
    return status == NM_OK ? nm_give_definition(base->sink, &definition, err) : status;
}

static nm_status take_device(database *base, sqlite3_stmt *row, nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_DEVICE, .id = id_of(row, 0)};
    nm_status status = text_of(base, row, 2, &definition.device.device_kind, err);

    definition.device.ordinal = int_of(row, 1, NM_UNKNOWN_NUMBER);
    definition.device.capacity_bytes = id_of(row, 3);
    return status == NM_OK ? nm_give_definition(base->sink, &definition, err) : status;
}

static nm_status take_heap(database *base, sqlite3_stmt *row, nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_HEAP, .id = id_of(row, 0)};
    nm_status status = text_of(base, row, 4, &definition.heap.name, err);

    definition.heap.process_id = id_of(row, 1);
    definition.heap.device_id = id_of(row, 2);
    definition.heap.level = id_of(row, 3);
    return status == NM_OK ? nm_give_definition(base->sink, &definition, err) : status;
}

static nm_status take_frame(database *base, sqlite3_stmt *row, nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_FRAME, .id = id_of(row, 0)};
    nm_status status = text_of(base, row, 1, &definition.frame.function, err);

    return status == NM_OK ? nm_give_definition(base->sink, &definition, err) : status;
}

static nm_status take_stack(database *base, sqlite3_stmt *row, nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_STACK, .id = id_of(row, 0)};

    definition.stack.parent_id = id_of(row, 1);
    definition.stack.frame_id = id_of(row, 2);
    return nm_give_definition(base->sink, &definition, err);
}

/* Of the calls that may empty the cache; whether they do, the gather says. */
#define EMPTYING_FRAMES " WHERE instr(function, 'empty_cache') OR instr(function, 'emptyCache')"

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* In this order: what is named comes before what names it. */
static const struct {
    take_row *take; /* NULL: rows as the replay gave them, */
    const char *sql;
    nm_row_kind kind;    /* of this kind; `sql` is the clause, */
    const char *columns; /* and these are wanted; NULL: all */
} tables[] = {
    {take_input, "SELECT baseline = 'unknown' FROM input", 0, NULL},
    {take_process,
     "SELECT process_id, pid, rank, baseline = 'unknown',"
     " is_complete AND events_late = 0, events_unkept > 0 FROM process JOIN input USING (input_id)",
     0, NULL},
    {take_setting, "SELECT process_id, name, value FROM _process_environment WHERE source = 'environment'", 0, NULL},
    {take_device, "SELECT device_id, ordinal, kind, capacity_bytes FROM device", 0, NULL},
    {take_heap, "SELECT heap_id, process_id, device_id, level, name FROM heap", 0, NULL},
    {NULL, "ORDER BY total_bytes DESC", NM_ROW_MEMORY_SAMPLE, NULL}, /* the first one counts */
    {NULL, "", NM_ROW_PAUSE, NULL},
    {take_frame, "SELECT frame_id, function FROM frame" EMPTYING_FRAMES, 0, NULL},
    {take_stack,
     "WITH RECURSIVE emptying (stack_id, parent_id, frame_id) AS (SELECT stack_id, parent_id, frame_id"
     " FROM stack WHERE frame_id IN (SELECT frame_id FROM frame" EMPTYING_FRAMES ")"
     " UNION SELECT s.stack_id, s.parent_id, s.frame_id FROM stack AS s"
     " JOIN emptying ON s.parent_id = emptying.stack_id) SELECT stack_id, parent_id, frame_id FROM emptying",
     0, NULL},
    {NULL, "", NM_ROW_STEP, NULL},
    {NULL, "", NM_ROW_FAILURE, NULL},
    {NULL, "", NM_ROW_ALLOCATION,
     "allocation_id heap_id segment_id stream address requested_bytes block_bytes alloc_seq free_requested_seq "
     "free_seq "
     "free_stack_id split_from_id is_segment private_pool is_exported is_mapped "},
    {NULL, "", NM_ROW_HEAP_TOTAL, NULL},
    {NULL, "", NM_ROW_HIT, NULL},
};

static nm_status read_table(database *base, take_row *take, const char *sql, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    nm_status status = nm_db_prepare(base->db, sql, &row, err);
    int code = SQLITE_ROW;

    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW)
        status = take(base, row, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(base->db, err);
    sqlite3_finalize(row);
    return status;
}

/* A database may hold answers alone, or only the rows of what was live at some moments. */
static nm_status check_rows(const database *base, nm_error *err)
{
    int64_t missing, thinned = 0;
    nm_status status = nm_db_get_int(base->db,
                                     "SELECT count(*) FROM _heap_sum JOIN heap USING (heap_id) WHERE level = 2 AND"
                                     " allocation_count > 0 AND NOT EXISTS (SELECT 1 FROM allocation WHERE"
                                     " allocation.heap_id = heap.heap_id AND alloc_seq IS NOT NULL)",
                                     &missing, err);

    if (status == NM_OK && missing > 0)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "this database has no rows of allocations; take the trace");
    if (status == NM_OK)
        status =
            nm_db_get_int(base->db,
                          "SELECT count(*) FROM _heap_sum JOIN heap USING (heap_id) JOIN process USING (process_id)"
                          " JOIN input USING (input_id) WHERE level = 2 AND allocation_count > 0 AND detail <> 'all'",
                          &thinned, err);
    if (status == NM_OK && thinned > 0)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET,
                       "this database has not a row for each allocation (--detail); take the trace");
    return status;
}

nm_status whatif_database_read(const char *path, nm_gather *gather, nm_error *err)
{
    database base = {.gather = gather, .sink = nm_gather_sink(gather)};
    nm_foreign *foreign = NULL;
    nm_status status = nm_foreign_open(path, true, &foreign, err);

    if (status == NM_OK) {
        base.db = nm_foreign_db(foreign);
        status = check_rows(&base, err);
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && status == NM_OK; i++)
        status = tables[i].take == NULL
                     ? nm_rows_give(base.db, tables[i].kind, tables[i].columns, tables[i].sql, base.sink, err)
                     : read_table(&base, tables[i].take, tables[i].sql, err);
    nm_foreign_close(foreign);
    return status;
}
