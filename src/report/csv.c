/* SPDX-License-Identifier: Apache-2.0
 *
 * A table is written cell by cell through libcsv's quoting, by the bytes that SQLite gives, so that numbers are the
 * same in every locale. What a spreadsheet would take for a formula, or a terminal for a command, is made harmless on
 * the way. Where a row names a stack, its text is put behind the row. A folder of files is built beside its place and
 * published whole.
 */
#include "report/csv.h"

#include <csv.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/io.h"
#include "base/shown.h"
#include "report/all_views.sql.h"
#include "report/stack_line.h"
#include "store/cleanup.h"
#include "store/database.h"
#include "store/publish.h"
#include "store/schema.h"

struct nm_csv {
    nm_csv_options options;
    char *folder;           /* owned */
    char *temporary_folder; /* owned */
    bool is_made;           /* the temporary folder is there */
    struct {
        char **items; /* owned: file names, without folder */
        size_t count, capacity;
    } names;
};

/* ---- Cells ---- */

/* A spreadsheet passes over blanks in front of a formula, and takes the wide forms of = + - @ for the same. */
static bool begins_formula(uint32_t character)
{
    return character == '=' || character == '+' || character == '-' || character == '@' || character == 0xff1d ||
           character == 0xff0b || character == 0xff0d || character == 0xff20;
}

static bool is_blank(uint32_t character)
{
    return character == ' ' || character == '\t' || character == '\r' || character == '\n' || character == 0xa0 ||
           character == 0x3000 || (character >= 0x2000 && character <= 0x200a);
}

static bool looks_like_formula(const char *text, size_t length)
{
    uint32_t character = ' ';

    if (length > 0 && memchr("\t\r\n", text[0], 3) != NULL)
        return true;
    for (size_t at = 0; at < length && (is_blank(character) || !nm_shown_is_safe(character));)
        at += nm_shown_next(text + at, length - at, &character);
    return begins_formula(character);
}

static nm_status write_text(const char *text, size_t length, nm_buffer *scratch, FILE *file, nm_error *err)
{
    nm_status status = NM_OK;

    scratch->len = 0;
    if (length == 0) /* an empty text is not NULL, and libcsv writes nothing for it */
        fputs("\"\"", file);
    if (looks_like_formula(text, length))
        status = nm_buffer_append(scratch, "'", 1, err);
    if (status == NM_OK)
        status = nm_buffer_append(scratch, text, length, err);
    if (status == NM_OK)
        scratch->len = nm_shown_make((char *)scratch->data, scratch->len, "\t\r\n");
    if (status == NM_OK && length > 0)
        csv_fwrite(file, scratch->data, scratch->len); /* a failure stays in ferror(file) */
    return status;
}

static nm_status write_cell(sqlite3_stmt *row, int column, nm_buffer *scratch, FILE *file, nm_error *err)
{
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
        return NM_OK;
    case SQLITE_INTEGER:
        fprintf(file, "%lld", (long long)sqlite3_column_int64(row, column));
        return NM_OK;
    case SQLITE_FLOAT: /* SQLite's own text: the same in every locale */
        fputs((const char *)sqlite3_column_text(row, column), file);
        return NM_OK;
    default: {
        const char *text = (const char *)sqlite3_column_text(row, column);

        return write_text(text, (size_t)sqlite3_column_bytes(row, column), scratch, file, err);
    }
    }
}

/* ---- Rows ---- */

/* How the rows of one file are written. */
typedef struct csv_table {
    sqlite3_stmt *rows;
    FILE *file;
    int stack_column; /* of the number of a stack; -1: none is shown */
    nm_stack_lines *lines;
    nm_buffer scratch;
} csv_table;

/* The stack of a row, where it has one. */
static nm_status write_stack(csv_table *table, nm_error *err)
{
    const char *text = NULL;
    size_t length = 0;
    nm_status status = NM_OK;

    if (sqlite3_column_type(table->rows, table->stack_column) == SQLITE_INTEGER)
        status = nm_stack_lines_get(table->lines, sqlite3_column_int64(table->rows, table->stack_column), &text,
                                    &length, err);
    return status == NM_OK && length > 0 ? write_text(text, length, &table->scratch, table->file, err) : status;
}

static nm_status write_row(csv_table *table, nm_error *err)
{
    nm_status status = NM_OK;

    for (int column = 0; status == NM_OK && column < sqlite3_column_count(table->rows); column++) {
        if (column > 0)
            fputc(',', table->file);
        status = write_cell(table->rows, column, &table->scratch, table->file, err);
    }
    if (status == NM_OK && table->stack_column >= 0) {
        fputc(',', table->file);
        status = write_stack(table, err);
    }
    fputs("\r\n", table->file);
    return status;
}

static void write_header(const csv_table *table)
{
    for (int column = 0; column < sqlite3_column_count(table->rows); column++) {
        const char *name = sqlite3_column_name(table->rows, column);

        if (column > 0)
            fputc(',', table->file);
        csv_fwrite(table->file, name, strlen(name));
    }
    if (table->stack_column >= 0)
        fputs(",\"stack\"", table->file);
    fputs("\r\n", table->file);
}

static nm_status write_table(csv_table *table, bool has_bom, nm_error *err)
{
    nm_status status = NM_OK;
    int code = SQLITE_DONE;

    if (has_bom)
        fputs("\xef\xbb\xbf", table->file);
    write_header(table);
    while (status == NM_OK && !ferror(table->file) && (code = sqlite3_step(table->rows)) == SQLITE_ROW)
        status = write_row(table, err);
    if (status == NM_OK && ferror(table->file))
        status = nm_fail_errno(err, errno, "cannot write CSV");
    else if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(sqlite3_db_handle(table->rows), err);
    nm_buffer_free(&table->scratch);
    return status;
}

/* -1: it names none. */
static int find_stack_column(sqlite3_stmt *rows)
{
    for (int column = 0; column < sqlite3_column_count(rows); column++) {
        const char *name = sqlite3_column_name(rows, column);

        if (strcmp(name, "stack_id") == 0 || strcmp(name, "top_stack_id") == 0)
            return column;
    }
    return -1;
}

nm_status nm_csv_write(sqlite3_stmt *statement, bool has_bom, FILE *file, nm_error *err)
{
    csv_table table = {.rows = statement, .file = file, .stack_column = -1};

    return write_table(&table, has_bom, err);
}

/* ---- Files ---- */

static nm_status make_path(const char *folder, const char *name, char path[PATH_MAX], nm_error *err)
{
    if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "path is too long");
    return NM_OK;
}

static nm_status add_name(nm_csv *csv, const char *view, nm_error *err)
{
    char *name = NULL;
    nm_status status =
        nm_array_grow(&csv->names.items, &csv->names.capacity, csv->names.count + 1, sizeof(char *), err);

    if (status == NM_OK && asprintf(&name, "%s.csv", view) < 0)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        csv->names.items[csv->names.count++] = name;
    return status;
}

/* What people ask for. The rest is for who knows it by name. */
static const char *const usual_views[] = {"catalog",       "fragmentation",   "health",  "leak",
                                          "leak_by_site",  "outstanding",     "peak",    "peak_by_site",
                                          "pool_hit_rate", "suspect_by_site", "timeline"};

/* The names of the views that this version makes: from the schema, so that a name is refused before the long work. */
static nm_status list_all_views(nm_csv *csv, nm_error *err)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    nm_all_views_row row;
    nm_status status = sqlite3_open(":memory:", &db) == SQLITE_OK ? NM_OK : nm_db_fail(db, err);

    if (status == NM_OK)
        status = nm_schema_apply(db, NM_SCHEMA_TABLES, err);
    if (status == NM_OK)
        status = nm_schema_apply(db, NM_SCHEMA_VIEWS, err);
    if (status == NM_OK)
        status = nm_all_views_ask(db, csv->options.has_internal, &rows, err);
    while (status == NM_OK && nm_all_views_next(rows, &row))
        status = add_name(csv, row.name, err);
    status = nm_question_end(rows, status, err);
    sqlite3_close(db);
    return status;
}

static nm_status list_views(nm_csv *csv, nm_error *err)
{
    nm_status status = NM_OK;

    if (csv->options.has_all)
        return list_all_views(csv, err);
    for (size_t index = 0; status == NM_OK && index < sizeof usual_views / sizeof *usual_views; index++)
        status = add_name(csv, usual_views[index], err);
    return status;
}

static nm_status check_folder(const nm_csv *csv, nm_error *err)
{
    char path[PATH_MAX];
    struct stat info;
    nm_status status = NM_OK;

    if (stat(csv->folder, &info) != 0)
        return NM_OK;
    if (!S_ISDIR(info.st_mode))
        return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is there and is no folder");
    for (size_t index = 0; status == NM_OK && index < csv->names.count; index++) {
        status = make_path(csv->folder, csv->names.items[index], path, err);
        if (status != NM_OK || lstat(path, &info) != 0)
            continue;
        if (S_ISDIR(info.st_mode) || !csv->options.is_forced)
            status = nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "%s is already there (--force replaces it)",
                             csv->names.items[index]);
    }
    return status;
}

/* The folder's name without slashes at its end, so that the temporary one stands beside it. */
static nm_status keep_folder_name(nm_csv *csv, const char *folder, nm_error *err)
{
    size_t length = strlen(folder);

    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (length == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "the folder has no name");
    csv->folder = strndup(folder, length);
    if (csv->folder == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    return nm_output_temporary(csv->folder, &csv->temporary_folder, err);
}

static nm_status open_folder(const char *folder, const char *const *names, size_t name_count,
                             const nm_csv_options *options, nm_csv **out, nm_error *err)
{
    nm_csv *csv = calloc(1, sizeof *csv);
    nm_status status = NM_OK;

    if (csv == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    csv->options = *options;
    status = keep_folder_name(csv, folder, err);
    if (status == NM_OK && names == NULL)
        status = list_views(csv, err);
    for (size_t index = 0; status == NM_OK && index < name_count; index++)
        status = add_name(csv, names[index], err);
    if (status == NM_OK)
        status = check_folder(csv, err);
    if (status == NM_OK)
        *out = csv;
    else
        nm_csv_close(csv);
    return status;
}

nm_status nm_csv_open(const char *folder, const nm_csv_options *options, nm_csv **out, nm_error *err)
{
    return open_folder(folder, NULL, 0, options, out, err);
}

nm_status nm_csv_open_named(const char *folder, const char *const *names, size_t name_count,
                            const nm_csv_options *options, nm_csv **out, nm_error *err)
{
    return open_folder(folder, names, name_count, options, out, err);
}

static nm_status write_file(nm_csv *csv, const char *name, csv_table *table, nm_error *err)
{
    char path[PATH_MAX];
    FILE *file = NULL;
    nm_status status = make_path(csv->temporary_folder, name, path, err);

    if (status == NM_OK)
        status = nm_cleanup_add(path, err);
    if (status == NM_OK && (file = fopen(path, "wxe")) == NULL)
        status = nm_fail_errno(err, errno, "cannot write %s", name);
    table->file = file;
    if (status == NM_OK)
        status = write_table(table, csv->options.has_bom, err);
    if (file != NULL && fclose(file) != 0 && status == NM_OK)
        status = nm_fail_errno(err, errno, "cannot write %s", name);
    return status == NM_OK ? nm_io_sync_path(path, err) : status;
}

static nm_status write_view(nm_csv *csv, sqlite3 *db, const char *name, nm_stack_lines *lines, nm_error *err)
{
    char sql[256];
    csv_table table = {.lines = lines};
    nm_status status;

    snprintf(sql, sizeof sql, "SELECT * FROM %.*s", (int)(strlen(name) - strlen(".csv")), name);
    status = nm_db_prepare(db, sql, &table.rows, err);
    if (status == NM_OK) {
        table.stack_column = find_stack_column(table.rows);
        status = write_file(csv, name, &table, err);
    }
    sqlite3_finalize(table.rows);
    return status;
}

static nm_status make_folder(nm_csv *csv, nm_error *err)
{
    nm_status status;

    if (csv->is_made)
        return NM_OK;
    nm_output_sweep(csv->folder);
    status = nm_cleanup_add(csv->temporary_folder, err);
    if (status == NM_OK && mkdir(csv->temporary_folder, 0777) != 0)
        status = nm_fail_errno(err, errno, "cannot make a folder");
    if (status == NM_OK)
        csv->is_made = true;
    return status;
}

nm_status nm_csv_write_views(nm_csv *csv, sqlite3 *db, nm_error *err)
{
    nm_stack_lines lines = {0};
    nm_status status = make_folder(csv, err);

    if (status == NM_OK)
        status = nm_stack_lines_init(&lines, db, err);
    for (size_t index = 0; status == NM_OK && index < csv->names.count; index++)
        status = write_view(csv, db, csv->names.items[index], &lines, err);
    nm_stack_lines_fini(&lines);
    return status;
}

nm_status nm_csv_write_named(nm_csv *csv, const char *name, sqlite3_stmt *statement, nm_error *err)
{
    char file_name[NAME_MAX + 1];
    csv_table table = {.rows = statement, .stack_column = -1};
    nm_status status = make_folder(csv, err);

    snprintf(file_name, sizeof file_name, "%s.csv", name);
    return status == NM_OK ? write_file(csv, file_name, &table, err) : status;
}

static nm_status move_file(nm_csv *csv, const char *name, nm_error *err)
{
    char from[PATH_MAX];
    char to[PATH_MAX];
    nm_status status = make_path(csv->temporary_folder, name, from, err);

    if (status == NM_OK)
        status = make_path(csv->folder, name, to, err);
    if (status == NM_OK)
        status = nm_io_replace(from, to, err);
    if (status == NM_OK)
        nm_cleanup_forget(from);
    return status;
}

nm_status nm_csv_publish(nm_csv *csv, nm_error *err)
{
    nm_status status = check_folder(csv, err); /* again: the load may have taken hours */

    if (status == NM_OK && mkdir(csv->folder, 0777) != 0 && errno != EEXIST)
        status = nm_fail_errno(err, errno, "cannot make the folder");
    for (size_t index = 0; status == NM_OK && index < csv->names.count; index++)
        status = move_file(csv, csv->names.items[index], err);
    return status;
}

nm_status nm_csv_settle(const nm_csv *csv, nm_error *err)
{
    char path[PATH_MAX];
    nm_status status = make_path(csv->folder, ".", path, err);

    if (status == NM_OK && csv->names.count > 0)
        status = nm_output_settle(path, err);
    return status;
}

void nm_csv_close(nm_csv *csv)
{
    char path[PATH_MAX];

    if (csv == NULL)
        return;
    for (size_t index = 0; index < csv->names.count; index++) {
        if (csv->is_made && make_path(csv->temporary_folder, csv->names.items[index], path, NULL) == NM_OK)
            nm_cleanup_remove(path);
        free(csv->names.items[index]);
    }
    if (csv->is_made)
        nm_cleanup_remove(csv->temporary_folder);
    free(csv->names.items);
    free(csv->folder);
    free(csv->temporary_folder);
    free(csv);
}
