/* SPDX-License-Identifier: Apache-2.0
 *
 * Who writes a table and its CREATE statement agree on the columns: a name that was swapped, taken away or added is
 * refused when the table is opened, row by row and in bulk.
 */
#include <check.h>

#include "store/bulk.h"
#include "store/loader.h"
#include "store/schema.h"

static const nm_columns columns = {"thing", "thing_id size_bytes cost_ns "};
static sqlite3 *db;
static nm_error err;

static void open_memory(void)
{
    ck_assert_int_eq(nm_db_open(":memory:", &db, &err), NM_OK);
}

static void close_memory(void)
{
    sqlite3_close(db);
}

/* Both ways to write a table refuse one that was created like this, or take it (`expected` NULL). */
static void check_table(const char *create, const char *expected)
{
    nm_insert insert = {0};
    nm_bulk *bulk = NULL;
    nm_status status = expected == NULL ? NM_OK : NM_ERR_DATABASE;

    ck_assert_int_eq(nm_db_exec(db, "DROP TABLE IF EXISTS thing", &err), NM_OK);
    ck_assert_int_eq(nm_db_exec(db, create, &err), NM_OK);
    err.text[0] = 0;
    ck_assert_int_eq(nm_insert_open(db, &columns, &insert, &err), status);
    ck_assert_str_eq(err.text, expected == NULL ? "" : expected);
    err.text[0] = 0;
    ck_assert_int_eq(nm_bulk_open(db, &columns, &bulk, &err), status);
    ck_assert_str_eq(err.text, expected == NULL ? "" : expected);
    nm_insert_close(&insert);
    nm_bulk_close(bulk);
}

START_TEST(columns_in_order_are_taken)
{
    check_table("CREATE TABLE thing (thing_id INTEGER PRIMARY KEY, size_bytes INTEGER, cost_ns INTEGER)", NULL);
}
END_TEST

START_TEST(swapped_columns_are_refused)
{
    check_table("CREATE TABLE thing (thing_id INTEGER PRIMARY KEY, cost_ns INTEGER, size_bytes INTEGER)",
                "column 2 of table thing is cost_ns, rows have size_bytes there");
}
END_TEST

START_TEST(a_column_that_is_missing_is_refused)
{
    check_table("CREATE TABLE thing (thing_id INTEGER PRIMARY KEY, size_bytes INTEGER)",
                "table thing has no column 3 for cost_ns");
    check_table("CREATE TABLE thing (size_bytes INTEGER, cost_ns INTEGER)",
                "column 1 of table thing is size_bytes, rows have thing_id there");
}
END_TEST

START_TEST(a_column_that_is_added_is_refused)
{
    check_table(
        "CREATE TABLE thing (thing_id INTEGER PRIMARY KEY, size_bytes INTEGER, cost_ns INTEGER, age_ns INTEGER)",
        "column 4 of table thing is age_ns, rows have nothing there");
    check_table(
        "CREATE TABLE thing (thing_id INTEGER PRIMARY KEY, age_ns INTEGER, size_bytes INTEGER, cost_ns INTEGER)",
        "column 2 of table thing is age_ns, rows have size_bytes there");
}
END_TEST

START_TEST(a_name_that_only_begins_alike_is_refused)
{
    check_table("CREATE TABLE thing (thing INTEGER PRIMARY KEY, size_bytes INTEGER, cost_ns INTEGER)",
                "column 1 of table thing is thing, rows have thing_id there");
    check_table("CREATE TABLE thing (thing_id INTEGER PRIMARY KEY, size_bytes_ INTEGER, cost_ns INTEGER)",
                "column 2 of table thing is size_bytes_, rows have size_bytes there");
}
END_TEST

/* A loader refuses the schema after `change` to it. */
static void check_schema(const char *change, const char *expected)
{
    nm_loader loader;

    close_memory();
    open_memory();
    ck_assert_int_eq(nm_schema_apply(db, NM_SCHEMA_TABLES, &err), NM_OK);
    ck_assert_msg(nm_db_exec(db, change, &err) == NM_OK, "%s", err.text);
    err.text[0] = 0;
    ck_assert_int_eq(nm_loader_open(db, NM_RETENTION_ALL, &loader, &err), expected[0] == 0 ? NM_OK : NM_ERR_DATABASE);
    ck_assert_str_eq(err.text, expected);
    nm_loader_close(&loader);
}

START_TEST(a_loader_refuses_a_schema_that_it_does_not_know)
{
    check_schema("", "");
    check_schema("ALTER TABLE usage ADD COLUMN age_ns INTEGER",
                 "column 11 of table usage is age_ns, rows have nothing there");
    check_schema("ALTER TABLE copy ADD COLUMN age_ns INTEGER",
                 "column 20 of table copy is age_ns, rows have nothing there");
    check_schema("ALTER TABLE note RENAME COLUMN seq TO x; ALTER TABLE note RENAME COLUMN ns TO seq;"
                 "ALTER TABLE note RENAME COLUMN x TO ns",
                 "column 4 of table note is ns, rows have seq there");
    check_schema("DROP TABLE gap; CREATE TABLE gap (moment_id INTEGER, heap_id INTEGER, part_id INTEGER)",
                 "table gap has no column 4 for class_bytes");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("columns");
    TCase *tcase = tcase_create("columns");

    tcase_add_checked_fixture(tcase, open_memory, close_memory);
    tcase_add_test(tcase, columns_in_order_are_taken);
    tcase_add_test(tcase, swapped_columns_are_refused);
    tcase_add_test(tcase, a_column_that_is_missing_is_refused);
    tcase_add_test(tcase, a_column_that_is_added_is_refused);
    tcase_add_test(tcase, a_name_that_only_begins_alike_is_refused);
    tcase_add_test(tcase, a_loader_refuses_a_schema_that_it_does_not_know);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
