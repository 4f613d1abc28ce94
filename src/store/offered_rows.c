/* SPDX-License-Identifier: Apache-2.0
 *
 * As small as a virtual table can be: one cursor that walks the rows in order. It is there by its name alone (it has no xCreate), so that no
 * schema changes, which would have SQLite prepare all statements anew. That name stays known to the connection until it is closed or
 * another one takes it, and no statement but the one here says it.
 */
#include "store/offered_rows.h"

#include <stdio.h>

#include "store/database.h"

#define SQL_BYTES   2048
#define ROWS_LIKELY 1000

typedef struct rows_table {
    sqlite3_vtab base;
    const nm_offered_rows *rows; /* borrowed */
} rows_table;

typedef struct rows_cursor {
    sqlite3_vtab_cursor base;
    const nm_offered_rows *rows; /* borrowed */
    size_t at;
} rows_cursor;

static int connect_table(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **out,
                         char **message)
{
    const nm_offered_rows *rows = context;
    char sql[SQL_BYTES];
    int length = snprintf(sql, sizeof sql, "CREATE TABLE rows (c0");

    (void)argc;
    (void)argv;
    (void)message;
    for (size_t column = 1; column < rows->column_count && length + 16 < (int)sizeof sql; column++)
        length += snprintf(sql + length, sizeof sql - (size_t)length, ", c%zu", column);
    snprintf(sql + length, sizeof sql - (size_t)length, ")");

    int code = sqlite3_declare_vtab(db, sql);
    rows_table *table = code == SQLITE_OK ? sqlite3_malloc(sizeof *table) : NULL;
    if (code == SQLITE_OK && table == NULL)
        return SQLITE_NOMEM;
    if (code == SQLITE_OK) {
        *table = (rows_table){.rows = rows};
        *out = &table->base;
    }
    return code;
}

static int disconnect_table(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int choose_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = ROWS_LIKELY;
    info->estimatedRows = ROWS_LIKELY;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    rows_cursor *cursor = sqlite3_malloc(sizeof *cursor);

    if (cursor == NULL)
        return SQLITE_NOMEM;
    *cursor = (rows_cursor){.rows = ((rows_table *)table)->rows};
    *out = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int start_cursor(sqlite3_vtab_cursor *cursor, int index, const char *name, int argc, sqlite3_value **argv)
{
    (void)index;
    (void)name;
    (void)argc;
    (void)argv;
    ((rows_cursor *)cursor)->at = 0;
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
    ((rows_cursor *)cursor)->at++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    const rows_cursor *cursor = (const rows_cursor *)base;

    return cursor->at >= cursor->rows->row_count;
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const rows_cursor *cursor = (const rows_cursor *)base;

    cursor->rows->give(cursor->rows->owner, cursor->at, (size_t)column, context);
    return SQLITE_OK;
}

static int give_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    *rowid = (sqlite3_int64)((rows_cursor *)cursor)->at;
    return SQLITE_OK;
}

static const sqlite3_module rows_module = {
    .xConnect = connect_table,
    .xBestIndex = choose_index,
    .xDisconnect = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = start_cursor,
    .xNext = next_row,
    .xEof = is_at_end,
    .xColumn = give_column,
    .xRowid = give_rowid,
};

nm_status nm_offered_rows_open(nm_offered_rows *offered, sqlite3 *db, const char *table, nm_error *err)
{
    char name[128], sql[512];

    snprintf(name, sizeof name, "nm_rows_of_%s", table);
    if (sqlite3_create_module(db, name, &rows_module, offered) != SQLITE_OK)
        return nm_db_fail(db, err);
    snprintf(sql, sizeof sql, "INSERT INTO %s SELECT * FROM %s", table, name);
    return nm_db_prepare(db, sql, &offered->insert, err);
}

nm_status nm_offered_rows_insert(nm_offered_rows *offered, nm_error *err)
{
    if (offered->row_count == 0)
        return NM_OK;
    nm_status status =
        sqlite3_step(offered->insert) == SQLITE_DONE ? NM_OK : nm_db_fail(sqlite3_db_handle(offered->insert), err);

    sqlite3_reset(offered->insert);
    offered->row_count = 0;
    return status;
}

void nm_offered_rows_close(nm_offered_rows *offered)
{
    sqlite3_finalize(offered->insert);
    offered->insert = NULL;
}
