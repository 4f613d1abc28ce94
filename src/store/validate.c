/* SPDX-License-Identifier: Apache-2.0
 *
 * From the cheapest question to the dearest, and each believes only what those before it have shown: a number in the
 * header, the text of the tables, the pages, the numbers in the rows.
 */
#include "store/validate.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/spoken.h"
#include "store/bulk/table_pages.h"
#include "store/merge.h"
#include "store/merge_numbers.sql.h"
#include "store/schema.h"

#define KNOWN_MAX 64 /* tables that others name: more of them are asked again */

/* The failure at hand; a file that SQLite takes for no database is said to be none of ours. */
static nm_status fail_to_read(sqlite3 *db, nm_error *err)
{
    if ((sqlite3_errcode(db) & 0xff) != SQLITE_NOTADB)
        return nm_db_fail(db, err);
    return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "not a database of npumem-ingest: %.80s", nm_db_words(db));
}

nm_status nm_validate_attach(sqlite3 *db, const char *path, const char *schema, nm_error *err)
{
    nm_buffer uri = {0};
    char *sql = NULL;
    nm_status status = nm_db_uri(path, "mode=ro", &uri, err);

    if (status == NM_OK && (sql = sqlite3_mprintf("ATTACH %Q AS \"%w\"", (const char *)uri.data, schema)) == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = nm_db_exec(db, sql, NULL) == NM_OK ? NM_OK : fail_to_read(db, err);
    sqlite3_free(sql);
    nm_buffer_free(&uri);
    return status;
}

nm_status nm_validate_hold(sqlite3 *db, const char *schema, sqlite3_stmt **out, nm_error *err)
{
    char *sql = sqlite3_mprintf("SELECT 1 FROM \"%w\".sqlite_master", schema);

    if (sql == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (sqlite3_prepare_v2(db, sql, -1, out, NULL) == SQLITE_OK)
        sqlite3_step(*out);
    sqlite3_free(sql);
    return NM_OK;
}

/* `format` with the schema's name twice at most; the first figure of the answer. */
static nm_status ask(sqlite3 *db, const char *format, const char *schema, int64_t *value, nm_error *err)
{
    char *sql = sqlite3_mprintf(format, schema, schema);
    nm_status status =
        sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : nm_db_get_int(db, sql, value, err);

    sqlite3_free(sql);
    return status;
}

/* The first text that `sql` answers with (owned by sqlite3_free), or NULL when there is no row. Takes `sql` over. */
static nm_status first_text(sqlite3 *db, char *sql, char **text, nm_error *err)
{
    nm_status status =
        sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : nm_db_get_text(db, sql, text, err);

    if (sql == NULL)
        *text = NULL;
    sqlite3_free(sql);
    return status;
}

/* ---- Which version ------------------------------------------------------------------------------------------------- */

/* Is the column stored, as columns of tables are? One of a view, or a generated one, runs what the file says. */
static nm_status is_stored(sqlite3 *db, const char *schema, const char *table, const char *column, bool *is_so,
                           nm_error *err)
{
    sqlite3_stmt *columns = NULL;
    int64_t is_table = 0;
    char *sql = sqlite3_mprintf("SELECT count(*) FROM \"%w\".sqlite_master WHERE type = 'table' AND name = %Q AND sql"
                                " LIKE 'CREATE TABLE %q (%%'",
                                schema, table, table);
    nm_status status = sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                   : nm_db_get_int(db, sql, &is_table, err);

    sqlite3_free(sql);
    *is_so = false;
    if (status != NM_OK || is_table != 1)
        return status;
    sql = sqlite3_mprintf("PRAGMA \"%w\".table_xinfo(%Q)", schema, table);
    status = sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                         : nm_db_prepare(db, sql, &columns, err);
    sqlite3_free(sql);
    while (status == NM_OK && sqlite3_step(columns) == SQLITE_ROW)
        *is_so =
            *is_so || (strcmp(nm_named_text(columns, "name"), column) == 0 && nm_named_integer(columns, "hidden") == 0);
    sqlite3_finalize(columns);
    return status;
}

/* A text of a table whose columns may be those of any version; NULL: there is none. By sqlite3_free. */
static nm_status old_text(sqlite3 *db, const char *schema, const char *table, const char *column, const char *rest,
                          char **text, nm_error *err)
{
    bool is_so = false;
    nm_status status = is_stored(db, schema, table, column, &is_so, err);

    *text = NULL;
    if (status != NM_OK || !is_so)
        return status;
    return first_text(
        db, sqlite3_mprintf("SELECT substr(\"%w\", 1, 200) FROM \"%w\".\"%w\" %s", column, schema, table, rest), text,
        err);
}

/* Databases name what they were made of: what is to be ingested again. */
static const char *name_input(sqlite3 *db, const char *schema, char name[64])
{
    char *path = NULL;

    old_text(db, schema, "input", "path", "LIMIT 1", &path, NULL);
    nm_human_text(name, 64, path == NULL || path[0] == 0 ? "its input" : path, 40);
    sqlite3_free(path);
    return name;
}

/* A database of another tool that is well known is called by its name, for a table in it. */
static nm_status refuse_foreign(sqlite3 *db, const char *schema, nm_error *err)
{
    static const struct {
        const char *table, *text;
    } others[] = {
        {"CUDA_GPU_MEMORY_USAGE_EVENTS", "an export of Nsight Systems: not read; a memory snapshot of torch is"},
        {"META_DATA_EXPORT", "an export of Nsight Systems, without memory (--cuda-memory-usage=true): not read"},
        {"rocpd_string", "a database of rocprof or rpd: not read; a memory snapshot of torch is"},
        {"memscope_dump", "a dump of msMemScope, which npumem ingest reads"},
        {"leaks_dump", "a dump of msLeaks, which npumem ingest reads"},
        {"ClusterStepTraceTime", "cluster_analysis.db of MindStudio, which holds no memory"},
        {"PYTORCH_API", "a database of the Ascend PyTorch Profiler, without memory (profile_memory=True)"},
        {"SESSION_TIME_INFO", "a database of msprof, without memory (--sys-hardware-mem=on, --task-memory=on)"},
    };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char *format = sqlite3_mprintf("SELECT count(*) FROM \"%%w\".sqlite_master WHERE name = %Q", others[i].table);
        int64_t count = 0;
        nm_status status = format == NULL ? NM_ERR_MEMORY : ask(db, format, schema, &count, NULL);

        sqlite3_free(format);
        if (status == NM_OK && count > 0)
            return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "not a database of npumem-ingest but %s",
                           nm_spoken(others[i].text));
    }
    return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "not a database of npumem-ingest");
}

static nm_status refuse_version(sqlite3 *db, const char *schema, int64_t version, nm_error *err)
{
    char name[64];

    return nm_fail(err, NM_ERR_VERSION, NM_NO_OFFSET,
                   "has schema version %" PRId64 ", this program reads %d: ingest %s again", version, NM_SCHEMA_VERSION,
                   name_input(db, schema, name));
}

nm_status nm_validate_version(sqlite3 *db, const char *schema, nm_error *err)
{
    char *said = NULL;
    int64_t id = 0, version = 0;
    nm_status status = ask(db, "PRAGMA \"%w\".application_id", schema, &id, err);

    if (status == NM_OK)
        status = ask(db, "PRAGMA \"%w\".user_version", schema, &version, err);
    if (status == NM_OK)
        status = old_text(db, schema, "meta", "value", "WHERE key = 'schema_version'", &said, err);
    if (status == NM_ERR_DATABASE)
        status = fail_to_read(db, err);
    else if (status == NM_OK && (said == NULL || (id != NM_APPLICATION_ID && id != 0)))
        status = refuse_foreign(db, schema, err);
    else if (status == NM_OK && id == NM_APPLICATION_ID && version != NM_SCHEMA_VERSION)
        status = refuse_version(db, schema, version, err);
    else if (status == NM_OK && strtoll(said, NULL, 10) != NM_SCHEMA_VERSION)
        status = refuse_version(db, schema, strtoll(said, NULL, 10), err);
    sqlite3_free(said);
    return status;
}

/* ---- Tables -------------------------------------------------------------------------------------------------------- */

static nm_status refuse_table(sqlite3 *db, const char *schema, nm_bytes table, nm_error *err)
{
    char name[64];

    return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET,
                   "is of another version: its table %.*s is not the same; ingest %s again", (int)table.len,
                   (const char *)table.data, name_input(db, schema, name));
}

/* Has the schema this table, in these words? */
static nm_status find_table(sqlite3_stmt *same, const nm_schema_statement *table, bool *is_there, nm_error *err)
{
    nm_question_bind_bytes(same, ":name", table->name);
    nm_question_bind_bytes(same, ":sql", table->text);
    *is_there = sqlite3_step(same) == SQLITE_ROW;
    return nm_question_pause(same, NM_OK, err);
}

/* Each of our tables is there, in the same words. That nothing else has its name, SQLite sees to when it reads the schema. */
nm_status nm_validate_tables(sqlite3 *db, const char *schema, nm_error *err)
{
    nm_schema_statement table;
    sqlite3_stmt *same = NULL;
    char *sql = sqlite3_mprintf(
        "SELECT 1 FROM \"%w\".sqlite_master WHERE type = 'table' AND name = :name AND sql = :sql", schema);
    nm_status status =
        sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : nm_db_prepare(db, sql, &same, err);

    sqlite3_free(sql);
    for (nm_schema_place place = {0}; status == NM_OK && nm_schema_next(&place, &table);) {
        bool is_there = true;

        if (table.kind == NM_SCHEMA_TABLE)
            status = find_table(same, &table, &is_there, err);
        if (status == NM_OK && !is_there)
            status = refuse_table(db, schema, table.name, err);
    }
    sqlite3_finalize(same);
    return status;
}

static nm_status check_pages(sqlite3 *db, const char *schema, nm_bytes table, nm_error *err)
{
    char *text = NULL;
    char *sql = sqlite3_mprintf("PRAGMA \"%w\".quick_check(\"%.*s\")", schema, (int)table.len, table.data);
    nm_status status = first_text(db, sql, &text, err);

    if (status == NM_OK && (text == NULL || strcmp(text, "ok") != 0))
        status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "the database is damaged: %.100s", text == NULL ? "" : text);
    sqlite3_free(text);
    return status;
}

/* SQLite takes longer for a row of a large table than to read it does: pages as npumem-ingest writes them need not ask it. */
static nm_status check_large(sqlite3 *db, const char *schema, nm_bytes table, nm_error *err)
{
    nm_table_pages pages;
    bool is_rest = false;
    char *name = sqlite3_mprintf("%.*s", (int)table.len, table.data);
    nm_status status = name == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                    : nm_table_pages_open(db, schema, name, &pages, err);

    if (status == NM_OK)
        status = nm_table_pages_read(&pages, NULL, &is_rest, err);
    sqlite3_free(name);
    return status == NM_OK && is_rest ? check_pages(db, schema, table, err) : status;
}

/* Table by table: of all tables it would run the CHECK of those that are not ours. (A SQLite before 3.33 does.) */
nm_status nm_validate_pages(sqlite3 *db, const char *schema, bool has_large, nm_error *err)
{
    nm_schema_statement table;
    nm_status status = NM_OK;

    for (nm_schema_place place = {0}; status == NM_OK && nm_schema_next(&place, &table);)
        if (table.kind == NM_SCHEMA_TABLE && !nm_schema_is_large(table.name))
            status = check_pages(db, schema, table.name, err);
        else if (table.kind == NM_SCHEMA_TABLE && has_large)
            status = check_large(db, schema, table.name, err);
    return status;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* A table of words: each row of it must be among those of `main`. What is known of sites is each input's own. */
static nm_status check_words(sqlite3 *db, const char *schema, const char *table, nm_error *err)
{
    int64_t is_other = 0;
    char *sql = sqlite3_mprintf("SELECT EXISTS (SELECT * FROM \"%w\".\"%w\" EXCEPT SELECT * FROM main.\"%w\")", schema,
                                table, table);
    nm_status status = sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                   : nm_db_get_int(db, sql, &is_other, err);

    sqlite3_free(sql);
    if (status == NM_OK && is_other != 0)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "is of another version: its table %.40s has other words",
                       table);
    return status;
}

/* "SELECT min(a), max(a), min(b), ..." of those columns; NULL when there are none. By sqlite3_free. */
static nm_status range_sql(sqlite3 *db, const char *schema, const char *table, char **sql, nm_error *err)
{
    sqlite3_str *text = sqlite3_str_new(db);
    sqlite3_stmt *columns = NULL;
    nm_merge_numbers_row column;
    nm_status status = nm_merge_numbers_ask(db, table, &columns, err);
    int count = 0;

    for (; status == NM_OK && nm_merge_numbers_next(columns, &column); count++)
        sqlite3_str_appendf(text, "%s min(\"%w\"), max(\"%w\")", count == 0 ? "SELECT" : ",", column.name, column.name);
    status = nm_question_end(columns, status, err);
    sqlite3_str_appendf(text, " FROM \"%w\".\"%w\"", schema, table);
    *sql = sqlite3_str_finish(text);
    if (status == NM_OK && *sql == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status != NM_OK || count == 0) {
        sqlite3_free(*sql);
        *sql = NULL;
    }
    return status;
}

static bool is_number(sqlite3_stmt *row, int column, int64_t most)
{
    int type = sqlite3_column_type(row, column);
    int64_t value = sqlite3_column_int64(row, column);

    return type == SQLITE_NULL || (type == SQLITE_INTEGER && value >= 1 && value <= most);
}

/* The largest number of a row that `target` has, here or left out: what may be named. */
static nm_status last_number(sqlite3 *db, const char *schema, const char *target, int64_t *last, nm_error *err)
{
    static const char list_sql[] =
        "SELECT 'SELECT max(n) FROM (SELECT NULL AS n' || group_concat(printf(' UNION ALL SELECT max(\"%%w\") FROM"
        " \"%%w\".\"%%w\"', name, %Q, owner), '') || ')' FROM merge_column WHERE target = %Q"
        " AND (is_key OR (owner = 'z_left_out' AND target <> 'input'))";
    char *sql = NULL;
    nm_status status = first_text(db, sqlite3_mprintf(list_sql, schema, target), &sql, err);

    *last = 0;
    if (status == NM_OK && sql != NULL)
        status = nm_db_get_int(db, sql, last, err);
    if (status == NM_OK && *last == NM_NULL)
        *last = 0;
    sqlite3_free(sql);
    if (status == NM_OK && *last > NM_MERGE_ID_MAX)
        status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "table %.40s has a row of number %" PRId64, target, *last);
    return status;
}

/* What is known of a table that columns name: many name the same. */
typedef struct last_numbers {
    sqlite3 *db; /* borrowed */
    const char *schema;
    struct {
        char target[64];
        int64_t last;
    } known[KNOWN_MAX];
    size_t count;
} last_numbers;

static nm_status know_last(last_numbers *numbers, const char *target, int64_t *last, nm_error *err)
{
    for (size_t i = 0; i < numbers->count; i++)
        if (strcmp(numbers->known[i].target, target) == 0) {
            *last = numbers->known[i].last;
            return NM_OK;
        }
    nm_status status = last_number(numbers->db, numbers->schema, target, last, err);
    if (status == NM_OK && numbers->count < KNOWN_MAX && strlen(target) < sizeof numbers->known[0].target) {
        snprintf(numbers->known[numbers->count].target, sizeof numbers->known[0].target, "%s", target);
        numbers->known[numbers->count++].last = *last;
    }
    return status;
}

/* `row` has the least and greatest value of each column of `table` that numbers rows, in their order. */
static nm_status check_ranges(last_numbers *numbers, const char *table, sqlite3_stmt *row, nm_error *err)
{
    sqlite3_stmt *columns = NULL;
    int64_t last = 0;
    nm_merge_numbers_row column;
    nm_status status = nm_merge_numbers_ask(numbers->db, table, &columns, err);

    for (int at = 0; status == NM_OK && nm_merge_numbers_next(columns, &column); at += 2) {
        status = know_last(numbers, column.target, &last, err);
        if (status == NM_OK && !(is_number(row, at, last) && is_number(row, at + 1, last)))
            status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "%.40s.%.40s names rows that are not there", table,
                             column.name);
    }
    return nm_question_end(columns, status, err);
}

static nm_status check_numbers(last_numbers *numbers, const char *table, nm_error *err)
{
    sqlite3 *db = numbers->db;
    char *sql = NULL;
    sqlite3_stmt *row = NULL;
    nm_status status = range_sql(db, numbers->schema, table, &sql, err);

    if (status == NM_OK && sql != NULL)
        status = nm_db_prepare(db, sql, &row, err);
    if (status == NM_OK && row != NULL)
        status = sqlite3_step(row) == SQLITE_ROW ? check_ranges(numbers, table, row, err) : nm_db_fail(db, err);
    sqlite3_finalize(row);
    sqlite3_free(sql);
    return status;
}

#define ROWS_SQL                                                                                                       \
    "SELECT name, name IN (SELECT t.name FROM merge_table AS t) AS has_numbers FROM main.sqlite_master WHERE type = "  \
    "'table'"                                                                                                          \
    " AND name NOT LIKE 'sqlite_%' AND name NOT IN ('meta', 'plumbing', 'finding', 'finding_group', 'evidence')"

static nm_status check_rows(last_numbers *numbers, bool has_numbers, nm_error *err)
{
    sqlite3_stmt *tables = NULL;
    int64_t input_count = 0;
    nm_status status = ask(numbers->db, "SELECT count(*) FROM \"%w\".input", numbers->schema, &input_count, err);

    if (status == NM_OK && input_count == 0)
        status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "has no input");
    if (status == NM_OK)
        status = nm_db_prepare(numbers->db, ROWS_SQL, &tables, err);
    while (status == NM_OK && sqlite3_step(tables) == SQLITE_ROW) {
        const char *table = nm_named_text(tables, "name");

        if (nm_named_integer(tables, "has_numbers") == 0)
            status = check_words(numbers->db, numbers->schema, table, err);
        else if (has_numbers)
            status = check_numbers(numbers, table, err);
    }
    return nm_question_end(tables, status, err);
}

nm_status nm_validate_rows(sqlite3 *db, const char *schema, nm_error *err)
{
    last_numbers numbers = {.db = db, .schema = schema};

    return check_rows(&numbers, true, err);
}

nm_status nm_validate_words(sqlite3 *db, const char *schema, nm_error *err)
{
    last_numbers numbers = {.db = db, .schema = schema};

    return check_rows(&numbers, false, err);
}
