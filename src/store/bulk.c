/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of SQLite's own interface for what is not in a file (a virtual table), as small as it can be: one cursor
 * that walks the rows of the batch in order. It lives as long as the writer, and nothing else may name it.
 */
#include "store/bulk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SQL_BYTES    2048
#define PLACES_A_ROW 4 /* that numbers of a batch may be apart on average to be put in order without comparing */

struct nm_bulk {
    sqlite3 *db;
    sqlite3_stmt *insert;
    int64_t *values;         /* NM_BULK_BATCH_ROWS rows of column_count integers */
    const int64_t **ordered; /* the rows of this batch, by their first column */
    const int64_t **places;  /* room for NM_BULK_BATCH_ROWS * PLACES_A_ROW rows */
    size_t row_count;
    size_t column_count;
    char rows_name[128]; /* of the virtual table; empty before it is there */
};

typedef struct bulk_table {
    sqlite3_vtab base;
    nm_bulk *bulk; /* borrowed */
} bulk_table;

typedef struct bulk_cursor {
    sqlite3_vtab_cursor base;
    nm_bulk *bulk; /* borrowed */
    size_t at;
} bulk_cursor;

static int connect_table(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **out,
                         char **message)
{
    nm_bulk *bulk = context;
    char sql[SQL_BYTES];
    int length = snprintf(sql, sizeof sql, "CREATE TABLE rows (c0");

    (void)argc;
    (void)argv;
    (void)message;
    for (size_t column = 1; column < bulk->column_count && length + 16 < (int)sizeof sql; column++)
        length += snprintf(sql + length, sizeof sql - (size_t)length, ", c%zu", column);
    snprintf(sql + length, sizeof sql - (size_t)length, ")");

    int code = sqlite3_declare_vtab(db, sql);
    bulk_table *table = code == SQLITE_OK ? sqlite3_malloc(sizeof *table) : NULL;
    if (code == SQLITE_OK && table == NULL)
        return SQLITE_NOMEM;
    if (code == SQLITE_OK) {
        *table = (bulk_table){.bulk = bulk};
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
    info->estimatedCost = NM_BULK_BATCH_ROWS;
    info->estimatedRows = NM_BULK_BATCH_ROWS;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    bulk_cursor *cursor = sqlite3_malloc(sizeof *cursor);

    if (cursor == NULL)
        return SQLITE_NOMEM;
    *cursor = (bulk_cursor){.bulk = ((bulk_table *)table)->bulk};
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
    ((bulk_cursor *)cursor)->at = 0;
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
    ((bulk_cursor *)cursor)->at++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    const bulk_cursor *cursor = (const bulk_cursor *)base;

    return cursor->at >= cursor->bulk->row_count;
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const bulk_cursor *cursor = (const bulk_cursor *)base;
    int64_t value = cursor->bulk->ordered[cursor->at][column];

    if (value != NM_NULL) /* a column that is given no result is NULL */
        sqlite3_result_int64(context, value);
    return SQLITE_OK;
}

static int give_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    *rowid = (sqlite3_int64)((bulk_cursor *)cursor)->at;
    return SQLITE_OK;
}

static const sqlite3_module bulk_module = {
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

static nm_status create_rows_table(nm_bulk *bulk, const char *table, nm_error *err)
{
    char sql[512];

    snprintf(bulk->rows_name, sizeof bulk->rows_name, "nm_rows_of_%s", table);
    if (sqlite3_create_module(bulk->db, bulk->rows_name, &bulk_module, bulk) != SQLITE_OK)
        return nm_db_fail(bulk->db, err);
    snprintf(sql, sizeof sql, "CREATE VIRTUAL TABLE temp.%s USING %s", bulk->rows_name, bulk->rows_name);
    nm_status status = nm_db_exec(bulk->db, sql, err);
    snprintf(sql, sizeof sql, "INSERT INTO %s SELECT * FROM temp.%s", table, bulk->rows_name);
    return status == NM_OK ? nm_db_prepare(bulk->db, sql, &bulk->insert, err) : status;
}

nm_status nm_bulk_open(sqlite3 *db, const nm_columns *columns, nm_bulk **out, nm_error *err)
{
    int column_count = 0;
    nm_status status = nm_columns_check(db, columns, &column_count, err);
    nm_bulk *bulk = status == NM_OK ? calloc(1, sizeof *bulk) : NULL;

    if (status != NM_OK)
        return status;
    if (bulk == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    bulk->db = db;
    bulk->column_count = (size_t)column_count;
    bulk->values = calloc(NM_BULK_BATCH_ROWS, bulk->column_count * sizeof *bulk->values);
    bulk->ordered = calloc(NM_BULK_BATCH_ROWS, sizeof *bulk->ordered);
    bulk->places = calloc((size_t)NM_BULK_BATCH_ROWS * PLACES_A_ROW, sizeof *bulk->places);
    if (bulk->values == NULL || bulk->ordered == NULL || bulk->places == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = create_rows_table(bulk, columns->table, err);
    if (status == NM_OK)
        *out = bulk;
    else
        nm_bulk_close(bulk);
    return status;
}

nm_status nm_bulk_next(nm_bulk *bulk, int64_t **values, nm_error *err)
{
    if (bulk->row_count == NM_BULK_BATCH_ROWS) {
        nm_status status = nm_bulk_flush(bulk, err);

        if (status != NM_OK)
            return status;
    }
    *values = bulk->values + bulk->row_count * bulk->column_count;
    bulk->ordered[bulk->row_count++] = *values;
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
static bool order_by_place(nm_bulk *bulk)
{
    int64_t first = bulk->ordered[0][0], last = first;
    size_t count = 0;

    for (size_t i = 1; i < bulk->row_count; i++) {
        first = bulk->ordered[i][0] < first ? bulk->ordered[i][0] : first;
        last = bulk->ordered[i][0] > last ? bulk->ordered[i][0] : last;
    }
    uint64_t place_count = (uint64_t)last - (uint64_t)first + 1;
    if (place_count - 1 >= bulk->row_count * PLACES_A_ROW)
        return false;
    memset(bulk->places, 0, place_count * sizeof *bulk->places);
    for (size_t i = 0; i < bulk->row_count; i++) {
        const int64_t **place = &bulk->places[(uint64_t)bulk->ordered[i][0] - (uint64_t)first];

        if (*place != NULL)
            return false;
        *place = bulk->ordered[i];
    }
    for (size_t place = 0; place < place_count; place++)
        if (bulk->places[place] != NULL)
            bulk->ordered[count++] = bulk->places[place];
    return true;
}

nm_status nm_bulk_flush(nm_bulk *bulk, nm_error *err)
{
    if (bulk->row_count == 0)
        return NM_OK;
    if (!order_by_place(bulk))
        qsort(bulk->ordered, bulk->row_count, sizeof *bulk->ordered, compare_first_column);

    int code = sqlite3_step(bulk->insert);
    nm_status status = code == SQLITE_DONE ? NM_OK : nm_db_fail(bulk->db, err);
    sqlite3_reset(bulk->insert);
    bulk->row_count = 0;
    return status;
}

void nm_bulk_close(nm_bulk *bulk)
{
    char sql[512];

    if (bulk == NULL)
        return;
    sqlite3_finalize(bulk->insert);
    snprintf(sql, sizeof sql, "DROP TABLE IF EXISTS temp.%s", bulk->rows_name);
    if (bulk->rows_name[0] !=
        0) /* SQLite would connect it again, to memory that is gone, at the next change of a schema */
        sqlite3_exec(bulk->db, sql, NULL, NULL, NULL);
    free(bulk->values);
    free(bulk->ordered);
    free(bulk->places);
    free(bulk);
}
