/* SPDX-License-Identifier: Apache-2.0
 *
 * A view of `temp` is found before anything of the file that has its name, and what it names is looked for there again
 * first. So the words of our views mean our views, and our tables, which nm_validate_tables has compared with ours. Two more
 * locks say the same to SQLite: no view of a file is expanded, and an authorizer lets statements read our tables alone.
 */
#include "store/foreign.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/door.h"
#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "store/database.h"
#include "store/findings/findings.h"
#include "store/older.h"
#include "store/question.h"
#include "store/read_limit.h"
#include "store/schema.h"
#include "store/validate.h"
#include "trace/block.h"

/* Up to this size the pages of all tables are checked first, within a fraction of a second. In larger files those of tables
 * with a row an event are not: what is damaged there shows when it is read, or by the bounds. */
#define CHECKED_BYTES_MAX (UINT64_C(64) << 20)

struct nm_foreign {
    sqlite3 *db; /* owned */
    struct {
        nm_bytes *items; /* owned; the names themselves are the schema's */
        size_t count, capacity;
    } tables;
    sqlite3_stmt *main_hold, *attached_hold; /* owned; see nm_validate_hold */
    nm_read_limit guard;
    bool is_renewing; /* an older database is read, by names that nm_older_copy has looked at */
    bool is_ready;    /* from now on nothing but questions */
};

/* ---- Our own schema ----------------------------------------------------------------------------------------------- */

static nm_status list_tables(nm_foreign *foreign, nm_error *err)
{
    nm_schema_statement table;
    nm_status status = NM_OK;

    for (nm_schema_place place = {0}; status == NM_OK && nm_schema_next(&place, &table);) {
        if (table.kind != NM_SCHEMA_TABLE)
            continue;
        status = nm_array_grow(&foreign->tables.items, &foreign->tables.capacity, foreign->tables.count + 1,
                               sizeof *foreign->tables.items, err);
        if (status == NM_OK)
            foreign->tables.items[foreign->tables.count++] = table.name;
    }
    return status;
}

static nm_status make_view(sqlite3 *db, nm_bytes text, nm_error *err)
{
    static const char begin[] = "CREATE VIEW ";
    int skipped = (int)sizeof begin - 1;
    char *sql = sqlite3_mprintf("CREATE TEMP VIEW %.*s", (int)text.len - skipped, text.data + skipped);
    nm_status status = nm_db_exec(db, sql, err);

    sqlite3_free(sql);
    return status;
}

static nm_status make_views(nm_foreign *foreign, nm_error *err)
{
    nm_schema_statement view;
    nm_status status = NM_OK;

    for (nm_schema_place place = {0}; status == NM_OK && nm_schema_next(&place, &view);)
        if (view.kind == NM_SCHEMA_VIEW)
            status = make_view(foreign->db, view.text, err);
    return status;
}

/* ---- What SQLite may do ------------------------------------------------------------------------------------------- */

/* Statistics for the planner that lie in the file are not among them; SQLite itself reads them when it opens it, which no
 * authorizer sees: they choose how it works, within its bounds. */
static bool may_read(const nm_foreign *foreign, const char *table, const char *schema)
{
    size_t length = strlen(table);

    if (schema == NULL || strcmp(schema, "temp") == 0 || strcmp(table, "sqlite_master") == 0 ||
        strcmp(table, "pragma_table_info") == 0)
        return true;
    for (size_t i = 0; i < foreign->tables.count; i++)
        if (foreign->tables.items[i].len == length && memcmp(foreign->tables.items[i].data, table, length) == 0)
            return true;
    return false;
}

static int authorize(void *context, int action, const char *first, const char *second, const char *schema,
                     const char *view)
{
    const nm_foreign *foreign = context;

    (void)second;
    (void)view;
    switch (action) {
    case SQLITE_READ:
        return foreign->is_renewing || may_read(foreign, first, schema) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_SELECT:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_PRAGMA: /* which columns a table has */
        return !foreign->is_ready || strcmp(first, "table_info") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
        return foreign->is_ready ? SQLITE_IGNORE : SQLITE_OK;
    default:
        return foreign->is_ready ? SQLITE_DENY : SQLITE_OK;
    }
}

/* A SQLite before 3.35 knows no difference between views of a file and those of `temp`. */
static void lock_schema(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
#ifdef SQLITE_DBCONFIG_ENABLE_VIEW
    if (sqlite3_libversion_number() >= 3035000)
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
#endif
}

/* ---- Opening ------------------------------------------------------------------------------------------------------- */

#define PICKLE_PROTOCOL 0x80 /* the first byte of a snapshot */

/* What a database is made of, given in its place: NM_ERR_FORMAT, with the command that makes one. */
static nm_status refuse_input(const char *path, nm_error *err)
{
    uint8_t head[4] = {0};
    char word[88]; /* what an error's line has room for */
    struct stat info;
    size_t got = 0;
    int fd = -1;

    if (nm_door_open_file(path, &fd, &info, NULL) != NM_OK)
        return NM_OK; /* SQLite says why */
    nm_status status = nm_io_read(fd, head, sizeof head, &got, NULL);
    bool is_trace = status == NM_OK && got == sizeof head && nm_get_u32(head) == NM_BLOCK_MAGIC;
    nm_io_close(fd);
    if (!is_trace && head[0] != PICKLE_PROTOCOL)
        return NM_OK;
    nm_shown_word(word, sizeof word, strlen(path) < sizeof word - 10 ? path : "FILE");
    return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "not a database of npumem-ingest but %s; first: npumem ingest %s",
                   nm_spoken(is_trace ? "a trace" : "a snapshot"), word);
}

/* SQLite would wait for a pipe, and call a folder by a word that helps nobody. */
static nm_status check_file(const char *path, nm_error *err)
{
    struct stat info;

    if (!nm_door_look(path, &info))
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "cannot open: no such file");
    if (!S_ISREG(info.st_mode))
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "not a file");
    return refuse_input(path, err);
}

static nm_status vet(nm_foreign *foreign, const char *schema, bool has_large, nm_error *err)
{
    nm_status status = nm_validate_version(foreign->db, schema, err);

    if (status == NM_OK)
        status = nm_validate_tables(foreign->db, schema, err);
    if (status == NM_OK)
        status = nm_validate_pages(foreign->db, schema, has_large, err);
    return status;
}

/* `uri` says that the file is only read; "": a database of its own, which is gone when it is closed. The connection may write, so that it
 * can have one beside the file. */
static nm_status open_database(nm_foreign *foreign, const char *uri, uint64_t file_bytes, nm_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;

    if (sqlite3_open_v2(uri, &foreign->db, flags, NULL) != SQLITE_OK)
        return foreign->db == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                   : nm_db_fail(foreign->db, err);
    lock_schema(foreign->db);
    sqlite3_set_authorizer(foreign->db, authorize, foreign);
    nm_read_limit_begin(&foreign->guard, foreign->db, file_bytes);
    return nm_db_exec(foreign->db, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", err);
}

static nm_status open_file(nm_foreign *foreign, const char *path, uint64_t file_bytes, nm_error *err)
{
    nm_buffer uri = {0};
    nm_status status = nm_db_uri(path, "mode=ro", &uri, err);

    if (status == NM_OK)
        status = open_database(foreign, (const char *)uri.data, file_bytes, err);
    nm_buffer_free(&uri);
    return status;
}

/* ---- Older versions ------------------------------------------------------------------------------------------------ */

/* What the file has, into `schema`, which is empty. It counts as a file more for what the reading may cost. A database that has
 * been read cannot be let go while another one is held. */
static nm_status renew(nm_foreign *foreign, const char *path, const char *schema, bool has_large, nm_error *err)
{
    nm_status status = nm_validate_attach(foreign->db, path, "older", err);

    nm_read_limit_more(&foreign->guard, nm_read_limit_file_bytes(path));
    foreign->is_renewing = true;
    if (status == NM_OK)
        status = nm_db_exec(foreign->db, "BEGIN", err);
    if (status == NM_OK)
        status = nm_older_copy(foreign->db, schema, has_large, err);
    if (status == NM_OK)
        status = nm_db_exec(foreign->db, foreign->main_hold == NULL ? "COMMIT; DETACH older" : "COMMIT", err);
    foreign->is_renewing = false;
    return status;
}

/* ---- All ----------------------------------------------------------------------------------------------------------- */

static nm_status renew_main(nm_foreign *foreign, const char *path, bool has_large, uint64_t file_bytes, nm_error *err)
{
    nm_status status = open_database(foreign, "", file_bytes, err);

    return status == NM_OK ? renew(foreign, path, "main", has_large, err) : status;
}

static nm_status read_main(nm_foreign *foreign, const char *path, bool has_large, uint64_t file_bytes, nm_error *err)
{
    nm_status status = open_file(foreign, path, file_bytes, err);

    if (status == NM_OK)
        status = nm_validate_hold(foreign->db, "main", &foreign->main_hold, err);
    return status == NM_OK ? vet(foreign, "main", has_large, err) : status;
}

/* The rows of a table that has the same columns in both. */
static nm_status copy_rows(sqlite3 *from, sqlite3 *to, const char *schema, const char *table, nm_error *err)
{
    char *select = sqlite3_mprintf("SELECT * FROM main.\"%w\"", table);
    sqlite3_str *insert = sqlite3_str_new(to);
    sqlite3_stmt *rows = NULL, *out = NULL;
    nm_status status = nm_db_prepare(from, select, &rows, err);
    int column_count = sqlite3_column_count(rows);

    sqlite3_free(select);
    sqlite3_str_appendf(insert, "INSERT INTO \"%w\".\"%w\" VALUES (?", schema, table);
    for (int i = 1; i < column_count; i++)
        sqlite3_str_appendall(insert, ", ?");
    sqlite3_str_appendall(insert, ")");
    char *sql = sqlite3_str_finish(insert);
    if (status == NM_OK)
        status = nm_db_prepare(to, sql, &out, err);
    sqlite3_free(sql);
    while (status == NM_OK && sqlite3_step(rows) == SQLITE_ROW) {
        for (int column = 0, parameter = 0; column < column_count; column++)
            sqlite3_bind_value(out, ++parameter, sqlite3_column_value(rows, column));
        status = nm_question_step(out, err);
    }
    sqlite3_finalize(out);
    return nm_question_end(rows, status, err);
}

/* They are made of views, which only a main database has. */
static nm_status take_findings(nm_foreign *foreign, const char *path, const char *schema, nm_error *err)
{
    nm_foreign *alone = NULL;
    nm_status status = nm_foreign_open(path, false, &alone, err);

    if (status == NM_OK)
        status = copy_rows(alone->db, foreign->db, schema, "finding", err);
    nm_foreign_close(alone);
    return status;
}

static nm_status renew_attached(nm_foreign *foreign, const char *path, const char *schema, bool has_large,
                                nm_error *err)
{
    char *sql = sqlite3_mprintf("ATTACH '' AS \"%w\"; PRAGMA query_only = OFF", schema);
    nm_status status = nm_db_exec(foreign->db, sql, err);

    sqlite3_free(sql);
    if (status == NM_OK)
        status = renew(foreign, path, schema, has_large, err);
    if (status == NM_OK)
        status = take_findings(foreign, path, schema, err);
    return status == NM_OK ? nm_db_exec(foreign->db, "PRAGMA query_only = ON", err) : status;
}

static nm_status read_attached(nm_foreign *foreign, const char *path, const char *schema, bool has_large, nm_error *err)
{
    nm_status status = nm_validate_attach(foreign->db, path, schema, err);

    if (status == NM_OK)
        status = nm_validate_hold(foreign->db, schema, &foreign->attached_hold, err);
    return status == NM_OK ? vet(foreign, schema, has_large, err) : status;
}

nm_status nm_foreign_open(const char *path, bool reads_events, nm_foreign **out, nm_error *err)
{
    uint64_t file_bytes = nm_read_limit_file_bytes(path);
    nm_foreign *foreign = NULL;
    nm_status status = check_file(path, err);
    bool is_older = status == NM_OK && nm_older_is(path);

    *out = NULL;
    if (status == NM_OK && (foreign = calloc(1, sizeof *foreign)) == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status != NM_OK)
        return status;
    nm_read_limit_heap(file_bytes);
    status = list_tables(foreign, err);
    if (status == NM_OK)
        status = (is_older ? renew_main : read_main)(foreign, path, reads_events || file_bytes <= CHECKED_BYTES_MAX,
                                                     file_bytes, err);
    if (status == NM_OK)
        status = make_views(foreign, err);
    if (status == NM_OK && is_older)
        status = nm_findings_write(foreign->db, err);
    if (status == NM_OK)
        status = nm_db_exec(foreign->db, "PRAGMA query_only = ON", err);
    foreign->is_ready = true;
    if (status == NM_OK)
        *out = foreign;
    else
        nm_foreign_close(foreign);
    return status;
}

nm_status nm_foreign_attach(nm_foreign *foreign, const char *path, const char *schema, bool reads_events, nm_error *err)
{
    uint64_t file_bytes = nm_read_limit_file_bytes(path);
    nm_status status = check_file(path, err);

    foreign->is_ready = false;
    nm_read_limit_more(&foreign->guard, file_bytes);
    nm_read_limit_heap(file_bytes);
    if (status == NM_OK)
        status = (nm_older_is(path) ? renew_attached : read_attached)(
            foreign, path, schema, reads_events || file_bytes <= CHECKED_BYTES_MAX, err);
    foreign->is_ready = true;
    return status;
}

sqlite3 *nm_foreign_db(nm_foreign *foreign)
{
    return foreign->db;
}

void nm_foreign_close(nm_foreign *foreign)
{
    if (foreign == NULL)
        return;
    nm_read_limit_end(&foreign->guard);
    sqlite3_finalize(foreign->main_hold);
    sqlite3_finalize(foreign->attached_hold);
    sqlite3_close(foreign->db);
    free(foreign->tables.items);
    free(foreign);
}
