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
#include "store/schema.h"

/* repeat_input: what has been noted, and in kept_id which row stays in its place, or itself. repeat_begin: the largest number of a
 * row that a table had when the rows of a database were copied behind it. */
static const char plan_sql[] =
    "CREATE TEMP TABLE IF NOT EXISTS repeat_input (id INTEGER PRIMARY KEY, number, input_id, recording_id, known,"
    " ingested, is_complete, detail, is_redacted, beside, name, kept_id, is_out, UNIQUE (number, input_id));"
    "CREATE INDEX IF NOT EXISTS temp.repeat_recording ON repeat_input (recording_id);"
    "CREATE TEMP TABLE IF NOT EXISTS repeat_begin (number, owner, last_id, PRIMARY KEY (number, owner));"
    "CREATE TEMP TABLE IF NOT EXISTS repeat_owner (name PRIMARY KEY, depth);"
    "CREATE TEMP TABLE IF NOT EXISTS repeat_gone (owner, id, PRIMARY KEY (owner, id)) WITHOUT ROWID;"
    "DELETE FROM repeat_input; DELETE FROM repeat_begin";

static const char inputs_sql[] =
    "SELECT input_id, recording_id, events_ingested, events_unkept, is_complete, detail,"
    " (SELECT count(*) FROM \"%w\".meta WHERE key = 'redacted'), (SELECT count(*) FROM \"%w\".input)"
    " FROM \"%w\".input ORDER BY input_id";

/* What was not kept of the beginning counts as known: the sums of the rest are of all of it. */
static const char add_sql[] =
    "INSERT OR IGNORE INTO temp.repeat_input (number, input_id, recording_id, known, ingested, is_complete, detail,"
    " is_redacted, beside, name, is_out) VALUES (?1, ?2, ?3, ?4 + ?5, ?4, ?6, ?7, ?8, ?9, ?10, 0)";

static const char find_sql[] =
    "UPDATE temp.repeat_input SET kept_id = coalesce((SELECT k.id FROM temp.repeat_input AS k"
    " WHERE k.recording_id = repeat_input.recording_id ORDER BY k.known DESC, k.ingested DESC, k.is_complete DESC,"
    " k.detail DESC, k.is_redacted, k.beside DESC, k.name, k.id LIMIT 1), id)"
    " WHERE kept_id IS NULL OR recording_id IN"
    " (SELECT s.recording_id FROM temp.repeat_input AS s WHERE s.number = %" PRId64 ")";

static const char say_sql[] =
    "SELECT r.number, k.number, count(*), (SELECT count(*) FROM temp.repeat_input AS a WHERE a.number = r.number)"
    " FROM temp.repeat_input AS r JOIN temp.repeat_input AS k ON k.id = r.kept_id"
    " WHERE r.kept_id <> r.id AND r.is_out = 0 AND r.number <= ?1"
    " GROUP BY r.number, k.number ORDER BY r.number, k.number";

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

static const char end_sql[] =
    "UPDATE temp.repeat_input SET is_out = 1 WHERE kept_id <> id AND number IN (SELECT number FROM temp.repeat_begin);"
    "DELETE FROM repeat_gone;"
    /* What is said of the whole of nothing. */
    "DELETE FROM main.meta WHERE key = 'redacted' AND NOT EXISTS (SELECT 1 FROM main.input)";

/* Each database of which something goes now, and whether nothing stays. */
static const char touched_sql[] =
    "SELECT number, NOT EXISTS (SELECT 1 FROM temp.repeat_input AS s WHERE s.number = i.number AND s.kept_id = s.id)"
    " FROM temp.repeat_input AS i WHERE kept_id <> id AND is_out = 0"
    " AND number IN (SELECT number FROM temp.repeat_begin) GROUP BY number ORDER BY number";

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
    return nm_db_exec(db, plan_sql, err);
}

/* ---- Which -------------------------------------------------------------------------------------------------------- */

static int detail_order(const char *detail)
{
    return strcmp(detail, "all") == 0 ? 2 : strcmp(detail, "live") == 0 ? 1 : 0;
}

static nm_status add_input(sqlite3 *db, const nm_merge_origin *origin, sqlite3_stmt *insert, sqlite3_stmt *row,
                           nm_error *err)
{
    sqlite3_bind_int64(insert, 1, origin->number);
    sqlite3_bind_int64(insert, 2, sqlite3_column_int64(row, 0));
    sqlite3_bind_null(insert, 3);
    if (!nm_db_is_null(row, 1))
        sqlite3_bind_text(insert, 3, nm_db_text(row, 1), -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(insert, 4, sqlite3_column_int64(row, 2));
    sqlite3_bind_int64(insert, 5, sqlite3_column_int64(row, 3));
    sqlite3_bind_int64(insert, 6, sqlite3_column_int64(row, 4));
    sqlite3_bind_int64(insert, 7, detail_order(nm_db_text(row, 5)));
    sqlite3_bind_int64(insert, 8, sqlite3_column_int64(row, 6));
    sqlite3_bind_int64(insert, 9, sqlite3_column_int64(row, 7));
    sqlite3_bind_text(insert, 10, origin->name, -1, SQLITE_TRANSIENT);
    int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    return code == SQLITE_DONE ? NM_OK : nm_db_fail(db, err);
}

nm_status nm_repeats_add(sqlite3 *db, const nm_merge_origin *origin, sqlite3 *from, const char *schema, nm_error *err)
{
    sqlite3_stmt *insert = NULL, *rows = NULL;
    int code = SQLITE_DONE;
    char *sql = sqlite3_mprintf(inputs_sql, schema, schema, schema);
    nm_status status =
        sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : nm_db_prepare(from, sql, &rows, err);

    sqlite3_free(sql);
    if (status == NM_OK)
        status = nm_db_prepare(db, add_sql, &insert, err);
    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        status = add_input(db, origin, insert, rows, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(from, err);
    sqlite3_finalize(rows);
    sqlite3_finalize(insert);
    return status;
}

static nm_status say(sqlite3 *db, const nm_merge_origin *origin, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(db, say_sql, &rows, err);

    if (status == NM_OK)
        sqlite3_bind_int64(rows, 1, origin->number);
    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const nm_repeat repeat = {sqlite3_column_int64(rows, 0), sqlite3_column_int64(rows, 1),
                                  sqlite3_column_int64(rows, 2), sqlite3_column_int64(rows, 3)};

        if (origin->say != NULL)
            origin->say(origin->context, &repeat);
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
}

static nm_status get_flag(sqlite3 *db, const char *sql, int64_t number, int64_t input_id, bool *flag, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    nm_status status = nm_db_prepare(db, sql, &row, err);

    *flag = false;
    if (status != NM_OK)
        return status;
    sqlite3_bind_int64(row, 1, number);
    sqlite3_bind_int64(row, 2, input_id);
    if (sqlite3_step(row) == SQLITE_ROW)
        *flag = sqlite3_column_int(row, 0) != 0;
    else
        status = nm_db_fail(db, err);
    sqlite3_finalize(row);
    return status;
}

static nm_status find_kept(sqlite3 *db, int64_t number, nm_error *err)
{
    char sql[sizeof find_sql + 32];

    snprintf(sql, sizeof sql, find_sql, number);
    return nm_db_exec(db, sql, err);
}

nm_status nm_repeats_find(sqlite3 *db, const nm_merge_origin *origin, bool *is_all, nm_error *err)
{
    char sql[120];
    nm_status status = find_kept(db, origin->number, err);

    *is_all = false;
    if (status == NM_OK)
        status = say(db, origin, err);
    if (status == NM_OK)
        status = get_flag(db, "SELECT NOT EXISTS (SELECT 1 FROM temp.repeat_input WHERE number = ?1 AND kept_id = id)",
                          origin->number, 0, is_all, err);
    if (status != NM_OK || !*is_all)
        return status;
    snprintf(sql, sizeof sql, "UPDATE temp.repeat_input SET is_out = 1 WHERE number = %" PRId64, origin->number);
    return nm_db_exec(db, sql, err);
}

nm_status nm_repeats_keep(sqlite3 *db, int64_t number, int64_t input_id, bool *is_kept, nm_error *err)
{
    nm_status status = find_kept(db, number, err);

    return status != NM_OK ? status
                           : get_flag(db,
                                      "SELECT EXISTS (SELECT 1 FROM temp.repeat_input WHERE number = ?1"
                                      " AND input_id = ?2 AND kept_id = id)",
                                      number, input_id, is_kept, err);
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
    return nm_db_get_int(db,
                         "SELECT count(*) FROM temp.repeat_input WHERE kept_id = id AND number IN"
                         " (SELECT number FROM temp.repeat_begin)",
                         count, err);
}

nm_status nm_repeats_are_there(sqlite3 *db, bool *are_there, nm_error *err)
{
    return get_flag(db,
                    "SELECT EXISTS (SELECT 1 FROM temp.repeat_input WHERE kept_id <> id AND is_out = 0 AND number IN"
                    " (SELECT number FROM temp.repeat_begin))",
                    0, 0, are_there, err);
}

static nm_status remove_unnamed(sqlite3 *db, int64_t number, nm_error *err)
{
    char sql[sizeof unnamed_sql + 32];
    sqlite3_stmt *rows = NULL;
    int code = SQLITE_DONE;

    snprintf(sql, sizeof sql, unnamed_sql, number);
    nm_status status = nm_db_prepare(db, sql, &rows, err);
    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        status = nm_prune_unnamed(db, nm_db_text(rows, 0), sqlite3_column_int64(rows, 1), sqlite3_column_int64(rows, 2),
                                  err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
}

/* What names nobody. */
static nm_status remove_rest(sqlite3 *db, nm_error *err)
{
    char sql[sizeof range_sql + 32];
    sqlite3_stmt *rows = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(db, touched_sql, &rows, err);

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        int64_t number = sqlite3_column_int64(rows, 0);
        bool is_all = sqlite3_column_int(rows, 1) != 0;

        snprintf(sql, sizeof sql, range_sql, number);
        status = is_all ? nm_db_exec_each(db, sql, err) : remove_unnamed(db, number, err);
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
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
    return status == NM_OK ? nm_db_exec(db, end_sql, err) : status;
}
