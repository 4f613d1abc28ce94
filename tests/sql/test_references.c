/* SPDX-License-Identifier: Apache-2.0
 *
 * Several inputs get into one database by what the schema says of references (store/merge.h), so the schema must say all
 * of them: every column that numbers rows names the table, and every table that takes rows of an input leads to `input`.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/database.h"
#include "store/merge.h"
#include "store/schema.h"
#include "support/suites.h"

static sqlite3 *db;
static nm_error err;

static void set_up(void)
{
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_msg(nm_schema_apply(db, NM_SCHEMA_TABLES, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_merge_plan(db, &err) == NM_OK, "%s", err.text);
}

static void tear_down(void)
{
    sqlite3_close(db);
}

/* The statement has no row; else `what` is wrong with its first two cells. */
static void expect_none(const char *sql, const char *what)
{
    sqlite3_stmt *row = NULL;

    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    if (sqlite3_step(row) == SQLITE_ROW)
        ck_abort_msg("%s.%s %s", sqlite3_column_text(row, 0), sqlite3_column_text(row, 1), what);
    sqlite3_finalize(row);
}

/* Numbers that CANN, or the runtime, gives; of a finding that of a row of a view. */
START_TEST(every_number_of_a_row_has_a_reference)
{
    expect_none("SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c"
                " WHERE m.type = 'table' AND c.type = 'INTEGER' AND c.name LIKE '%\\_id' ESCAPE '\\' AND c.pk <> 1"
                " AND c.name NOT IN (SELECT f.\"from\" FROM pragma_foreign_key_list(m.name) AS f)"
                " AND m.name || '.' || c.name NOT IN ('heap.module_id', 'operation.model_id', 'finding.source_id')",
                "has no REFERENCES");
    /* Two tables with keys of one name: one of them numbers the rows of the other. */
    expect_none("SELECT a.owner, a.name FROM merge_column AS a JOIN merge_column AS b ON b.name = a.name AND b.is_key"
                " AND b.owner <> a.owner WHERE a.is_key AND a.target IS NOT NULL AND b.target IS NOT NULL",
                "is the key of another table too, and does not refer to it");
}
END_TEST

START_TEST(references_name_the_key_of_a_table)
{
    expect_none(
        "SELECT m.name, f.\"from\" FROM sqlite_master AS m JOIN pragma_foreign_key_list(m.name) AS f"
        " WHERE m.type = 'table' AND NOT EXISTS (SELECT 1 FROM pragma_table_info(f.\"table\") AS k WHERE k.pk = 1"
        " AND k.name = coalesce(f.\"to\", k.name) AND k.type IN ('INTEGER', 'TEXT'))",
        "refers to what is no key");
    expect_none("SELECT c.owner, c.name FROM merge_column AS c WHERE c.target IS NOT NULL AND NOT EXISTS"
                " (SELECT 1 FROM merge_column AS k WHERE k.owner = c.target AND k.is_key)",
                "refers to a key that is a reference itself: refer to what that names");
}
END_TEST

/* Tables that are not copied have the same rows in every database: those of the schema; or they are made anew. */
START_TEST(every_table_leads_to_an_input_or_has_words)
{
    sqlite3_stmt *tables = NULL;
    int count = 0;

    ck_assert_int_eq(
        sqlite3_prepare_v2(db,
                           "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
                           " AND name NOT IN ('meta', 'finding', 'finding_group', 'evidence') AND name NOT IN (SELECT "
                           "name FROM merge_table)",
                           -1, &tables, NULL),
        SQLITE_OK);
    for (; sqlite3_step(tables) == SQLITE_ROW; count++) {
        int64_t row_count = 0;
        char sql[128];

        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", sqlite3_column_text(tables, 0));
        ck_assert_int_eq(nm_db_get_int(db, sql, &row_count, &err), NM_OK);
        ck_assert_msg(row_count > 0, "no reference leads from table %s to table input: it is not merged",
                      sqlite3_column_text(tables, 0));
    }
    sqlite3_finalize(tables);
    ck_assert_int_ge(count, 8);
}
END_TEST

TEST_SUITE(test_references)
{
    Suite *suite = suite_create("references");
    TCase *tests = tcase_create("references");

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, every_number_of_a_row_has_a_reference);
    tcase_add_test(tests, references_name_the_key_of_a_table);
    tcase_add_test(tests, every_table_leads_to_an_input_or_has_words);
    return suite;
}
