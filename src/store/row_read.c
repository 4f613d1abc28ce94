/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows back from their tables, by the list of their columns: the contrary of row_write.c, kind by kind. What that made NULL
 * becomes the value that stands for it.
 */
#include "store/row_read.h"

#include <stdio.h>
#include <string.h>

#include "rows/words.h"
#include "store/database.h"

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

/* SQLite gives 0 for NULL: a second call is needed only then. */
static inline int64_t int_of(sqlite3_stmt *from, int column, int64_t if_null)
{
    int64_t value = sqlite3_column_int64(from, column);

    return value == 0 && if_null != 0 && nm_db_is_null(from, column) ? if_null : value;
}

static nm_bytes text_of(sqlite3_stmt *from, int column)
{
    nm_bytes text = {.data = sqlite3_column_text(from, column)};

    text.len = (size_t)sqlite3_column_bytes(from, column); /* after the text: it may be converted first */
    return text;
}

/* A member of 1, 4 or 8 bytes. */
static void set(void *row, size_t offset, size_t bytes, int64_t value)
{
    char *at = (char *)row + offset;

    if (bytes == sizeof(int64_t))
        *(int64_t *)(void *)at = value;
    else if (bytes == sizeof(uint32_t))
        *(uint32_t *)(void *)at = (uint32_t)value;
    else
        *(bool *)(void *)at = value != 0;
}

/* ---- Rows ---------------------------------------------------------------------------------------------------------- */

static void take_integer(sqlite3_stmt *from, int at, const nm_row_column *column, void *row)
{
    nm_column_as as = column->kind.as;
    int64_t if_null = as == NM_AS_POLICY                   ? (int64_t)NM_POLICY_UNKNOWN
                      : column->kind.null == NM_NULL_LEAST ? NM_NULL
                                                           : 0;
    int64_t value = int_of(from, at, if_null);

    if (as == NM_AS_STREAM)
        set(row, column->kind.beside_offset, column->kind.beside_bytes, !nm_db_is_null(from, at));
    set(row, column->offset, column->bytes, as == NM_AS_NOT ? value == 0 : value);
}

static void take_column(sqlite3_stmt *from, int at, const nm_row_column *column, void *row)
{
    void *member = (char *)row + column->offset;

    if (column->flag_bytes != 0)
        set(row, column->flag_offset, column->flag_bytes, !nm_db_is_null(from, at));
    switch (column->kind.as) {
    case NM_AS_STRING: /* what is in the table is no number any more; */
    case NM_AS_LITERAL:
    case NM_AS_NAME:
    case NM_AS_BYTE_MS: /* or less than there was */
    case NM_AS_COMPUTED:
        break;
    case NM_AS_RATIO:
        *(double *)member = nm_db_is_null(from, at) ? -1 : sqlite3_column_double(from, at);
        break;
    case NM_AS_WORD:
        *(unsigned *)member = nm_word_number(column->kind.words, nm_db_text(from, at));
        break;
    case NM_AS_LINE:
        snprintf(member, NM_LINE_BYTES, "%s", nm_db_text(from, at));
        break;
    case NM_AS_TEXT:
        *(nm_bytes *)member = text_of(from, at);
        break;
    default:
        take_integer(from, at, column, row);
    }
}

typedef union any_row {
#define ROW(name, NAME, table, writer) nm_##name##_row name;
#include "rows/rows.def"
} any_row;

static void take_row(sqlite3_stmt *from, nm_row_kind kind, any_row *row)
{
    const nm_row_column *columns = nm_row_tables[kind].list();

    memset(row, 0, sizeof *row);
    for (int i = 0; columns[i].name != NULL; i++)
        take_column(from, i, &columns[i], row);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static nm_status prepare(sqlite3_stmt **from, sqlite3 *db, const nm_row_table *table, const char *clause, nm_error *err)
{
    sqlite3_str *text = sqlite3_str_new(db);
    const char *between = "";

    sqlite3_str_appendall(text, "SELECT");
    for (const char *name = table->columns; *name != 0; between = ",") {
        int length = (int)strcspn(name, " ");

        sqlite3_str_appendf(text, "%s %.*s", between, length, name);
        name += length + 1;
    }
    sqlite3_str_appendf(text, " FROM %s %s", table->name, clause);
    char *sql = sqlite3_str_finish(text);
    nm_status status =
        sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : nm_db_prepare(db, sql, from, err);
    sqlite3_free(sql);
    return status;
}

nm_status nm_rows_give(sqlite3 *db, nm_row_kind kind, const char *clause, const nm_sink *sink, nm_error *err)
{
    sqlite3_stmt *from = NULL;
    any_row row;
    nm_status status = prepare(&from, db, &nm_row_tables[kind], clause, err);
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
