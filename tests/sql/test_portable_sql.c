/* SPDX-License-Identifier: Apache-2.0
 *
 * The schema and the queries call no function that SQLite 3.26 does not have, and use no form of SQL that came later. The
 * functions are seen by an authorizer, as SQLite itself resolves them; the forms are looked for as words. (A second test
 * runs all of it in an old SQLite, where Node is there.)
 */
#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "store/database.h"
#include "store/schema.h"
#include "support/queries.h"
#include "support/suites.h"

/* All are in SQLite 3.26 as it is built everywhere. */
static const char *const allowed_functions[] = {"abs",     "char",       "coalesce", "count",  "glob",   "group_concat",
                                                "instr",   "length",     "max",      "min",    "nullif", "printf",
                                                "replace", "row_number", "rtrim",    "substr", "sum"};

/* Words that came after 3.26, or that need an extension. */
static const char *const later_words[] = {"RETURNING", "MATERIALIZED", "NULLS",     "FULL",      "RIGHT",
                                          "FILTER",    "STRICT",       "GENERATED", "EXCLUDE",   "GROUPS",
                                          "IIF",       "TRUNC",        "FORMAT",    "UNIXEPOCH", "JSON",
                                          "->",        "STRING_AGG",   "CONCAT",    "WITHIN"};

static sqlite3 *db;
static nm_error err;
static char bad_function[128];

static int check_function(void *context, int action, const char *a, const char *name, const char *b, const char *c)
{
    (void)context;
    (void)a;
    (void)b;
    (void)c;
    if (action != SQLITE_FUNCTION)
        return SQLITE_OK;
    for (size_t index = 0; index < sizeof allowed_functions / sizeof allowed_functions[0]; index++)
        if (strcmp(name, allowed_functions[index]) == 0)
            return SQLITE_OK;
    snprintf(bad_function, sizeof bad_function, "%s", name);
    return SQLITE_DENY;
}

static void set_up(void)
{
    bad_function[0] = 0;
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    sqlite3_set_authorizer(db, check_function, NULL);
    ck_assert_msg(nm_schema_apply(db, NM_SCHEMA_TABLES, &err) == NM_OK, "%s %s", err.text, bad_function);
    ck_assert_msg(nm_schema_apply(db, NM_SCHEMA_VIEWS, &err) == NM_OK, "%s %s", err.text, bad_function);
}

static void tear_down(void)
{
    sqlite3_close(db);
}

START_TEST(views_call_old_functions_only)
{
    sqlite3_stmt *names = NULL;
    int count = 0;

    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT name FROM sqlite_master WHERE type = 'view'", -1, &names, NULL),
                     SQLITE_OK);
    for (; sqlite3_step(names) == SQLITE_ROW; count++) {
        char sql[256];
        int ignored = 0;

        snprintf(sql, sizeof sql, "%s", (const char *)sqlite3_column_text(names, 0));
        ck_assert_msg(nm_db_column_count(db, sql, &ignored, &err) == NM_OK, "%s: %s %s", sql, err.text, bad_function);
    }
    sqlite3_finalize(names);
    ck_assert_int_ge(count, 11);
}
END_TEST

static void prepare_all(const char *name, const char *text)
{
    while (*text != 0) {
        sqlite3_stmt *statement = NULL;
        int code = sqlite3_prepare_v2(db, text, -1, &statement, &text);

        ck_assert_msg(code == SQLITE_OK, "%s: %s %s", name, sqlite3_errmsg(db), bad_function);
        sqlite3_finalize(statement);
        if (statement == NULL)
            return;
    }
}

START_TEST(queries_call_old_functions_only)
{
    char path[] = "/tmp/npumem-portable-XXXXXX", sql[64];
    int fd = mkstemp(path);
    sqlite3 *base = NULL; /* what queries of two databases compare with */

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(sqlite3_open(path, &base), SQLITE_OK);
    ck_assert_int_eq(nm_schema_apply(base, NM_SCHEMA_TABLES, &err), NM_OK);
    ck_assert_int_eq(nm_schema_apply(base, NM_SCHEMA_VIEWS, &err), NM_OK);
    sqlite3_close(base);
    snprintf(sql, sizeof sql, "ATTACH '%s' AS base", path);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_ge(queries_each(prepare_all), 10);
    nm_io_close(fd);
    unlink(path);
}
END_TEST

/* Is the word there outside of comments and quoted text? */
static int has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    char before = ' ';

    for (; *text != 0; before = *text, text++) {
        if (text[0] == '-' && text[1] == '-')
            text += strcspn(text, "\n");
        else if (*text == '\'')
            text += strcspn(text + 1, "'") + 1;
        if (*text == 0)
            return 0;
        if (strncasecmp(text, word, length) == 0 && !isalnum((unsigned char)before) && before != '_' &&
            !isalnum((unsigned char)text[length]) && text[length] != '_')
            return 1;
    }
    return 0;
}

static void assert_old_words(const char *name, const char *text)
{
    for (size_t index = 0; index < sizeof later_words / sizeof later_words[0]; index++)
        ck_assert_msg(!has_word(text, later_words[index]), "%s uses %s", name, later_words[index]);
}

START_TEST(no_later_form_of_sql_is_used)
{
    for (const nm_embedded_text *file = nm_schema_files; file->name != NULL; file++)
        assert_old_words(file->name, file->text);
    queries_each(assert_old_words);
    ck_assert(has_word("SELECT iif(a, 1, 2)", "IIF") && !has_word("-- iif\nSELECT 'iif' AS niif", "IIF"));
}
END_TEST

START_TEST(every_view_begins_with_where)
{
    static const char *const where[] = {"host", "rank", "pid", "device", "heap", "level"};
    /* Those are about the database and about stacks, not about what was recorded where; and one is what others are made of. */
    static const char views[] =
        "SELECT name FROM sqlite_master WHERE type = 'view' AND name NOT IN ('catalog', 'stack_text', 'allocation')";
    sqlite3_stmt *names = NULL;

    ck_assert_int_eq(sqlite3_prepare_v2(db, views, -1, &names, NULL), SQLITE_OK);
    while (sqlite3_step(names) == SQLITE_ROW) {
        char sql[256];
        sqlite3_stmt *view = NULL;

        snprintf(sql, sizeof sql, "SELECT * FROM %s", (const char *)sqlite3_column_text(names, 0));
        ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &view, NULL), SQLITE_OK);
        for (int column = 0; column < 6; column++)
            ck_assert_str_eq(sqlite3_column_name(view, column), where[column]);
        sqlite3_finalize(view);
    }
    sqlite3_finalize(names);
}
END_TEST

/* The contract of DESIGN.md section 5: these columns, in this order; more may follow. */
static const struct {
    const char *name, *columns;
} contract[] = {
    {"meta", "key value"},
    {"input", "input_id path kind start_realtime_ns order_kind is_complete events_seen events_ingested events_dropped "
              "events_damaged events_unrecovered events_late bytes_cut"},
    {"process", "process_id input_id parent_id pid host rank local_rank command run_mode begin_ns end_ns end_kind "
                "end_status"},
    {"thread", "thread_id process_id tid name"},
    {"device", "device_id process_id ordinal physical_ordinal kind name capacity_bytes"},
    {"heap", "heap_id process_id device_id level name size_basis"},
    {"frame", "frame_id function file line module offset"},
    {"stack", "stack_id parent_id frame_id site_frame_id"},
    {"operation", "operation_id process_id thread_id kind name stream begin_seq end_seq begin_ns end_ns parent_id"},
    {"step", "step_id process_id device_id number begin_seq end_seq"},
    {"allocation", "allocation_id heap_id segment_id thread_id operation_id stack_id stream policy address size_bytes "
                   "requested_bytes block_bytes alloc_seq alloc_ns cost_ns free_requested_seq free_seq free_ns "
                   "free_thread_id free_stack_id end_kind live_bytes is_miss"},
    {"failure", "failure_id heap_id thread_id operation_id stack_id stream seq ns requested_bytes error_code "
                "device_free_bytes device_total_bytes"},
    {"copy",
     "copy_id process_id thread_id operation_id stack_id kind stream is_async seq ns cost_ns size_bytes limit_bytes "
     "source_address target_address source_device_id target_device_id error_code"},
    {"moment", "moment_id kind name process_id heap_id failure_id seq ns"},
    {"usage", "heap_id first_seq last_seq max_seq max_ns max_live_bytes live_bytes live_count reserved_bytes"},
    {"fragmentation_sample",
     "moment_id heap_id reserved_bytes occupied_bytes free_bytes largest_free_bytes stuck_bytes "
     "gap_count size_basis is_estimate"},
    {"memory_sample", "ns process_id device_id kind used_bytes total_bytes"},
    {"anomaly", "anomaly_id kind process_id thread_id seq ns heap_id address size_bytes allocation_id copy_id stack_id "
                "other_stack_id detail"},
#define WHERE "host rank pid device heap level "
    {"outstanding", WHERE "allocation_id address size_bytes alloc_seq alloc_ns thread operation site stack_id"},
    {"outstanding_by_site", WHERE "site allocation_count size_bytes first_seq last_seq generation_count"},
    {"leak", WHERE "allocation_id address size_bytes alloc_seq alloc_ns thread operation site stack_id verdict"},
    {"leak_by_site", WHERE "site verdict leak_count leak_bytes generation_count bytes_per_step first_seq last_seq"},
    {"peak", WHERE "peak_bytes peak_seq peak_ns live_count baseline_bytes reserved_at_peak_bytes peak_reserved_bytes "
                   "peak_fragmentation_ratio capacity_bytes"},
    {"peak_by_site", WHERE "site live_count live_bytes share_ratio"},
    {"device_peak", WHERE "peak_bytes peak_ns capacity_bytes"},
    {"fragmentation", WHERE "moment seq ns reserved_bytes occupied_bytes free_bytes largest_free_bytes stuck_bytes "
                            "fragmentation_ratio idle_ratio is_estimate"},
    {"pool_hit_rate", WHERE "bucket allocation_count hit_count miss_count hit_rate last_miss_seq"},
    {"heap_total", WHERE "allocation_count free_count allocated_bytes freed_bytes outstanding_count outstanding_bytes"},
    {"timeline", WHERE "ns live_bytes max_live_bytes reserved_bytes"},
};

START_TEST(tables_and_views_keep_the_contract)
{
    for (size_t index = 0; index < sizeof contract / sizeof contract[0]; index++) {
        char sql[128], columns[1024] = "";
        sqlite3_stmt *statement = NULL;

        snprintf(sql, sizeof sql, "SELECT * FROM %s", contract[index].name);
        ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s", contract[index].name);
        for (int column = 0; column < sqlite3_column_count(statement); column++)
            snprintf(columns + strlen(columns), sizeof columns - strlen(columns), "%s ",
                     sqlite3_column_name(statement, column));
        ck_assert_msg(strncmp(columns, contract[index].columns, strlen(contract[index].columns)) == 0 &&
                          columns[strlen(contract[index].columns)] == ' ',
                      "%s: %s", contract[index].name, columns);
        sqlite3_finalize(statement);
    }
}
END_TEST

TEST_SUITE(test_portable_sql)
{
    Suite *suite = suite_create("portable sql");
    TCase *tcase = tcase_create("portable sql");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60); /* on a machine with much else to do */
    tcase_add_test(tcase, views_call_old_functions_only);
    tcase_add_test(tcase, queries_call_old_functions_only);
    tcase_add_test(tcase, no_later_form_of_sql_is_used);
    tcase_add_test(tcase, every_view_begins_with_where);
    tcase_add_test(tcase, tables_and_views_keep_the_contract);
    suite_add_tcase(suite, tcase);
    return suite;
}
