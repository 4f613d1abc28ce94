/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual table is there by its name alone (it has no xCreate), so that no schema changes, which would have SQLite prepare all
 * statements anew. That name stays known to the connection until it is closed, and no statement but the one here says it.
 */
#include "store/insert_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "store/database.h"

#define SQL_BYTES 2048

typedef struct row_value {
    union {
        int64_t integer;
        double real;
        size_t offset; /* of a text, in the buffer */
    };
    uint32_t len; /* of a text */
    enum { VALUE_NULL, VALUE_INTEGER, VALUE_REAL, VALUE_TEXT } kind;
} row_value;

struct nm_insert_rows {
    sqlite3 *db; /* borrowed */
    sqlite3_stmt *insert;
    row_value *values; /* owned; NM_INSERT_ROWS_COUNT rows of column_count, and one for what is too many */
    nm_buffer texts;
    size_t row_count, column_count;
};

typedef struct rows_table {
    sqlite3_vtab base;
    const nm_insert_rows *rows; /* borrowed */
} rows_table;

typedef struct rows_cursor {
    sqlite3_vtab_cursor base;
    const nm_insert_rows *rows; /* borrowed */
    size_t at;
} rows_cursor;

/* ---- The table that SQLite sees ------------------------------------------------------------------------------------ */

static int connect_table(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **out,
                         char **message)
{
    const nm_insert_rows *rows = context;
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
    info->estimatedCost = NM_INSERT_ROWS_COUNT;
    info->estimatedRows = NM_INSERT_ROWS_COUNT;
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

/* A text stays where it is while the statement runs. */
static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const rows_cursor *cursor = (const rows_cursor *)base;
    const nm_insert_rows *rows = cursor->rows;
    const row_value *value = &rows->values[cursor->at * rows->column_count + (size_t)column];

    if (value->kind == VALUE_INTEGER)
        sqlite3_result_int64(context, value->integer);
    else if (value->kind == VALUE_REAL)
        sqlite3_result_double(context, value->real);
    else if (value->kind == VALUE_TEXT)
        sqlite3_result_text(context, value->len == 0 ? "" : (const char *)rows->texts.data + value->offset,
                            (int)value->len, SQLITE_STATIC);
    return SQLITE_OK; /* a column that is given no result is NULL */
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

/* ---- Rows ---------------------------------------------------------------------------------------------------------- */

nm_status nm_insert_rows_new(sqlite3 *db, const char *table, int column_count, nm_insert_rows **out, nm_error *err)
{
    nm_insert_rows *rows = calloc(1, sizeof *rows);
    char name[128], sql[512];

    *out = rows;
    if (rows == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    rows->db = db;
    rows->column_count = (size_t)column_count;
    rows->values = calloc(NM_INSERT_ROWS_COUNT * rows->column_count + 1, sizeof *rows->values);
    if (rows->values == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    snprintf(name, sizeof name, "nm_insert_rows_of_%s", table);
    if (sqlite3_create_module(db, name, &rows_module, rows) != SQLITE_OK)
        return nm_db_fail(db, err);
    snprintf(sql, sizeof sql, "INSERT INTO %s SELECT * FROM %s", table, name);
    return nm_db_prepare(db, sql, &rows->insert, err);
}

void nm_insert_rows_free(nm_insert_rows *rows)
{
    if (rows == NULL)
        return;
    sqlite3_finalize(rows->insert);
    free(rows->values);
    nm_buffer_free(&rows->texts);
    free(rows);
}

static row_value *value_at(nm_insert_rows *rows, int at)
{
    size_t first = rows->row_count * rows->column_count;

    return (size_t)at <= rows->column_count ? &rows->values[first + (size_t)at - 1]
                                            : &rows->values[NM_INSERT_ROWS_COUNT * rows->column_count];
}

int nm_insert_rows_null(nm_insert_rows *rows, int at)
{
    value_at(rows, at)->kind = VALUE_NULL;
    return SQLITE_OK;
}

int nm_insert_rows_int(nm_insert_rows *rows, int at, int64_t value)
{
    *value_at(rows, at) = (row_value){.integer = value, .kind = VALUE_INTEGER};
    return SQLITE_OK;
}

int nm_insert_rows_real(nm_insert_rows *rows, int at, double value)
{
    *value_at(rows, at) = (row_value){.real = value, .kind = VALUE_REAL};
    return SQLITE_OK;
}

int nm_insert_rows_bytes(nm_insert_rows *rows, int at, nm_bytes text)
{
    size_t offset = rows->texts.len;

    if (text.len > INT32_MAX)
        return SQLITE_TOOBIG;
    if (nm_buffer_append(&rows->texts, text.data, text.len, NULL) != NM_OK)
        return SQLITE_NOMEM;
    *value_at(rows, at) = (row_value){.offset = offset, .len = (uint32_t)text.len, .kind = VALUE_TEXT};
    return SQLITE_OK;
}

nm_status nm_insert_rows_end(nm_insert_rows *rows, nm_error *err)
{
    return ++rows->row_count < NM_INSERT_ROWS_COUNT ? NM_OK : nm_insert_rows_flush(rows, err);
}

nm_status nm_insert_rows_flush(nm_insert_rows *rows, nm_error *err)
{
    if (rows->row_count == 0)
        return NM_OK;
    nm_status status = sqlite3_step(rows->insert) == SQLITE_DONE ? NM_OK : nm_db_fail(rows->db, err);

    sqlite3_reset(rows->insert);
    rows->row_count = 0;
    rows->texts.len = 0;
    return status;
}
