/* SPDX-License-Identifier: Apache-2.0
 *
 * The moments that keep a row are put in order by what they are of (a heap, a process, a device), so that each allocation
 * asks for the next one after its birth: three searches a row, however many marks there are.
 */
#include "store/less_detail.h"

#include <stdio.h>

#include "store/database.h"

/* The scopes of less_point. */
#define OF_HEAP    "1"
#define OF_PROCESS "2"
#define OF_DEVICE  "3"

static const char tables_sql[] =
    "CREATE TEMP TABLE IF NOT EXISTS less_input (input_id INTEGER PRIMARY KEY);"
    "CREATE TEMP TABLE IF NOT EXISTS less_point (scope, id, seq, PRIMARY KEY (scope, id, seq)) WITHOUT ROWID;"
    "CREATE TEMP TABLE IF NOT EXISTS less_kept (allocation_id INTEGER PRIMARY KEY);"
    "CREATE TEMP TABLE IF NOT EXISTS less_last (owner, input_id, last_id, left_out_count, PRIMARY KEY (owner, "
    "input_id));"
    "CREATE TEMP TABLE IF NOT EXISTS less_condition (owner PRIMARY KEY, condition);"
    "DELETE FROM less_input; DELETE FROM less_point; DELETE FROM less_kept; DELETE FROM less_last;"
    "DELETE FROM less_condition";

/* A moment without a process is of all. What is before the first event has the place -1 here. */
static const char points_sql[] =
    "INSERT OR IGNORE INTO less_point SELECT " OF_HEAP ", heap_id, coalesce(seq, -1) FROM source.moment"
    " WHERE kind = 1 AND heap_id IS NOT NULL;"
    "INSERT OR IGNORE INTO less_point SELECT " OF_PROCESS ", p.process_id, coalesce(m.seq, -1) FROM source.moment AS m"
    " JOIN source.process AS p ON m.process_id IS NULL OR p.process_id = m.process_id WHERE m.kind IN (3, 4);"
    "INSERT OR IGNORE INTO less_point SELECT " OF_DEVICE ", s.device_id, coalesce(m.seq, -1) FROM source.moment AS m"
    " JOIN source._device_sample AS s ON s.moment_id = m.moment_id WHERE m.kind = 5";

/* Is a moment of that within the life of allocation a? */
#define IS_MET(scope, id)                                                                                              \
    "EXISTS (SELECT 1 FROM less_point AS t WHERE t.scope = " scope " AND t.id = " id                                   \
    " AND t.seq >= coalesce(a.alloc_seq, -1) AND t.seq < a.free_seq)"

#define PLACES                                                                                                         \
    " LEFT JOIN source.heap AS h ON h.heap_id = a.heap_id LEFT JOIN source.process AS p ON p.process_id = "            \
    "h.process_id"

/* Of what nobody freed (nm_allocation_is_kept), what a moment met, and all of inputs that stay as they are. */
static const char live_sql[] = "INSERT INTO less_kept SELECT a.allocation_id FROM source.allocation AS a" PLACES
                               " WHERE a.end_kind IN (0, 3) OR p.input_id NOT IN (SELECT input_id FROM less_input)"
                               " OR " IS_MET(OF_HEAP, "a.heap_id") " OR " IS_MET(
                                   OF_PROCESS, "h.process_id") " OR " IS_MET(OF_DEVICE, "h.device_id");

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
        status = nm_db_exec(db, points_sql, err);
    if (status == NM_OK && retention == NM_RETENTION_LIVE)
        status = nm_db_exec(db, live_sql, err);
    if (status == NM_OK)
        status = nm_db_exec(db, carriers_sql, err);
    if (status == NM_OK)
        status = nm_db_exec(db, last_sql, err);
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
