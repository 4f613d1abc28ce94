/* SPDX-License-Identifier: Apache-2.0
 *
 * query: one SELECT, on a connection that reads our tables and views alone and has bounds (store/foreign.h); or what there is to
 * ask: the catalog, the glossary, and the manual of a view, which is the comment of its CREATE statement.
 */
#include <ctype.h>
#include <string.h>

#include "store/question.h"
#include "store/schema.h"
#include "tool/mcp/catalog_rows.sql.h"
#include "tool/mcp/files.h"
#include "tool/mcp/tools.h"

/* ---- SQL -------------------------------------------------------------------------------------------------------------------- */

static bool is_over(const char *sql)
{
    while (isspace((unsigned char)*sql) || *sql == ';')
        sql++;
    return *sql == 0;
}

static nm_status prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out, nm_error *err)
{
    const char *rest = sql;

    int code = sqlite3_prepare_v2(db, sql, -1, out, &rest);

    if (code != SQLITE_OK && code != SQLITE_AUTH)
        return nm_db_fail(db, err);
    if (*out == NULL || sqlite3_column_count(*out) == 0 || sqlite3_stmt_readonly(*out) == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "sql must be a SELECT of the views and tables of the catalog");
    return is_over(rest) ? NM_OK : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "sql must be one statement");
}

static nm_status put_rows(sqlite3_stmt *statement, int64_t from, nm_json *json)
{
    mcp_rows rows = {.from = from};

    mcp_put_origin(json);
    mcp_put_rows(json, NULL, statement, &rows);
    if (rows.is_cut)
        mcp_put_more(json, rows.from + rows.count);
    return rows.is_cut && rows.count == 0 ? NM_ERR_LIMIT : NM_OK;
}

static nm_status run_sql(mcp_server *server, const mcp_arguments *arguments, int64_t from, nm_json *json, nm_error *err)
{
    const char *sql = mcp_argument_text(arguments, "sql"), *handle = mcp_argument_text(arguments, "handle");
    nm_foreign *database = NULL;
    sqlite3_stmt *statement = NULL;
    mcp_run *run;
    nm_status status = mcp_runs_ask(&server->runs, handle, &run, &database, err);

    if (status == NM_OK)
        status = prepare(nm_foreign_db(database), sql, &statement, err);
    if (status == NM_OK && put_rows(statement, from, json) == NM_ERR_LIMIT)
        status = nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "a row is longer than an answer may be: name fewer columns");
    status = nm_question_end(statement, status, err);
    mcp_run_close(database);
    return status;
}

/* ---- Topics ----------------------------------------------------------------------------------------------------------------- */

static nm_status put_catalog(mcp_server *server, const char *handle, int64_t from, nm_json *json, nm_error *err)
{
    nm_foreign *database = NULL;
    sqlite3_stmt *statement = NULL;
    mcp_run *run;
    nm_status status = handle == NULL ? nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "topic catalog needs a handle")
                                      : mcp_runs_ask(&server->runs, handle, &run, &database, err);

    if (status == NM_OK)
        status = nm_catalog_rows_ask(nm_foreign_db(database), &statement, err);
    if (status == NM_OK)
        put_rows(statement, from, json);
    status = nm_question_end(statement, status, err);
    mcp_run_close(database);
    return status;
}

static bool find_manual(const char *name, nm_bytes *out)
{
    nm_schema_statement statement;

    for (nm_schema_place place = {0}; nm_schema_next(&place, &statement);)
        if ((statement.kind == NM_SCHEMA_TABLE || statement.kind == NM_SCHEMA_VIEW) &&
            statement.name.len == strlen(name) && memcmp(statement.name.data, name, statement.name.len) == 0) {
            *out = statement.text;
            return true;
        }
    return false;
}

/* Of a view what stands in front of its SELECT. */
static nm_bytes cut_manual(nm_bytes text)
{
    static const char end[] = "\n) AS\n";
    const uint8_t *found = memmem(text.data, text.len, end, sizeof end - 1);

    return found == NULL ? text : (nm_bytes){text.data, (size_t)(found - text.data)};
}

static void put_next(const char *handle, nm_json *json)
{
    nm_json_begin(json, "next", '[');
    if (handle != NULL)
        mcp_put_next(json, "query", "handle", handle, "topic", "the name of a view", NULL);
    nm_json_end(json, ']');
}

static nm_status put_topic(mcp_server *server, const mcp_arguments *arguments, int64_t from, nm_json *json,
                           nm_error *err)
{
    const char *topic = mcp_argument_text(arguments, "topic");
    nm_bytes text;
    int64_t more = 0;

    if (strcmp(topic, "catalog") == 0)
        return put_catalog(server, mcp_argument_text(arguments, "handle"), from, json, err);
    if (strcmp(topic, "glossary") == 0)
        text = (nm_bytes){(const uint8_t *)mcp_files[MCP_FILE_GLOSSARY].text, mcp_files[MCP_FILE_GLOSSARY].len};
    else if (find_manual(topic, &text))
        text = cut_manual(text);
    else
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                       "topic must be catalog, glossary, or the name of a view or table");
    mcp_put_lines(json, "text", text, (size_t)from, &more);
    mcp_put_more(json, more);
    return NM_OK;
}

nm_status mcp_query(mcp_server *server, const mcp_arguments *arguments, nm_json *json, nm_error *err)
{
    const char *sql = mcp_argument_text(arguments, "sql");
    int64_t from = 0;
    nm_status status = mcp_read_more(mcp_argument_text(arguments, "more"), &from, err);

    if (status != NM_OK)
        return status;
    if ((sql == NULL) == (mcp_argument_text(arguments, "topic") == NULL))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs either sql or topic");
    if (sql != NULL && mcp_argument_text(arguments, "handle") == NULL)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "sql needs a handle");
    status = (sql == NULL ? put_topic : run_sql)(server, arguments, from, json, err);
    put_next(mcp_argument_text(arguments, "handle"), json);
    return status;
}
