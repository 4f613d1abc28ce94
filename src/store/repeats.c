/* SPDX-License-Identifier: Apache-2.0
 *
 * What is removed is found by what it names: a process names its input, a heap its process, an allocation its heap. Which
 * columns do so stands in the schema, as for the merge itself, so that a new table needs no line here. Rows that name nobody (stacks,
 * frames, what a damaged input lacks) were copied behind each other: where nothing is kept of a database, all in its range of
 * numbers goes; where something is, the stacks and frames in it that no row names any more.
 */
#include "store/repeats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/database.h"
#include "store/prune.h"
#include "store/repeat_add.sql.h"
#include "store/repeat_counts.sql.h"
#include "store/repeat_end.sql.h"
#include "store/repeat_is_all.sql.h"
#include "store/repeat_is_kept.sql.h"
#include "store/repeat_keep.sql.h"
#include "store/repeat_out.sql.h"
#include "store/repeat_pairs.sql.h"
#include "store/repeat_plan.sql.h"
#include "store/repeat_touched.sql.h"
#include "store/schema.h"

static const char inputs_sql[] = "SELECT input_id, recording_id, events_ingested, events_unkept, is_complete, detail,"
                                 " (SELECT count(*) FROM \"%w\".meta WHERE key = 'redacted') AS redacted_count,"
                                 " (SELECT count(*) FROM \"%w\".input) AS input_count"
                                 " FROM \"%w\".input ORDER BY input_id";

/* The tables that say of rows which name them whose these are, the deepest last. What names a row of a large table names
 * another one too; stacks and frames name nobody. */
static const char owners_sql[] =
    "DELETE FROM repeat_owner; DELETE FROM repeat_gone;"
    "INSERT INTO repeat_owner WITH RECURSIVE run (name, depth) AS (SELECT 'input', 0"
    " UNION SELECT c.owner, run.depth + 1 FROM run"
    " JOIN merge_column AS c ON c.target = run.name AND c.owner <> c.target"
    " JOIN merge_column AS k ON k.owner = c.owner AND k.is_key"
    " WHERE run.depth < 20 AND c.owner NOT IN (" NM_LARGE_TABLES_SQL ", 'stack', 'frame'))"
    " SELECT name, max(depth) FROM run GROUP BY name;"
    "INSERT INTO repeat_gone SELECT 'input', i.input_id + b.last_id FROM repeat_input AS i JOIN repeat_begin AS b"
    " ON b.number = i.number AND b.owner = 'input' WHERE i.kept_id <> i.id AND i.is_out = 0";

#define NAMES_GONE                                                                                                     \
    "group_concat(printf('\"%w\" IN (SELECT id FROM temp.repeat_gone WHERE owner = %Q)', c.name, c.target), ' OR ')"

/* One INSERT for each of them but the first, which has begun. */
static const char gone_sql[] =
    "SELECT printf('INSERT OR IGNORE INTO temp.repeat_gone SELECT %Q, \"%w\" FROM main.\"%w\" WHERE ',"
    " o.name, k.name, o.name) || " NAMES_GONE " FROM repeat_owner AS o"
    " JOIN merge_column AS k ON k.owner = o.name AND k.is_key"
    " JOIN merge_column AS c ON c.owner = o.name AND c.target <> o.name AND c.target IN (SELECT name FROM repeat_owner)"
    " WHERE o.depth > 0 GROUP BY o.name ORDER BY o.depth, o.name";

/* One DELETE for each table that names one of them, or is one. */
static const char delete_sql[] =
    "SELECT printf('DELETE FROM main.\"%w\" WHERE ', c.owner) || " NAMES_GONE " FROM merge_column AS c"
    " WHERE c.owner IN (SELECT name FROM merge_table) AND c.target IN (SELECT name FROM repeat_owner)"
    " GROUP BY c.owner ORDER BY c.owner";

/* What a database has of a table: owner, behind which number, up to which. */
#define RANGES                                                                                                         \
    " FROM (SELECT b.owner AS owner, b.last_id AS first_id, coalesce((SELECT min(n.last_id)"                           \
    " FROM temp.repeat_begin AS n WHERE n.owner = b.owner AND n.number > b.number), 9223372036854775807) AS last_id"   \
    " FROM temp.repeat_begin AS b WHERE b.number = %" PRId64 ")"

static const char range_sql[] =
    "SELECT printf('DELETE FROM main.\"%%w\" WHERE rowid > %%d AND rowid <= %%d', owner, first_id, last_id)" RANGES;
static const char unnamed_sql[] = "SELECT owner, first_id, last_id" RANGES " WHERE owner IN ('stack', 'frame')"
                                  " ORDER BY owner DESC"; /* stacks name frames */

/* Tables of which no number of a row is known: the rowid has to do, where there is one. */
static const char begin_sql[] =
    "SELECT 'INSERT INTO temp.repeat_begin SELECT %" PRId64 ", t.name, t.last_id FROM temp.merge_table AS t JOIN"
    " temp.merge_column AS k ON k.owner = t.name AND k.is_key' || group_concat(printf(' UNION ALL SELECT %" PRId64
    ", %%Q, coalesce((SELECT max(rowid) FROM main.\"%%w\"), 0)', t.name, t.name), '') FROM temp.merge_table AS t"
    " JOIN main.sqlite_master AS m ON m.type = 'table' AND m.name = t.name AND m.sql NOT LIKE '%%WITHOUT ROWID%%'"
    " WHERE t.name NOT IN (SELECT k.owner FROM temp.merge_column AS k WHERE k.is_key)";

nm_status nm_repeats_plan(sqlite3 *db, nm_error *err)
{
    return nm_repeat_plan_run(db, err);
}

/* ---- Which -------------------------------------------------------------------------------------------------------- */

static int detail_order(const char *detail)
{
    return strcmp(detail, "all") == 0 ? 3 : strcmp(detail, "window") == 0 ? 2 : strcmp(detail, "live") == 0 ? 1 : 0;
}

/* `row`: of inputs_sql */
static nm_status add_input(const nm_merge_origin *origin, sqlite3_stmt *insert, sqlite3_stmt *row, nm_error *err)
{
    const char *recording = nm_named_has(row, "recording_id") ? nm_named_text(row, "recording_id") : NULL;

    nm_repeat_add_bind(insert, origin->number, nm_named_integer(row, "input_id"), recording,
                       nm_named_integer(row, "events_ingested"), nm_named_integer(row, "events_unkept"),
                       nm_named_integer(row, "is_complete") != 0, detail_order(nm_named_text(row, "detail")),
                       nm_named_integer(row, "redacted_count"), nm_named_integer(row, "input_count"), origin->name);
    return nm_question_step(insert, err);
}

nm_status nm_repeats_add(sqlite3 *db, const nm_merge_origin *origin, sqlite3 *from, const char *schema, nm_error *err)
{
    sqlite3_stmt *insert = NULL, *rows = NULL;
    char *sql = sqlite3_mprintf(inputs_sql, schema, schema, schema);
    nm_status status =
        sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : nm_db_prepare(from, sql, &rows, err);

    sqlite3_free(sql);
    if (status == NM_OK)
        status = nm_db_prepare(db, nm_repeat_add_sql, &insert, err);
    while (status == NM_OK && sqlite3_step(rows) == SQLITE_ROW)
        status = add_input(origin, insert, rows, err);
    return nm_question_end(insert, nm_question_end(rows, status, err), err);
}

static nm_status say(sqlite3 *db, const nm_merge_origin *origin, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_repeat_pairs_row row;
    nm_status status = nm_repeat_pairs_ask(db, origin->number, &rows, err);

    while (status == NM_OK && nm_repeat_pairs_next(rows, &row))
        if (origin->say != NULL)
            origin->say(origin->context,
                        &(nm_repeat){row.number, row.kept_number, row.repeated_count, row.input_count});
    return nm_question_end(rows, status, err);
}

nm_status nm_repeats_find(sqlite3 *db, const nm_merge_origin *origin, bool *is_all, nm_error *err)
{
    nm_repeat_is_all_row row = {0};
    nm_status status = nm_repeat_keep_run(db, origin->number, err);

    if (status == NM_OK)
        status = say(db, origin, err);
    if (status == NM_OK)
        status = nm_repeat_is_all_get(db, origin->number, &row, err);
    *is_all = row.is_all;
    return status == NM_OK && *is_all ? nm_repeat_out_run(db, origin->number, err) : status;
}

nm_status nm_repeats_keep(sqlite3 *db, int64_t number, int64_t input_id, bool *is_kept, nm_error *err)
{
    nm_repeat_is_kept_row row = {0};
    nm_status status = nm_repeat_keep_run(db, number, err);

    if (status == NM_OK)
        status = nm_repeat_is_kept_get(db, number, input_id, &row, err);
    *is_kept = row.is_kept;
    return status;
}

/* ---- Away with them ------------------------------------------------------------------------------------------------ */

nm_status nm_repeats_begin(sqlite3 *db, int64_t number, nm_error *err)
{
    char sql[sizeof begin_sql + 64];

    snprintf(sql, sizeof sql, begin_sql, number, number);
    return nm_db_exec_each(db, sql, err);
}

nm_status nm_repeats_count_kept(sqlite3 *db, int64_t *count, nm_error *err)
{
    nm_repeat_counts_row row;
    nm_status status = nm_repeat_counts_get(db, &row, err);

    *count = row.kept_count;
    return status;
}

nm_status nm_repeats_are_there(sqlite3 *db, bool *are_there, nm_error *err)
{
    nm_repeat_counts_row row;
    nm_status status = nm_repeat_counts_get(db, &row, err);

    *are_there = row.has_repeats;
    return status;
}

static nm_status remove_unnamed(sqlite3 *db, int64_t number, nm_error *err)
{
    char sql[sizeof unnamed_sql + 32];
    sqlite3_stmt *rows = NULL;

    snprintf(sql, sizeof sql, unnamed_sql, number);
    nm_status status = nm_db_prepare(db, sql, &rows, err);
    while (status == NM_OK && sqlite3_step(rows) == SQLITE_ROW)
        status = nm_prune_unnamed(db, nm_named_text(rows, "owner"), nm_named_integer(rows, "first_id"),
                                  nm_named_integer(rows, "last_id"), err);
    return nm_question_end(rows, status, err);
}

/* What names nobody. */
static nm_status remove_rest(sqlite3 *db, nm_error *err)
{
    char sql[sizeof range_sql + 32];
    sqlite3_stmt *rows = NULL;
    nm_repeat_touched_row row;
    nm_status status = nm_repeat_touched_ask(db, &rows, err);

    while (status == NM_OK && nm_repeat_touched_next(rows, &row)) {
        snprintf(sql, sizeof sql, range_sql, row.number);
        status = row.is_all ? nm_db_exec_each(db, sql, err) : remove_unnamed(db, row.number, err);
    }
    return nm_question_end(rows, status, err);
}

nm_status nm_repeats_remove(sqlite3 *db, nm_error *err)
{
    nm_status status = nm_db_exec(db, owners_sql, err);

    if (status == NM_OK)
        status = nm_db_exec_each(db, gone_sql, err);
    if (status == NM_OK)
        status = nm_db_exec_each(db, delete_sql, err);
    if (status == NM_OK)
        status = remove_rest(db, err);
    return status == NM_OK ? nm_repeat_end_run(db, err) : status;
}
