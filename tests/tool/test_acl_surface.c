/* SPDX-License-Identifier: Apache-2.0
 *
 * All of ACL's memory, end to end: acl_surface keeps its own books; it is recorded and the trace ingested; every line of
 * its books must be what the views say.
 *
 *     test_acl_surface NPUMEM_RECORD NPUMEM_INGEST PROGRAM
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/run.h"

static const char *recorder, *ingest, *program;
static char folder[64];

/* Figures of the groups that are no level of heaps; `room` of it. NULL: the group is one. */
static const char *call_sql(const char *group, const char *name, char *sql, size_t room)
{
    if (strcmp(group, "transfer") == 0)
        snprintf(sql, room, "SELECT sum(%s) FROM zero_copy", name);
    else if (strcmp(group, "memset") == 0)
        snprintf(sql, room, "SELECT sum(%s) FROM z_copy_sum JOIN copy_kind AS k USING (kind) WHERE k.name = ?1", name);
    else if (strcmp(group, "inner") == 0)
        snprintf(sql, room,
                 "SELECT sum(%s) FROM z_copy_sum JOIN copy_kind AS k USING (kind) WHERE k.name = 'inside the device'",
                 name);
    else if (strcmp(group, "exported") == 0)
        snprintf(
            sql, room,
            "SELECT count(*) FROM allocation JOIN z_heap_place USING (heap_id) WHERE is_exported = 1 AND level = '%s'",
            name);
    else if (strcmp(group, "stream") == 0 && strcmp(name, "failed") == 0)
        snprintf(sql, room, "SELECT sum(error_count) FROM z_stream_call_sum");
    else if (strcmp(group, "stream") == 0)
        snprintf(sql, room, "SELECT count(*) FROM z_stream_call WHERE kind = %s", name);
    else
        return NULL;
    return sql;
}

/* What the views say of a line; -1: a recorder cannot know it. */
static long long figure(sqlite3 *db, const char *group, const char *name)
{
    char sql[256];

    if (strstr(name, "_block_") != NULL)
        return -1;
    if (call_sql(group, name, sql, sizeof sql) != NULL)
        return ask_text(db, sql, group);
    if (strcmp(name, "failure_count") == 0)
        snprintf(sql, sizeof sql, "SELECT count(*) FROM failure JOIN z_heap_place USING (heap_id) WHERE level = ?1");
    else if (strcmp(name, "live_count") == 0)
        /* The reset at the end takes a variable of the device along, which is the runtime's. */
        snprintf(sql, sizeof sql, "SELECT count(*) FROM outstanding WHERE level = ?1 AND heap <> 'RUNTIME'");
    else if (strcmp(name, "peak_bytes") == 0 && strcmp(group, "driver") == 0)
        snprintf(sql, sizeof sql, "SELECT peak_bytes FROM device_peak");
    else if (strcmp(name, "peak_bytes") == 0)
        snprintf(sql, sizeof sql, "SELECT peak_bytes FROM peak WHERE level = ?1");
    else
        snprintf(sql, sizeof sql, "SELECT sum(%s) FROM heap_total WHERE level = ?1", name);
    return ask_text(db, sql, group);
}

static sqlite3 *record_and_ingest(const char *argument)
{
    char command[1024];
    nm_run run;

    snprintf(command, sizeof command,
             "%s %s >%s/plain && %s --force -o %s/t.zst -- %s %s >%s/books && cmp %s/plain %s/books"
             " && %s --quiet --force -o %s/t.db %s/t.zst",
             program, argument, folder, recorder, folder, program, argument, folder, folder, folder, ingest, folder,
             folder);
    run = run_shell(command, 120);
    ck_assert_msg(run.exit_code == 0, "%s%s", run_out(&run), run_err(&run));
    run_free(&run);
    return ask_open(folder, "t.db");
}

static void check_books(sqlite3 *db)
{
    char path[128], group[32], name[64];
    long long value;
    int line_count = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/books", folder);
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    for (; fscanf(file, "%31[^.].%63s %lld ", group, name, &value) == 3; line_count++) {
        long long got = figure(db, group, name);

        ck_assert_msg(got == value || got == -1, "%s.%s is %lld, the views say %lld", group, name, value, got);
    }
    ck_assert(feof(file));
    fclose(file);
    ck_assert_int_gt(line_count, 80);
}

START_TEST(books_equal_views)
{
    static const char *const rounds[] = {"1", "7", "40"};

    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        sqlite3 *db = record_and_ingest(rounds[i]);

        check_books(db);
        ck_assert_int_eq(ask_text(db, "SELECT is_complete FROM input", ""), 1);
        ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM misuse", ""), 0);
        sqlite3_close(db);
    }
}
END_TEST

START_TEST(kinds_are_kept_with_each_allocation)
{
    sqlite3 *db = record_and_ingest("3");

    ck_assert_int_eq(ask_text(db,
                              "SELECT count(*) FROM allocation JOIN z_heap_place USING (heap_id) JOIN z_memory_kind"
                              " ON z_memory_kind.kind = policy WHERE level = 'physical' AND name = 'HBM huge pages'",
                              ""),
                     3 * 7);
    ck_assert_int_eq(ask_text(db,
                              "SELECT count(*) FROM allocation JOIN z_heap_place USING (heap_id)"
                              " JOIN end_kind USING (end_kind) WHERE level = 'driver' AND name = 'unmapped'",
                              ""),
                     3 * 6);
    ck_assert_int_eq(ask_text(db,
                              "SELECT count(*) FROM allocation JOIN z_memory_kind ON z_memory_kind.kind = policy"
                              " WHERE is_mapped = 1 AND name = 'HBM huge pages'",
                              ""),
                     3 * 6);
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM copy WHERE limit_bytes = 4096", ""), 3 * 3);
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM copy WHERE limit_bytes = 4096 - 100 AND kind = 6", ""), 3);
    ck_assert_int_eq(
        ask_text(db, "SELECT count(*) FROM copy WHERE target_address - source_address = 2048 AND kind = 6", ""), 3 * 2);
    ck_assert_int_eq(
        ask_text(db, "SELECT count(DISTINCT heap) FROM z_heap_place WHERE heap LIKE 'CANN memory pool%'", ""), 1);
    sqlite3_close(db);
}
END_TEST

/* How often the program asked for each kind in a round. */
START_TEST(a_view_has_the_words_for_what_was_asked_for)
{
    static const struct {
        const char *where;
        int count; /* in one round */
    } asked[] = {
        {"heap = 'device memory' AND policy = 'normal only'", 4},
        {"heap = 'RUNTIME' AND policy = 'huge first'", 1},
        {"heap = 'managed memory' AND policy IS NULL", 1},
        {"level = 'registered' AND policy = 'registered + mapped'", 1},
        {"level = 'physical' AND policy = 'HBM huge pages'", 7},
        {"level = 'physical' AND policy = 'HBM normal pages'", 1},
        {"allocation_id IN (SELECT m.allocation_id FROM allocation AS m WHERE m.is_mapped = 1) AND policy = 'HBM huge "
         "pages'",
         6},
    };
    sqlite3 *db = record_and_ingest("3");

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char sql[256];

        snprintf(sql, sizeof sql, "SELECT count(*) FROM allocation_detail WHERE %s", asked[i].where);
        ck_assert_msg(ask_text(db, sql, "") == 3 * asked[i].count, "%s: %lld", asked[i].where, ask_text(db, sql, ""));
    }
    sqlite3_close(db);
}
END_TEST

/* Mistakes, and the one that the runtime does not mind: what was exported is freed as anything else. */
START_TEST(mistakes_are_told_once_and_by_their_name)
{
    sqlite3 *db = record_and_ingest("misuse");

    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM misuse", ""), 2);
    ck_assert_int_eq(
        ask_text(db, "SELECT count(*) FROM misuse WHERE kind = 'double free' AND level = 'registered'", ""), 1);
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM misuse WHERE kind = 'double free' AND level = 'physical'", ""),
                     1);
    ck_assert_int_eq(
        ask_text(db, "SELECT count(*) FROM failure JOIN z_heap_place USING (heap_id) WHERE level = 'registered'", ""),
        1);
    ck_assert_int_eq(ask_text(db,
                              "SELECT count(*) FROM allocation JOIN z_heap_place USING (heap_id)"
                              " WHERE level = 'driver' AND is_exported = 1 AND end_kind = 1",
                              ""),
                     1);
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM allocation WHERE is_mapped = 1 AND end_kind = 2", ""), 1);
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM outstanding", ""), 0);
    sqlite3_close(db);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("acl surface");
    TCase *tests = tcase_create("acl_surface");
    SRunner *runner;
    int failed_count;

    if (argc != 4)
        return 2;
    recorder = argv[1];
    ingest = argv[2];
    program = argv[3];
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, books_equal_views);
    tcase_add_test(tests, kinds_are_kept_with_each_allocation);
    tcase_add_test(tests, a_view_has_the_words_for_what_was_asked_for);
    tcase_add_test(tests, mistakes_are_told_once_and_by_their_name);
    suite_add_tcase(suite, tests);
    run_make_folder(folder);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    run_remove_folder(folder);
    return failed_count != 0;
}
