/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables that are written as pages, read by SQLite: its integrity_check, and row by row against what was given. Around
 * every number of rows at which a tree gets a page or a level more, on both sides of the page of the lock bytes, with
 * every length that a value can have, out of order and out of memory. And the check of what was written, against SQLite's.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "store/bulk/bulk.h"
#include "store/bulk/table_check.h"
#include "support/load_text.h"
#include "support/run.h"
#include "support/suites.h"

#define NARROW_COLUMNS 3

static const char narrow_sql[] = "CREATE TABLE narrow (narrow_id INTEGER PRIMARY KEY, a INTEGER, b INTEGER NOT NULL)";
static const nm_columns narrow_columns = {"narrow", "narrow_id a b "};

static char folder[64], path[128];
static nm_error err;
static sqlite3 *db;
static int fd = -1;
static nm_io_calls system_calls;

static void set_up(void)
{
    system_calls = nm_io;
    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/x.db", folder);
}

static void close_database(void)
{
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
    db = NULL;
    nm_io_close(fd);
    fd = -1;
}

static void tear_down(void)
{
    nm_io = system_calls;
    if (db != NULL)
        close_database();
    run_remove_folder(folder);
}

static void run_sql(const char *sql)
{
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
}

/* A database as a store has it, in a transaction, with one table. */
static void open_database(int page_bytes, const char *table_sql)
{
    char sql[160];

    unlink(path);
    fd = open(path, O_RDWR | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    snprintf(sql, sizeof sql,
             "PRAGMA page_size = %d; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
             "PRAGMA main.locking_mode = EXCLUSIVE; BEGIN",
             page_bytes);
    run_sql(sql);
    run_sql(table_sql);
}

/* SQLite's own answer, of the file as it lies there: a connection of its own has read nothing before. */
static bool is_sound(const char *sql)
{
    sqlite3 *other = NULL;
    sqlite3_stmt *row = NULL;

    run_sql("PRAGMA main.locking_mode = NORMAL; SELECT 1 FROM main.sqlite_master LIMIT 1"); /* lets go of its lock */
    bool is_ok = sqlite3_open(path, &other) == SQLITE_OK &&
                 sqlite3_prepare_v2(other, sql, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW &&
                 strcmp((const char *)sqlite3_column_text(row, 0), "ok") == 0;

    sqlite3_finalize(row);
    sqlite3_close(other);
    return is_ok;
}

/* ---- Rows by their numbers --------------------------------------------------------------------------------------- */

/* From one to eight bytes and NULL, in turn. */
static int64_t value_of(int64_t id)
{
    unsigned turn = (unsigned)((uint64_t)id % 9);

    return turn == 8 ? NM_NULL : (int64_t)((uint64_t)id * 0x9e3779b97f4a7c15u) >> 7 * turn;
}

static nm_status fill(nm_bulk *bulk, const int64_t *ids, size_t count)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < count && status == NM_OK; i++) {
        int64_t *values = NULL;

        status = nm_bulk_next(bulk, &values, &err);
        if (status == NM_OK) {
            values[0] = ids[i];
            values[1] = value_of(ids[i]);
            values[2] = ids[i] % 3;
        }
    }
    return status;
}

static nm_status write_rows(const int64_t *ids, size_t count, size_t memory_bytes, bool is_plain)
{
    nm_bulk_options options = {.path = path, .fd = fd, .is_plain = is_plain, .memory_bytes = memory_bytes};
    nm_bulks *bulks = NULL;
    nm_bulk *bulk = NULL;
    nm_status status = nm_bulks_new(db, &options, &bulks, &err);

    if (status == NM_OK)
        status = nm_bulks_open(bulks, &narrow_columns, &bulk, &err);
    if (status == NM_OK)
        status = fill(bulk, ids, count);
    if (status == NM_OK)
        ck_assert_uint_eq(nm_bulk_row_count(bulk), count);
    if (status == NM_OK)
        status = nm_bulks_finish(bulks, &err);
    nm_bulks_free(bulks);
    return status;
}

/* The rows that SQLite reads are 1 to `count` with what belongs to them, whatever their order was. */
static void check_rows(size_t count)
{
    sqlite3_stmt *rows = NULL;
    int64_t id = 0;

    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT narrow_id, a, b FROM narrow", -1, &rows, NULL), SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        ck_assert_int_eq(sqlite3_column_int64(rows, 0), ++id);
        if (value_of(id) == NM_NULL)
            ck_assert_int_eq(sqlite3_column_type(rows, 1), SQLITE_NULL);
        else
            ck_assert_int_eq(sqlite3_column_int64(rows, 1), value_of(id));
        ck_assert_int_eq(sqlite3_column_int64(rows, 2), id % 3);
    }
    ck_assert_uint_eq((size_t)id, count);
    sqlite3_finalize(rows);
}

static int64_t *ids_in_order(size_t count)
{
    int64_t *ids = malloc((count + 1) * sizeof *ids);

    ck_assert_ptr_nonnull(ids);
    for (size_t i = 0; i < count; i++)
        ids[i] = (int64_t)i + 1;
    return ids;
}

static void shuffle(int64_t *ids, size_t count)
{
    uint64_t state = 88172645463325252u;

    for (size_t i = count; i > 1; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        size_t other = (size_t)(state % i);
        int64_t id = ids[i - 1];

        ids[i - 1] = ids[other];
        ids[other] = id;
    }
}

static void write_and_check(int page_bytes, const int64_t *ids, size_t count, size_t memory_bytes)
{
    open_database(page_bytes, narrow_sql);
    ck_assert_msg(write_rows(ids, count, memory_bytes, false) == NM_OK, "%zu rows: %s", count, err.text);
    check_rows(count);
    run_sql("CREATE INDEX narrow_b ON narrow (b); COMMIT");
    ck_assert_msg(is_sound("PRAGMA integrity_check"), "%zu rows", count);
    close_database();
}

/* ---- Trees of every shape ---------------------------------------------------------------------------------------- */

START_TEST(a_table_of_few_rows_is_one_page)
{
    int64_t *ids = ids_in_order(400);

    for (size_t count = 0; count < 400; count++)
        write_and_check(4096, ids, count, 0);
    free(ids);
}
END_TEST

/* Of the tree that was just written: pages from the root to a leaf. */
static int64_t depth_of_tree(void)
{
    return load_int(db, "SELECT max(length(path) - length(replace(path, '/', ''))) FROM dbstat WHERE name = 'narrow'");
}

/* Where the tree gets a level more; of a page of 2,048 bytes a level has room for 135 children. */
static size_t first_count_of_depth(const int64_t *ids, int depth)
{
    size_t low = 0, high = 60000;

    while (low + 1 < high) {
        size_t middle = (low + high) / 2;

        open_database(2048, narrow_sql);
        ck_assert_int_eq(write_rows(ids, middle, 0, false), NM_OK);
        run_sql("COMMIT");
        *(depth_of_tree() >= depth ? &high : &low) = middle;
        close_database();
    }
    return high;
}

START_TEST(every_level_begins_with_whole_pages)
{
    int64_t *ids = ids_in_order(60000);

    for (int depth = 2; depth <= 3 && sqlite3_compileoption_used("ENABLE_DBSTAT_VTAB"); depth++) {
        size_t first = first_count_of_depth(ids, depth);

        ck_assert_uint_lt(first, 59999);
        for (size_t count = first - 2; count < first + 3; count++)
            write_and_check(2048, ids, count, 0);
    }
    free(ids);
}
END_TEST

START_TEST(a_tree_of_four_levels_is_sound)
{
    int64_t *ids = ids_in_order(2900000);

    open_database(2048, narrow_sql);
    ck_assert_msg(write_rows(ids, 2900000, 0, false) == NM_OK, "%s", err.text);
    run_sql("COMMIT");
    if (sqlite3_compileoption_used("ENABLE_DBSTAT_VTAB"))
        ck_assert_int_eq(depth_of_tree(), 4);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM narrow"), 2900000);
    ck_assert(is_sound("PRAGMA integrity_check"));
    free(ids);
}
END_TEST

START_TEST(every_page_size_will_do)
{
    int64_t *ids = ids_in_order(20000);

    for (int page_bytes = 2048; page_bytes <= 32768; page_bytes *= 2)
        write_and_check(page_bytes, ids, 20000, 0);
    free(ids);
}
END_TEST

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static size_t file_count(void)
{
    DIR *entries = opendir(folder);
    size_t count = 0;

    ck_assert_ptr_nonnull(entries);
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

/* With memory for some hundred rows, so that most wait in the file. */
START_TEST(rows_in_any_order_are_put_in_order)
{
    enum { COUNT = 30000 };
    int64_t *ids = ids_in_order(COUNT);

    write_and_check(4096, ids, COUNT, 5000);
    for (size_t i = 0; i < COUNT; i++)
        ids[i] = COUNT - (int64_t)i;
    write_and_check(4096, ids, COUNT, 5000);
    shuffle(ids, COUNT);
    write_and_check(4096, ids, COUNT, 5000);
    write_and_check(4096, ids, COUNT, 100000);
    write_and_check(4096, ids, COUNT, 0);
    ck_assert_uint_eq(file_count(), 1);
    free(ids);
}
END_TEST

START_TEST(the_same_id_twice_is_refused)
{
    static const int64_t near[] = {3, 1, 2, 3};
    int64_t *ids = ids_in_order(30000);

    open_database(4096, narrow_sql);
    ck_assert_int_eq(write_rows(near, 4, 0, false), NM_ERR_DATABASE);
    ck_assert_str_eq(err.text, "two rows have the id 3");
    close_database();
    ids[29999] = 1;
    open_database(4096, narrow_sql);
    ck_assert_int_eq(write_rows(ids, 30000, 5000, false), NM_ERR_DATABASE);
    ck_assert_str_eq(err.text, "two rows have the id 1");
    free(ids);
}
END_TEST

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* Around every power of two, of both signs: as a value, and as an id. */
static size_t edges(int64_t *out)
{
    size_t count = 0;

    for (int bit = 0; bit < 63; bit++)
        for (int64_t beside = -2; beside <= 2; beside++) {
            int64_t power = (int64_t)(UINT64_C(1) << bit);

            out[count++] = power + beside;
            out[count++] = -power + beside;
        }
    out[count++] = INT64_MAX;
    out[count++] = INT64_MIN + 1;
    return count;
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static size_t without_twins(int64_t *ids, size_t count)
{
    size_t kept = 0;

    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || ids[kept - 1] != ids[i])
            ids[kept++] = ids[i];
    return kept;
}

/* What both ways make of the same rows, as SQLite prints it. */
static char *printed(const int64_t *ids, size_t count, bool is_plain)
{
    sqlite3_stmt *rows = NULL;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    open_database(4096, narrow_sql);
    ck_assert_msg(write_rows(ids, count, 0, is_plain) == NM_OK, "%s", err.text);
    run_sql("COMMIT");
    ck_assert(is_sound("PRAGMA integrity_check"));
    ck_assert_int_eq(
        sqlite3_prepare_v2(db, "SELECT narrow_id, quote(a), typeof(a), quote(b) FROM narrow", -1, &rows, NULL),
        SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW)
        for (int column = 0; column < 4; column++)
            fprintf(out, "%s%c", (const char *)sqlite3_column_text(rows, column), column < 3 ? ' ' : '\n');
    sqlite3_finalize(rows);
    close_database();
    fclose(out);
    return text;
}

START_TEST(pages_say_what_inserts_say)
{
    static int64_t ids[1000];
    size_t count = without_twins(ids, edges(ids));

    shuffle(ids, count);
    char *pages = printed(ids, count, false), *inserts = printed(ids, count, true);
    ck_assert_uint_gt(strlen(pages), 10000);
    ck_assert_str_eq(pages, inserts);
    free(pages);
    free(inserts);
}
END_TEST

START_TEST(every_length_of_a_value_comes_back)
{
    static int64_t values[1000];
    nm_bulks *bulks = NULL;
    nm_bulk *bulk = NULL;
    size_t count = edges(values);
    sqlite3_stmt *rows = NULL;

    open_database(16384, narrow_sql);
    ck_assert_int_eq(nm_bulks_new(db, &(nm_bulk_options){.path = path, .fd = fd}, &bulks, &err), NM_OK);
    ck_assert_int_eq(nm_bulks_open(bulks, &narrow_columns, &bulk, &err), NM_OK);
    for (size_t i = 0; i < count; i++) {
        int64_t *row = NULL;

        ck_assert_int_eq(nm_bulk_next(bulk, &row, &err), NM_OK);
        row[0] = (int64_t)i;
        row[1] = values[i];
        row[2] = values[count - 1 - i];
    }
    ck_assert_msg(nm_bulks_finish(bulks, &err) == NM_OK, "%s", err.text);
    nm_bulks_free(bulks);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT a, b FROM narrow", -1, &rows, NULL), SQLITE_OK);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(sqlite3_step(rows), SQLITE_ROW);
        ck_assert_int_eq(sqlite3_column_int64(rows, 0), values[i]);
        ck_assert_int_eq(sqlite3_column_int64(rows, 1), values[count - 1 - i]);
    }
    sqlite3_finalize(rows);
}
END_TEST

/* ---- Beside what SQLite writes ----------------------------------------------------------------------------------- */

START_TEST(what_cannot_be_pages_goes_by_insert)
{
    static const char *const others[] = {
        "CREATE TABLE narrow (narrow_id INTEGER PRIMARY KEY, a INTEGER UNIQUE, b INTEGER NOT NULL)",
        "CREATE TABLE narrow (narrow_id INTEGER PRIMARY KEY, a INTEGER, b INTEGER NOT NULL CHECK (b < 3))",
        "CREATE TABLE narrow (narrow_id INTEGER PRIMARY KEY, a INTEGER, b REAL NOT NULL)",
        "CREATE TABLE narrow (narrow_id INTEGER PRIMARY KEY, a INTEGER, b INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE narrow (narrow_id INTEGER, a INTEGER, b INTEGER NOT NULL)",
        "CREATE TABLE narrow (narrow_id INTEGER PRIMARY KEY, a INTEGER, b INTEGER NOT NULL);"
        "CREATE INDEX narrow_a ON narrow (a)",
    };
    int64_t *ids = ids_in_order(3000);

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        open_database(4096, others[i]);
        ck_assert_msg(write_rows(ids, 3000, 0, false) == NM_OK, "%s: %s", others[i], err.text);
        check_rows(3000);
        run_sql("COMMIT");
        ck_assert_msg(is_sound("PRAGMA integrity_check"), "%s", others[i]);
        close_database();
    }
    free(ids);
}
END_TEST

/* Temporary tables live on, and the connection reads and writes what is there now. */
START_TEST(the_connection_goes_on)
{
    int64_t *ids = ids_in_order(5000);

    open_database(4096, narrow_sql);
    run_sql("CREATE TEMP TABLE kept AS SELECT 42 AS answer; CREATE TABLE beside (x); INSERT INTO beside VALUES (1)");
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM narrow"), 0);
    ck_assert_msg(write_rows(ids, 5000, 0, false) == NM_OK, "%s", err.text);
    ck_assert_int_eq(load_int(db, "SELECT answer FROM kept"), 42);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM narrow"), 5000);
    run_sql("INSERT INTO beside VALUES (2); UPDATE narrow SET a = 7 WHERE narrow_id = 5000;"
            "DELETE FROM narrow WHERE narrow_id <= 2500; INSERT INTO narrow VALUES (NULL, 8, 9); COMMIT");
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM narrow"), 2501);
    ck_assert_int_eq(load_int(db, "SELECT max(narrow_id) FROM narrow"), 5001);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM beside"), 2);
    ck_assert(is_sound("PRAGMA integrity_check"));
    free(ids);
}
END_TEST

static void put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

/*
 * Makes the file `page_count` pages long without writing them: all that are new are free. Free pages stand in lists, a page
 * of numbers each, and their own content is nothing.
 */
static void grow_sparsely(uint32_t page_count)
{
    enum { PAGE_BYTES = 16384, LISTED = PAGE_BYTES / 4 - 8 };
    static uint8_t list[PAGE_BYTES];
    uint8_t number[8];
    uint32_t first = (uint32_t)load_int(db, "PRAGMA page_count") + 1, next = 0, free_count = 0;

    ck_assert_int_eq(ftruncate(fd, (off_t)page_count * PAGE_BYTES), 0);
    while (first <= page_count) {
        uint32_t here = first++, listed = 0;

        for (; listed < LISTED && first <= page_count; first++)
            if (first != 65537) /* of the lock bytes */
                put_u32(list + 8 + 4 * listed++, first);
        put_u32(list, next);
        put_u32(list + 4, listed);
        ck_assert_int_eq(pwrite(fd, list, PAGE_BYTES, (off_t)(here - 1) * PAGE_BYTES), PAGE_BYTES);
        next = here;
        free_count += 1 + listed;
    }
    put_u32(number, next);
    put_u32(number + 4, free_count);
    ck_assert_int_eq(pwrite(fd, number, 8, 32), 8);
    put_u32(number, page_count);
    ck_assert_int_eq(pwrite(fd, number, 4, 28), 4);
}

/* So many pages before the one that holds the lock bytes that it comes first, amidst the leaves, and as a page above them. */
START_TEST(the_page_of_the_lock_bytes_is_passed_over)
{
    static const uint32_t page_counts[] = {65533, 65534, 65535, 65536, 65538};
    int64_t *ids = ids_in_order(3000);

    for (size_t i = 0; i < sizeof page_counts / sizeof page_counts[0]; i++) {
        open_database(16384, narrow_sql);
        run_sql("COMMIT");
        ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
        ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
        grow_sparsely(page_counts[i]);
        run_sql("PRAGMA journal_mode = OFF; PRAGMA main.locking_mode = EXCLUSIVE; BEGIN");
        ck_assert_msg(write_rows(ids, 3000, 0, false) == NM_OK, "%s", err.text);
        check_rows(3000);
        run_sql("COMMIT");
        ck_assert_msg(is_sound("PRAGMA integrity_check"), "behind page %u", page_counts[i]);
        close_database();
    }
    free(ids);
}
END_TEST

/* ---- What fails -------------------------------------------------------------------------------------------------- */

static int calls_left;

static ssize_t failing_pwrite(int file, const void *data, size_t len, off_t offset)
{
    if (calls_left-- == 0) {
        errno = ENOSPC;
        return -1;
    }
    return system_calls.pwrite(file, data, len, offset);
}

static ssize_t failing_write(int file, const void *data, size_t len)
{
    if (calls_left-- == 0) {
        errno = ENOSPC;
        return -1;
    }
    return system_calls.write(file, data, len);
}

/* The disk is full at each call in turn: said once, by whichever thread met it. */
START_TEST(a_full_disk_is_said)
{
    int64_t *ids = ids_in_order(30000);
    int failures = 0;

    shuffle(ids, 30000);
    for (int way = 0; way < 2; way++) {
        nm_io = system_calls;
        if (way == 0)
            nm_io.write = failing_write;
        else
            nm_io.pwrite = failing_pwrite;
        nm_status status = NM_ERR_IO;
        for (int call = 0; status != NM_OK; call++) {
            calls_left = call;
            open_database(4096, narrow_sql);
            status = write_rows(ids, 30000, 50000, false);
            if (status != NM_OK) {
                ck_assert_int_eq(status, NM_ERR_WRITE);
                ck_assert_str_eq(err.text, "cannot write: No space left on device");
                failures++;
            }
            close_database();
        }
    }
    ck_assert_int_gt(failures, 5);
    free(ids);
}
END_TEST

/* What the disk does not give back as it was is refused wherever SQLite would refuse it. */
START_TEST(the_check_refuses_what_sqlite_refuses)
{
    static const uint8_t has_null[NARROW_COLUMNS] = {1, 1, 0}, is_else_zero[NARROW_COLUMNS] = {0};
    int64_t *ids = ids_in_order(5000);
    uint64_t state = 88172645463325252u;
    int refused = 0, refused_by_both = 0;

    open_database(2048, narrow_sql);
    ck_assert_int_eq(write_rows(ids, 5000, 0, false), NM_OK);
    nm_table_form form = {.root_page =
                              (uint32_t)load_int(db, "SELECT rootpage FROM sqlite_master WHERE name = 'narrow'"),
                          .row_count = 5000,
                          .column_count = NARROW_COLUMNS,
                          .has_null = has_null,
                          .is_else_zero = is_else_zero};
    run_sql("COMMIT");
    uint32_t page_count = (uint32_t)load_int(db, "PRAGMA page_count");
    ck_assert_int_eq(nm_table_check(fd, &form, &err), NM_OK);
    for (int i = 0; i < 4000; i++) {
        uint8_t before, after;

        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        off_t offset =
            (off_t)(1 + state % (page_count - 1)) * 2048 + (off_t)(i % 2 == 0 ? state >> 32 & 2047 : state >> 32 & 31);
        ck_assert_int_eq(pread(fd, &before, 1, offset), 1);
        after = before ^ (uint8_t)(1 << (state >> 60 & 7));
        ck_assert_int_eq(pwrite(fd, &after, 1, offset), 1);
        bool is_refused = nm_table_check(fd, &form, &err) != NM_OK;
        if (!is_sound("PRAGMA quick_check")) {
            ck_assert_msg(is_refused, "byte %lld: SQLite refuses it", (long long)offset);
            refused_by_both++;
        }
        refused += is_refused;
        ck_assert_int_eq(pwrite(fd, &before, 1, offset), 1);
    }
    ck_assert_int_gt(refused_by_both, 500);
    ck_assert_int_ge(refused, refused_by_both);
    form.row_count--;
    ck_assert_int_eq(nm_table_check(fd, &form, &err), NM_ERR_DATABASE);
    free(ids);
}
END_TEST

/* A third of the rows end before `b`, which is 0 there: where it has no such default, that is no row. */
START_TEST(rows_end_where_the_rest_says_nothing)
{
    static const char sql[] =
        "CREATE TABLE narrow (narrow_id INTEGER PRIMARY KEY, a INTEGER, b INTEGER NOT NULL DEFAULT 0)";
    static const uint8_t has_null[NARROW_COLUMNS] = {1, 1, 0}, is_else_zero[NARROW_COLUMNS] = {0, 0, 1}, none[3] = {0};
    int64_t *ids = ids_in_order(5000);

    open_database(2048, narrow_sql);
    ck_assert_int_eq(write_rows(ids, 5000, 0, false), NM_OK);
    int64_t whole_bytes = load_int(db, "SELECT sum(payload) FROM dbstat WHERE name = 'narrow' AND pagetype = 'leaf'");
    close_database();
    open_database(2048, sql);
    ck_assert_msg(write_rows(ids, 5000, 0, false) == NM_OK, "%s", err.text);
    check_rows(5000);
    int64_t bytes = load_int(db, "SELECT sum(payload) FROM dbstat WHERE name = 'narrow' AND pagetype = 'leaf'");
    ck_assert_int_eq(whole_bytes - bytes,
                     5000 / 3); /* a byte for each multiple of 3, of which none has a NULL in `a` */
    nm_table_form form = {.root_page =
                              (uint32_t)load_int(db, "SELECT rootpage FROM sqlite_master WHERE name = 'narrow'"),
                          .row_count = 5000,
                          .column_count = NARROW_COLUMNS,
                          .has_null = has_null,
                          .is_else_zero = is_else_zero};
    run_sql("COMMIT");
    ck_assert_int_eq(nm_table_check(fd, &form, &err), NM_OK);
    form.is_else_zero = none;
    ck_assert_int_eq(nm_table_check(fd, &form, &err), NM_ERR_DATABASE);
    ck_assert(is_sound("PRAGMA integrity_check"));
    free(ids);
}
END_TEST

TEST_SUITE(test_bulk)
{
    Suite *suite = suite_create("bulk");
    TCase *cases = tcase_create("bulk");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, a_table_of_few_rows_is_one_page);
    tcase_add_test(cases, every_level_begins_with_whole_pages);
    tcase_add_test(cases, a_tree_of_four_levels_is_sound);
    tcase_add_test(cases, every_page_size_will_do);
    tcase_add_test(cases, rows_in_any_order_are_put_in_order);
    tcase_add_test(cases, the_same_id_twice_is_refused);
    tcase_add_test(cases, pages_say_what_inserts_say);
    tcase_add_test(cases, every_length_of_a_value_comes_back);
    tcase_add_test(cases, what_cannot_be_pages_goes_by_insert);
    tcase_add_test(cases, the_connection_goes_on);
    tcase_add_test(cases, the_page_of_the_lock_bytes_is_passed_over);
    tcase_add_test(cases, a_full_disk_is_said);
    tcase_add_test(cases, the_check_refuses_what_sqlite_refuses);
    tcase_add_test(cases, rows_end_where_the_rest_says_nothing);
    suite_add_tcase(suite, cases);
    return suite;
}
