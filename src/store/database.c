/* SPDX-License-Identifier: Apache-2.0
 *
 * Each helper is a few calls of SQLite and the one way in which the house says that they failed.
 */
#include "store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/spoken.h"
#include "store/insert_rows.h"

#define INSERT_SQL_BYTES 1024

/* What went wrong when SQLite wrote a file; 0: something else did. */
static int write_errno(sqlite3 *db)
{
    int cause = sqlite3_system_errno(db);

    switch (sqlite3_extended_errcode(db)) {
    case SQLITE_FULL:
        return ENOSPC;
    case SQLITE_IOERR_WRITE:
    case SQLITE_IOERR_TRUNCATE:
    case SQLITE_IOERR_FSYNC:
        if (cause == 0)
            sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &cause);
        return cause == 0 ? EIO : cause;
    default:
        return 0;
    }
}

/* Of a database that is only read, SQLite writes what has no room in memory: in the first folder of these that is named. */
static const char *temporary_folder(void)
{
    const char *own = getenv("SQLITE_TMPDIR"), *shared = getenv("TMPDIR");

    return own != NULL && own[0] != 0 ? own : shared != NULL && shared[0] != 0 ? shared : "/var/tmp";
}

static nm_status fail_write(sqlite3 *db, int cause, nm_error *err)
{
    nm_status status = nm_fail_write(err, cause);

    return sqlite3_db_readonly(db, "main") == 1 ? nm_name_written(status, temporary_folder(), err) : status;
}

/* SQLite speaks English; what it says of a file that is none has its Chinese. */
const char *nm_db_words(sqlite3 *db)
{
    static const char *const texts[] = {"database disk image is malformed", "file is not a database"};
    const char *said = sqlite3_errmsg(db);

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(said, texts[i]) == 0)
            return nm_spoken(texts[i]);
    return said;
}

nm_status nm_db_fail(sqlite3 *db, nm_error *err)
{
    int cause = write_errno(db);

    if (cause != 0)
        return fail_write(db, cause, err);
    if (sqlite3_errcode(db) == SQLITE_NOMEM)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if ((sqlite3_errcode(db) & 0xff) == SQLITE_INTERRUPT) /* by store/read_limit.c */
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET,
                       "given up: more work than a sound database of its size can need");
    if ((sqlite3_errcode(db) & 0xff) == SQLITE_TOOBIG)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "a text in it is too long");
    return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "%s", nm_db_words(db));
}

/* ---- What was handed over (base/door.h) ---- */

/* SQLite resolves links itself, and opens what they lead to by its name. Not so the path of a descriptor: it stays as it is, and is
 * opened as it stands. One thread opens databases. */
typedef int lstat_call(const char *path, struct stat *info);
typedef int open_call(const char *path, int flags, int mode);

static lstat_call *plain_lstat;
static open_call *plain_open;

static bool is_of_process(const char *path)
{
    static const char of_process[] = "/proc/self";

    return strncmp(path, of_process, sizeof of_process - 1) == 0;
}

static int look(const char *path, struct stat *info)
{
    return is_of_process(path) ? nm_door_look(path, info) - 1 : plain_lstat(path, info);
}

static int open_as_is(const char *path, int flags, int mode)
{
    return plain_open(path, nm_door_is_handed(path) ? flags & ~O_NOFOLLOW : flags, mode);
}

static void take_handed(void)
{
    sqlite3_vfs *vfs = plain_open != NULL ? NULL : sqlite3_vfs_find(NULL);

    if (vfs == NULL || vfs->iVersion < 3 || (plain_lstat = (lstat_call *)vfs->xGetSystemCall(vfs, "lstat")) == NULL ||
        (plain_open = (open_call *)vfs->xGetSystemCall(vfs, "open")) == NULL)
        return;
    vfs->xSetSystemCall(vfs, "lstat", (sqlite3_syscall_ptr)look);
    vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_as_is);
}

/* A path that begins with a slash gets an empty host before it, so that "//x" does not name one. */
nm_status nm_db_uri(const char *path, const char *query, nm_buffer *out, nm_error *err)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    const char *begin = path[0] == '/' ? "file://" : "file:";
    char escaped[4];
    nm_status status = nm_buffer_append(out, begin, strlen(begin), err);

    if (nm_door_is_handed(path))
        take_handed();
    for (const char *at = path; *at != 0 && status == NM_OK; at++) {
        snprintf(escaped, sizeof escaped, "%%%02x", (unsigned char)*at);
        status =
            strchr(plain, *at) != NULL ? nm_buffer_append(out, at, 1, err) : nm_buffer_append(out, escaped, 3, err);
    }
    if (status == NM_OK)
        status = nm_buffer_append(out, "?", 1, err);
    return status == NM_OK ? nm_buffer_append(out, query, strlen(query) + 1, err) : status;
}

/* Each call of SQLite takes a lock, and each piece of memory that it gets another one. */
void nm_db_use_one_thread(void)
{
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
}

nm_status nm_db_open(const char *path, sqlite3 **out, nm_error *err)
{
    nm_buffer uri = {0};
    nm_status status = nm_db_uri(path, "mode=rwc", &uri, err);

    if (status == NM_OK &&
        sqlite3_open_v2((const char *)uri.data, out, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                        NULL) != SQLITE_OK)
        status = nm_db_fail(*out, err);
    nm_buffer_free(&uri);
    return status;
}

/* SQLite takes NULL, which is what it gives for a text when there is no memory for it, for nothing to do. */
nm_status nm_db_exec(sqlite3 *db, const char *sql, nm_error *err)
{
    if (sql == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? NM_OK : nm_db_fail(db, err);
}

nm_status nm_db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out, nm_error *err)
{
    return sqlite3_prepare_v2(db, sql, -1, out, NULL) == SQLITE_OK ? NM_OK : nm_db_fail(db, err);
}

nm_status nm_db_exec_each(sqlite3 *db, const char *sql, nm_error *err)
{
    sqlite3_stmt *statements = NULL;
    nm_status status = nm_db_prepare(db, sql, &statements, err);
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(statements)) == SQLITE_ROW)
        status = nm_db_exec(db, (const char *)sqlite3_column_text(statements, 0), err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(statements);
    return status;
}

nm_status nm_db_column_count(sqlite3 *db, const char *table, int *count, nm_error *err)
{
    char sql[INSERT_SQL_BYTES];
    sqlite3_stmt *statement = NULL;

    snprintf(sql, sizeof sql, "SELECT * FROM %s", table);
    nm_status status = nm_db_prepare(db, sql, &statement, err);
    if (status == NM_OK)
        *count = sqlite3_column_count(statement);
    sqlite3_finalize(statement);
    return status;
}

/* Of the columns from `at` on: is the first one this? *at is then behind it. */
static bool is_next(const char **at, const char *name)
{
    size_t length = strcspn(*at, " ");

    if (strlen(name) != length || memcmp(*at, name, length) != 0)
        return false;
    *at += length + 1;
    return true;
}

bool nm_columns_place(const char *names, const char *name, size_t *place)
{
    size_t count = 0;

    for (const char *at = names; *at != 0; at += strcspn(at, " ") + 1, count++) {
        const char *next = at;

        if (!is_next(&next, name))
            continue;
        if (place != NULL)
            *place = count;
        return true;
    }
    return false;
}

static nm_status compare_names(sqlite3_stmt *rows, const nm_columns *columns, nm_error *err)
{
    const char *at = columns->names;

    for (int column = 0; column < sqlite3_column_count(rows); column++) {
        const char *name = sqlite3_column_name(rows, column);

        if (name == NULL)
            return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
        if (!is_next(&at, name))
            return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "column %d of table %s is %s, rows have %.*s there",
                           column + 1, columns->table, name, *at == 0 ? 7 : (int)strcspn(at, " "),
                           *at == 0 ? "nothing" : at);
    }
    if (*at != 0)
        return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "table %s has no column %d for %.*s", columns->table,
                       sqlite3_column_count(rows) + 1, (int)strcspn(at, " "), at);
    return NM_OK;
}

nm_status nm_columns_check(sqlite3 *db, const nm_columns *columns, int *count, nm_error *err)
{
    char sql[INSERT_SQL_BYTES];
    sqlite3_stmt *rows = NULL;

    snprintf(sql, sizeof sql, "SELECT * FROM %s", columns->table);
    nm_status status = nm_db_prepare(db, sql, &rows, err);
    if (status == NM_OK)
        status = compare_names(rows, columns, err);
    if (status == NM_OK)
        *count = sqlite3_column_count(rows);
    sqlite3_finalize(rows);
    return status;
}

nm_status nm_db_get_int(sqlite3 *db, const char *sql, int64_t *value, nm_error *err)
{
    sqlite3_stmt *statement = NULL;
    nm_status status = nm_db_prepare(db, sql, &statement, err);

    *value = NM_NULL;
    if (status != NM_OK)
        return status;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        *value = sqlite3_column_int64(statement, 0);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(statement);
    return status;
}

nm_status nm_db_get_text(sqlite3 *db, const char *sql, char **text, nm_error *err)
{
    sqlite3_stmt *statement = NULL;
    nm_status status = nm_db_prepare(db, sql, &statement, err);

    *text = NULL;
    if (status != NM_OK)
        return status;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW && (*text = sqlite3_mprintf("%s", nm_db_text(statement, 0))) == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    else if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(statement);
    return status;
}

bool nm_db_is_null(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL;
}

const char *nm_db_text(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);

    return text == NULL ? "" : text;
}

const char *nm_db_value_text(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);

    return text == NULL ? "" : text;
}

nm_status nm_insert_open(sqlite3 *db, const nm_columns *columns, bool is_known, nm_insert *out, nm_error *err)
{
    char sql[INSERT_SQL_BYTES];
    int column_count = 0;
    nm_status status = is_known ? NM_OK : nm_columns_check(db, columns, &column_count, err);

    if (status != NM_OK)
        return status;
    column_count = 0;
    int length = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (", columns->table);
    for (const char *at = strchr(columns->names, ' '); at != NULL; at = strchr(at + 1, ' '), column_count++)
        if (length + 8 < (int)sizeof sql)
            length += snprintf(sql + length, sizeof sql - (size_t)length, column_count == 0 ? "?" : ", ?");
    snprintf(sql + length, sizeof sql - (size_t)length, ")");
    *out = (nm_insert){.column_count = column_count};
    return nm_db_prepare(db, sql, &out->statement, err);
}

static void note_bind(nm_insert *insert, int code)
{
    if (code != SQLITE_OK && insert->bind_code == SQLITE_OK)
        insert->bind_code = code;
}

static int bind_null(nm_insert *insert)
{
    return insert->rows != NULL ? nm_insert_rows_null(insert->rows, insert->at)
                                : sqlite3_bind_null(insert->statement, insert->at);
}

void nm_insert_int(nm_insert *insert, int64_t value)
{
    insert->at++;
    if (value == NM_NULL)
        note_bind(insert, bind_null(insert));
    else if (insert->rows != NULL)
        note_bind(insert, nm_insert_rows_int(insert->rows, insert->at, value));
    else
        note_bind(insert, sqlite3_bind_int64(insert->statement, insert->at, value));
}

void nm_insert_real(nm_insert *insert, double value)
{
    insert->at++; /* SQLite makes NULL of NaN */
    note_bind(insert, insert->rows != NULL ? nm_insert_rows_real(insert->rows, insert->at, value)
                                           : sqlite3_bind_double(insert->statement, insert->at, value));
}

void nm_insert_text(nm_insert *insert, const char *text)
{
    nm_insert_bytes(insert, (nm_bytes){(const uint8_t *)text, text == NULL ? 0 : strlen(text)});
}

void nm_insert_bytes(nm_insert *insert, nm_bytes text)
{
    insert->at++;
    if (text.data == NULL)
        note_bind(insert, bind_null(insert));
    else if (insert->rows != NULL)
        note_bind(insert, nm_insert_rows_bytes(insert->rows, insert->at, text));
    else
        note_bind(insert, sqlite3_bind_text64(insert->statement, insert->at, (const char *)text.data, text.len,
                                              SQLITE_STATIC, SQLITE_UTF8));
}

/* The row at hand goes to SQLite; from the next one on they are gathered, if they are many. */
static nm_status insert_single(nm_insert *insert, nm_error *err)
{
    sqlite3 *db = sqlite3_db_handle(insert->statement);
    nm_status status = sqlite3_step(insert->statement) == SQLITE_DONE ? NM_OK : nm_db_fail(db, err);

    sqlite3_reset(insert->statement);
    if (status == NM_OK && insert->table != NULL && ++insert->single_count == NM_INSERT_ROWS_COUNT)
        status = nm_insert_rows_new(db, insert->table, insert->column_count, &insert->rows, err);
    return status;
}

nm_status nm_insert_end(nm_insert *insert, nm_error *err)
{
    nm_status status = NM_OK;

    if (insert->bind_code != SQLITE_OK || insert->at != insert->column_count)
        status = nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "row of %d values for %d columns: %s", insert->at,
                         insert->column_count, sqlite3_errstr(insert->bind_code));
    else if (insert->rows != NULL)
        status = nm_insert_rows_end(insert->rows, err);
    else
        status = insert_single(insert, err);
    insert->at = 0;
    insert->bind_code = SQLITE_OK;
    return status;
}

void nm_insert_gather(nm_insert *insert, const char *table)
{
    insert->table = table;
}

nm_status nm_insert_flush(nm_insert *insert, nm_error *err)
{
    return insert->rows == NULL ? NM_OK : nm_insert_rows_flush(insert->rows, err);
}

void nm_insert_close(nm_insert *insert)
{
    sqlite3_finalize(insert->statement);
    nm_insert_rows_free(insert->rows);
    *insert = (nm_insert){0};
}
