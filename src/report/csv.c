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
#include "base/door.h"
#include "base/io.h"
#include "base/shown.h"
#include "report/stack_line.h"
#include "store/database.h"
#include "store/publish.h"
#include "store/schema.h"

struct nm_csv {
    nm_csv_options options;
    char *folder;   /* owned */
    nm_draft draft; /* once there is a file to write */
    struct {
        char **items; /* owned: file names, without folder */
        size_t count, capacity;
    } names;
};

/* ---- Cells ---- */

static nm_status write_text(const char *text, size_t length, nm_buffer *scratch, FILE *file, nm_error *err)
{
    nm_status status = nm_shown_cell(scratch, text, length, err);

    if (length == 0) /* an empty text is not NULL, and libcsv writes nothing for it */
        fputs("\"\"", file);
    else if (status == NM_OK)
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
        status = nm_fail_write(err, errno);
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

#define NAME(name)    #name,
#define IS_NAME(name) || strcmp(view, #name) == 0

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static nm_status add_names(nm_csv *csv, const char *const *names, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t index = 0; status == NM_OK && names[index] != NULL; index++)
        status = add_name(csv, names[index], err);
    return status;
}

static bool is_for_all(const nm_csv *csv, const char *view)
{
    return (csv->options.has_internal || strncmp(view, "z_", 2) != 0) && !(false NM_SCHEMA_NOT_IN_CSV(IS_NAME));
}

/* The names of the views that this version makes: from the schema, so that a name is refused before the long work. And of the
 * tables that are answers, as views are. */
static nm_status list_all_views(nm_csv *csv, nm_error *err)
{
    static const char *const tables[] = {NM_SCHEMA_IN_CSV_ALL(NAME) NULL};
    nm_schema_statement view;
    nm_status status = add_names(csv, tables, err);

    for (nm_schema_place place = {0}; status == NM_OK && nm_schema_next(&place, &view);) {
        char name[64];

        snprintf(name, sizeof name, "%.*s", (int)view.name.len, (const char *)view.name.data);
        if (view.kind == NM_SCHEMA_VIEW && is_for_all(csv, name))
            status = add_name(csv, name, err);
    }
    return status;
}

static nm_status list_views(nm_csv *csv, nm_error *err)
{
    static const char *const usual[] = {NM_SCHEMA_IN_CSV(NAME) NULL}; /* what people ask for */
    nm_status status = csv->options.has_all ? list_all_views(csv, err) : add_names(csv, usual, err);

    if (csv->names.count > 0)
        qsort(csv->names.items, csv->names.count, sizeof *csv->names.items, compare_names);
    return status;
}

static nm_status check_folder(const nm_csv *csv, nm_error *err)
{
    int folder = nm_door_folder(csv->folder);
    struct stat info;
    nm_status status = NM_OK;

    if (folder < 0 && errno == ENOTDIR && nm_door_look(csv->folder, &info))
        return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is there and is no folder");
    for (size_t index = 0; folder >= 0 && status == NM_OK && index < csv->names.count; index++) {
        if (!nm_door_look_at(folder, csv->names.items[index], &info))
            continue;
        if (S_ISDIR(info.st_mode) || !csv->options.is_forced)
            status = nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "%s is already there (--force replaces it)",
                             csv->names.items[index]);
    }
    nm_io_close(folder);
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
    return csv->folder != NULL ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
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
    FILE *file = nm_draft_file(&csv->draft, name);
    nm_status status = file != NULL ? NM_OK : nm_fail_write(err, errno);

    table->file = file;
    if (status == NM_OK)
        status = write_table(table, csv->options.has_bom, err);
    if (status == NM_OK)
        status = fflush(file) == 0 ? nm_io_sync(fileno(file), err) : nm_fail_write(err, errno);
    if (file != NULL && fclose(file) != 0 && status == NM_OK)
        status = nm_fail_write(err, errno);
    if (status == NM_ERR_WRITE && snprintf(path, sizeof path, "%s/%s", csv->folder, name) < (int)sizeof path)
        nm_name_written(status, path, err);
    return status;
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
    return csv->draft.path != NULL
               ? NM_OK
               : nm_name_written(nm_draft_begin_folder(csv->folder, &csv->draft, err), csv->folder, err);
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

nm_status nm_csv_publish(nm_csv *csv, nm_error *err)
{
    nm_status status = check_folder(csv, err); /* again: the load may have taken hours */

    if (status == NM_OK)
        status = make_folder(csv, err);
    return status == NM_OK
               ? nm_draft_publish_files(&csv->draft, csv->names.items, csv->names.count, csv->options.is_forced, err)
               : status;
}

nm_status nm_csv_settle(const nm_csv *csv, nm_error *err)
{
    char *inside = NULL;
    nm_status status = NM_OK;

    if (csv->names.count == 0)
        return NM_OK;
    if (asprintf(&inside, "%s/.", csv->folder) < 0)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    status = nm_output_settle(inside, err);
    free(inside);
    return status;
}

void nm_csv_close(nm_csv *csv)
{
    if (csv == NULL)
        return;
    nm_draft_end(&csv->draft);
    for (size_t index = 0; index < csv->names.count; index++)
        free(csv->names.items[index]);
    free(csv->names.items);
    free(csv->folder);
    free(csv);
}
