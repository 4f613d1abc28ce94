/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of allocations past SQLite's machine: those that view allocation shows, whether npumem-ingest or SQLite has written them, and no
 * others.
 */
#include <check.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "store/allocation_rows.h"
#include "store/bulk/table_pages.h"
#include "store/database.h"
#include "store/validate.h"
#include "support/load_text.h"
#include "support/run.h"
#include "support/suites.h"

#define BLOCKS                       3000 /* of the long run: more rows than a page has */

#define KEPT(name)                   #name " "
#define MADE(name, of, beside)       #name " "
#define COMMA_KEPT(name)             ", " #name
#define COMMA_MADE(name, of, beside) ", " #name

static const char all_names[] = NM_ALLOCATION_COLUMNS(KEPT, MADE);

#undef KEPT
#undef MADE

typedef struct comparison {
    sqlite3_stmt *view;
    const char *what;
    size_t count;
    size_t end_at; /* rows after which no more are wanted; 0: none is too many */
} comparison;

static char folder[64], path[128];
static nm_error err;

static void set_up(void)
{
    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
}

static void tear_down(void)
{
    run_remove_folder(folder);
}

static void run_sql(const char *sql)
{
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* ---- What the view says -------------------------------------------------------------------------------------------- */

static int64_t shown(sqlite3_stmt *view, int column)
{
    return sqlite3_column_type(view, column) == SQLITE_NULL ? NM_NULL : sqlite3_column_int64(view, column);
}

static nm_status compare_row(void *context, const nm_allocation_values *row, nm_error *error)
{
    comparison *with = context;
    int column = 0;

    (void)error;
    ck_assert_msg(sqlite3_step(with->view) == SQLITE_ROW, "%s: a row that the view has not", with->what);
#define KEPT(name)                                                                                                     \
    ck_assert_msg(row->name == shown(with->view, ++column), "%s: allocation %lld: " #name " is %lld, not %lld",        \
                  with->what, (long long)row->allocation_id, (long long)row->name,                                     \
                  (long long)shown(with->view, column));
#define MADE(name, of, beside) KEPT(name)
    NM_ALLOCATION_COLUMNS(KEPT, MADE)
    return ++with->count == with->end_at ? NM_END : NM_OK;
}

/* Returns how many rows there are. */
static size_t compare(const char *what, int64_t first_id, int64_t last_id, size_t end_at)
{
    sqlite3 *db = load_open(path);
    comparison with = {.what = what, .end_at = end_at};
    const nm_allocation_request request = {first_id, last_id, all_names};

    ck_assert_int_eq(
        sqlite3_prepare_v2(db,
                           "SELECT 0" NM_ALLOCATION_COLUMNS(
                               COMMA_KEPT, COMMA_MADE) " FROM allocation WHERE allocation_id BETWEEN ? AND ? ORDER BY "
                                                       "allocation_id",
                           -1, &with.view, NULL),
        SQLITE_OK);
    sqlite3_bind_int64(with.view, 1, first_id);
    sqlite3_bind_int64(with.view, 2, last_id);
    ck_assert_msg(nm_allocation_rows_each(db, &request, compare_row, &with, &err) == NM_OK, "%s: %s", what, err.text);
    if (end_at == 0)
        ck_assert_msg(sqlite3_step(with.view) == SQLITE_DONE, "%s: %zu rows, and the view has more", what, with.count);
    sqlite3_finalize(with.view);
    sqlite3_close(db);
    return with.count;
}

static size_t compare_all(const char *what)
{
    return compare(what, NM_ALLOCATIONS_ALL, 0);
}

/* ---- Whose pages they are ------------------------------------------------------------------------------------------ */

static nm_status count_row(void *context, nm_error *error)
{
    (void)error;
    ++*(size_t *)context;
    return NM_OK;
}

/* How many rows come out of the pages of table z_allocation. */
static size_t count_paged(void)
{
    static int64_t *into[NM_CELL_COLUMNS_MAX];
    sqlite3 *db = load_open(path);
    sqlite3_stmt *held = NULL;
    size_t count = 0;
    const nm_table_rows wanted = {INT64_MIN, INT64_MAX, into, count_row, &count};
    nm_table_pages pages;
    bool is_rest;

    ck_assert_int_eq(nm_validate_hold(db, "main", &held, &err), NM_OK);
    ck_assert_int_eq(nm_table_pages_open(db, "main", "z_allocation", &pages, &err), NM_OK);
    ck_assert_int_eq(nm_table_pages_read(&pages, &wanted, &is_rest, &err), NM_OK);
    ck_assert_msg(is_rest == (count < (size_t)load_int(db, "SELECT count(*) FROM z_allocation")), "%zu rows", count);
    sqlite3_finalize(held);
    sqlite3_close(db);
    return count;
}

/* A run of two streams, of which each third block is never freed. */
static void load_long(void)
{
    nm_input_row input = load_whole_input(2 * BLOCKS);
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    fputs("process 1 pid=7 host=h\nthread 1 process=1 tid=7\ndevice 1 process=1 ordinal=0 kind=npu name=x\n"
          "heap 1 process=1 device=1 level=pool basis=block name=p\n",
          out);
    for (unsigned i = 0; i < BLOCKS; i++) {
        fprintf(out, "@%u alloc heap=1 address=%#x requested=%u block=%u thread=1%s\n", 20 * i, 4096 * (i + 1),
                i % 7 == 0 ? 512 : 500 + i % 5, 512 * (1 + i % 3),
                i % 5 == 0   ? ""
                : i % 2 == 0 ? " stream=16"
                             : " stream=32");
        if (i % 3 != 0)
            fprintf(out, "@%u free heap=1 address=%#x thread=1\n", 20 * i + 7, 4096 * (i + 1));
    }
    fclose(out);
    load_text(text, &input, path);
    free(text);
    ck_assert_uint_eq(count_paged(), BLOCKS);
}

/* ---- Tests --------------------------------------------------------------------------------------------------------- */

START_TEST(rows_are_those_of_the_view)
{
    glob_t traces;
    size_t row_count = 0;

    ck_assert_int_eq(glob(SQL_CASES "/[a-h]*/trace.txt", 0, NULL, &traces), 0);
    for (size_t i = 0; i < traces.gl_pathc; i++) {
        nm_input_row input = load_whole_input(1000);
        nm_buffer text = {0};
        int fd = -1;

        ck_assert_int_eq(nm_io_open(traces.gl_pathv[i], O_RDONLY, 0, &fd, &err), NM_OK);
        ck_assert_int_eq(nm_io_read_all(fd, 1 << 24, &text, &err), NM_OK);
        close(fd);
        ck_assert_int_eq(nm_buffer_append(&text, "", 1, &err), NM_OK);
        load_text((const char *)text.data, &input, path);
        row_count += compare_all(traces.gl_pathv[i]);
        nm_buffer_free(&text);
    }
    ck_assert_uint_gt(row_count, 500);
    globfree(&traces);
}
END_TEST

START_TEST(a_part_of_them_begins_and_ends_where_it_is_said)
{
    load_long();
    ck_assert_uint_eq(compare_all("all"), BLOCKS);
    ck_assert_uint_eq(compare("one", 1777, 1777, 0), 1);
    ck_assert_uint_eq(compare("some", 1000, 2500, 0), 1501);
    ck_assert_uint_eq(compare("those up to", -5, 20, 0), 20);
    ck_assert_uint_eq(compare("those from", BLOCKS - 3, INT64_MAX, 0), 4);
    ck_assert_uint_eq(compare("none", BLOCKS + 1, INT64_MAX, 0), 0);
    ck_assert_uint_eq(compare("enough", 10, INT64_MAX, 700), 700);
}
END_TEST

/* Each is undone by the next load. */
START_TEST(what_sqlite_has_written_is_read_by_sqlite)
{
    static const struct {
        const char *sql;
        size_t row_count, paged_max; /* in all; out of pages */
    } changes[] = {
        {"DELETE FROM z_allocation WHERE allocation_id = 2000", BLOCKS - 1, 1999},
        {"DELETE FROM z_allocation", 0, 0},
        {"UPDATE z_allocation SET size_bytes = 1.5 WHERE allocation_id = 1500", BLOCKS, 1499},
        {"UPDATE z_allocation SET address = 'x' WHERE allocation_id = 1500", BLOCKS, 1499},
        {"UPDATE z_allocation SET alloc_ns = 9223372036854775807, lived_ns = 5 WHERE allocation_id > 2900", BLOCKS,
         2900},
        {"UPDATE z_allocation SET stream_number = 77 WHERE allocation_id = 3", BLOCKS, 2},
        {"PRAGMA page_size = 512; VACUUM", BLOCKS, BLOCKS},
        {"PRAGMA journal_mode = WAL; DELETE FROM z_allocation WHERE allocation_id = 4", BLOCKS - 1, 0},
    };

    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        load_long();
        run_sql(changes[i].sql);
        ck_assert_uint_eq(compare_all(changes[i].sql), changes[i].row_count);
        ck_assert_msg(count_paged() <= changes[i].paged_max, "%s: %zu rows out of pages", changes[i].sql,
                      count_paged());
        compare(changes[i].sql, 1400, 2100, 0);
    }
}
END_TEST

/* A connection that may write has pages that the file has not yet. */
START_TEST(who_may_write_reads_what_it_has_written)
{
    sqlite3 *db = NULL;
    comparison with = {.what = "written", .end_at = 0};
    const nm_allocation_request request = {NM_ALLOCATIONS_ALL, all_names};

    load_long();
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "BEGIN; UPDATE z_allocation SET live_bytes = 1", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_prepare_v2(
            db, "SELECT 0" NM_ALLOCATION_COLUMNS(COMMA_KEPT, COMMA_MADE) " FROM allocation ORDER BY allocation_id", -1,
            &with.view, NULL),
        SQLITE_OK);
    ck_assert_int_eq(nm_allocation_rows_each(db, &request, compare_row, &with, &err), NM_OK);
    ck_assert_uint_eq(with.count, BLOCKS);
    sqlite3_finalize(with.view);
    sqlite3_close(db);
}
END_TEST

static nm_status take_sizes(void *context, const nm_allocation_values *row, nm_error *error)
{
    int64_t *sum_bytes = context;

    (void)error;
    *sum_bytes += row->requested_bytes;
    return NM_OK;
}

/* What was asked for needs the size beside it. */
START_TEST(few_columns_are_as_of_all)
{
    const nm_allocation_request request = {NM_ALLOCATIONS_ALL, "requested_bytes "};
    int64_t sum_bytes = 0;

    load_long();
    sqlite3 *db = load_open(path);
    ck_assert_int_eq(nm_allocation_rows_each(db, &request, take_sizes, &sum_bytes, &err), NM_OK);
    ck_assert_int_eq(sum_bytes, load_int(db, "SELECT sum(requested_bytes) FROM allocation"));
    sqlite3_close(db);
}
END_TEST

TEST_SUITE(test_allocation_rows)
{
    Suite *suite = suite_create("allocation_rows");
    TCase *cases = tcase_create("allocation_rows");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, rows_are_those_of_the_view);
    tcase_add_test(cases, a_part_of_them_begins_and_ends_where_it_is_said);
    tcase_add_test(cases, what_sqlite_has_written_is_read_by_sqlite);
    tcase_add_test(cases, who_may_write_reads_what_it_has_written);
    tcase_add_test(cases, few_columns_are_as_of_all);
    suite_add_tcase(suite, cases);
    return suite;
}
