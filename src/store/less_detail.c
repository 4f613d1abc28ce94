/* SPDX-License-Identifier: Apache-2.0
 *
 * The moments that keep a row are put in order by what they are of (a heap, a process, a device), so that each allocation
 * asks for the next one after its birth: three searches a row, however many marks there are. Allocations are looked at once.
 */
#include "store/less_detail.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "rows/rows.h"
#include "store/database.h"

/* The scopes of less_point. */
enum { OF_HEAP = 1, OF_PROCESS, OF_DEVICE };

static const char tables_sql[] =
    "CREATE TEMP TABLE IF NOT EXISTS less_input (input_id INTEGER PRIMARY KEY);"
    "CREATE TEMP TABLE IF NOT EXISTS less_point (scope, id, seq, PRIMARY KEY (scope, id, seq)) WITHOUT ROWID;"
    "CREATE TEMP TABLE IF NOT EXISTS less_kept (allocation_id INTEGER PRIMARY KEY);"
    "CREATE TEMP TABLE IF NOT EXISTS less_last (owner, input_id, last_id, left_out_count, PRIMARY KEY (owner, "
    "input_id));"
    "CREATE TEMP TABLE IF NOT EXISTS less_condition (owner PRIMARY KEY, condition);"
    "DELETE FROM less_input; DELETE FROM less_point; DELETE FROM less_kept; DELETE FROM less_last;"
    "DELETE FROM less_condition";

#define PLACES                                                                                                         \
    " LEFT JOIN source.heap AS h ON h.heap_id = a.heap_id LEFT JOIN source.process AS p ON p.process_id = "            \
    "h.process_id"

/* What carries them. */
static const char carriers_sql[] =
    "INSERT OR IGNORE INTO less_kept WITH RECURSIVE carrier (id) AS (SELECT a.segment_id FROM less_kept AS k"
    " JOIN source.allocation AS a ON a.allocation_id = k.allocation_id UNION SELECT a.segment_id FROM carrier"
    " JOIN source.allocation AS a ON a.allocation_id = carrier.id)"
    " SELECT a.allocation_id FROM carrier JOIN source.allocation AS a ON a.allocation_id = carrier.id";

/* Inputs with less have no rows in the others: of those go all, or, where all inputs stay as they are, none. */
static const char conditions_sql[] =
    "INSERT INTO less_condition SELECT owner, condition FROM (SELECT 'allocation' AS owner,"
    " 'allocation_id IN (SELECT allocation_id FROM temp.less_kept)' AS condition UNION ALL SELECT 'copy', '0'"
    " UNION ALL SELECT 'workspace', '0' UNION ALL SELECT '_stream_call', '0') WHERE EXISTS (SELECT 1 FROM less_input)";

/* Of a database of one input, where all rows are its: the last of a table is known without a look at the others. */
#define ONLY_LAST_OF(table, id, left_out_count)                                                                        \
    "INSERT INTO less_last SELECT '" table "', i.input_id, (SELECT max(" id ") FROM source." table                     \
    "), " left_out_count " FROM less_input AS i;"

static const char only_last_sql[] = ONLY_LAST_OF(
    "allocation", "allocation_id", "(SELECT count(*) FROM source.allocation) - (SELECT count(*) FROM less_kept)")
    ONLY_LAST_OF("copy", "copy_id", "0") ONLY_LAST_OF("operation", "operation_id", "0")
        ONLY_LAST_OF("_stream_call", "stream_call_id", "0") ONLY_LAST_OF("workspace", "workspace_id", "0");

/* A row of which no process is known counts as of the last input. */
#define LAST_OF(table, id, joins)                                                                                      \
    "INSERT INTO less_last SELECT '" table "', i.input_id, max(i.id), sum(i.is_left_out) FROM (SELECT"                 \
    " coalesce(p.input_id, (SELECT max(input_id) FROM less_input)) AS input_id, a." id                                 \
    " AS id, " LEFT_OUT(table) " AS is_left_out FROM source." table " AS a" joins                                      \
                               ") AS i WHERE i.input_id IN (SELECT input_id FROM less_input)"                          \
                               " GROUP BY i.input_id;"
#define LEFT_OUT(table) "('" table "' = 'allocation' AND a.rowid NOT IN (SELECT allocation_id FROM less_kept))"
#define OF_ITS_PROCESS  " LEFT JOIN source.process AS p ON p.process_id = a.process_id"

static const char last_sql[] = LAST_OF("allocation", "allocation_id", PLACES) LAST_OF("copy", "copy_id", OF_ITS_PROCESS)
    LAST_OF("operation", "operation_id", OF_ITS_PROCESS) LAST_OF("_stream_call", "stream_call_id", OF_ITS_PROCESS)
        LAST_OF("workspace", "workspace_id",
                " LEFT JOIN source.operation AS o ON o.operation_id = a.operation_id"
                " LEFT JOIN source.process AS p ON p.process_id = o.process_id");

/* The larger of what was known and what was seen, moved up as the rows were; NULL: there is none. */
#define LAST(column, table)                                                                                            \
    "nullif(max(coalesce(l." column ", 0), coalesce((SELECT last_id FROM less_last AS s WHERE s.owner = '" table       \
    "' AND s.input_id = i.input_id), 0)), 0) + (SELECT last_id FROM merge_table WHERE name = '" table "')"
#define NEW_INPUT "i.input_id + (SELECT last_id FROM merge_table WHERE name = 'input')"

static const char note_sql[] =
    "INSERT OR REPLACE INTO main._left_out SELECT " NEW_INPUT
    ", " LAST("last_allocation_id", "allocation") ", " LAST("last_copy_id", "copy") ", " LAST(
        "last_operation_id",
        "operation") ", " LAST("last_workspace_id",
                               "workspace") ", " LAST("last_stream_call_id",
                                                      "_stream_call") ","
                                                                      " coalesce(l.allocation_count, 0) + "
                                                                      "coalesce((SELECT left_out_count FROM less_last "
                                                                      "AS s WHERE s.owner = 'allocation'"
                                                                      " AND s.input_id = i.input_id), 0) FROM "
                                                                      "less_input AS i LEFT JOIN source._left_out AS "
                                                                      "l ON l.input_id = i.input_id";

/* ---- What was live at moments ------------------------------------------------------------------------------------- */

/* A moment without a process is of all. What is before the first event has the place -1 here. */
static const char points_sql[] =
    "INSERT OR IGNORE INTO less_point SELECT 1, heap_id, coalesce(seq, -1) FROM source.moment"
    " WHERE kind = 1 AND heap_id IS NOT NULL;"
    "INSERT OR IGNORE INTO less_point SELECT 2, p.process_id, coalesce(m.seq, -1) FROM source.moment AS m"
    " JOIN source.process AS p ON m.process_id IS NULL OR p.process_id = m.process_id WHERE m.kind IN (3, 4);"
    "INSERT OR IGNORE INTO less_point SELECT 3, s.device_id, coalesce(m.seq, -1) FROM source.moment AS m"
    " JOIN source._device_sample AS s ON s.moment_id = m.moment_id WHERE m.kind = 5";

static const char read_points_sql[] = "SELECT scope, id, seq FROM less_point ORDER BY scope, id, seq";

/* All rows of inputs that stay as they are stay. */
static const char read_heaps_sql[] =
    "SELECT h.heap_id, h.process_id, h.device_id, p.input_id IS NOT NULL AND p.input_id NOT IN (SELECT input_id FROM"
    " less_input) FROM source.heap AS h LEFT JOIN source.process AS p ON p.process_id = h.process_id ORDER BY "
    "h.heap_id";

static const char read_rows_sql[] =
    "SELECT allocation_id, heap_id, end_kind, alloc_seq, free_seq FROM source.allocation";

typedef struct point {
    int64_t scope, id, seq;
} point;

typedef struct scope_points {
    size_t begin, end; /* among the points */
} scope_points;

typedef struct heap_rule {
    int64_t heap_id;
    bool keeps_all;
    scope_points scopes[3]; /* those of the heap, of its process, of its device */
} heap_rule;

typedef struct live_rows {
    sqlite3 *db;
    sqlite3_stmt *keep; /* owned */
    point *points;      /* owned; in order */
    size_t point_count, point_capacity;
    heap_rule *heaps; /* owned; by heap_id */
    size_t heap_count, heap_capacity;
} live_rows;

static nm_status each(live_rows *live, const char *sql, nm_status (*take)(live_rows *, sqlite3_stmt *, nm_error *),
                      nm_error *err)
{
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(live->db, sql, &row, err);

    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW)
        status = take(live, row, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(live->db, err);
    sqlite3_finalize(row);
    return status;
}

static nm_status take_point(live_rows *live, sqlite3_stmt *row, nm_error *err)
{
    nm_status status =
        nm_array_grow(&live->points, &live->point_capacity, live->point_count + 1, sizeof *live->points, err);

    if (status == NM_OK)
        live->points[live->point_count++] =
            (point){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2)};
    return status;
}

static bool is_before(const point *a, const point *b)
{
    return a->scope != b->scope ? a->scope < b->scope : a->id != b->id ? a->id < b->id : a->seq < b->seq;
}

/* The first of the points from `begin` to `end` that is not before `wanted`. */
static size_t find_point(const live_rows *live, size_t begin, size_t end, const point *wanted)
{
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;

        if (is_before(&live->points[middle], wanted))
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static scope_points points_of(const live_rows *live, int64_t scope, sqlite3_stmt *row, int column)
{
    int64_t id = sqlite3_column_int64(row, column);
    size_t begin = find_point(live, 0, live->point_count, &(point){scope, id, INT64_MIN}), end = begin;

    if (nm_db_is_null(row, column))
        return (scope_points){0, 0};
    while (end < live->point_count && live->points[end].scope == scope && live->points[end].id == id)
        end++;
    return (scope_points){begin, end};
}

static nm_status take_heap(live_rows *live, sqlite3_stmt *row, nm_error *err)
{
    nm_status status =
        nm_array_grow(&live->heaps, &live->heap_capacity, live->heap_count + 1, sizeof *live->heaps, err);

    if (status != NM_OK)
        return status;
    heap_rule *heap = &live->heaps[live->heap_count++];
    heap->heap_id = sqlite3_column_int64(row, 0);
    heap->keeps_all = sqlite3_column_int(row, 3) != 0;
    for (int scope = OF_HEAP; scope <= OF_DEVICE; scope++)
        heap->scopes[scope - OF_HEAP] = points_of(live, scope, row, scope - OF_HEAP);
    return NM_OK;
}

static const heap_rule *find_heap(const live_rows *live, int64_t heap_id)
{
    size_t low = 0, high = live->heap_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (live->heaps[middle].heap_id == heap_id)
            return &live->heaps[middle];
        if (live->heaps[middle].heap_id < heap_id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Is a moment within that life? */
static bool is_met(const live_rows *live, const scope_points *points, int64_t alloc_seq, int64_t free_seq)
{
    if (points->begin == points->end)
        return false;
    point birth = live->points[points->begin];
    birth.seq = alloc_seq;
    size_t next = find_point(live, points->begin, points->end, &birth);
    return next < points->end && live->points[next].seq < free_seq;
}

static bool is_kept(const live_rows *live, sqlite3_stmt *row)
{
    const heap_rule *heap = find_heap(live, sqlite3_column_int64(row, 1));
    int64_t end_kind = sqlite3_column_int64(row, 2);

    if (end_kind == NM_END_NONE || end_kind == NM_END_RESET || (heap != NULL && heap->keeps_all))
        return true;
    if (heap == NULL || nm_db_is_null(row, 4))
        return false;
    int64_t alloc_seq = nm_db_is_null(row, 3) ? -1 : sqlite3_column_int64(row, 3);
    int64_t free_seq = sqlite3_column_int64(row, 4);
    for (size_t i = 0; i < sizeof heap->scopes / sizeof *heap->scopes; i++)
        if (is_met(live, &heap->scopes[i], alloc_seq, free_seq))
            return true;
    return false;
}

static nm_status take_row(live_rows *live, sqlite3_stmt *row, nm_error *err)
{
    if (!is_kept(live, row))
        return NM_OK;
    sqlite3_bind_int64(live->keep, 1, sqlite3_column_int64(row, 0));
    int code = sqlite3_step(live->keep);
    sqlite3_reset(live->keep);
    return code == SQLITE_DONE ? NM_OK : nm_db_fail(live->db, err);
}

/* Of what nobody freed (nm_allocation_is_kept), what a moment met, and all of inputs that stay as they are. */
static nm_status keep_live(sqlite3 *db, nm_error *err)
{
    live_rows live = {.db = db};
    nm_status status = nm_db_exec(db, points_sql, err);

    if (status == NM_OK)
        status = nm_db_prepare(db, "INSERT INTO less_kept VALUES (?1)", &live.keep, err);
    if (status == NM_OK)
        status = each(&live, read_points_sql, take_point, err);
    if (status == NM_OK)
        status = each(&live, read_heaps_sql, take_heap, err);
    if (status == NM_OK)
        status = each(&live, read_rows_sql, take_row, err);
    sqlite3_finalize(live.keep);
    free(live.points);
    free(live.heaps);
    return status;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------- */

static nm_status note_last(sqlite3 *db, nm_error *err)
{
    int64_t input_count = 0;
    nm_status status = nm_db_get_int(db, "SELECT count(*) FROM source.input", &input_count, err);

    return status == NM_OK ? nm_db_exec(db, input_count == 1 ? only_last_sql : last_sql, err) : status;
}

nm_status nm_less_detail_choose(sqlite3 *db, nm_retention retention, nm_error *err)
{
    char sql[160];
    nm_status status = nm_db_exec(db, tables_sql, err);

    if (status != NM_OK || retention == NM_RETENTION_ALL)
        return status;
    snprintf(sql, sizeof sql,
             "INSERT INTO less_input SELECT input_id FROM source.input WHERE detail NOT IN ('%s', 'none')",
             nm_retention_name(retention));
    status = nm_db_exec(db, sql, err);
    if (status == NM_OK && retention == NM_RETENTION_LIVE)
        status = keep_live(db, err);
    if (status == NM_OK)
        status = nm_db_exec(db, carriers_sql, err);
    if (status == NM_OK)
        status = note_last(db, err);
    return status == NM_OK ? nm_db_exec(db, conditions_sql, err) : status;
}

nm_status nm_less_detail_note(sqlite3 *db, nm_retention retention, nm_error *err)
{
    char sql[256];
    nm_status status;

    if (retention == NM_RETENTION_ALL)
        return NM_OK;
    status = nm_db_exec(db, note_sql, err);
    snprintf(sql, sizeof sql,
             "UPDATE main.input SET detail = '%s' WHERE input_id IN (SELECT " NEW_INPUT " FROM less_input AS i)",
             nm_retention_name(retention));
    return status == NM_OK ? nm_db_exec(db, sql, err) : status;
}
