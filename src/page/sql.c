/* SPDX-License-Identifier: Apache-2.0
 *
 * All is made in memory before any of it is written, for only then it is known whether the page has room for it; no more is held
 * than that room and one table. A table goes by column only where its columns give every value back as it was (can_move), and a
 * file whose tables are empty is mostly its schema.
 */
#include "page/sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "page/block.h"
#include "page/columns.h"
#include "page/page_tables.sql.h"
#include "page/page_views.sql.h"
#include "page/sql_files.h"
#include "store/live_copy.h"
#include "store/read_limit.h"

#define PART         "<script type=\"application/octet-stream\" class=\"sql\" data-head='{\"name\":\"%s%s\"}'>"
#define PART_END     "</script>\n"
#define SUFFIX       ".sql"
#define FILE_BYTES   8 /* a file of so many times the room is not tried: its tables would take too much memory */
#define BUFFER_BYTES 65536

typedef struct packing {
    nm_page_sql_role role;
    nm_store *copy; /* owned */
    FILE *out;      /* owned; into the text */
    nm_strings *strings;
    uint64_t bytes_max;
    bool is_over; /* it does not fit */
} packing;

#define ROWS_LEAST 64  /* of a table that goes by column */
#define TEXT_MAX   255 /* characters of a text in it */
#define INT_52_MAX ((int64_t)1 << 52)

/* ---- Parts --------------------------------------------------------------------------------------------------------- */

static bool has_suffix(const char *name)
{
    size_t len = strlen(name);

    return len > sizeof SUFFIX - 1 && strcmp(name + len - (sizeof SUFFIX - 1), SUFFIX) == 0;
}

/* Does it compare two databases? */
static bool has_attach(const char *text)
{
    return strstr(text, "\nATTACH ") != NULL;
}

static nm_status put_file(nm_page_block *block, const char *name, nm_error *err)
{
    const nm_embedded_text *file = nm_page_sql_files;

    while (strcmp(file->name, name) != 0)
        file++;
    return nm_page_block_put(block, file->text, file->len, err);
}

static nm_status put_engine(const packing *work, nm_page_block *block, nm_error *err)
{
    nm_status status = put_file(block, "sql-wasm.js", err);

    (void)work;
    return status == NM_OK ? put_file(block, "worker.js", err) : status;
}

static nm_status put_wasm(const packing *work, nm_page_block *block, nm_error *err)
{
    (void)work;
    return put_file(block, "sql-wasm.wasm", err);
}

static nm_status put_queries(const packing *work, nm_page_block *block, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_embedded_text *file = nm_page_sql_files; file->name != NULL && status == NM_OK; file++) {
        if (!has_suffix(file->name) || (work->role == NM_PAGE_SQL_ALONE && has_attach(file->text)))
            continue;
        status = nm_page_block_put(block, file->name, strlen(file->name) + 1, err);
        if (status == NM_OK)
            status = nm_page_block_put(block, file->text, file->len + 1, err);
    }
    return status;
}

static nm_status put_database(const packing *work, nm_page_block *block, nm_error *err)
{
    uint8_t bytes[BUFFER_BYTES];
    ssize_t len = 1;
    int fd = -1;
    nm_status status = nm_store_take(work->copy, &fd, err);

    while (status == NM_OK && len > 0) {
        len = read(fd, bytes, sizeof bytes);
        status = len < 0 ? nm_fail_errno(err, errno, "cannot read the copy")
                         : nm_page_block_put(block, bytes, (size_t)len, err);
    }
    nm_io_close(fd);
    return status;
}

/* What the names of a database's parts have beside those of the first. */
static const char *mark_of(const packing *work)
{
    return work->role == NM_PAGE_SQL_SECOND ? "_2" : "";
}

static nm_status write_part(const packing *work, const char *name,
                            nm_status (*put)(const struct packing *work, nm_page_block *block, nm_error *err),
                            nm_error *err)
{
    nm_error later = {.offset = NM_NO_OFFSET};
    nm_page_block block;
    nm_status status, ended;

    fprintf(work->out, PART, name, mark_of(work));
    status = nm_page_block_begin(&block, work->out, err);
    if (status != NM_OK)
        return status;
    status = put(work, &block, err);
    ended = nm_page_block_end(&block, status == NM_OK ? err : &later);
    fputs(PART_END, work->out);
    return status == NM_OK ? ended : status;
}

/* ---- Tables -------------------------------------------------------------------------------------------------------- */

/* Is it a shown text of ASCII? */
static bool is_plain_text(sqlite3_stmt *row, int column)
{
    const unsigned char *text = sqlite3_column_text(row, column);
    int len = sqlite3_column_bytes(row, column);

    if (text == NULL || len > TEXT_MAX)
        return false;
    for (int i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return true;
}

/* Does it come back from a column as it was? *type: of the values before it, 0 where all of them are NULL. */
static bool comes_back(sqlite3_stmt *row, int column, int *type)
{
    int own_type = sqlite3_column_type(row, column);

    if (own_type == SQLITE_NULL)
        return true;
    if (*type != 0 && *type != own_type)
        return false;
    *type = own_type;
    if (own_type == SQLITE_INTEGER) {
        int64_t value = sqlite3_column_int64(row, column);

        return value >= -INT_52_MAX && value <= INT_52_MAX;
    }
    return own_type == SQLITE_FLOAT || (own_type == SQLITE_TEXT && is_plain_text(row, column));
}

/* Integers come back exactly up to 2 to the power of 52; texts are shown ones of ASCII; and a column has values of one type. */
static nm_status can_move(sqlite3 *db, const char *ask, bool *answer, nm_error *err)
{
    int types[NM_PAGE_COLUMNS_MAX] = {0}, code = SQLITE_DONE;
    int64_t row_count = 0;
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(db, ask, &rows, err);
    int column_count = status == NM_OK ? sqlite3_column_count(rows) : 0;

    *answer = status == NM_OK && column_count <= NM_PAGE_COLUMNS_MAX;
    while (*answer && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        for (int i = 0; i < column_count && *answer; i++)
            *answer = comes_back(rows, i, &types[i]);
        row_count++;
    }
    *answer = *answer && row_count >= ROWS_LEAST;
    if (status == NM_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
}

static nm_status write_rows(const packing *work, const char *name, const char *sql, nm_error *err)
{
    sqlite3 *db = nm_store_db(work->copy);
    nm_page_columns columns = {0};
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(db, sql, &rows, err);

    if (status == NM_OK)
        status = nm_page_columns_read(&columns, work->strings, db, rows, err);
    if (status == NM_OK)
        status = nm_page_columns_write(&columns, name, work->out, err);
    nm_page_columns_free(&columns);
    sqlite3_finalize(rows);
    return status;
}

/* The rows of a table go from the file into the page. */
static nm_status move_rows(const packing *work, const char *name, const char *ask, nm_error *err)
{
    char *shown = sqlite3_mprintf("sql%s_%s", mark_of(work), name),
         *empty = sqlite3_mprintf("DELETE FROM main.\"%w\"", name);
    nm_status status = shown == NULL || empty == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                                      : write_rows(work, shown, ask, err);

    if (status == NM_OK)
        status = nm_db_exec(nm_store_db(work->copy), empty, err);
    sqlite3_free(shown);
    sqlite3_free(empty);
    return status;
}

static nm_status move_table(const packing *work, const char *name, nm_error *err)
{
    char *ask = sqlite3_mprintf("SELECT * FROM main.\"%w\"", name);
    bool is_moved = false;
    nm_status status = ask == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                   : can_move(nm_store_db(work->copy), ask, &is_moved, err);

    if (status == NM_OK && is_moved)
        status = move_rows(work, name, ask, err);
    sqlite3_free(ask);
    return status;
}

static nm_status is_over(const packing *work, bool *answer, nm_error *err)
{
    long at = fflush(work->out) == 0 ? ftell(work->out) : -1;

    *answer = at < 0 || (uint64_t)at > work->bytes_max;
    return at < 0 ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : NM_OK;
}

static nm_status move_tables(packing *work, nm_error *err)
{
    sqlite3 *db = nm_store_db(work->copy);
    sqlite3_stmt *tables = NULL;
    nm_page_tables_row table;
    nm_status status = nm_page_tables_ask(db, &tables, err);

    while (status == NM_OK && !work->is_over && nm_page_tables_next(tables, &table)) {
        status = move_table(work, table.name, err);
        if (status == NM_OK)
            status = is_over(work, &work->is_over, err);
    }
    status = nm_question_end(tables, status, err);
    return status == NM_OK && !work->is_over ? nm_db_exec(db, "VACUUM", err) : status;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------- */

static nm_status look_at_size(packing *work, nm_error *err)
{
    sqlite3 *db = nm_store_db(work->copy);
    int64_t page_count = 0, page_bytes = 0;
    nm_status status = nm_db_get_int(db, "PRAGMA page_count", &page_count, err);

    if (status == NM_OK)
        status = nm_db_get_int(db, "PRAGMA page_size", &page_bytes, err);
    work->is_over = (uint64_t)page_count * (uint64_t)page_bytes > FILE_BYTES * work->bytes_max;
    return status;
}

/* What answers, and what it can be asked: once a page. */
static nm_status write_engine(const packing *work, nm_error *err)
{
    nm_status status = write_part(work, "engine", put_engine, err);

    if (status == NM_OK)
        status = write_part(work, "wasm", put_wasm, err);
    return status == NM_OK ? write_part(work, "queries", put_queries, err) : status;
}

static nm_status write_parts(packing *work, nm_error *err)
{
    bool is_first = work->role != NM_PAGE_SQL_SECOND;
    nm_status status = look_at_size(work, err);

    if (status != NM_OK || work->is_over)
        return status;
    if (is_first)
        status = write_engine(work, err);
    if (status == NM_OK)
        status = move_tables(work, err);
    /* The view counts rows, too: of what is empty now that is quick. */
    if (status == NM_OK && !work->is_over && is_first)
        status = write_rows(work, "sql_view", nm_page_views_sql, err);
    if (status == NM_OK && !work->is_over)
        status = write_part(work, "database", put_database, err);
    return status == NM_OK && !work->is_over ? is_over(work, &work->is_over, err) : status;
}

static nm_status open_text(packing *work, char **text, size_t *len, nm_error *err)
{
    *text = NULL;
    work->out = open_memstream(text, len);
    return work->out == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : NM_OK;
}

static nm_status close_text(packing *work, nm_status status, nm_error *err)
{
    if (work->out != NULL && fclose(work->out) != 0 && status == NM_OK)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    work->out = NULL;
    return status;
}

/* One of an older version lies in no file: it was read into memory. */
static bool has_file(sqlite3 *db)
{
    const char *path = sqlite3_db_filename(db, "main");

    return path != NULL && path[0] != 0;
}

bool nm_page_sql_is_built(void)
{
    return nm_page_sql_files[0].name != NULL;
}

static nm_status make_copy(packing *work, const nm_page_sql_source *source, const char *scratch_path, nm_error *err)
{
    nm_read_limit_rest(source->db, true); /* the copy is read and made by connections of its own */
    nm_status status = nm_live_copy(source->db, scratch_path, source->live_ids, &work->copy, err);

    if (status == NM_OK)
        status = write_parts(work, err);
    nm_read_limit_rest(source->db, false);
    return status;
}

nm_status nm_page_sql_make(const nm_page_sql_source *source, const char *scratch_path, uint64_t bytes_max,
                           nm_strings *strings, char **text, size_t *len, bool *is_there, nm_error *err)
{
    packing work = {.role = source->role, .strings = strings, .bytes_max = bytes_max};
    nm_status status = open_text(&work, text, len, err);

    work.is_over = !has_file(source->db);
    if (status == NM_OK && !work.is_over)
        status = make_copy(&work, source, scratch_path, err);
    status = close_text(&work, status, err);
    nm_store_close(work.copy);
    *is_there = status == NM_OK && !work.is_over;
    if (status != NM_OK || !work.is_over)
        return status;
    free(*text);
    status = open_text(&work, text, len, err);
    if (status == NM_OK)
        fprintf(work.out, PART PART_END, "left_out", mark_of(&work));
    return close_text(&work, status, err);
}
