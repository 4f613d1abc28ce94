/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows of allocations stay is told row by row (live_rule.h), and what carries them is found from those.
 */
#include "store/less_detail.h"

#include <stdbool.h>
#include <stdio.h>

#include "store/less_detail_keep.sql.h"
#include "store/less_detail_lives.sql.h"
#include "store/less_detail_plan.sql.h"

#define PLACES                                                                                                         \
    " LEFT JOIN source.heap AS h ON h.heap_id = a.heap_id LEFT JOIN source.process AS p ON p.process_id = "            \
    "h.process_id"

/* What carries them. */
static const char carriers_sql[] =
    "INSERT OR IGNORE INTO less_kept WITH RECURSIVE carrier (id) AS (SELECT a.segment_id FROM less_kept AS k"
    " JOIN source.z_allocation AS a ON a.allocation_id = k.allocation_id UNION SELECT a.segment_id FROM carrier"
    " JOIN source.z_allocation AS a ON a.allocation_id = carrier.id)"
    " SELECT a.allocation_id FROM carrier JOIN source.z_allocation AS a ON a.allocation_id = carrier.id";

/* Inputs with less have no rows in the others: of those go all, or, where all inputs stay as they are, none. */
static const char conditions_sql[] =
    "INSERT INTO less_condition SELECT owner, condition FROM (SELECT 'z_allocation' AS owner,"
    " 'allocation_id IN (SELECT allocation_id FROM temp.less_kept)' AS condition UNION ALL SELECT 'copy', '0'"
    " UNION ALL SELECT 'workspace', '0' UNION ALL SELECT 'z_stream_call', '0') WHERE EXISTS (SELECT 1 FROM less_input)";

/* Operations that nobody names are deleted in the end (prune.c), and are most of them: these do not come at all. Where a window keeps
 * others, all come. */
#define FEW_OPERATIONS                                                                                                 \
    "EXISTS (SELECT 1 FROM less_input) AND NOT EXISTS (SELECT 1 FROM source.input WHERE detail = 'window')"

static const char operations_sql[] =
    "SELECT 'INSERT INTO less_operation WITH RECURSIVE named (id) AS (SELECT NULL'"
    " || coalesce(group_concat(CASE WHEN c.owner <> c.target THEN printf(' UNION SELECT \"%w\" FROM source.\"%w\"', "
    "c.name,"
    " c.owner) || coalesce((SELECT ' WHERE ' || l.condition FROM less_condition AS l WHERE l.owner = c.owner), '') END,"
    " ''), '') || coalesce(group_concat(CASE WHEN c.owner = c.target THEN printf(' UNION SELECT \"%w\" FROM"
    " source.operation JOIN named ON named.id = operation_id', c.name) END, ''), '')"
    " || ') SELECT id FROM named WHERE id IS NOT NULL' FROM merge_column AS c WHERE c.target = 'operation' AND NOT"
    " c.is_key AND c.owner <> 'z_left_out' AND " FEW_OPERATIONS " HAVING count(*) > 0";

static const char operation_condition_sql[] =
    "INSERT INTO less_condition SELECT 'operation', 'operation_id IN (SELECT operation_id FROM temp.less_operation)'"
    " WHERE " FEW_OPERATIONS;

/* Of a database of one input, where all rows are its: the last of a table is known without a look at the others. */
#define ONLY_LAST_OF(table, id, left_out_count)                                                                        \
    "INSERT INTO less_last SELECT '" table "', i.input_id, (SELECT max(" id ") FROM source." table                     \
    "), " left_out_count " FROM less_input AS i;"

static const char only_last_sql[] = ONLY_LAST_OF(
    "z_allocation", "allocation_id", "(SELECT count(*) FROM source.z_allocation) - (SELECT count(*) FROM less_kept)")
    ONLY_LAST_OF("copy", "copy_id", "0") ONLY_LAST_OF("operation", "operation_id", "0")
        ONLY_LAST_OF("z_stream_call", "stream_call_id", "0") ONLY_LAST_OF("workspace", "workspace_id", "0");

/* A row of which no process is known counts as of the last input. */
#define LAST_OF(table, id, joins)                                                                                      \
    "INSERT INTO less_last SELECT '" table "', i.input_id, max(i.id), sum(i.is_left_out) FROM (SELECT"                 \
    " coalesce(p.input_id, (SELECT max(input_id) FROM less_input)) AS input_id, a." id                                 \
    " AS id, " LEFT_OUT(table) " AS is_left_out FROM source." table " AS a" joins                                      \
                               ") AS i WHERE i.input_id IN (SELECT input_id FROM less_input)"                          \
                               " GROUP BY i.input_id;"
#define LEFT_OUT(table) "('" table "' = 'z_allocation' AND a.rowid NOT IN (SELECT allocation_id FROM less_kept))"
#define OF_ITS_PROCESS  " LEFT JOIN source.process AS p ON p.process_id = a.process_id"

static const char last_sql[] =
    LAST_OF("z_allocation", "allocation_id", PLACES) LAST_OF("copy", "copy_id", OF_ITS_PROCESS)
        LAST_OF("operation", "operation_id", OF_ITS_PROCESS) LAST_OF("z_stream_call", "stream_call_id", OF_ITS_PROCESS)
            LAST_OF("workspace", "workspace_id",
                    " LEFT JOIN source.operation AS o ON o.operation_id = a.operation_id"
                    " LEFT JOIN source.process AS p ON p.process_id = o.process_id");

/* The larger of what was known and what was seen, moved up as the rows were; NULL: there is none. */
#define LAST(column, table)                                                                                            \
    "nullif(max(coalesce(l." column ", 0), coalesce((SELECT last_id FROM less_last AS s WHERE s.owner = '" table       \
    "' AND s.input_id = i.input_id), 0)), 0) + (SELECT last_id FROM merge_table WHERE name = '" table "')"
#define NEW_INPUT "i.input_id + (SELECT last_id FROM merge_table WHERE name = 'input')"

static const char note_sql[] =
    "INSERT OR REPLACE INTO main.z_left_out SELECT " NEW_INPUT
    ", " LAST("last_allocation_id", "z_allocation") ", " LAST("last_copy_id", "copy") ", " LAST(
        "last_operation_id",
        "operation") ", " LAST("last_workspace_id",
                               "workspace") ", " LAST("last_stream_call_id",
                                                      "z_stream_call") ","
                                                                       " coalesce(l.allocation_count, 0) + "
                                                                       "coalesce((SELECT left_out_count FROM less_last "
                                                                       "AS s WHERE s.owner = 'z_allocation'"
                                                                       " AND s.input_id = i.input_id), 0) FROM "
                                                                       "less_input AS i LEFT JOIN source.z_left_out AS "
                                                                       "l ON l.input_id = i.input_id";

/* ---- What was live at moments ------------------------------------------------------------------------------------- */

typedef struct live_rows {
    sqlite3 *db;
    sqlite3_stmt *keep; /* owned */
} live_rows;

static nm_status keep(const live_rows *live, int64_t allocation_id, nm_error *err)
{
    nm_less_detail_keep_bind(live->keep, allocation_id);
    return nm_question_step(live->keep, err);
}

static bool is_kept(const nm_live_rule *rule, const nm_less_detail_lives_row *row)
{
    return nm_live_rule_keeps(rule, row->heap_id, row->end_code, row->has.alloc_seq ? row->alloc_seq : -1,
                              NM_NUMBER_OF(row, free_seq));
}

static nm_status look_at_rows(const live_rows *live, const nm_live_rule *rule, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_less_detail_lives_row row;
    nm_status status = nm_less_detail_lives_ask(live->db, &rows, err);

    while (status == NM_OK && nm_less_detail_lives_next(rows, &row))
        if (is_kept(rule, &row))
            status = keep(live, row.allocation_id, err);
    return nm_question_end(rows, status, err);
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
    nm_status status = nm_db_prepare(db, nm_less_detail_keep_sql, &live.keep, err);

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
    nm_status status = nm_less_detail_plan_run(db, err);

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
    if (status == NM_OK)
        status = nm_db_exec(db, conditions_sql, err);
    if (status == NM_OK)
        status = nm_db_exec_each(db, operations_sql, err);
    return status == NM_OK ? nm_db_exec(db, operation_condition_sql, err) : status;
}

nm_status nm_less_detail_note(sqlite3 *db, nm_retention retention, nm_error *err)
{
    char sql[320];
    nm_status status;

    if (retention == NM_RETENTION_ALL)
        return NM_OK;
    status = nm_db_exec(db, note_sql, err);
    snprintf(sql, sizeof sql,
             "UPDATE main.input SET detail = '%s', window_begin_seq = NULL, window_end_seq = NULL, window_begin_ns = "
             "NULL, window_end_ns = NULL WHERE input_id IN (SELECT " NEW_INPUT " FROM less_input AS i)",
             nm_retention_name(retention));
    return status == NM_OK ? nm_db_exec(db, sql, err) : status;
}
