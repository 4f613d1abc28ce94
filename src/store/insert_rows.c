/* SPDX-License-Identifier: Apache-2.0
 *
 * A row's values wait one behind the other, and their texts in a buffer.
 */
#include "store/insert_rows.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "store/database.h"
#include "store/offered_rows.h"

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
    nm_offered_rows offered; /* row_count: those that are whole */
    row_value *values;       /* owned; NM_INSERT_ROWS_COUNT rows, and one value for what is too many */
    nm_buffer texts;
};

static void give_value(const void *owner, size_t row, size_t column, sqlite3_context *out)
{
    const nm_insert_rows *rows = owner;
    const row_value *value = &rows->values[row * rows->offered.column_count + column];

    if (value->kind == VALUE_INTEGER)
        sqlite3_result_int64(out, value->integer);
    else if (value->kind == VALUE_REAL)
        sqlite3_result_double(out, value->real);
    else if (value->kind == VALUE_TEXT)
        sqlite3_result_text(out, value->len == 0 ? "" : (const char *)rows->texts.data + value->offset, (int)value->len,
                            SQLITE_STATIC);
}

nm_status nm_insert_rows_new(sqlite3 *db, const char *table, int column_count, nm_insert_rows **out, nm_error *err)
{
    nm_insert_rows *rows = calloc(1, sizeof *rows);

    *out = rows;
    if (rows == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    rows->offered = (nm_offered_rows){.give = give_value, .owner = rows, .column_count = (size_t)column_count};
    rows->values = calloc(NM_INSERT_ROWS_COUNT * rows->offered.column_count + 1, sizeof *rows->values);
    return rows->values != NULL ? nm_offered_rows_open(&rows->offered, db, table, err)
                                : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

void nm_insert_rows_free(nm_insert_rows *rows)
{
    if (rows == NULL)
        return;
    nm_offered_rows_close(&rows->offered);
    free(rows->values);
    nm_buffer_free(&rows->texts);
    free(rows);
}

static row_value *value_at(nm_insert_rows *rows, int at)
{
    size_t column_count = rows->offered.column_count, first = rows->offered.row_count * column_count;

    return &rows->values[(size_t)at <= column_count ? first + (size_t)at - 1 : NM_INSERT_ROWS_COUNT * column_count];
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
    return ++rows->offered.row_count < NM_INSERT_ROWS_COUNT ? NM_OK : nm_insert_rows_flush(rows, err);
}

nm_status nm_insert_rows_flush(nm_insert_rows *rows, nm_error *err)
{
    nm_status status = nm_offered_rows_insert(&rows->offered, err);

    rows->texts.len = 0;
    return status;
}
