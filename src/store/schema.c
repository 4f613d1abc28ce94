/* SPDX-License-Identifier: Apache-2.0
 *
 * The SQL of the files is ours and plain: where a statement ends is seen without SQLite, which is held to that by a test
 * (tests/unit/store/test_schema.c). What it makes says which part it is of: a file may have a table and its view.
 */
#include "store/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites/site.h"
#include "store/question.h"
#include "store/validate.h"

bool nm_schema_is_large(nm_bytes table)
{
#define IS_IT(name) || (table.len == sizeof #name - 1 && memcmp(table.data, #name, sizeof #name - 1) == 0)
    return false NM_SCHEMA_ROW_AN_EVENT(IS_IT);
}

/* ---- Statements ---------------------------------------------------------------------------------------------------- */

static const char *past_comments(const char *sql)
{
    for (;;) {
        sql += strspn(sql, " \n");
        if (strncmp(sql, "--", 2) != 0)
            return sql;
        sql += strcspn(sql, "\n");
    }
}

/* The semicolon that ends the statement, or the end of the text: none stands in quotes or comments. */
static const char *statement_end(const char *sql)
{
    for (;;) {
        sql += strcspn(sql, ";'\"-");
        if (*sql == ';' || *sql == 0)
            return sql;
        if (*sql == '-')
            sql += sql[1] == '-' ? strcspn(sql, "\n") : 1;
        else {
            const char *close = strchr(sql + 1, *sql);

            sql = close == NULL ? sql + strlen(sql) : close + 1;
        }
    }
}

static void name_statement(nm_schema_statement *statement, const char *sql)
{
    static const struct {
        const char *begin;
        nm_schema_kind kind;
    } kinds[] = {{"CREATE TABLE ", NM_SCHEMA_TABLE},
                 {"CREATE INDEX ", NM_SCHEMA_INDEX},
                 {"CREATE VIEW ", NM_SCHEMA_VIEW},
                 {"INSERT INTO ", NM_SCHEMA_WORDS}};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t length = strlen(kinds[i].begin);

        if (strncmp(sql, kinds[i].begin, length) == 0) {
            statement->kind = kinds[i].kind;
            statement->name = (nm_bytes){(const uint8_t *)sql + length, strcspn(sql + length, " (\n")};
        }
    }
}

bool nm_schema_next(nm_schema_place *place, nm_schema_statement *out)
{
    for (; nm_schema_files[place->file].name != NULL; place->file++, place->at = NULL) {
        const nm_embedded_text *file = &nm_schema_files[place->file];
        const char *begin = past_comments(place->at == NULL ? file->text : place->at);
        const char *end = statement_end(begin);

        if (*begin == 0)
            continue;
        name_statement(out, begin);
        out->part = out->kind == NM_SCHEMA_TABLE || out->kind == NM_SCHEMA_WORDS ? NM_SCHEMA_TABLES : NM_SCHEMA_VIEWS;
        out->text = (nm_bytes){(const uint8_t *)begin, (size_t)(end - begin)};
        place->at = *end == 0 ? end : end + 1;
        return true;
    }
    return false;
}

/* ---- By its SQL --------------------------------------------------------------------------------------------------- */

static nm_status run_statement(sqlite3 *db, nm_bytes text, nm_error *err)
{
    sqlite3_stmt *statement = NULL;
    nm_status status = NM_OK;

    if (sqlite3_prepare_v2(db, (const char *)text.data, (int)text.len, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(statement);
    return status;
}

nm_status nm_schema_apply(sqlite3 *db, nm_schema_part part, nm_error *err)
{
    nm_schema_statement statement;
    nm_status status = NM_OK;

    for (nm_schema_place place = {0}; status == NM_OK && nm_schema_next(&place, &statement);)
        if (statement.part == part)
            status = run_statement(db, statement.text, err);
    return status;
}

nm_status nm_schema_apply_table(sqlite3 *db, const char *table, nm_error *err)
{
    nm_schema_statement statement;
    nm_status status = NM_OK;
    size_t length = strlen(table);

    for (nm_schema_place place = {0}; status == NM_OK && nm_schema_next(&place, &statement);)
        if (statement.part == NM_SCHEMA_TABLES && statement.name.len == length &&
            memcmp(statement.name.data, table, length) == 0)
            status = run_statement(db, statement.text, err);
    return status;
}

nm_status nm_schema_create(sqlite3 *db, nm_error *err)
{
    char sql[512];
    nm_status status = nm_db_exec(db, "PRAGMA page_size = 16384; PRAGMA encoding = 'UTF-8'; BEGIN", err);

    if (status == NM_OK)
        status = nm_schema_apply(db, NM_SCHEMA_TABLES, err);
    snprintf(sql, sizeof sql,
             "INSERT INTO meta VALUES ('schema_version', '%d'), ('tool', 'npumem-ingest'), ('tool_version', '%s'),"
             " ('site_rules_version', '%d');"
             "PRAGMA user_version = %d; PRAGMA application_id = %d; COMMIT",
             NM_SCHEMA_VERSION, NPUMEM_PROJECT_VERSION, NM_SITE_RULES_VERSION, NM_SCHEMA_VERSION, NM_APPLICATION_ID);
    return status == NM_OK ? nm_db_exec(db, sql, err) : status;
}

nm_status nm_schema_create_in(sqlite3 *db, const char *schema, nm_error *err)
{
    nm_schema_statement statement;
    nm_status status = NM_OK;
    char *sql = NULL;

    for (nm_schema_place place = {0}; status == NM_OK && nm_schema_next(&place, &statement);) {
        int begin = (int)(statement.name.data - statement.text.data); /* CREATE TABLE or INSERT INTO */

        if (statement.part != NM_SCHEMA_TABLES)
            continue;
        sql = sqlite3_mprintf("%.*s\"%w\".%.*s", begin, statement.text.data, schema, (int)statement.text.len - begin,
                              statement.name.data);
        status = nm_db_exec(db, sql, err);
        sqlite3_free(sql);
    }
    if (status != NM_OK)
        return status;
    sql = sqlite3_mprintf("INSERT INTO \"%w\".meta VALUES ('schema_version', '%d')", schema, NM_SCHEMA_VERSION);
    status = nm_db_exec(db, sql, err);
    sqlite3_free(sql);
    return status;
}

/* ---- Views, all at once ------------------------------------------------------------------------------------------ */

/*
 * SQLite would compile each view and look through its whole list of what there is for it. So they are put on that list as it
 * would have put them there. What lies in between, indexes, it makes itself.
 */
#define RESET_VERSION 3027000 /* of SQLite: from there on it reads the list again when asked to */

static nm_status list_view(sqlite3_stmt *insert, const nm_schema_statement *view, nm_error *err)
{
    nm_question_bind_bytes(insert, ":name", view->name);
    nm_question_bind_bytes(insert, ":sql", view->text);
    return nm_question_step(insert, err);
}

nm_status nm_schema_add_views(sqlite3 *db, nm_error *err)
{
    sqlite3_stmt *insert = NULL;
    nm_schema_statement statement;

    if (sqlite3_libversion_number() < RESET_VERSION)
        return nm_schema_apply(db, NM_SCHEMA_VIEWS, err);
    nm_status status = nm_db_exec(db, "PRAGMA writable_schema = ON", err);
    if (status == NM_OK)
        status = nm_db_prepare(db, "INSERT INTO sqlite_master VALUES ('view', :name, :name, 0, :sql)", &insert, err);
    for (nm_schema_place place = {0}; status == NM_OK && nm_schema_next(&place, &statement);) {
        if (statement.kind == NM_SCHEMA_VIEW)
            status = list_view(insert, &statement, err);
        else if (statement.part == NM_SCHEMA_VIEWS)
            status = run_statement(db, statement.text, err);
    }
    sqlite3_finalize(insert);
    return status == NM_OK ? nm_db_exec(db, "PRAGMA writable_schema = OFF", err) : status;
}

nm_status nm_schema_read_views(sqlite3 *db, nm_error *err)
{
    return sqlite3_libversion_number() < RESET_VERSION ? NM_OK : nm_db_exec(db, "PRAGMA writable_schema = RESET", err);
}
