/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows back from their tables: rows.def expanded into one function a kind, which takes the columns of a statement in
 * their order. It is the contrary of row_write.c, kind by kind; what that made NULL becomes the value that stands for it.
 */
#include "store/row_read.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "rows/words.h"
#include "store/database.h"

#define SQL_BYTES 2048

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

static int64_t int_of(sqlite3_stmt *from, int column, int64_t if_null)
{
    return nm_db_is_null(from, column) ? if_null : sqlite3_column_int64(from, column);
}

static void take_line(sqlite3_stmt *from, int column, nm_line *line)
{
    snprintf(line->text, sizeof line->text, "%s", nm_db_text(from, column));
}

/* ---- Members, by the kinds of rows/kinds.h: each is a statement ------------------------------------------------------ */

/* clang-format off */
#define OR_ZERO(path) row->path = int_of(from, at, 0);
#define OR_NULL(path) row->path = int_of(from, at, NM_NULL);

#define TAKE_PROCESS    OR_ZERO
#define TAKE_DEVICE     OR_ZERO
#define TAKE_THREAD     OR_ZERO
#define TAKE_HEAP       OR_ZERO
#define TAKE_STACK      OR_ZERO
#define TAKE_ALLOCATION OR_ZERO
#define TAKE_OPERATION  OR_ZERO

#define TAKE_ID                 OR_ZERO
#define TAKE_LINK               OR_ZERO
#define TAKE_COUNT              OR_ZERO
#define TAKE_BYTES              OR_ZERO
#define TAKE_NS                 OR_ZERO
#define TAKE_ADDRESS            OR_ZERO
#define TAKE_HANDLE             OR_ZERO
#define TAKE_INDEX              OR_ZERO
#define TAKE_FLAG               OR_ZERO
#define TAKE_NOT(path)          row->path = int_of(from, at, 0) == 0;
#define TAKE_CODE(type)         OR_ZERO
#define TAKE_ZERO_IS_NULL(kind) OR_ZERO

#define TAKE_SEQ          OR_NULL
#define TAKE_TIME         OR_NULL
#define TAKE_NUMBER       OR_NULL
#define TAKE_RATIO(path)  row->path = nm_db_is_null(from, at) ? -1 : sqlite3_column_double(from, at);
#define TAKE_STREAM(path) row->has_stream = !nm_db_is_null(from, at); OR_ZERO(path)

#define TAKE_STRING(path)
#define TAKE_LITERAL(path)
#define TAKE_WORD(type)       number = nm_word_number(&type##_words, nm_db_text(from, at)); TAKE_WORD_NUMBER
#define TAKE_WORD_NUMBER(path) row->path = number;
#define TAKE_LINE(path)       take_line(from, at, &row->path);

#define TAKE_OF_SUM(kind)   OR_ZERO
#define TAKE_STREAM_OF_SUM  TAKE_STREAM
#define TAKE_NAME(path)
#define TAKE_BYTE_S(path)
#define TAKE_BYTE_MS(path)

#define TAKE_POLICY(path)       row->path = int_of(from, at, (int64_t)NM_POLICY_UNKNOWN);
#define TAKE_POOL_BYTES(path)   OR_ZERO(path)
#define TAKE_DEVICE_COUNT(path) OR_ZERO(path)
/* clang-format on */

/* ---- A function a kind ------------------------------------------------------------------------------------------- */

typedef union any_row {
#define ROW(name, NAME, table, writer) nm_##name##_row name;
#include "rows/rows.def"
} any_row;

/* clang-format off */
#define BEGIN_NONE(name)
#define BEGIN_MANY(name) BEGIN_ONE(name)
#define BEGIN_ONE(name)                                                                                                \
    static void take_##name(sqlite3_stmt *from, nm_##name##_row *row)                                                  \
    {                                                                                                                  \
        unsigned number = 0;                                                                                           \
        int at = 0;
#define END_NONE
#define END_MANY END_ONE
#define END_ONE                                                                                                        \
        (void)number;                                                                                                  \
    }

#define ROW(name, NAME, table, writer)        BEGIN_##writer(name)
#define COLUMN(kind, column, path, condition) TAKE_##kind(path) at++;
#define COLUMN_WITH(flag, kind, column, path) row->flag = !nm_db_is_null(from, at); TAKE_##kind(path) at++;
#define COMPUTED(name, column)                at++;
#define END(name, writer)                     END_##writer
#include "rows/rows.def"
/* clang-format on */

static void take_row(sqlite3_stmt *from, nm_row_kind kind, any_row *row)
{
    memset(row, 0, sizeof *row);
    switch (kind) {
#define CASE_NONE(name, NAME)
#define CASE_MANY(name, NAME) CASE_ONE(name, NAME)
#define CASE_ONE(name, NAME)                                                                                           \
    case NM_ROW_##NAME:                                                                                                \
        take_##name(from, &row->name);                                                                                 \
        break;
#define ROW(name, NAME, table, writer) CASE_##writer(name, NAME)
#include "rows/rows.def"
    default:
        break;
    }
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static nm_status prepare(sqlite3 *db, const nm_row_table *table, const char *clause, sqlite3_stmt **out, nm_error *err)
{
    char sql[SQL_BYTES];
    int length = (int)strlen(table->columns) - 1; /* without the last space */

    assert(length + strlen(table->name) + strlen(clause) + sizeof "SELECT  FROM  " <= sizeof sql);
    snprintf(sql, sizeof sql, "SELECT %.*s FROM %s %s", length, table->columns, table->name, clause);
    for (char *at = sql + sizeof "SELECT " - 1; length-- > 0; at++)
        if (*at == ' ')
            *at = ',';
    return nm_db_prepare(db, sql, out, err);
}

nm_status nm_rows_give(sqlite3 *db, nm_row_kind kind, const char *clause, const nm_sink *sink, nm_error *err)
{
    sqlite3_stmt *from = NULL;
    any_row row;
    nm_status status = prepare(db, &nm_row_tables[kind], clause, &from, err);
    int code = SQLITE_ROW;

    while (status == NM_OK && (code = sqlite3_step(from)) == SQLITE_ROW) {
        take_row(from, kind, &row);
        status = nm_give(sink, kind, &row, err);
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(from);
    return status;
}
