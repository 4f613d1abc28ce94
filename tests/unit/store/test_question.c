/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a question by their members: each type, what is NULL, parameters that are bound anew, and what happens where a row
 * cannot be had. The headers that sql_header makes are compared with their SQL by sql.headers.
 */
#include <check.h>
#include <math.h>

#include "store/question.h"
#include "support/suites.h"

#define THINGS_COLUMNS(INTEGER, FLAG, REAL, TEXT)    INTEGER(thing_id) FLAG(is_new) REAL(cost_ratio) TEXT(name)
#define THINGS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(name) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(things, THINGS_COLUMNS, THINGS_PARAMETERS)
const char nm_things_sql[] = "SELECT thing_id, is_new, cost_ratio, name FROM thing WHERE :name IS NULL OR name = :name "
                             "ORDER BY thing_id LIMIT :most_count";

#define COUNTS_COLUMNS(INTEGER, FLAG, REAL, TEXT)    INTEGER(thing_count)
#define COUNTS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(is_new)
NM_QUESTION(counts, COUNTS_COLUMNS, COUNTS_PARAMETERS)
const char nm_counts_sql[] = "SELECT count(*) AS thing_count FROM thing WHERE is_new = :is_new";

#define COSTS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) REAL(cost_ratio) INTEGER(thing_id)
NM_QUESTION_RUN(costs, COSTS_PARAMETERS)
const char nm_costs_sql[] = "UPDATE thing SET cost_ratio = :cost_ratio WHERE thing_id = :thing_id";

#define BROKEN_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(size_bytes)
NM_QUESTION_ROW(broken, BROKEN_COLUMNS)
NM_QUESTION_ASK(broken, NM_QUESTION_NONE)
const char nm_broken_sql[] = "SELECT abs(thing_id) AS size_bytes FROM thing ORDER BY thing_id";

#define NAMES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(name) INTEGER(thing_id)
NM_QUESTION_RUN(names, NAMES_PARAMETERS)
const char nm_names_sql[] = "UPDATE thing SET name = :name WHERE thing_id = :thing_id";

NM_QUESTION_SCRIPT(fewer)
const char nm_fewer_sql[] = "CREATE TEMP TABLE few (id); DELETE FROM thing WHERE thing_id > 1;";

static sqlite3 *db;
static nm_error err;

static void open_memory(void)
{
    ck_assert_int_eq(nm_db_open(":memory:", &db, &err), NM_OK);
    ck_assert_int_eq(nm_db_exec(db,
                                "CREATE TABLE thing (thing_id INTEGER, is_new INTEGER, cost_ratio REAL, name TEXT);"
                                "INSERT INTO thing VALUES (1, 1, 0.5, 'one'), (2, 0, 0, ''), (3, NULL, NULL, NULL)",
                                &err),
                     NM_OK);
}

static void close_memory(void)
{
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK); /* no statement is left */
}

START_TEST(a_member_for_each_column_and_null_is_told_from_zero)
{
    sqlite3_stmt *rows = NULL;
    nm_things_row row;

    ck_assert_int_eq(nm_things_ask(db, NULL, 10, &rows, &err), NM_OK);
    ck_assert(nm_things_next(rows, &row));
    ck_assert_int_eq(row.thing_id, 1);
    ck_assert(row.is_new && row.has.is_new);
    ck_assert_double_eq(row.cost_ratio, 0.5);
    ck_assert_str_eq(row.name, "one");
    ck_assert(nm_things_next(rows, &row));
    ck_assert(!row.is_new && row.has.is_new && row.has.cost_ratio && row.has.name);
    ck_assert(nm_things_next(rows, &row));
    ck_assert(!row.has.is_new && !row.has.cost_ratio && !row.has.name && row.has.thing_id);
    ck_assert_str_eq(row.name, "");
    ck_assert(NM_NUMBER_OF(&row, thing_id) == 3 && NM_TEXT_OF(&row, name) == NULL);
    ck_assert(!nm_things_next(rows, &row));
    ck_assert_int_eq(row.thing_id, 3); /* the last row is kept */
    ck_assert_int_eq(nm_question_end(rows, NM_OK, &err), NM_OK);
}
END_TEST

START_TEST(parameters_are_bound_anew)
{
    sqlite3_stmt *rows = NULL;
    nm_things_row row;

    ck_assert_int_eq(nm_things_ask(db, NULL, 1, &rows, &err), NM_OK);
    ck_assert(nm_things_next(rows, &row));
    ck_assert_int_eq(nm_question_pause(rows, NM_OK, &err), NM_OK);
    nm_things_bind(rows, "", NM_NULL);
    ck_assert(!nm_things_next(rows, &row)); /* a limit of NULL is none that SQLite takes */
    nm_things_bind(rows, "", 10);
    ck_assert(nm_things_next(rows, &row));
    ck_assert_int_eq(row.thing_id, 2);
    ck_assert(!nm_things_next(rows, &row));
    ck_assert_int_eq(nm_question_end(rows, NM_OK, &err), NM_OK);
}
END_TEST

START_TEST(one_row_is_got_and_a_statement_without_rows_is_run)
{
    nm_counts_row row;

    ck_assert_int_eq(nm_counts_get(db, true, &row, &err), NM_OK);
    ck_assert_int_eq(row.thing_count, 1);
    ck_assert_int_eq(nm_costs_run(db, NAN, 1, &err), NM_OK);
    sqlite3_stmt *rows = NULL;
    ck_assert_int_eq(nm_db_prepare(db, "SELECT cost_ratio, name FROM thing", &rows, &err), NM_OK);
    ck_assert_int_eq(sqlite3_step(rows), SQLITE_ROW);
    ck_assert(!nm_named_has(rows, "cost_ratio"));
    ck_assert_str_eq(nm_named_text(rows, "name"), "one");
    ck_assert_int_eq(nm_question_end(rows, NM_OK, &err), NM_OK);
    ck_assert_int_eq(nm_db_exec(db, "DROP TABLE thing", &err), NM_OK);
    row.thing_count = 9;
    ck_assert_int_eq(nm_counts_get(db, true, &row, &err), NM_ERR_DATABASE);
    ck_assert(row.thing_count == 0 && !row.has.thing_count);
    ck_assert_int_eq(nm_costs_run(db, 1, 1, &err), NM_ERR_DATABASE);
}
END_TEST

START_TEST(one_without_rows_is_run_again_and_a_text_has_its_length)
{
    sqlite3_stmt *names = NULL;
    int64_t count = 0;

    ck_assert_int_eq(nm_db_prepare(db, nm_names_sql, &names, &err), NM_OK);
    for (int64_t id = 1; id <= 2; id++) {
        nm_names_bind(names, "", id);
        nm_question_bind_bytes(names, ":name", (nm_bytes){(const uint8_t *)"twice", 2});
        ck_assert_int_eq(nm_question_step(names, &err), NM_OK);
    }
    ck_assert_int_eq(nm_db_get_int(db, "SELECT count(*) FROM thing WHERE name = 'tw'", &count, &err), NM_OK);
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq(
        nm_db_exec(db, "CREATE TRIGGER no UPDATE ON thing BEGIN SELECT raise(ABORT, 'not now'); END", &err), NM_OK);
    nm_names_bind(names, "", 1);
    ck_assert_int_eq(nm_question_step(names, &err), NM_ERR_DATABASE);
    ck_assert_str_eq(err.text, "not now");
    ck_assert_int_eq(nm_question_end(names, NM_OK, &err), NM_OK);
}
END_TEST

START_TEST(several_statements_are_run)
{
    int64_t count = 0;

    ck_assert_int_eq(nm_fewer_run(db, &err), NM_OK);
    ck_assert_int_eq(nm_db_get_int(db, "SELECT count(*) FROM thing, (SELECT count(*) FROM few)", &count, &err), NM_OK);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(nm_fewer_run(db, &err), NM_ERR_DATABASE); /* the table is there */
}
END_TEST

START_TEST(one_text_is_got_and_where_there_is_no_row_none)
{
    char *text = NULL;

    ck_assert_int_eq(nm_db_get_text(db, "SELECT name FROM thing ORDER BY thing_id", &text, &err), NM_OK);
    ck_assert_str_eq(text, "one");
    sqlite3_free(text);
    ck_assert_int_eq(nm_db_get_text(db, "SELECT name FROM thing WHERE thing_id = 3", &text, &err), NM_OK);
    ck_assert_str_eq(text, "");
    sqlite3_free(text);
    ck_assert_int_eq(nm_db_get_text(db, "SELECT name FROM thing WHERE thing_id = 4", &text, &err), NM_OK);
    ck_assert_ptr_null(text);
    ck_assert_int_eq(nm_db_get_text(db, "SELECT nothing FROM thing", &text, &err), NM_ERR_DATABASE);
    ck_assert_ptr_null(text);
}
END_TEST

START_TEST(a_row_that_cannot_be_had_is_told_at_the_end)
{
    sqlite3_stmt *rows = NULL;
    nm_broken_row row;

    ck_assert_int_eq(nm_db_exec(db, "INSERT INTO thing (thing_id) VALUES (-9223372036854775808)", &err), NM_OK);
    ck_assert_int_eq(nm_broken_ask(db, &rows, &err), NM_OK);
    ck_assert(!nm_broken_next(rows, &row));
    ck_assert_int_eq(nm_question_pause(rows, NM_OK, &err), NM_ERR_DATABASE);
    ck_assert(!nm_broken_next(rows, &row));
    ck_assert_int_eq(nm_question_end(rows, NM_OK, &err), NM_ERR_DATABASE);
    ck_assert_str_eq(err.text, "integer overflow");
    ck_assert_int_eq(nm_question_end(NULL, NM_ERR_USAGE, &err), NM_ERR_USAGE);
}
END_TEST

/* As of a disk: what SQLite has no room for. */
START_TEST(what_has_no_room_says_so)
{
    ck_assert_int_eq(nm_db_exec(db, "PRAGMA max_page_count = 3", &err), NM_OK);
    ck_assert_int_eq(nm_db_exec(db, "INSERT INTO thing (name) VALUES (hex(zeroblob(100000)))", &err), NM_ERR_WRITE);
    ck_assert_str_eq(err.text, "cannot write: No space left on device");
}
END_TEST

TEST_SUITE(test_question)
{
    TCase *test_case = tcase_create("question");
    Suite *suite = suite_create("question");

    suite_add_tcase(suite, test_case);
    tcase_add_checked_fixture(test_case, open_memory, close_memory);
    tcase_add_test(test_case, a_member_for_each_column_and_null_is_told_from_zero);
    tcase_add_test(test_case, what_has_no_room_says_so);
    tcase_add_test(test_case, parameters_are_bound_anew);
    tcase_add_test(test_case, one_row_is_got_and_a_statement_without_rows_is_run);
    tcase_add_test(test_case, one_without_rows_is_run_again_and_a_text_has_its_length);
    tcase_add_test(test_case, several_statements_are_run);
    tcase_add_test(test_case, one_text_is_got_and_where_there_is_no_row_none);
    tcase_add_test(test_case, a_row_that_cannot_be_had_is_told_at_the_end);
    return suite;
}
