/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that are gathered against the same rows one by one, as SQLite shows both: of every kind of value, around the numbers of rows at
 * which gathering begins and what is gathered is written. And what fails.
 */
#include <check.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/database.h"
#include "store/insert_rows.h"
#include "support/suites.h"

static const nm_columns columns = {"mixed", "number name ratio other "};
static const char table_sql[] =
    "CREATE TABLE mixed (number INTEGER NOT NULL CHECK (number < 5000), name TEXT, ratio REAL, other)";

static sqlite3 *db;
static nm_insert insert;
static nm_error err;

static void open_database(bool is_gathered)
{
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(nm_db_exec(db, table_sql, &err), NM_OK);
    ck_assert_int_eq(nm_insert_open(db, &columns, false, &insert, &err), NM_OK);
    if (is_gathered)
        nm_insert_gather(&insert, columns.table);
}

static void tear_down(void)
{
    nm_insert_close(&insert);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
    db = NULL;
}

/* Its last column has another kind of value in each of seven rows. */
static nm_status put_row(int number)
{
    char name[32];

    snprintf(name, sizeof name, "%d \xe5\x86\x85\xe5\xad\x98", number);
    nm_insert_int(&insert, number);
    nm_insert_text(&insert, number % 11 == 0 ? NULL : number % 13 == 0 ? "" : name);
    nm_insert_real(&insert, number % 5 == 0 ? NAN : number / 8.0);
    switch (number % 7) {
    case 0:
        nm_insert_int(&insert, INT64_MAX - number);
        break;
    case 1:
        nm_insert_int(&insert, NM_NULL);
        break;
    case 2:
        nm_insert_bytes(&insert, (nm_bytes){(const uint8_t *)"a\0b", 3});
        break;
    case 3:
        nm_insert_real(&insert, -1e300 / number);
        break;
    case 4:
        nm_insert_text(&insert, "77");
        break;
    default:
        nm_insert_int(&insert, -number);
    }
    return nm_insert_end(&insert, &err);
}

static char *printed(int count, bool is_gathered)
{
    sqlite3_stmt *rows = NULL;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    open_database(is_gathered);
    for (int number = 1; number <= count; number++)
        ck_assert_msg(put_row(number) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_insert_flush(&insert, &err) == NM_OK, "%s", err.text);
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT rowid, typeof(name), quote(number), quote(hex(name)), quote(ratio),"
                                        " typeof(other), quote(hex(other)) FROM mixed",
                                        -1, &rows, NULL),
                     SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW)
        for (int column = 0; column < 7; column++)
            fprintf(out, "%s%c", (const char *)sqlite3_column_text(rows, column), column < 6 ? ' ' : '\n');
    sqlite3_finalize(rows);
    tear_down();
    fclose(out);
    return text;
}

static int64_t row_count(void)
{
    int64_t count = 0;

    ck_assert_int_eq(nm_db_get_int(db, "SELECT count(*) FROM mixed", &count, &err), NM_OK);
    return count;
}

START_TEST(gathered_rows_are_those_that_come_one_by_one)
{
    static const int counts[] = {0, 1, 255, 256, 257, 511, 512, 513, 767, 768, 769, 2000};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        char *singly = printed(counts[i], false), *gathered = printed(counts[i], true);

        ck_assert_uint_ge(strlen(singly), (size_t)counts[i] * 20);
        ck_assert_str_eq(singly, gathered);
        free(singly);
        free(gathered);
    }
}
END_TEST

/* Of which nothing is copied. */
START_TEST(empty_texts_alone_are_no_null)
{
    int64_t count = 0;

    open_database(true);
    for (int number = 1; number <= NM_INSERT_ROWS_COUNT + 10; number++) {
        nm_insert_int(&insert, number);
        nm_insert_text(&insert, "");
        nm_insert_real(&insert, 0.5);
        nm_insert_text(&insert, NULL);
        ck_assert_int_eq(nm_insert_end(&insert, &err), NM_OK);
    }
    ck_assert_int_eq(nm_insert_flush(&insert, &err), NM_OK);
    ck_assert_int_eq(nm_db_get_int(db, "SELECT count(*) FROM mixed WHERE name = '' AND other IS NULL", &count, &err),
                     NM_OK);
    ck_assert_int_eq(count, NM_INSERT_ROWS_COUNT + 10);
    tear_down();
}
END_TEST

START_TEST(few_rows_are_there_at_once_and_more_when_they_are_flushed)
{
    open_database(true);
    for (int number = 1; number <= NM_INSERT_ROWS_COUNT + 10; number++)
        ck_assert_int_eq(put_row(number), NM_OK);
    ck_assert_int_eq(row_count(), NM_INSERT_ROWS_COUNT);
    ck_assert_int_eq(nm_insert_flush(&insert, &err), NM_OK);
    ck_assert_int_eq(row_count(), NM_INSERT_ROWS_COUNT + 10);
    ck_assert_int_eq(nm_insert_flush(&insert, &err), NM_OK);
    ck_assert_int_eq(row_count(), NM_INSERT_ROWS_COUNT + 10);
    for (int number = 1; number <= 5; number++)
        ck_assert_int_eq(put_row(number), NM_OK);
    nm_insert_close(&insert); /* forgets them */
    ck_assert_int_eq(row_count(), NM_INSERT_ROWS_COUNT + 10);
    tear_down();
}
END_TEST

START_TEST(what_sqlite_says_against_a_row_comes_with_the_others)
{
    open_database(true);
    for (int number = 1; number <= NM_INSERT_ROWS_COUNT + 10; number++)
        ck_assert_int_eq(put_row(number), NM_OK);
    ck_assert_int_eq(put_row(6000), NM_OK);
    ck_assert_int_eq(nm_insert_flush(&insert, &err), NM_ERR_DATABASE);
    ck_assert_ptr_nonnull(strstr(err.text, "CHECK constraint failed"));
    tear_down();
}
END_TEST

START_TEST(a_wrong_number_of_values_is_said)
{
    open_database(true);
    for (int number = 1; number <= NM_INSERT_ROWS_COUNT + 10; number++)
        ck_assert_int_eq(put_row(number), NM_OK);
    nm_insert_int(&insert, 1);
    ck_assert_int_eq(nm_insert_end(&insert, &err), NM_ERR_DATABASE);
    ck_assert_str_eq(err.text, "row of 1 values for 4 columns: not an error");
    for (int column = 0; column < 70; column++)
        nm_insert_int(&insert, column);
    ck_assert_int_eq(nm_insert_end(&insert, &err), NM_ERR_DATABASE);
    ck_assert_str_eq(err.text, "row of 70 values for 4 columns: not an error");
    ck_assert_int_eq(put_row(7), NM_OK);
    ck_assert_int_eq(nm_insert_flush(&insert, &err), NM_OK);
    ck_assert_int_eq(row_count(), NM_INSERT_ROWS_COUNT + 11);
    tear_down();
}
END_TEST

TEST_SUITE(test_insert_rows)
{
    Suite *suite = suite_create("insert_rows");
    TCase *cases = tcase_create("insert_rows");

    tcase_set_timeout(cases, 30);
    tcase_add_test(cases, gathered_rows_are_those_that_come_one_by_one);
    tcase_add_test(cases, empty_texts_alone_are_no_null);
    tcase_add_test(cases, few_rows_are_there_at_once_and_more_when_they_are_flushed);
    tcase_add_test(cases, what_sqlite_says_against_a_row_comes_with_the_others);
    tcase_add_test(cases, a_wrong_number_of_values_is_said);
    suite_add_tcase(suite, cases);
    return suite;
}
