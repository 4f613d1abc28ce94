/* SPDX-License-Identifier: Apache-2.0 */
#include "store/vet.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "store/database.h"
#include "store/merge.h"
#include "store/schema.h"

nm_status nm_vet_attach(sqlite3 *db, const char *path, const char *schema, nm_error *err)
{
    nm_buffer uri = {0};
    char *sql = NULL;
    nm_status status = nm_db_uri(path, "mode=ro", &uri, err);

    if (status == NM_OK && (sql = sqlite3_mprintf("ATTACH %Q AS \"%w\"", (const char *)uri.data, schema)) == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = nm_db_exec(db, sql, err);
    sqlite3_free(sql);
    nm_buffer_free(&uri);
    return status;
}

/* `format` with the schema's name twice at most; the first figure of the answer. */
static nm_status ask(sqlite3 *db, const char *format, const char *schema, int64_t *value, nm_error *err)
{
    char *sql = sqlite3_mprintf(format, schema, schema);
    nm_status status =
        sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : nm_db_get_int(db, sql, value, err);

    sqlite3_free(sql);
    return status;
}

/* The first text that `sql` answers with (owned by sqlite3_free), or NULL when there is no row. Takes `sql` over. */
static nm_status first_text(sqlite3 *db, char *sql, char **text, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    nm_status status =
        sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : nm_db_prepare(db, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    *text = NULL;
    if (code == SQLITE_ROW && (*text = sqlite3_mprintf("%s", sqlite3_column_text(row, 0))) == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    else if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(row);
    sqlite3_free(sql);
    return status;
}

static nm_status check_pages(sqlite3 *db, const char *schema, nm_error *err)
{
    char *text = NULL;
    nm_status status = first_text(db, sqlite3_mprintf("PRAGMA \"%w\".quick_check(1)", schema), &text, err);

    if (status == NM_OK && (text == NULL || strcmp(text, "ok") != 0))
        status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "the database is damaged: %.100s", text == NULL ? "" : text);
    sqlite3_free(text);
    return status;
}

nm_status nm_vet_pages(sqlite3 *db, const char *schema, nm_error *err)
{
    int64_t id = 0, version = 0;
    nm_status status = ask(db, "PRAGMA \"%w\".application_id", schema, &id, err);

    if (status == NM_OK)
        status = ask(db, "PRAGMA \"%w\".user_version", schema, &version, err);
    if (status == NM_OK && id != NM_APPLICATION_ID)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "is a database, but none of npumem-ingest");
    if (status == NM_OK && version != NM_SCHEMA_VERSION)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET,
                       "has schema version %" PRId64 ", this program %d: load its input again", version,
                       NM_SCHEMA_VERSION);
    return status == NM_OK ? check_pages(db, schema, err) : status;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static nm_status check_tables(sqlite3 *db, const char *schema, nm_error *err)
{
    char *name = NULL;
    nm_status status = first_text(db,
                                  sqlite3_mprintf("SELECT name FROM main.sqlite_master WHERE type = 'table' AND (name, "
                                                  "sql) NOT IN (SELECT name, sql FROM \"%w\".sqlite_master "
                                                  "WHERE type = 'table' AND sql IS NOT NULL)",
                                                  schema),
                                  &name, err);

    if (status == NM_OK && name != NULL)
        status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET,
                         "is of another version: its table %.40s is not the same; load its input again", name);
    sqlite3_free(name);
    return status;
}

/* A table of words: each row of it must be among those of `main`. What is known of sites is each input's own. */
static nm_status check_words(sqlite3 *db, const char *schema, const char *table, nm_error *err)
{
    int64_t is_other = 0;
    char *sql = sqlite3_mprintf("SELECT EXISTS (SELECT * FROM \"%w\".\"%w\" EXCEPT SELECT * FROM main.\"%w\")", schema,
                                table, table);
    nm_status status = sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                   : nm_db_get_int(db, sql, &is_other, err);

    sqlite3_free(sql);
    if (status == NM_OK && is_other != 0)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "is of another version: its table %.40s has other words",
                       table);
    return status;
}

#define NUMBERS_SQL "SELECT name, target FROM merge_column WHERE owner = ? AND target IS NOT NULL ORDER BY place"

/* The columns of the table that number rows: name, target. */
static nm_status open_numbers(sqlite3 *db, const char *table, sqlite3_stmt **out, nm_error *err)
{
    nm_status status = nm_db_prepare(db, NUMBERS_SQL, out, err);

    if (status == NM_OK)
        sqlite3_bind_text(*out, 1, table, -1, SQLITE_STATIC);
    return status;
}

/* "SELECT min(a), max(a), min(b), ..." of those columns; NULL when there are none. By sqlite3_free. */
static nm_status range_sql(sqlite3 *db, const char *schema, const char *table, char **sql, nm_error *err)
{
    sqlite3_str *text = sqlite3_str_new(db);
    sqlite3_stmt *columns = NULL;
    nm_status status = open_numbers(db, table, &columns, err);
    int count = 0, code = SQLITE_DONE;

    for (; status == NM_OK && (code = sqlite3_step(columns)) == SQLITE_ROW; count++) {
        const char *name = (const char *)sqlite3_column_text(columns, 0);

        sqlite3_str_appendf(text, "%s min(\"%w\"), max(\"%w\")", count == 0 ? "SELECT" : ",", name, name);
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(columns);
    sqlite3_str_appendf(text, " FROM \"%w\".\"%w\"", schema, table);
    *sql = sqlite3_str_finish(text);
    if (status == NM_OK && *sql == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status != NM_OK || count == 0) {
        sqlite3_free(*sql);
        *sql = NULL;
    }
    return status;
}

static bool is_number(sqlite3_stmt *row, int column, int64_t most)
{
    int type = sqlite3_column_type(row, column);
    int64_t value = sqlite3_column_int64(row, column);

    return type == SQLITE_NULL || (type == SQLITE_INTEGER && value >= 1 && value <= most);
}

/* The largest number of a row that `target` has, here or left out: what may be named. */
static nm_status last_number(sqlite3 *db, const char *schema, const char *target, int64_t *last, nm_error *err)
{
    static const char list_sql[] =
        "SELECT 'SELECT max(n) FROM (SELECT NULL AS n' || group_concat(printf(' UNION ALL SELECT max(\"%%w\") FROM"
        " \"%%w\".\"%%w\"', name, %Q, owner), '') || ')' FROM merge_column WHERE target = %Q"
        " AND (is_key OR (owner = 'left_out' AND target <> 'input'))";
    char *sql = NULL;
    nm_status status = first_text(db, sqlite3_mprintf(list_sql, schema, target), &sql, err);

    *last = 0;
    if (status == NM_OK && sql != NULL)
        status = nm_db_get_int(db, sql, last, err);
    if (status == NM_OK && *last == NM_NULL)
        *last = 0;
    sqlite3_free(sql);
    if (status == NM_OK && *last > NM_MERGE_ID_MAX)
        status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "table %.40s has a row of number %" PRId64, target, *last);
    return status;
}

/* `row` has the least and greatest value of each column of `table` that numbers rows, in their order. */
static nm_status check_ranges(sqlite3 *db, const char *schema, const char *table, sqlite3_stmt *row, nm_error *err)
{
    sqlite3_stmt *columns = NULL;
    int64_t last = 0;
    int code = SQLITE_DONE;
    nm_status status = open_numbers(db, table, &columns, err);

    for (int at = 0; status == NM_OK && (code = sqlite3_step(columns)) == SQLITE_ROW; at += 2) {
        status = last_number(db, schema, (const char *)sqlite3_column_text(columns, 1), &last, err);
        if (status == NM_OK && !(is_number(row, at, last) && is_number(row, at + 1, last)))
            status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "%.40s.%.40s names rows that are not there", table,
                             (const char *)sqlite3_column_text(columns, 0));
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(columns);
    return status;
}

static nm_status check_numbers(sqlite3 *db, const char *schema, const char *table, nm_error *err)
{
    char *sql = NULL;
    sqlite3_stmt *row = NULL;
    nm_status status = range_sql(db, schema, table, &sql, err);

    if (status == NM_OK && sql != NULL)
        status = nm_db_prepare(db, sql, &row, err);
    if (status == NM_OK && row != NULL)
        status = sqlite3_step(row) == SQLITE_ROW ? check_ranges(db, schema, table, row, err) : nm_db_fail(db, err);
    sqlite3_finalize(row);
    sqlite3_free(sql);
    return status;
}

nm_status nm_vet_rows(sqlite3 *db, const char *schema, nm_error *err)
{
    static const char sql[] = "SELECT m.name, m.name IN (SELECT t.name FROM merge_table AS t) FROM main.sqlite_master "
                              "AS m WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' "
                              "AND m.name NOT IN ('meta', 'plumbing')";
    sqlite3_stmt *tables = NULL;
    int code = SQLITE_DONE;
    int64_t input_count = 0;
    nm_status status = check_tables(db, schema, err);

    if (status == NM_OK)
        status = ask(db, "SELECT count(*) FROM \"%w\".input", schema, &input_count, err);
    if (status == NM_OK && input_count == 0)
        status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "has no input");
    if (status == NM_OK)
        status = nm_db_prepare(db, sql, &tables, err);
    while (status == NM_OK && (code = sqlite3_step(tables)) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(tables, 0);

        status = sqlite3_column_int(tables, 1) != 0 ? check_numbers(db, schema, table, err)
                                                    : check_words(db, schema, table, err);
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(tables);
    return status;
}
