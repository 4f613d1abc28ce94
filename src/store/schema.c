/* SPDX-License-Identifier: Apache-2.0
 *
 * The number of a file says which part it is of; the files stand in the order of their numbers.
 */
#include "store/schema.h"

#include <stdlib.h>
#include <string.h>

#include "store/database.h"

#define FIRST_NUMBER_OF_VIEWS 200

static nm_schema_part part_of(const nm_embedded_text *file)
{
    return strtol(file->name, NULL, 10) < FIRST_NUMBER_OF_VIEWS ? NM_SCHEMA_TABLES : NM_SCHEMA_VIEWS;
}

/* ---- Views, all at once ------------------------------------------------------------------------------------------ */

/*
 * SQLite looks through its whole list of what there is for each view that is created, and a database has more than a hundred:
 * most of the time that a small input takes. So each statement is only compiled, for SQLite to say that it is right and where
 * it ends, and put on that list as SQLite would have put it there; in the end the list is read once.
 */
static const char view_begin[] = "CREATE VIEW ";

#define RESET_VERSION 3027000 /* of SQLite: from there on it reads the list again when asked to */

static const char *past_comments(const char *sql)
{
    for (;;) {
        sql += strspn(sql, " \n");
        if (strncmp(sql, "--", 2) != 0)
            return sql;
        sql += strcspn(sql, "\n");
    }
}

static nm_status list_view(sqlite3_stmt *insert, const char *sql, const char *end, nm_error *err)
{
    const char *name = sql + strlen(view_begin);

    while (end > sql && end[-1] != ';')
        end--;
    if (end == sql)
        return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "a view without an end");
    sqlite3_bind_text(insert, 1, name, (int)strcspn(name, " (\n"), SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, sql, (int)(end - 1 - sql), SQLITE_STATIC);
    nm_status status = sqlite3_step(insert) == SQLITE_DONE ? NM_OK : nm_db_fail(sqlite3_db_handle(insert), err);
    sqlite3_reset(insert);
    return status;
}

/* Runs the statements of a file but for its views, which are listed. */
static nm_status list_views(sqlite3 *db, sqlite3_stmt *insert, const char *sql, nm_error *err)
{
    nm_status status = NM_OK;

    while (status == NM_OK && *(sql = past_comments(sql)) != 0) {
        sqlite3_stmt *statement = NULL;
        const char *end = NULL;

        if (sqlite3_prepare_v2(db, sql, -1, &statement, &end) != SQLITE_OK)
            return nm_db_fail(db, err);
        if (strncmp(sql, view_begin, strlen(view_begin)) == 0)
            status = list_view(insert, sql, end, err);
        else if (sqlite3_step(statement) != SQLITE_DONE)
            status = nm_db_fail(db, err);
        sqlite3_finalize(statement);
        sql = end;
    }
    return status;
}

static nm_status apply_views(sqlite3 *db, nm_error *err)
{
    sqlite3_stmt *insert = NULL;
    nm_status status = nm_db_exec(db, "PRAGMA writable_schema = ON", err);

    if (status == NM_OK)
        status = nm_db_prepare(db, "INSERT INTO sqlite_master VALUES ('view', ?1, ?1, 0, ?2)", &insert, err);
    for (const nm_embedded_text *file = nm_schema_files; status == NM_OK && file->name != NULL; file++)
        if (part_of(file) == NM_SCHEMA_VIEWS)
            status = list_views(db, insert, file->text, err);
    sqlite3_finalize(insert);
    return status == NM_OK ? nm_db_exec(db, "PRAGMA writable_schema = RESET", err) : status;
}

/* ------------------------------------------------------------------------------------------------------------------ */

nm_status nm_schema_apply(sqlite3 *db, nm_schema_part part, nm_error *err)
{
    nm_status status = NM_OK;

    if (part == NM_SCHEMA_VIEWS && sqlite3_libversion_number() >= RESET_VERSION)
        return apply_views(db, err);
    for (const nm_embedded_text *file = nm_schema_files; status == NM_OK && file->name != NULL; file++)
        if (part_of(file) == part)
            status = nm_db_exec(db, file->text, err);
    return status;
}
