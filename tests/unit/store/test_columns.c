/* SPDX-License-Identifier: Apache-2.0
 *
 * Who writes a table and its CREATE statement agree on the columns: a name that was swapped, taken away or added is
 * refused when the table is opened, row by row and in bulk.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "store/bulk/bulk.h"
#include "store/loader.h"
#include "store/schema.h"
#include "support/suites.h"

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

static void check_bulk(bool is_plain, nm_status status, const char *expected)
{
    nm_bulks *bulks = NULL;
    nm_bulk *bulk = NULL;

    err.text[0] = 0;
    ck_assert_int_eq(nm_bulks_new(db, &(nm_bulk_options){.path = "", .fd = -1, .is_plain = is_plain}, &bulks, &err),
                     NM_OK);
    ck_assert_int_eq(nm_bulks_open(bulks, &columns, &bulk, &err), status);
    ck_assert_str_eq(err.text, expected);
    nm_bulks_free(bulks);
}

/* All ways to write a table refuse one that was created like this, or take it (`expected` NULL). */
static void check_table(const char *create, const char *expected)
{
    nm_insert insert = {0};
    nm_status status = expected == NULL ? NM_OK : NM_ERR_DATABASE;

    ck_assert_int_eq(nm_db_exec(db, "DROP TABLE IF EXISTS thing", &err), NM_OK);
    ck_assert_int_eq(nm_db_exec(db, create, &err), NM_OK);
    err.text[0] = 0;
    ck_assert_int_eq(nm_insert_open(db, &columns, false, &insert, &err), status);
    ck_assert_str_eq(err.text, expected == NULL ? "" : expected);
    check_bulk(true, status, expected == NULL ? "" : expected);
    check_bulk(false, status, expected == NULL ? "" : expected);
    nm_insert_close(&insert);
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
    ck_assert_int_eq(nm_loader_open(db, NM_RETENTION_ALL, &(nm_bulk_options){.is_plain = true}, &loader, &err),
                     expected[0] == 0 ? NM_OK : NM_ERR_DATABASE);
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
    check_schema("ALTER TABLE z_note RENAME COLUMN seq TO x; ALTER TABLE z_note RENAME COLUMN ns TO seq;"
                 "ALTER TABLE z_note RENAME COLUMN x TO ns",
                 "column 4 of table z_note is ns, rows have seq there");
    check_schema("DROP TABLE z_gap; CREATE TABLE z_gap (moment_id INTEGER, heap_id INTEGER, part_id INTEGER)",
                 "table z_gap has no column 4 for class_bytes");
    check_schema("ALTER TABLE z_allocation ADD COLUMN age_ns INTEGER",
                 "column 34 of table z_allocation is age_ns, rows have nothing there");
    check_schema("ALTER TABLE z_allocation RENAME COLUMN lived_ns TO x; ALTER TABLE z_allocation RENAME COLUMN "
                 "alloc_ns TO lived_ns;"
                 "ALTER TABLE z_allocation RENAME COLUMN x TO alloc_ns",
                 "column 11 of table z_allocation is lived_ns, rows have alloc_ns there");
    check_schema("DROP TABLE z_allocation; CREATE TABLE z_allocation (allocation_id INTEGER PRIMARY KEY)",
                 "table z_allocation has no column 2 for heap_id");
}
END_TEST

static bool is_there(const char *table)
{
    int64_t count = 0;
    char sql[256];

    snprintf(sql, sizeof sql, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '%s'", table);
    ck_assert_int_eq(nm_db_get_int(db, sql, &count, &err), NM_OK);
    return count == 1;
}

/* Of each table of rows.def: its first two columns swapped, and one more behind the last. */
START_TEST(columns_of_every_kind_of_row_are_compared)
{
    for (int kind = 0; kind < NM_ROW_KINDS; kind++) {
        const nm_row_table *table = &nm_row_tables[kind];
        char first[64], second[64], change[512], expected[256];
        int count = 0;

        if (table->name == NULL)
            continue;
        close_memory();
        open_memory();
        ck_assert_int_eq(nm_schema_apply(db, NM_SCHEMA_TABLES, &err), NM_OK);
        if (!is_there(table->name)) /* the loader's own, for a while */
            continue;
        ck_assert_int_eq(sscanf(table->columns, "%63s %63s", first, second), 2);
        for (const char *at = table->columns; *at != 0; at++)
            count += *at == ' ';
        snprintf(change, sizeof change,
                 "ALTER TABLE %s RENAME COLUMN %s TO x; ALTER TABLE %s RENAME COLUMN %s TO %s;"
                 "ALTER TABLE %s RENAME COLUMN x TO %s",
                 table->name, first, table->name, second, first, table->name, second);
        snprintf(expected, sizeof expected, "column 1 of table %s is %s, rows have %s there", table->name, second,
                 first);
        check_schema(change, expected);
        snprintf(change, sizeof change, "ALTER TABLE %s ADD COLUMN one_more INTEGER", table->name);
        snprintf(expected, sizeof expected, "column %d of table %s is one_more, rows have nothing there", count + 1,
                 table->name);
        check_schema(change, expected);
    }
}
END_TEST

/* Tables that are no rows: words of codes, what is made of rows in the end, and what a view shows as rows (store/bulk/narrow.h). */
static const char *const others[] = {
    "anomaly_kind",       "z_cann_module",
    "z_category",         "copy_kind",
    "end_kind",           "heap_level",
    "z_hardware_sample",  "z_malloc_policy",
    "z_memory_kind",      "meta",
    "z_miss_cause",       "z_moment_kind",
    "z_note_kind",        "operation_kind",
    "z_operation_source", "z_pool_bucket",
    "z_segment_kind",     "z_stream_call_kind",
    "z_threshold",        "z_device_module",
    "z_growth_step",      "z_leak_sum",
    "z_leaked_sum",       "z_out_of_memory_leak",
    "z_outstanding_sum",  "plumbing",
    "z_site_floor",       "z_site_growth",
    "z_site_lifetime",    "z_site_step",
    "z_site_verdict",     "z_step_stride",
    "z_step_trend",       "finding",
    "finding_group",      "z_object_kind",
    "z_memory_part",      "minimum",
    "evidence",           "z_allocation",
    "z_stream_number",    "z_outstanding_birth",
};

static bool is_declared(const char *table)
{
    for (int kind = 0; kind < NM_ROW_KINDS; kind++)
        if (nm_row_tables[kind].name != NULL && strcmp(nm_row_tables[kind].name, table) == 0)
            return true;
    return false;
}

static bool is_other(const char *table)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i], table) == 0)
            return true;
    return false;
}

START_TEST(every_table_has_its_rows_declared_or_is_known_to_have_none)
{
    sqlite3_stmt *row = NULL;
    size_t other_count = 0;

    ck_assert_int_eq(nm_schema_apply(db, NM_SCHEMA_TABLES, &err), NM_OK);
    ck_assert_int_eq(nm_db_prepare(db, "SELECT name FROM sqlite_master WHERE type = 'table'", &row, &err), NM_OK);
    while (sqlite3_step(row) == SQLITE_ROW) {
        const char *name = nm_db_text(row, 0);

        ck_assert_msg(is_declared(name) != is_other(name), "table %s: one of rows.def and this test must have it",
                      name);
        other_count += is_other(name);
    }
    sqlite3_finalize(row);
    ck_assert_uint_le(other_count, sizeof others / sizeof others[0]);
}
END_TEST

TEST_SUITE(test_columns)
{
    Suite *suite = suite_create("columns");
    TCase *tcase = tcase_create("columns");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, open_memory, close_memory);
    tcase_add_test(tcase, columns_in_order_are_taken);
    tcase_add_test(tcase, swapped_columns_are_refused);
    tcase_add_test(tcase, a_column_that_is_missing_is_refused);
    tcase_add_test(tcase, a_column_that_is_added_is_refused);
    tcase_add_test(tcase, a_name_that_only_begins_alike_is_refused);
    tcase_add_test(tcase, a_loader_refuses_a_schema_that_it_does_not_know);
    tcase_add_test(tcase, columns_of_every_kind_of_row_are_compared);
    tcase_add_test(tcase, every_table_has_its_rows_declared_or_is_known_to_have_none);
    suite_add_tcase(suite, tcase);
    return suite;
}
