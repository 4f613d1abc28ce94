/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of SQLite's own interface for what is not in a file (a virtual table), as small as it can be: one cursor
 * that walks the rows of the batch in order. It lives as long as the writer, and nothing else may name it.
 */
#include "store/bulk/sql_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SQL_BYTES    2048
#define PLACES_A_ROW 4 /* that numbers of a batch may be apart on average to be put in order without comparing */

struct nm_sql_rows {
    sqlite3 *db;
    sqlite3_stmt *insert;
    int64_t *values;         /* NM_SQL_BATCH_ROWS rows of column_count integers */
    const int64_t **ordered; /* the rows of this batch, by their first column */
    const int64_t **places;  /* room for NM_SQL_BATCH_ROWS * PLACES_A_ROW rows */
    size_t row_count;
    size_t column_count;
    char rows_name[128]; /* of the virtual table; empty before it is there */
};

typedef struct rows_table {
    sqlite3_vtab base;
    nm_sql_rows *rows; /* borrowed */
} rows_table;

typedef struct rows_cursor {
    sqlite3_vtab_cursor base;
    nm_sql_rows *rows; /* borrowed */
    size_t at;
} rows_cursor;

static int connect_table(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **out,
                         char **message)
{
    nm_sql_rows *rows = context;
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
    info->estimatedCost = NM_SQL_BATCH_ROWS;
    info->estimatedRows = NM_SQL_BATCH_ROWS;
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
    int64_t value = cursor->rows->ordered[cursor->at][column];

    if (value != NM_NULL) /* a column that is given no result is NULL */
        sqlite3_result_int64(context, value);
    return SQLITE_OK;
}

static int give_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    *rowid = (sqlite3_int64)((rows_cursor *)cursor)->at;
    return SQLITE_OK;
}

static const sqlite3_module rows_module = {
    .xCreate = connect_table,
    .xConnect = connect_table,
    .xBestIndex = choose_index,
    .xDisconnect = disconnect_table,
    .xDestroy = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = start_cursor,
    .xNext = next_row,
    .xEof = is_at_end,
    .xColumn = give_column,
    .xRowid = give_rowid,
};

static nm_status create_rows_table(nm_sql_rows *rows, const char *table, nm_error *err)
{
    char sql[512];

    snprintf(rows->rows_name, sizeof rows->rows_name, "nm_rows_of_%s", table);
    if (sqlite3_create_module(rows->db, rows->rows_name, &rows_module, rows) != SQLITE_OK)
        return nm_db_fail(rows->db, err);
    snprintf(sql, sizeof sql, "CREATE VIRTUAL TABLE temp.%s USING %s", rows->rows_name, rows->rows_name);
    nm_status status = nm_db_exec(rows->db, sql, err);
    snprintf(sql, sizeof sql, "INSERT INTO %s SELECT * FROM temp.%s", table, rows->rows_name);
    return status == NM_OK ? nm_db_prepare(rows->db, sql, &rows->insert, err) : status;
}

nm_status nm_sql_rows_open(sqlite3 *db, const nm_columns *columns, nm_sql_rows **out, nm_error *err)
{
    int column_count = 0;
    nm_status status = nm_columns_check(db, columns, &column_count, err);
    nm_sql_rows *rows = status == NM_OK ? calloc(1, sizeof *rows) : NULL;

    if (status != NM_OK)
        return status;
    if (rows == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    rows->db = db;
    rows->column_count = (size_t)column_count;
    rows->values = calloc(NM_SQL_BATCH_ROWS, rows->column_count * sizeof *rows->values);
    rows->ordered = calloc(NM_SQL_BATCH_ROWS, sizeof *rows->ordered);
    rows->places = calloc((size_t)NM_SQL_BATCH_ROWS * PLACES_A_ROW, sizeof *rows->places);
    if (rows->values == NULL || rows->ordered == NULL || rows->places == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = create_rows_table(rows, columns->table, err);
    if (status == NM_OK)
        *out = rows;
    else
        nm_sql_rows_close(rows);
    return status;
}

nm_status nm_sql_rows_next(nm_sql_rows *rows, int64_t **values, nm_error *err)
{
    if (rows->row_count == NM_SQL_BATCH_ROWS) {
        nm_status status = nm_sql_rows_flush(rows, err);

        if (status != NM_OK)
            return status;
    }
    *values = rows->values + rows->row_count * rows->column_count;
    rows->ordered[rows->row_count++] = *values;
    return NM_OK;
}

static int compare_first_column(const void *a, const void *b)
{
    int64_t x = **(const int64_t *const *)a;
    int64_t y = **(const int64_t *const *)b;

    return (x > y) - (x < y);
}

/* Numbers of a batch are mostly near each other, and no two the same: each row has a place of its own. False: it is not so,
 * and the order is as it was. */
static bool order_by_place(nm_sql_rows *rows)
{
    int64_t first = rows->ordered[0][0], last = first;
    size_t count = 0;

    for (size_t i = 1; i < rows->row_count; i++) {
        first = rows->ordered[i][0] < first ? rows->ordered[i][0] : first;
        last = rows->ordered[i][0] > last ? rows->ordered[i][0] : last;
    }
    uint64_t place_count = (uint64_t)last - (uint64_t)first + 1;
    if (place_count - 1 >= rows->row_count * PLACES_A_ROW)
        return false;
    memset(rows->places, 0, place_count * sizeof *rows->places);
    for (size_t i = 0; i < rows->row_count; i++) {
        const int64_t **place = &rows->places[(uint64_t)rows->ordered[i][0] - (uint64_t)first];

        if (*place != NULL)
            return false;
        *place = rows->ordered[i];
    }
    for (size_t place = 0; place < place_count; place++)
        if (rows->places[place] != NULL)
            rows->ordered[count++] = rows->places[place];
    return true;
}

nm_status nm_sql_rows_flush(nm_sql_rows *rows, nm_error *err)
{
    if (rows->row_count == 0)
        return NM_OK;
    if (!order_by_place(rows))
        qsort(rows->ordered, rows->row_count, sizeof *rows->ordered, compare_first_column);

    int code = sqlite3_step(rows->insert);
    nm_status status = code == SQLITE_DONE ? NM_OK : nm_db_fail(rows->db, err);
    sqlite3_reset(rows->insert);
    rows->row_count = 0;
    return status;
}

void nm_sql_rows_close(nm_sql_rows *rows)
{
    char sql[512];

    if (rows == NULL)
        return;
    sqlite3_finalize(rows->insert);
    snprintf(sql, sizeof sql, "DROP TABLE IF EXISTS temp.%s", rows->rows_name);
    if (rows->rows_name[0] !=
        0) /* SQLite would connect it again, to memory that is gone, at the next change of a schema */
        sqlite3_exec(rows->db, sql, NULL, NULL, NULL);
    free(rows->values);
    free(rows->ordered);
    free(rows->places);
    free(rows);
}
