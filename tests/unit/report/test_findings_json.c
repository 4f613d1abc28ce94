/* SPDX-License-Identifier: Apache-2.0
 *
 * Which findings are written where not all are asked for, and what becomes of rows that are not ours. That all of them are what the table
 * says is tests/tool/json.sh's.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "report/findings_json.h"
#include "store/schema.h"
#include "support/suites.h"

static sqlite3 *db;
static nm_error err;

static void run_sql(const char *sql)
{
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
}

static void set_up(void)
{
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(nm_schema_apply(db, NM_SCHEMA_TABLES, &err), NM_OK);
    ck_assert_int_eq(nm_schema_apply(db, NM_SCHEMA_VIEWS, &err), NM_OK);
    run_sql("INSERT INTO finding (finding_id, severity, kind, site, basis, bytes, sentence, source_view) VALUES"
            " (1, 'fault', 'leak', 'a.py:1 make', 'exact', 7, '[\"screen.fine.leaks\"]', 'leak_by_site'),"
            " (2, 'fault', 'leak', 'b.py:2 keep', 'bound', 6, '[\"screen.fine.leaks\"]', 'leak_by_site'),"
            " (3, 'warning', 'host growth', NULL, 'estimate', 5, '[\"screen.fine.leaks\"]', 'host_growth'),"
            " (4, 'not judged', 'leak', 'b.py:3 hold', 'exact', 4, '[\"screen.fine.leaks\"]', 'suspect_by_site'),"
            " (5, 'good', 'misuse', NULL, 'exact', NULL, '[\"screen.fine.misuse\"]', 'misuse')");
    run_sql("INSERT INTO finding_group (finding_group_id, severity, kind, site, holder_count, all_count) VALUES"
            " (1, 'fault', 'leak', 'a.py:1 make', 1, 2), (2, 'warning', 'host growth', NULL, 1, 2)");
}

static void tear_down(void)
{
    sqlite3_close(db);
}

/* What is written of a list: its numbers, and how many there are: "1 2 of 3". */
static void tell_list(const char *text, const char *list, const char *count, char *out, size_t size)
{
    char sql[256], *told = NULL;
    sqlite3_stmt *rows = NULL;

    snprintf(
        sql, sizeof sql,
        "SELECT coalesce(group_concat(coalesce(json_extract(value, '$.finding_id'), json_extract(value,"
        " '$.finding_group_id')), ' '), '') || ' of ' || json_extract(:text, '$.%s') FROM json_each(:text, '$.%s')",
        count, list);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_bind_text(rows, 1, text, -1, SQLITE_STATIC);
    ck_assert_int_eq(sqlite3_step(rows), SQLITE_ROW);
    told = (char *)sqlite3_column_text(rows, 0);
    snprintf(out, size, "%s", told);
    sqlite3_finalize(rows);
}

/* "groups; findings; not judged" */
static void expect(const nm_findings_json_options *options, const char *expected)
{
    static const char *const lists[][2] = {
        {"groups", "group_count"}, {"findings", "finding_count"}, {"not_judged", "not_judged_count"}};
    nm_buffer out = {0};
    char told[200] = "";

    ck_assert_int_eq(nm_findings_json_append(db, "ingest", options, &out, &err), NM_OK);
    ck_assert_int_eq(nm_buffer_append(&out, "", 1, &err), NM_OK);
    for (size_t i = 0; i < 3; i++) {
        if (i > 0)
            strcat(told, "; ");
        tell_list((const char *)out.data, lists[i][0], lists[i][1], told + strlen(told), sizeof told - strlen(told));
    }
    nm_buffer_free(&out);
    ck_assert_str_eq(told, expected);
}

START_TEST(what_is_asked_for_is_written_and_the_rest_counted)
{
    expect(&(nm_findings_json_options){0}, "1 2 of 2; 1 2 3 5 of 4; 4 of 1");
    expect(&(nm_findings_json_options){.kind = "leak"}, "1 of 1; 1 2 of 2; 4 of 1");
    expect(&(nm_findings_json_options){.severity = "warning"}, "2 of 1; 3 of 1;  of 0");
    expect(&(nm_findings_json_options){.severity = "not judged"}, " of 0;  of 0; 4 of 1");
    expect(&(nm_findings_json_options){.site = "b.py"}, " of 0; 2 of 1; 4 of 1");
    expect(&(nm_findings_json_options){.kind = "leak", .site = "b.py", .severity = "fault"}, " of 0; 2 of 1;  of 0");
    expect(&(nm_findings_json_options){.finding_id = 3}, " of 0; 3 of 1;  of 0");
    expect(&(nm_findings_json_options){.finding_id = 4}, " of 0;  of 0; 4 of 1");
    expect(&(nm_findings_json_options){.finding_id = 9}, " of 0;  of 0;  of 0");
}
END_TEST

START_TEST(pages_follow_each_other)
{
    expect(&(nm_findings_json_options){.count_max = 1}, "1 of 2; 1 of 4; 4 of 1");
    expect(&(nm_findings_json_options){.count_max = 2, .first_offset = 1}, "2 of 2; 2 3 of 4;  of 1");
    expect(&(nm_findings_json_options){.count_max = 2, .first_offset = 3}, " of 2; 5 of 4;  of 1");
    expect(&(nm_findings_json_options){.first_offset = 4}, " of 2;  of 4;  of 1");
    expect(&(nm_findings_json_options){.first_offset = INT64_MAX, .count_max = INT64_MAX}, " of 2;  of 4;  of 1");
}
END_TEST

/* Rows of anybody's. */
START_TEST(what_is_no_sentence_is_refused)
{
    static const char *const changes[] = {
        "sentence = 'no JSON'",
        "sentence = '[\"screen.leak.bytes\",{\"leak_bytes\":1'",
        "sentence = '[\"screen.leak.bytes\",{\"leak_bytes\":1-2}]'", /* to the eye of the reader of sentences a number */
        "evidence = '[{\"said\":1}]'",
        "remedy = '{}'",
    };

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const nm_findings_json_options options = {0};
        nm_buffer out = {0};
        char sql[256];

        snprintf(sql, sizeof sql, "SAVEPOINT s; UPDATE finding SET %s WHERE finding_id = 2", changes[i]);
        run_sql(sql);
        nm_status status = nm_findings_json_append(db, "ingest", &options, &out, &err);
        ck_assert_msg(status == NM_ERR_FORMAT, "%s: %d", changes[i], status);
        ck_assert_msg(err.text[0] != 0, "%s", changes[i]);
        run_sql("ROLLBACK TO s; RELEASE s");
        nm_buffer_free(&out);
    }
}
END_TEST

TEST_SUITE(test_findings_json)
{
    Suite *suite = suite_create("findings_json");
    TCase *cases = tcase_create("findings");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, what_is_asked_for_is_written_and_the_rest_counted);
    tcase_add_test(cases, pages_follow_each_other);
    tcase_add_test(cases, what_is_no_sentence_is_refused);
    suite_add_tcase(suite, cases);
    return suite;
}
