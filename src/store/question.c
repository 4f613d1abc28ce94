/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a row by a list of its members, so that a header holds no code a column; see question.h.
 */
#include "store/question.h"

#include <assert.h>
#include <string.h>

static void read_field(sqlite3_stmt *rows, const nm_column *field, int column, void *row)
{
    void *member = (char *)row + field->offset;

    bool *has = (bool *)row + field->has_offset;

    switch (field->type) {
    case NM_COLUMN_INTEGER: {
        int64_t value = sqlite3_column_int64(rows, column);

        *(int64_t *)member = value;
        *has = value != 0 || !nm_db_is_null(rows, column); /* a call less for each value of millions of rows */
        break;
    }
    case NM_COLUMN_FLAG:
        *(bool *)member = sqlite3_column_int64(rows, column) != 0;
        *has = *(bool *)member || !nm_db_is_null(rows, column);
        break;
    case NM_COLUMN_REAL:
        *(double *)member = sqlite3_column_double(rows, column);
        *has = !nm_db_is_null(rows, column);
        break;
    case NM_COLUMN_TEXT:
        *has = !nm_db_is_null(rows, column);
        *(const char **)member = nm_db_text(rows, column);
        break;
    }
}

bool nm_question_next(sqlite3_stmt *rows, const nm_column *fields, size_t count, void *row)
{
    if (sqlite3_step(rows) != SQLITE_ROW)
        return false;
    for (size_t i = 0; i < count; i++)
        read_field(rows, &fields[i], (int)i, row);
    return true;
}

void nm_question_again(sqlite3_stmt *rows)
{
    sqlite3_reset(rows);
}

void nm_question_bind_integer(sqlite3_stmt *rows, const char *name, int64_t value)
{
    int at = sqlite3_bind_parameter_index(rows, name);

    if (value == NM_NULL)
        sqlite3_bind_null(rows, at);
    else
        sqlite3_bind_int64(rows, at, value);
}

void nm_question_bind_real(sqlite3_stmt *rows, const char *name, double value)
{
    sqlite3_bind_double(rows, sqlite3_bind_parameter_index(rows, name), value);
}

void nm_question_bind_text(sqlite3_stmt *rows, const char *name, const char *value)
{
    sqlite3_bind_text(rows, sqlite3_bind_parameter_index(rows, name), value, -1, SQLITE_STATIC);
}

void nm_question_bind_bytes(sqlite3_stmt *rows, const char *name, nm_bytes value)
{
    sqlite3_bind_text64(rows, sqlite3_bind_parameter_index(rows, name), (const char *)value.data, value.len,
                        SQLITE_STATIC, SQLITE_UTF8);
}

static int column_of(sqlite3_stmt *rows, const char *name)
{
    int count = sqlite3_column_count(rows), at = 0;

    while (at < count && strcmp(sqlite3_column_name(rows, at), name) != 0)
        at++;
    assert(at < count);
    return at;
}

bool nm_named_has(sqlite3_stmt *rows, const char *name)
{
    return !nm_db_is_null(rows, column_of(rows, name));
}

int64_t nm_named_integer(sqlite3_stmt *rows, const char *name)
{
    return sqlite3_column_int64(rows, column_of(rows, name));
}

double nm_named_real(sqlite3_stmt *rows, const char *name)
{
    return sqlite3_column_double(rows, column_of(rows, name));
}

const char *nm_named_text(sqlite3_stmt *rows, const char *name)
{
    return nm_db_text(rows, column_of(rows, name));
}

nm_status nm_question_end(sqlite3_stmt *rows, nm_status status, nm_error *err)
{
    sqlite3 *db = rows == NULL ? NULL : sqlite3_db_handle(rows);

    /* Finalizing gives the error of the last step once more, and leaves its message with the connection. */
    return sqlite3_finalize(rows) != SQLITE_OK && status == NM_OK ? nm_db_fail(db, err) : status;
}

nm_status nm_question_pause(sqlite3_stmt *rows, nm_status status, nm_error *err)
{
    return sqlite3_reset(rows) != SQLITE_OK && status == NM_OK ? nm_db_fail(sqlite3_db_handle(rows), err) : status;
}

nm_status nm_question_run(sqlite3_stmt *rows, nm_status status, nm_error *err)
{
    if (status == NM_OK)
        sqlite3_step(rows);
    return nm_question_end(rows, status, err);
}

nm_status nm_question_step(sqlite3_stmt *rows, nm_error *err)
{
    sqlite3_step(rows);
    return nm_question_pause(rows, NM_OK, err);
}
