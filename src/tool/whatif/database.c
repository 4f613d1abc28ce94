/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows come back as the replay gave them. Of what has names, each table has a question and a function that makes
 * definitions of its rows: names are texts here and numbers of strings there, so each gets a string of its own first.
 */
#include "tool/whatif/database.h"

#include <stdio.h>
#include <string.h>

#include "store/allocation_rows.h"
#include "store/foreign.h"
#include "store/row_read.h"
#include "tool/whatif/emptying_frames.sql.h"
#include "tool/whatif/pool_rows.sql.h"
#include "tool/whatif/whatif_devices.sql.h"
#include "tool/whatif/whatif_heaps.sql.h"
#include "tool/whatif/whatif_processes.sql.h"
#include "tool/whatif/whatif_settings.sql.h"
#include "tool/whatif/whatif_stacks.sql.h"

typedef struct database {
    sqlite3 *db;
    nm_gather *gather;
    const nm_sink *sink;
    uint64_t string_count;
} database;

/* `text` NULL: none. */
static nm_status give_text(database *base, const char *text, uint64_t *string, nm_error *err)
{
    *string = 0;
    if (text == NULL)
        return NM_OK;
    *string = ++base->string_count;
    return nm_give_definition(
        base->sink,
        &(nm_definition){.kind = NM_DEFINE_STRING, .id = *string, .string = {(const uint8_t *)text, strlen(text)}},
        err);
}

static nm_status take_process(database *base, const nm_whatif_processes_row *row, nm_error *err)
{
    nm_definition definition = {.kind = NM_DEFINE_PROCESS, .id = (uint64_t)row->process_id};

    definition.process.pid = NM_NUMBER_OF(row, pid);
    definition.process.rank = NM_NUMBER_OF(row, rank);
    definition.process.is_late = row->is_late;
    nm_status status = nm_give_definition(base->sink, &definition, err);
    const uint64_t *index = nm_map_get(&base->gather->process_of, (nm_key){0, definition.id});
    if (status != NM_OK || index == NULL)
        return status;
    nm_gather_process *process = &base->gather->processes.items[*index];
    process->is_partial = !row->is_whole;
    process->is_kept = row->is_kept;
    process->is_hit_estimated = row->is_hit_estimated;
    process->is_peak_estimated = row->is_peak_estimated;
    process->is_peak_untold = row->is_peak_untold;
    snprintf(process->host, sizeof process->host, "%s", row->host);
    return NM_OK;
}

static nm_status read_processes(database *base, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_whatif_processes_row row;
    nm_status status = nm_whatif_processes_ask(base->db, &rows, err);

    while (status == NM_OK && nm_whatif_processes_next(rows, &row))
        status = take_process(base, &row, err);
    return nm_question_end(rows, status, err);
}

static nm_status read_settings(database *base, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_whatif_settings_row row;
    nm_status status = nm_whatif_settings_ask(base->db, &rows, err);

    while (status == NM_OK && nm_whatif_settings_next(rows, &row)) {
        nm_definition definition = {.kind = NM_DEFINE_ATTRIBUTE};

        definition.attribute.process_id = (uint64_t)row.process_id;
        definition.attribute.source = NM_ATTRIBUTE_ENVIRONMENT;
        status = give_text(base, NM_TEXT_OF(&row, name), &definition.attribute.name, err);
        if (status == NM_OK)
            status = give_text(base, NM_TEXT_OF(&row, value), &definition.attribute.value, err);
        if (status == NM_OK)
            status = nm_give_definition(base->sink, &definition, err);
    }
    return nm_question_end(rows, status, err);
}

static nm_status read_devices(database *base, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_whatif_devices_row row;
    nm_status status = nm_whatif_devices_ask(base->db, &rows, err);

    while (status == NM_OK && nm_whatif_devices_next(rows, &row)) {
        nm_definition definition = {.kind = NM_DEFINE_DEVICE, .id = (uint64_t)row.device_id};

        definition.device.ordinal = NM_NUMBER_OF(&row, ordinal);
        definition.device.physical_ordinal = NM_NUMBER_OF(&row, physical_ordinal);
        definition.device.capacity_bytes = (uint64_t)row.capacity_bytes;
        status = give_text(base, NM_TEXT_OF(&row, kind), &definition.device.device_kind, err);
        if (status == NM_OK)
            status = nm_give_definition(base->sink, &definition, err);
    }
    return nm_question_end(rows, status, err);
}

static nm_status read_heaps(database *base, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_whatif_heaps_row row;
    nm_status status = nm_whatif_heaps_ask(base->db, &rows, err);

    while (status == NM_OK && nm_whatif_heaps_next(rows, &row)) {
        nm_definition definition = {.kind = NM_DEFINE_HEAP, .id = (uint64_t)row.heap_id};

        definition.heap.process_id = (uint64_t)row.process_id;
        definition.heap.device_id = (uint64_t)row.device_id;
        definition.heap.level = (uint64_t)row.level_code;
        status = give_text(base, NM_TEXT_OF(&row, name), &definition.heap.name, err);
        if (status == NM_OK)
            status = nm_give_definition(base->sink, &definition, err);
    }
    return nm_question_end(rows, status, err);
}

static nm_status read_frames(database *base, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_emptying_frames_row row;
    nm_status status = nm_emptying_frames_ask(base->db, &rows, err);

    while (status == NM_OK && nm_emptying_frames_next(rows, &row)) {
        nm_definition definition = {.kind = NM_DEFINE_FRAME, .id = (uint64_t)row.frame_id};

        status = give_text(base, NM_TEXT_OF(&row, function), &definition.frame.function, err);
        if (status == NM_OK)
            status = nm_give_definition(base->sink, &definition, err);
    }
    return nm_question_end(rows, status, err);
}

static nm_status read_stacks(database *base, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_whatif_stacks_row row;
    nm_status status = nm_whatif_stacks_ask(base->db, &rows, err);

    while (status == NM_OK && nm_whatif_stacks_next(rows, &row)) {
        nm_definition definition = {.kind = NM_DEFINE_STACK, .id = (uint64_t)row.stack_id};

        definition.stack.parent_id = (uint64_t)row.parent_id;
        definition.stack.frame_id = (uint64_t)row.frame_id;
        status = nm_give_definition(base->sink, &definition, err);
    }
    return nm_question_end(rows, status, err);
}

static uint64_t number_of(int64_t value)
{
    return value == NM_NULL ? 0 : (uint64_t)value;
}

/* What a replay of requests needs. */
static nm_status take_allocation(void *context, const nm_allocation_values *from, nm_error *err)
{
    const database *base = context;
    const nm_allocation_row row = {
        .allocation_id = from->allocation_id,
        .heap_id = number_of(from->heap_id),
        .segment_id = from->segment_id == NM_NULL ? 0 : from->segment_id,
        .has_stream = from->stream != NM_NULL,
        .stream = number_of(from->stream),
        .address = number_of(from->address),
        .requested_bytes = number_of(from->requested_bytes),
        .block_bytes = number_of(from->block_bytes),
        .alloc_seq = from->alloc_seq,
        .free_requested_seq = from->free_requested_seq,
        .free_seq = from->free_seq,
        .stack_id = number_of(from->stack_id),
        .free_stack_id = number_of(from->free_stack_id),
        .split_from_id = from->split_from_id == NM_NULL ? 0 : from->split_from_id,
        .is_segment = from->is_segment > 0,
        .private_pool = number_of(from->private_pool),
        .is_exported = from->is_exported > 0,
        .is_mapped = from->is_mapped > 0,
    };

    return nm_give(base->sink, NM_ROW_ALLOCATION, &row, err);
}

static nm_status read_allocations(database *base, nm_error *err)
{
    static const nm_allocation_request all = {
        NM_ALLOCATIONS_ALL,
        "allocation_id heap_id segment_id stream address requested_bytes block_bytes alloc_seq free_requested_seq "
        "free_seq stack_id free_stack_id split_from_id is_segment private_pool is_exported is_mapped "};

    return nm_allocation_rows_each(base->db, &all, take_allocation, base, err);
}

/* In this order: what is named comes before what names it. */
static const struct {
    nm_status (*read)(database *base, nm_error *err); /* NULL: rows as the replay gave them, */
    nm_row_kind kind;                                 /* of this kind, */
    const char *clause;
} tables[] = {
    {read_processes, 0, NULL},
    {read_settings, 0, NULL},
    {read_devices, 0, NULL},
    {read_heaps, 0, NULL},
    {NULL, NM_ROW_MEMORY_SAMPLE, "ORDER BY total_bytes DESC"}, /* the first one counts */
    {NULL, NM_ROW_PAUSE, ""},
    {read_frames, 0, NULL},
    {read_stacks, 0, NULL},
    {NULL, NM_ROW_STEP, ""},
    {NULL, NM_ROW_FAILURE, ""},
    {read_allocations, 0, NULL},
    {NULL, NM_ROW_HEAP_TOTAL, ""},
    {NULL, NM_ROW_HIT, ""},
};

/* A database may hold answers alone, or only the rows of what was live at some moments. */
static nm_status check_rows(const database *base, nm_error *err)
{
    nm_pool_rows_row pools;
    nm_status status = nm_pool_rows_get(base->db, &pools, err);

    if (pools.missing_count > 0)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "this database has no rows of allocations; take the trace");
    if (pools.thinned_count > 0)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET,
                       "this database has not a row for each allocation (--detail); take the trace");
    base->gather->has_unknown_baseline = base->gather->has_unknown_baseline || pools.late_count > 0;
    return status;
}

nm_status whatif_database_read(const char *path, nm_gather *gather, const nm_sink *sink, nm_error *err)
{
    database base = {.gather = gather, .sink = sink};
    nm_foreign *foreign = NULL;
    nm_status status = nm_foreign_open(path, true, &foreign, err);

    if (status == NM_OK) {
        base.db = nm_foreign_db(foreign);
        status = check_rows(&base, err);
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && status == NM_OK; i++)
        status = tables[i].read == NULL ? nm_rows_give(base.db, tables[i].kind, tables[i].clause, base.sink, err)
                                        : tables[i].read(&base, err);
    nm_foreign_close(foreign);
    return status;
}
