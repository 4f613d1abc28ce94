/* SPDX-License-Identifier: Apache-2.0
 *
 * An index that is written as pages beside its table, read by SQLite: its integrity_check, which looks up each row in it, and what it
 * finds by it against what it finds without. Of no entry, of one, around every number of pages and levels, up to the most that are kept;
 * and the check of what was written, against SQLite's.
 */
#include <check.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "store/bulk/bulk.h"
#include "store/bulk/index_rows.h"
#include "store/bulk/table_check.h"
#include "support/load_text.h"
#include "support/run.h"
#include "support/suites.h"

#define COLUMNS 8

/* A table of the name that the index is made for, with the columns that it is of in another order. */
static const char table_sql[] =
    "CREATE TABLE z_allocation (allocation_id INTEGER PRIMARY KEY, heap_id INTEGER, stack_id INTEGER, size_bytes"
    " INTEGER, alloc_seq INTEGER, is_segment INTEGER, end_kind INTEGER, generation INTEGER)";
static const nm_columns columns = {
    "z_allocation", "allocation_id heap_id stack_id size_bytes alloc_seq is_segment end_kind generation "};

static char folder[64], path[128];
static nm_error err;
static sqlite3 *db;
static int fd = -1;

static void set_up(void)
{
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
    if (db != NULL)
        close_database();
    run_remove_folder(folder);
}

static void run_sql(const char *sql)
{
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
}

static void open_database(void)
{
    unlink(path);
    fd = open(path, O_RDWR | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    run_sql("PRAGMA page_size = 2048; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            "PRAGMA main.locking_mode = EXCLUSIVE; BEGIN");
    run_sql(table_sql);
}

/* What a connection that has read nothing before says of the file. */
static bool is_sound(void)
{
    sqlite3 *other = NULL;
    sqlite3_stmt *row = NULL;

    run_sql("PRAGMA main.locking_mode = NORMAL; SELECT 1 FROM main.sqlite_master LIMIT 1"); /* lets go of its lock */
    bool is_ok = sqlite3_open(path, &other) == SQLITE_OK &&
                 sqlite3_prepare_v2(other, "PRAGMA integrity_check", -1, &row, NULL) == SQLITE_OK &&
                 sqlite3_step(row) == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(row, 0), "ok") == 0;

    sqlite3_finalize(row);
    sqlite3_close(other);
    return is_ok;
}

static uint64_t mixed(uint64_t number)
{
    number *= 0x9e3779b97f4a7c15u;
    return number ^ number >> 29;
}

/* Few heaps and stacks, so that later columns decide, and three rows alike but for their ids; each length of a value, and NULL; every
 * fifth row is no entry. */
static void make_row(int64_t id, int64_t *row)
{
    uint64_t random = mixed((uint64_t)id / 3);
    bool is_entry = id % 5 != 0;

    row[0] = id;
    row[1] = random % 7 == 0 ? NM_NULL : (int64_t)(random % 3);
    row[2] = random % 11 == 0 ? NM_NULL : (int64_t)(random % 4 * 50);
    row[3] = (int64_t)(random >> (random % 57));
    row[4] = random % 13 == 0 ? NM_NULL : -(int64_t)(random >> 8 >> (random % 40));
    row[5] = id % 10 == 0;
    row[6] = (int64_t)(random % 5);
    row[7] = !is_entry && id % 10 != 0 ? NM_NULL : (int64_t)(random >> 16 & 3);
}

/* `count` entries, and a quarter as many other rows, the last first. */
static void write_rows(int64_t count)
{
    const nm_bulk_options options = {.path = path, .fd = fd};
    nm_bulks *bulks = NULL;
    nm_bulk *bulk = NULL;

    ck_assert_int_eq(nm_bulks_new(db, &options, &bulks, &err), NM_OK);
    ck_assert_msg(nm_bulks_open(bulks, &columns, &bulk, &err) == NM_OK, "%s", err.text);
    for (int64_t id = count / 4 * 5 + count % 4; id > 0; id--) {
        int64_t *row = NULL;

        ck_assert_int_eq(nm_bulk_next(bulk, &row, &err), NM_OK);
        make_row(id, row);
    }
    ck_assert_msg(nm_bulks_finish(bulks, &err) == NM_OK, "%s", err.text);
    nm_bulks_free(bulks);
}

#define ENTRIES_SQL "SELECT count(*) FROM z_allocation %s WHERE is_segment = 0 AND generation IS NOT NULL"
#define LIST_SQL                                                                                                       \
    "SELECT group_concat(printf('%%s.%%s.%%s', allocation_id, alloc_seq, size_bytes)) FROM (SELECT * FROM "            \
    "z_allocation %s WHERE"                                                                                            \
    " is_segment = 0 AND generation IS NOT NULL ORDER BY heap_id, stack_id, generation, alloc_seq, size_bytes, "       \
    "end_kind, allocation_id)"

static int64_t count_with(const char *way)
{
    char sql[400];

    snprintf(sql, sizeof sql, ENTRIES_SQL, way);
    return load_int(db, sql);
}

static bool is_listed_alike(void)
{
    char with[500], without[500], sql[1100];

    snprintf(with, sizeof with, LIST_SQL, "INDEXED BY allocation_outstanding");
    snprintf(without, sizeof without, LIST_SQL, "NOT INDEXED");
    snprintf(sql, sizeof sql, "SELECT (%s) IS (%s)", with, without);
    return load_int(db, sql) == 1;
}

static void write_and_check(int64_t count)
{
    open_database();
    write_rows(count);
    ck_assert_int_eq(count_with("INDEXED BY allocation_outstanding"), count);
    ck_assert_int_eq(count_with("NOT INDEXED"), count);
    ck_assert(is_listed_alike());
    run_sql("COMMIT");
    ck_assert_msg(is_sound(), "%lld entries", (long long)count);
}

static int64_t depth_of_index(void)
{
    return load_int(db, "SELECT max(length(path) - length(replace(path, '/', ''))) FROM dbstat WHERE name ="
                        " 'allocation_outstanding'");
}

/* ---- Trees of every shape ---------------------------------------------------------------------------------------- */

START_TEST(every_number_of_entries_of_some_pages_is_sound)
{
    for (int64_t count = 0; count < 300; count++) {
        write_and_check(count);
        close_database();
    }
}
END_TEST

START_TEST(an_index_of_several_levels_is_sound)
{
    static const int64_t counts[] = {900, 901, 902, 1500, 3000, 20000, 40001};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        write_and_check(counts[i]);
        if (i + 1 == sizeof counts / sizeof counts[0])
            ck_assert_int_eq(depth_of_index(), 4); /* "/" is the root's: three levels below it have one each */
        close_database();
    }
}
END_TEST

START_TEST(rows_and_entries_are_changed_later)
{
    write_and_check(3000);
    run_sql("BEGIN; DELETE FROM z_allocation WHERE allocation_id % 3 = 0;"
            "UPDATE z_allocation SET generation = NULL WHERE allocation_id % 7 = 0;"
            "INSERT INTO z_allocation SELECT allocation_id + 10000, 5, 5, 5, 5, 0, 0, 1 FROM z_allocation; COMMIT");
    ck_assert(is_listed_alike());
    ck_assert(is_sound());
}
END_TEST

START_TEST(more_entries_than_are_kept_are_left_to_sqlite)
{
    write_and_check(NM_INDEX_ENTRIES_MAX);
    close_database();
    open_database();
    write_rows(NM_INDEX_ENTRIES_MAX + 1);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM sqlite_master WHERE type = 'index'"), 0);
    ck_assert_int_eq(count_with(""), NM_INDEX_ENTRIES_MAX + 1);
    run_sql("COMMIT");
    ck_assert(is_sound());
}
END_TEST

START_TEST(a_table_of_another_name_has_none)
{
    nm_index_rows *index = NULL;

    ck_assert_int_eq(nm_index_rows_new(&(nm_columns){"copy", columns.names}, &index, &err), NM_OK);
    ck_assert_ptr_null(index);
    ck_assert_int_eq(nm_index_rows_new(&(nm_columns){"z_allocation", "allocation_id heap_id "}, &index, &err),
                     NM_ERR_DATABASE);
    ck_assert_str_eq(err.text, "table z_allocation lacks a column of its index");
    nm_index_rows_free(index);
}
END_TEST

/* ---- What the disk did not keep ---------------------------------------------------------------------------------- */

/* The entries as SQLite lists them. */
static nm_index_entries list_entries(int64_t *values)
{
    nm_index_entries entries = {.values = values, .column_count = 7};
    sqlite3_stmt *rows = NULL;

    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT heap_id, stack_id, generation, alloc_seq, size_bytes, end_kind,"
                                        " allocation_id FROM z_allocation NOT INDEXED WHERE is_segment = 0 AND"
                                        " generation IS NOT NULL ORDER BY 1, 2, 3, 4, 5, 6, 7",
                                        -1, &rows, NULL),
                     SQLITE_OK);
    for (; sqlite3_step(rows) == SQLITE_ROW; entries.count++)
        for (int column = 0; column < 7; column++)
            values[entries.count * 7 + (size_t)column] =
                sqlite3_column_type(rows, column) == SQLITE_NULL ? NM_NULL : sqlite3_column_int64(rows, column);
    sqlite3_finalize(rows);
    return entries;
}

/* A bit of each page of the index in turn: in its head, or anywhere. */
START_TEST(the_check_refuses_what_sqlite_refuses)
{
    static int64_t values[5000 * 7];
    static uint32_t pages[2000];
    uint64_t state = 88172645463325252u;
    sqlite3_stmt *rows = NULL;
    size_t page_count = 0;
    int refused = 0, refused_by_both = 0;

    write_and_check(5000);
    nm_index_entries entries = list_entries(values);
    int64_t root_page = load_int(db, "SELECT rootpage FROM sqlite_master WHERE name = 'allocation_outstanding'");
    ck_assert_int_eq(
        sqlite3_prepare_v2(db, "SELECT pageno FROM dbstat WHERE name = 'allocation_outstanding'", -1, &rows, NULL),
        SQLITE_OK);
    for (; sqlite3_step(rows) == SQLITE_ROW; page_count++)
        pages[page_count] = (uint32_t)sqlite3_column_int64(rows, 0);
    sqlite3_finalize(rows);
    ck_assert_uint_gt(page_count, 50);
    ck_assert_msg(nm_index_check(fd, root_page, &entries, &err) == NM_OK, "%s", err.text);
    for (size_t i = 0; i < 1500; i++) {
        uint8_t before, after;

        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        off_t offset =
            (off_t)(pages[i % page_count] - 1) * 2048 + (off_t)(i % 2 == 0 ? state >> 32 & 2047 : state >> 32 & 31);
        ck_assert_int_eq(pread(fd, &before, 1, offset), 1);
        after = before ^ (uint8_t)(1 << (state >> 60 & 7));
        ck_assert_int_eq(pwrite(fd, &after, 1, offset), 1);
        bool is_refused = nm_index_check(fd, root_page, &entries, &err) != NM_OK;
        if (!is_sound()) {
            ck_assert_msg(is_refused, "byte %lld: SQLite refuses it", (long long)offset);
            refused_by_both++;
        }
        refused += is_refused;
        ck_assert_int_eq(pwrite(fd, &before, 1, offset), 1);
    }
    ck_assert_int_gt(refused_by_both, 500);
    ck_assert_int_ge(refused, refused_by_both);
    entries.count--;
    ck_assert_int_eq(nm_index_check(fd, root_page, &entries, &err), NM_ERR_DATABASE);
    values[5000 * 7 - 1]++;
    entries.count++;
    ck_assert_int_eq(nm_index_check(fd, root_page, &entries, &err), NM_ERR_DATABASE);
    ck_assert_str_eq(err.text, "the new database is damaged: another entry than was written");
}
END_TEST

TEST_SUITE(test_index_rows)
{
    Suite *suite = suite_create("index_rows");
    TCase *cases = tcase_create("index_rows");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, every_number_of_entries_of_some_pages_is_sound);
    tcase_add_test(cases, an_index_of_several_levels_is_sound);
    tcase_add_test(cases, rows_and_entries_are_changed_later);
    tcase_add_test(cases, more_entries_than_are_kept_are_left_to_sqlite);
    tcase_add_test(cases, a_table_of_another_name_has_none);
    tcase_add_test(cases, the_check_refuses_what_sqlite_refuses);
    suite_add_tcase(suite, cases);
    return suite;
}
