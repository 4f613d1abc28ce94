/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows back from their tables: rows.def expanded into one function a kind, which takes the columns of a statement in
 * their order. It is the contrary of row_write.c, kind by kind; what that made NULL becomes the value that stands for it.
 */
#include "store/row_read.h"

#include <stdio.h>
#include <string.h>

#include "rows/words.h"
#include "store/database.h"

typedef struct row_reader {
    sqlite3_stmt *from;
    int places[NM_ROW_COLUMNS_MAX]; /* of the columns of the table in that statement; -1: not wanted */
} row_reader;

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

/* SQLite gives 0 for NULL: a second call is needed only then. */
static inline int64_t int_of(sqlite3_stmt *from, int column, int64_t if_null)
{
    int64_t value = sqlite3_column_int64(from, column);

    return value == 0 && if_null != 0 && nm_db_is_null(from, column) ? if_null : value;
}

static void take_line(sqlite3_stmt *from, int column, nm_line *line)
{
    snprintf(line->text, sizeof line->text, "%s", nm_db_text(from, column));
}

static nm_bytes text_of(sqlite3_stmt *from, int column)
{
    nm_bytes text = {.data = sqlite3_column_text(from, column)};

    text.len = (size_t)sqlite3_column_bytes(from, column); /* after the text: it may be converted first */
    return text;
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
#define TAKE_FRAME      OR_ZERO
#define TAKE_MODULE     OR_ZERO
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
#define TAKE_TEXT(path)       row->path = text_of(from, at);

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
    static void take_##name(const row_reader *reader, nm_##name##_row *row)                                                 \
    {                                                                                                                  \
        sqlite3_stmt *from = reader->from;                                                                             \
        unsigned number = 0;                                                                                           \
        int column_count = 0, at;
#define END_NONE
#define END_MANY END_ONE
#define END_ONE                                                                                                        \
        (void)from, (void)number, (void)at, (void)column_count;                                                        \
    }

#define NEXT if ((at = reader->places[column_count++]) >= 0)

#define ROW(name, NAME, table, writer)        BEGIN_##writer(name)
#define COLUMN(kind, column, path, condition) NEXT { TAKE_##kind(path) }
#define COLUMN_WITH(flag, kind, column, path)                                                                          \
    NEXT { row->flag = !nm_db_is_null(from, at); TAKE_##kind(path) }
#define COMPUTED(name, column)                column_count++;
#define END(name, writer)                     END_##writer
#include "rows/rows.def"
/* clang-format on */

static void take_row(const row_reader *reader, nm_row_kind kind, any_row *row)
{
    memset(row, 0, sizeof *row);
    switch (kind) {
#define CASE_NONE(name, NAME)
#define CASE_MANY(name, NAME) CASE_ONE(name, NAME)
#define CASE_ONE(name, NAME)                                                                                           \
    case NM_ROW_##NAME:                                                                                                \
        take_##name(reader, &row->name);                                                                               \
        break;
#define ROW(name, NAME, table, writer) CASE_##writer(name, NAME)
#include "rows/rows.def"
    default:
        break;
    }
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* Is the name, which has `length` bytes, in the list? */
static bool is_in(const char *columns, const char *name, size_t length)
{
    for (const char *at = columns; *at != 0; at += strcspn(at, " ") + 1)
        if (strcspn(at, " ") == length && memcmp(at, name, length) == 0)
            return true;
    return false;
}

static nm_status prepare(row_reader *reader, sqlite3 *db, const nm_row_table *table, const char *columns,
                         const char *clause, nm_error *err)
{
    sqlite3_str *text = sqlite3_str_new(db);
    size_t column = 0;
    int place = 0;

    sqlite3_str_appendall(text, "SELECT");
    for (const char *name = table->columns; *name != 0; column++) {
        int length = (int)strcspn(name, " ");
        bool is_wanted = columns == NULL || is_in(columns, name, (size_t)length);

        if (is_wanted)
            sqlite3_str_appendf(text, "%s %.*s", place == 0 ? "" : ",", length, name);
        reader->places[column] = is_wanted ? place++ : -1;
        name += length + 1;
    }
    sqlite3_str_appendf(text, " FROM %s %s", table->name, clause);
    char *sql = sqlite3_str_finish(text);
    nm_status status = sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                   : nm_db_prepare(db, sql, &reader->from, err);
    sqlite3_free(sql);
    return status;
}

nm_status nm_rows_give(sqlite3 *db, nm_row_kind kind, const char *columns, const char *clause, const nm_sink *sink,
                       nm_error *err)
{
    row_reader reader = {0};
    any_row row;
    nm_status status = prepare(&reader, db, &nm_row_tables[kind], columns, clause, err);
    int code = SQLITE_ROW;

    while (status == NM_OK && (code = sqlite3_step(reader.from)) == SQLITE_ROW) {
        take_row(&reader, kind, &row);
        status = nm_give(sink, kind, &row, err);
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(reader.from);
    return status;
}
