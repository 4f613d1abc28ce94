/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows of allocations stay is told row by row (live_rule.h), and what carries them is found from those.
 */
#include "store/less_detail.h"

#include <stdbool.h>
#include <stdio.h>

#include "store/database.h"

static const char tables_sql[] =
    "CREATE TEMP TABLE IF NOT EXISTS less_input (input_id INTEGER PRIMARY KEY);"
    "CREATE TEMP TABLE IF NOT EXISTS less_kept (allocation_id INTEGER PRIMARY KEY);"
    "CREATE TEMP TABLE IF NOT EXISTS less_last (owner, input_id, last_id, left_out_count, PRIMARY KEY (owner, "
    "input_id));"
    "CREATE TEMP TABLE IF NOT EXISTS less_condition (owner PRIMARY KEY, condition);"
    "DELETE FROM less_input; DELETE FROM less_kept; DELETE FROM less_last;"
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

typedef struct live_rows {
    sqlite3 *db;
    sqlite3_stmt *keep; /* owned */
} live_rows;

static nm_status keep(const live_rows *live, int64_t allocation_id, nm_error *err)
{
    sqlite3_bind_int64(live->keep, 1, allocation_id);
    int code = sqlite3_step(live->keep);
    sqlite3_reset(live->keep);
    return code == SQLITE_DONE ? NM_OK : nm_db_fail(live->db, err);
}

static bool is_kept(const nm_live_rule *rule, sqlite3_stmt *row)
{
    int64_t alloc_seq = nm_db_is_null(row, 3) ? -1 : sqlite3_column_int64(row, 3);
    int64_t free_seq = nm_db_is_null(row, 4) ? NM_NULL : sqlite3_column_int64(row, 4);

    return nm_live_rule_keeps(rule, sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2), alloc_seq, free_seq);
}

static nm_status look_at_rows(const live_rows *live, const nm_live_rule *rule, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(live->db,
                                     "SELECT allocation_id, heap_id, end_kind, alloc_seq, free_seq FROM"
                                     " source.allocation",
                                     &row, err);

    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW)
        if (is_kept(rule, row))
            status = keep(live, sqlite3_column_int64(row, 0), err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(live->db, err);
    sqlite3_finalize(row);
    return status;
}

static nm_status keep_by_rule(const live_rows *live, nm_error *err)
{
    nm_live_rule rule = {0};
    nm_status status = nm_live_rule_read(&rule, live->db, "source", err);

    if (status == NM_OK)
        status = look_at_rows(live, &rule, err);
    nm_live_rule_free(&rule);
    return status;
}

static nm_status keep_live(sqlite3 *db, const nm_live_ids *known, nm_error *err)
{
    live_rows live = {.db = db};
    nm_status status = nm_db_prepare(db, "INSERT OR IGNORE INTO less_kept VALUES (?1)", &live.keep, err);

    if (status == NM_OK && known == NULL)
        status = keep_by_rule(&live, err);
    for (size_t i = 0; known != NULL && i < known->count && status == NM_OK; i++)
        status = keep(&live, known->items[i], err);
    sqlite3_finalize(live.keep);
    return status;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------- */

static nm_status note_last(sqlite3 *db, nm_error *err)
{
    int64_t input_count = 0;
    nm_status status = nm_db_get_int(db, "SELECT count(*) FROM source.input", &input_count, err);

    return status == NM_OK ? nm_db_exec(db, input_count == 1 ? only_last_sql : last_sql, err) : status;
}

nm_status nm_less_detail_choose(sqlite3 *db, nm_retention retention, const nm_live_ids *known, nm_error *err)
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
        status = keep_live(db, known, err);
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
