/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite reads the file through a VFS of its own, which knows a descriptor and nothing else: so it may have no name, and nothing
 * beside it is ever opened. An authorizer lets statements read stored columns of tables of the file, and call nothing.
 */
#include "source/foreign_rows.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/io.h"

#define STEPS_BETWEEN_LOOKS 10000
#define STEPS_FREE          (INT64_C(10) * 1000 * 1000)
#define STEPS_PER_BYTE      10
#define SIZE_BYTES_MAX      (INT64_C(1) << 50)
#define FILE_NAME           "input"

typedef struct foreign_file {
    sqlite3_file base;
    nm_input *input;
} foreign_file;

struct nm_foreign_tables {
    sqlite3 *db; /* owned */
    sqlite3_vfs vfs;
    char vfs_name[40];
    bool is_registered, is_looking; /* what tables and columns there are: by statements of ours */
    int64_t steps_left;
    struct {
        char **items; /* names, owned */
        size_t count, capacity;
    } names;
};

struct nm_foreign_rows {
    nm_foreign_tables *tables;
    sqlite3_stmt *statement; /* NULL: the table is not there */
    nm_cell *cells;
    bool *has;
    size_t column_count;
};

bool nm_foreign_matches(nm_bytes head)
{
    return head.len >= 16 && memcmp(head.data, "SQLite format 3", 16) == 0;
}

/* ---- The file, as SQLite sees it ---- */

static int close_file(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static int read_file(sqlite3_file *file, void *data, int len, sqlite3_int64 offset)
{
    nm_input *input = ((foreign_file *)file)->input;
    uint64_t size = nm_input_size(input), from = (uint64_t)offset < size ? (uint64_t)offset : size;
    size_t got = (uint64_t)len < size - from ? (size_t)len : (size_t)(size - from);

    if (nm_io_read_at(nm_input_fd(input), data, got, from, NULL) != NM_OK)
        return SQLITE_IOERR_READ;
    nm_input_note_read(input, got);
    memset((uint8_t *)data + got, 0, (size_t)len - got);
    return got == (size_t)len ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int write_file(sqlite3_file *file, const void *data, int len, sqlite3_int64 offset)
{
    (void)file, (void)data, (void)len, (void)offset;
    return SQLITE_READONLY;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
    (void)file, (void)size;
    return SQLITE_READONLY;
}

static int size_of_file(sqlite3_file *file, sqlite3_int64 *size)
{
    *size = (sqlite3_int64)nm_input_size(((foreign_file *)file)->input);
    return SQLITE_OK;
}

static int do_nothing(sqlite3_file *file, int flags)
{
    (void)file, (void)flags;
    return SQLITE_OK;
}

static int say_unlocked(sqlite3_file *file, int *is_locked)
{
    (void)file;
    *is_locked = 0;
    return SQLITE_OK;
}

static int know_no_control(sqlite3_file *file, int code, void *argument)
{
    (void)file, (void)code, (void)argument;
    return SQLITE_NOTFOUND;
}

static int sector_bytes(sqlite3_file *file)
{
    (void)file;
    return 4096;
}

static int say_immutable(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods file_methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = do_nothing,
    .xFileSize = size_of_file,
    .xLock = do_nothing,
    .xUnlock = do_nothing,
    .xCheckReservedLock = say_unlocked,
    .xFileControl = know_no_control,
    .xSectorSize = sector_bytes,
    .xDeviceCharacteristics = say_immutable,
};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    (void)name;
    file->pMethods = NULL;
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0)
        return SQLITE_CANTOPEN;
    *(foreign_file *)file = (foreign_file){{&file_methods}, vfs->pAppData};
    if (out_flags != NULL)
        *out_flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int syncs)
{
    (void)vfs, (void)name, (void)syncs;
    return SQLITE_READONLY;
}

static int find_no_file(sqlite3_vfs *vfs, const char *name, int flags, int *is_there)
{
    (void)vfs, (void)name, (void)flags;
    *is_there = 0;
    return SQLITE_OK;
}

static int keep_name(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    (void)vfs;
    snprintf(out, (size_t)size, "%s", name);
    return SQLITE_OK;
}

/* The rest (time, random numbers) is the usual one's. */
static bool register_vfs(nm_foreign_tables *tables, nm_input *input)
{
    const sqlite3_vfs *usual = sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find(NULL) : NULL;

    if (usual == NULL)
        return false;
    snprintf(tables->vfs_name, sizeof tables->vfs_name, "npumem-%p", (void *)tables);
    tables->vfs = *usual;
    tables->vfs.iVersion = 1;
    tables->vfs.szOsFile = sizeof(foreign_file);
    tables->vfs.pNext = NULL;
    tables->vfs.zName = tables->vfs_name;
    tables->vfs.pAppData = input;
    tables->vfs.xOpen = open_file;
    tables->vfs.xDelete = delete_file;
    tables->vfs.xAccess = find_no_file;
    tables->vfs.xFullPathname = keep_name;
    tables->is_registered = sqlite3_vfs_register(&tables->vfs, 0) == SQLITE_OK;
    return tables->is_registered;
}

/* ---- What SQLite may do ---- */

static int authorize(void *context, int action, const char *first, const char *second, const char *schema,
                     const char *view)
{
    const nm_foreign_tables *tables = context;

    (void)first, (void)second, (void)schema;
    if (view != NULL) /* the statement is one of a view or a trigger */
        return SQLITE_DENY;
    return action == SQLITE_SELECT || action == SQLITE_READ || (action == SQLITE_PRAGMA && tables->is_looking)
               ? SQLITE_OK
               : SQLITE_DENY;
}

static int is_spent(void *context)
{
    nm_foreign_tables *tables = context;

    tables->steps_left -= STEPS_BETWEEN_LOOKS;
    return tables->steps_left < 0;
}

static nm_status fail(nm_foreign_tables *tables, nm_error *err)
{
    switch (sqlite3_errcode(tables->db) & 0xff) {
    case SQLITE_NOMEM:
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    case SQLITE_INTERRUPT:
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET,
                       "given up: more work than a sound database of its size can need");
    case SQLITE_TOOBIG:
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "a text in it is too long");
    default:
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "this is a database that cannot be read: %.80s",
                       sqlite3_errmsg(tables->db));
    }
}

static void set_limits(nm_foreign_tables *tables, uint64_t size_bytes)
{
    static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, NM_FOREIGN_ROW_BYTES_MAX},
                                    {SQLITE_LIMIT_SQL_LENGTH, NM_FOREIGN_ROW_BYTES_MAX},
                                    {SQLITE_LIMIT_COLUMN, NM_FOREIGN_COLUMNS_MAX},
                                    {SQLITE_LIMIT_EXPR_DEPTH, 100},
                                    {SQLITE_LIMIT_ATTACHED, 0}};

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        sqlite3_limit(tables->db, limits[i][0], limits[i][1]);
    tables->steps_left =
        STEPS_FREE + (size_bytes < SIZE_BYTES_MAX ? (int64_t)size_bytes : SIZE_BYTES_MAX) * STEPS_PER_BYTE;
    sqlite3_progress_handler(tables->db, STEPS_BETWEEN_LOOKS, is_spent, tables);
    sqlite3_db_config(tables->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(tables->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
#ifdef SQLITE_DBCONFIG_ENABLE_VIEW
    sqlite3_db_config(tables->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
#endif
#if SQLITE_VERSION_NUMBER >= 3030000
    sqlite3_drop_modules(tables->db, NULL); /* a virtual table is of a module */
#endif
    sqlite3_exec(tables->db, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", NULL, NULL, NULL);
    sqlite3_set_authorizer(tables->db, authorize, tables);
}

/* ---- Tables ---- */

static const char *text_of(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);

    return text != NULL ? text : "";
}

static nm_status keep_table(nm_foreign_tables *tables, const char *name, nm_error *err)
{
    nm_status status = nm_array_grow(&tables->names.items, &tables->names.capacity, tables->names.count + 1,
                                     sizeof *tables->names.items, err);
    char *copy = status == NM_OK ? strdup(name) : NULL;

    if (copy == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    tables->names.items[tables->names.count++] = copy;
    return NM_OK;
}

/* SQLite writes "CREATE TABLE" in front of what made one, however it was written. */
static nm_status list_tables(nm_foreign_tables *tables, nm_error *err)
{
    static const char begin[] = "CREATE TABLE ";
    sqlite3_stmt *rows = NULL;
    nm_status status = NM_OK;
    int code = sqlite3_prepare_v2(tables->db, "SELECT type, name, sql FROM sqlite_master", -1, &rows, NULL);

    while (code == SQLITE_OK && status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        code = SQLITE_OK;
        if (strcmp(text_of(rows, 0), "table") == 0 && strncasecmp(text_of(rows, 2), begin, sizeof begin - 1) == 0)
            status = keep_table(tables, text_of(rows, 1), err);
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = fail(tables, err);
    sqlite3_finalize(rows);
    return status;
}

nm_status nm_foreign_tables_open(nm_input *input, nm_foreign_tables **out, nm_error *err)
{
    nm_foreign_tables *tables = calloc(1, sizeof *tables);
    nm_status status = NM_OK;

    *out = NULL;
    if (tables == NULL || !register_vfs(tables, input))
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    else if (sqlite3_open_v2(FILE_NAME, &tables->db, SQLITE_OPEN_READONLY, tables->vfs_name) != SQLITE_OK)
        status = tables->db == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : fail(tables, err);
    if (status == NM_OK) {
        set_limits(tables, nm_input_size(input));
        status = list_tables(tables, err);
    }
    if (status == NM_OK)
        *out = tables;
    else
        nm_foreign_tables_close(tables);
    return status;
}

void nm_foreign_tables_close(nm_foreign_tables *tables)
{
    if (tables == NULL)
        return;
    sqlite3_close(tables->db);
    if (tables->is_registered)
        sqlite3_vfs_unregister(&tables->vfs);
    for (size_t i = 0; i < tables->names.count; i++)
        free(tables->names.items[i]);
    free(tables->names.items);
    free(tables);
}

bool nm_foreign_tables_has(const nm_foreign_tables *tables, const char *table)
{
    for (size_t i = 0; i < tables->names.count; i++)
        if (strcasecmp(tables->names.items[i], table) == 0)
            return true;
    return false;
}

/* ---- Rows ---- */

static void note_column(nm_foreign_rows *rows, const char *const *columns, const char *name)
{
    for (size_t i = 0; i < rows->column_count; i++)
        rows->has[i] = rows->has[i] || strcasecmp(columns[i], name) == 0;
}

/* Which columns the table has. A computed one, also if nobody asks for it, could be anything. */
static nm_status look_at_columns(nm_foreign_rows *rows, const char *table, const char *const *columns, nm_error *err)
{
    enum { NAME = 1, HIDDEN = 6 }; /* of what the pragma tells */
    char *sql = sqlite3_mprintf("PRAGMA main.table_xinfo(%Q)", table);
    sqlite3_stmt *infos = NULL;
    nm_status status = NM_OK;

    rows->tables->is_looking = true;
    int code = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(rows->tables->db, sql, -1, &infos, NULL);
    while (code == SQLITE_OK && status == NM_OK && (code = sqlite3_step(infos)) == SQLITE_ROW) {
        code = SQLITE_OK;
        note_column(rows, columns, text_of(infos, NAME));
        if (sqlite3_column_int(infos, HIDDEN) != 0)
            status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "this is a database with a computed column in table %s",
                             table);
    }
    rows->tables->is_looking = false;
    if (status == NM_OK && code != SQLITE_DONE)
        status = fail(rows->tables, err);
    sqlite3_finalize(infos);
    sqlite3_free(sql);
    return status;
}

/* NOT INDEXED: an index may be of an expression. */
static nm_status prepare(nm_foreign_rows *rows, const char *table, const char *const *columns, nm_error *err)
{
    sqlite3_str *text = sqlite3_str_new(rows->tables->db);

    sqlite3_str_appendall(text, "SELECT NULL");
    for (size_t i = 0; i < rows->column_count; i++)
        if (rows->has[i])
            sqlite3_str_appendf(text, ", \"%w\"", columns[i]);
        else
            sqlite3_str_appendall(text, ", NULL");
    sqlite3_str_appendf(text, " FROM main.\"%w\" NOT INDEXED", table);
    char *sql = sqlite3_str_finish(text);
    int code = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(rows->tables->db, sql, -1, &rows->statement, NULL);
    nm_status status = code == SQLITE_OK ? NM_OK : fail(rows->tables, err);
    sqlite3_free(sql);
    return status;
}

nm_status nm_foreign_rows_open(nm_foreign_tables *tables, const char *table, const char *const *columns,
                               size_t column_count, nm_foreign_rows **out, nm_error *err)
{
    nm_foreign_rows *rows = calloc(1, sizeof *rows);
    nm_status status = NM_OK;

    *out = NULL;
    if (rows != NULL) {
        *rows = (nm_foreign_rows){.tables = tables, .column_count = column_count};
        rows->cells = calloc(column_count + 1, sizeof *rows->cells);
        rows->has = calloc(column_count + 1, sizeof *rows->has);
    }
    if (rows == NULL || rows->cells == NULL || rows->has == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK && nm_foreign_tables_has(tables, table)) {
        status = look_at_columns(rows, table, columns, err);
        if (status == NM_OK)
            status = prepare(rows, table, columns, err);
    }
    if (status == NM_OK)
        *out = rows;
    else
        nm_foreign_rows_close(rows);
    return status;
}

void nm_foreign_rows_close(nm_foreign_rows *rows)
{
    if (rows == NULL)
        return;
    sqlite3_finalize(rows->statement);
    free(rows->cells);
    free(rows->has);
    free(rows);
}

static nm_cell cell_of(sqlite3_stmt *row, int column)
{
    nm_cell cell = {.kind = NM_CELL_NONE};

    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
        cell.kind = NM_CELL_INT;
        cell.integer = sqlite3_column_int64(row, column);
        break;
    case SQLITE_FLOAT:
        cell.kind = NM_CELL_REAL;
        cell.real = sqlite3_column_double(row, column);
        break;
    case SQLITE_TEXT:
        cell.kind = NM_CELL_TEXT;
        cell.text.data = sqlite3_column_text(row, column);
        cell.text.len = (size_t)sqlite3_column_bytes(row, column);
        break;
    default:
        break;
    }
    return cell;
}

nm_status nm_foreign_rows_next(nm_foreign_rows *rows, const nm_cell **cells, nm_error *err)
{
    int code = rows->statement == NULL ? SQLITE_DONE : sqlite3_step(rows->statement);

    *cells = rows->cells;
    if (code == SQLITE_DONE)
        return NM_END;
    if (code != SQLITE_ROW)
        return fail(rows->tables, err);
    for (size_t i = 0; i < rows->column_count; i++)
        rows->cells[i] = cell_of(rows->statement, (int)i + 1);
    return NM_OK;
}
