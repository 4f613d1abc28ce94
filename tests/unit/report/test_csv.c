/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells as RFC 4180 wants them and as a spreadsheet can bear them, and what is on the disk before, during and after.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/csv.h"
#include "report/stack_line.h"
#include "store/schema.h"
#include "support/run.h"
#include "support/suites.h"

static sqlite3 *db;
static nm_error err;
static char folder[64];
static char out[128];

static void set_up(void)
{
    run_make_folder(folder);
    snprintf(out, sizeof out, "%s/out", folder);
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(nm_schema_apply(db, NM_SCHEMA_TABLES, &err), NM_OK);
    ck_assert_int_eq(nm_schema_apply(db, NM_SCHEMA_VIEWS, &err), NM_OK);
}

static void tear_down(void)
{
    sqlite3_close(db);
    run_remove_folder(folder);
}

static void assert_csv(const char *sql, bool has_bom, const char *expected)
{
    sqlite3_stmt *statement = NULL;
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    ck_assert_int_eq(nm_csv_write(statement, has_bom, file, &err), NM_OK);
    fclose(file);
    ck_assert_str_eq(text, expected);
    free(text);
    sqlite3_finalize(statement);
}

START_TEST(null_is_an_empty_cell_and_an_empty_text_is_not)
{
    assert_csv("SELECT NULL AS a, '' AS b, 1 AS c", false, "\"a\",\"b\",\"c\"\r\n,\"\",1\r\n");
}
END_TEST

START_TEST(numbers_are_numbers)
{
    assert_csv("SELECT -9223372036854775807 - 1 AS a, 0.5 AS b, -3 AS c", false,
               "\"a\",\"b\",\"c\"\r\n-9223372036854775808,0.5,-3\r\n");
}
END_TEST

START_TEST(quotes_commas_and_newlines_are_kept)
{
    assert_csv("SELECT 'say \"hi\"' AS a, 'x,y' AS b, 'l1' || char(10) || 'l2' AS c", false,
               "\"a\",\"b\",\"c\"\r\n\"say \"\"hi\"\"\",\"x,y\",\"l1\nl2\"\r\n");
}
END_TEST

/* What becomes of texts is said by tests/support/foreign.txt, and tested in test_shown.c. */
START_TEST(texts_are_cells_that_harm_nobody)
{
    assert_csv("SELECT '=1+1' AS a, -1 AS b, '-1' AS c, ';@x' AS d", false,
               "\"a\",\"b\",\"c\",\"d\"\r\n\"'=1+1\",-1,\"'-1\",\";'@x\"\r\n");
    assert_csv("SELECT 'a' || char(27) || '[31mb' AS a", false, "\"a\"\r\n\"a?[31mb\"\r\n");
    assert_csv("SELECT CAST(x'61ff62' AS TEXT) AS a, '' AS b, ' ' AS c", false,
               "\"a\",\"b\",\"c\"\r\n\"a?b\",\"\",\" \"\r\n");
}
END_TEST

START_TEST(a_byte_order_mark_comes_first_on_request)
{
    assert_csv("SELECT 1 AS a", true, "\xef\xbb\xbf\"a\"\r\n1\r\n");
}
END_TEST

START_TEST(a_full_file_is_an_error)
{
    sqlite3_stmt *statement = NULL;
    FILE *file = fopen("/dev/full", "w");

    if (file == NULL)
        return;
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT a.name FROM sqlite_master AS a, copy_kind", -1, &statement, NULL),
                     SQLITE_OK);
    setvbuf(file, NULL, _IONBF, 0);
    ck_assert_int_eq(nm_csv_write(statement, false, file, &err), NM_ERR_WRITE);
    sqlite3_finalize(statement);
    fclose(file);
}
END_TEST

/* ---- Stacks ---- */

static void assert_stack(nm_stack_lines *lines, int64_t stack_id, const char *expected)
{
    const char *text = NULL;
    size_t len = 0;

    ck_assert_int_eq(nm_stack_lines_get(lines, stack_id, &text, &len, &err), NM_OK);
    ck_assert_uint_eq(len, strlen(expected));
    ck_assert_int_eq(memcmp(text, expected, len), 0);
}

static void execute(const char *sql)
{
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
}

START_TEST(a_stack_is_one_line_and_made_once)
{
    nm_stack_lines lines;

    execute(
        "INSERT INTO frame (frame_id, label, is_plumbing, is_cut) VALUES (1, 'a.c:1 main', 0, 0), (2, 'b.c:2 f', 0, 0);"
        "INSERT INTO stack (stack_id, parent_id, frame_id, is_cut) VALUES (1, NULL, 1, 0), (2, 1, 2, 0), (3, 2, 9, 0)");
    ck_assert_int_eq(nm_stack_lines_init(&lines, db, &err), NM_OK);
    assert_stack(&lines, 2, "b.c:2 f < a.c:1 main");
    assert_stack(&lines, 3, "?? < b.c:2 f < a.c:1 main");
    assert_stack(&lines, 1, "a.c:1 main");
    assert_stack(&lines, 4, "");
    execute("DELETE FROM stack");
    assert_stack(&lines, 2, "b.c:2 f < a.c:1 main");
    nm_stack_lines_fini(&lines);
}
END_TEST

START_TEST(a_stack_that_calls_itself_ends)
{
    nm_stack_lines lines;
    const char *text = NULL;
    size_t len = 0;

    execute("INSERT INTO frame (frame_id, label, is_plumbing, is_cut) VALUES (1, 'a', 0, 0), (2, '', 0, 0),"
            " (3, replace(printf('%9000d', 7), ' ', char(246)), 0, 0);"
            "INSERT INTO stack (stack_id, parent_id, frame_id, is_cut) VALUES (1, 2, 1, 0), (2, 1, 2, 0), (3, 3, 2, 0),"
            " (4, 1, 3, 0)");
    ck_assert_int_eq(nm_stack_lines_init(&lines, db, &err), NM_OK);
    for (int64_t stack_id = 1; stack_id <= 4; stack_id++) {
        ck_assert_int_eq(nm_stack_lines_get(&lines, stack_id, &text, &len, &err), NM_OK);
        ck_assert_uint_le(len, NM_STACK_LINE_BYTES_MAX);
        ck_assert_uint_gt(len, NM_STACK_LINE_BYTES_MAX - 16);
        ck_assert_int_eq(memcmp(text + len - 6, " < ...", 6), 0);
    }
    ck_assert_int_eq((unsigned char)text[len - 7], 0xb6); /* a whole character before it */
    nm_stack_lines_fini(&lines);
}
END_TEST

/* ---- Files ---- */

static nm_status export(bool is_forced)
{
    nm_csv_options options = {.is_forced = is_forced, .has_all = true};
    nm_csv *csv = NULL;
    nm_status status = nm_csv_open(out, &options, &csv, &err);

    if (status == NM_OK)
        status = nm_csv_write_views(csv, db, &err);
    if (status == NM_OK)
        status = nm_csv_publish(csv, &err);
    nm_csv_close(csv);
    return status;
}

static int64_t view_count(void)
{
    sqlite3_stmt *row = NULL;

    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT count(*) FROM sqlite_master WHERE type = 'view' AND"
                                        " substr(name, 1, 2) <> 'z_'",
                                        -1, &row, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return count;
}

static long count_in_shell(const char *command)
{
    char line[256];
    snprintf(line, sizeof line, command, folder);
    nm_run run = run_shell(line, 10);
    long count = strtol(run_out(&run), NULL, 10);

    run_free(&run);
    return count;
}

START_TEST(each_view_becomes_a_file_of_its_name)
{
    char path[192];

    ck_assert_msg(export(false) == NM_OK, "%s", err.text);
    ck_assert_int_eq(
        count_in_shell("ls %s/out/*.csv | wc -l"),
        view_count() - 3 +
            4); /* no allocation, allocation_detail and stack_text, but finding, finding_group, evidence and minimum */
    ck_assert_int_eq(count_in_shell("ls %s/out/*.csv | grep -c stack_text"), 0);
    ck_assert_int_eq(count_in_shell("ls -A %s | wc -l"), 1);
    snprintf(path, sizeof path, "%s/leak.csv", out);
    ck_assert_int_eq(access(path, R_OK), 0);
}
END_TEST

START_TEST(files_that_exist_are_kept_without_force)
{
    char path[192];

    snprintf(path, sizeof path, "%s/leak.csv", out);
    ck_assert_int_eq(mkdir(out, 0755), 0);
    ck_assert_msg(export(false) == NM_OK, "an empty folder is fine: %s", err.text);
    ck_assert_int_eq(export(false), NM_ERR_EXISTS);
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_int_eq(export(true), NM_OK);
    ck_assert_int_eq(count_in_shell("wc -c <%s/out/leak.csv") > 0, 1);
    ck_assert_int_eq(count_in_shell("ls -A %s | wc -l"), 1);
}
END_TEST

START_TEST(a_file_in_the_place_of_the_folder_is_refused)
{
    FILE *file = fopen(out, "w");

    fclose(file);
    ck_assert_int_eq(export(true), NM_ERR_EXISTS);
}
END_TEST

START_TEST(nothing_is_left_without_publish)
{
    nm_csv_options options = {0};
    nm_csv *csv = NULL;

    ck_assert_int_eq(nm_csv_open(out, &options, &csv, &err), NM_OK);
    ck_assert_int_eq(nm_csv_write_views(csv, db, &err), NM_OK);
    nm_csv_close(csv);
    ck_assert_int_eq(count_in_shell("ls -A %s | wc -l"), 0);
}
END_TEST

TEST_SUITE(test_csv)
{
    Suite *suite = suite_create("csv");
    TCase *tcase = tcase_create("csv");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, null_is_an_empty_cell_and_an_empty_text_is_not);
    tcase_add_test(tcase, numbers_are_numbers);
    tcase_add_test(tcase, quotes_commas_and_newlines_are_kept);
    tcase_add_test(tcase, texts_are_cells_that_harm_nobody);
    tcase_add_test(tcase, a_byte_order_mark_comes_first_on_request);
    tcase_add_test(tcase, a_full_file_is_an_error);
    tcase_add_test(tcase, a_stack_is_one_line_and_made_once);
    tcase_add_test(tcase, a_stack_that_calls_itself_ends);
    tcase_add_test(tcase, each_view_becomes_a_file_of_its_name);
    tcase_add_test(tcase, files_that_exist_are_kept_without_force);
    tcase_add_test(tcase, a_file_in_the_place_of_the_folder_is_refused);
    tcase_add_test(tcase, nothing_is_left_without_publish);
    suite_add_tcase(suite, tcase);
    return suite;
}
