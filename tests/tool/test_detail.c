/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-ingest --detail: with fewer rows all answers are the same. Every view there is, but lists of allocations, must have
 * the same rows whatever the detail; and the rows that 'live' keeps are those that a slow look at all moments finds in a
 * database with all rows. Asked of the traces of all cases of tests/sql, and of random ones.
 *
 *     test_detail NPUMEM_INGEST TEXT2TRACE CASES_DIR    as $I $T $C in lines of shell
 */
#include <check.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/shell.h"

#define TRACES_AT_ONCE 8
#define RANDOM_TRACES  8
#define RANDOM_EVENTS  1500
#define VIEWS_MAX      256

#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

/* Of lists of allocations: with 'live' they are whole all the same, for what is outstanding is live at the end, or at the moments.
 * stack_sum sums such a list for the moment when a pool held most. */
static const char *const lists[] = {"outstanding", "leak", "serving_moment", "stack_sum", NULL};

/* What tells of the rows that are there: not the same with another detail. */
static const char *const of_rows[] = {"allocation", "allocation_detail", "catalog", NULL};

static void expect(const char *line, int exit_code, const char *error_part)
{
    nm_run run = shell_line(line);

    ck_assert_msg(run.exit_code == exit_code, "%s: exit %d, %s%s", line, run.exit_code, run_out(&run), run_err(&run));
    ck_assert_msg(strstr(run_err(&run), error_part) != NULL, "%s: %s", line, run_err(&run));
    run_free(&run);
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static void exec(sqlite3 *db, const char *format, ...)
{
    va_list arguments;
    char *message = NULL, *sql;

    va_start(arguments, format);
    sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    ck_assert_ptr_nonnull(sql);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%.2000s: %s", sql, message);
    sqlite3_free(sql);
}

static bool is_among(const char *const names[], const char *view)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], view) == 0)
            return true;
    return false;
}

/* The statement that adds the rows of each view to a table, each as one text without the column that states the detail. All
 * databases have the same views, so their columns are asked for once. */
static char *add_sql[VIEWS_MAX];
static const char *view_names[VIEWS_MAX];
static int view_count;

static void add_view(sqlite3 *db, const char *view)
{
    sqlite3_stmt *columns = NULL;
    sqlite3_str *sql = sqlite3_str_new(db);

    ck_assert_int_lt(view_count, VIEWS_MAX);
    sqlite3_str_appendf(sql, "SELECT %Q, ''", view);
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT name FROM pragma_table_info(?1, 'whole') WHERE name <> 'detail' OR"
                                        " ?1 <> 'completeness'",
                                        -1, &columns, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(columns, 1, view, -1, SQLITE_STATIC);
    while (sqlite3_step(columns) == SQLITE_ROW)
        sqlite3_str_appendf(sql, " || '|' || quote(\"%w\")", sqlite3_column_text(columns, 0));
    sqlite3_finalize(columns);
    add_sql[view_count] = sqlite3_str_finish(sql);
    view_names[view_count++] = sqlite3_mprintf("%s", view);
}

static void learn_views(sqlite3 *db)
{
    sqlite3_stmt *views = NULL;

    if (view_count > 0)
        return;
    ck_assert_int_eq(
        sqlite3_prepare_v2(db, "SELECT name FROM whole.sqlite_master WHERE type = 'view'", -1, &views, NULL),
        SQLITE_OK);
    while (sqlite3_step(views) == SQLITE_ROW)
        if (!is_among(of_rows, (const char *)sqlite3_column_text(views, 0)))
            add_view(db, (const char *)sqlite3_column_text(views, 0));
    sqlite3_finalize(views);
    ck_assert_int_ge(view_count, 30);
}

/* Under a sanitizer none: views say the same there, in minutes. */
static void add_rows(sqlite3 *db, const char *schema, const char *table, bool has_lists)
{
    if (HAS_SANITIZER)
        return;
    exec(db, "DELETE FROM %s", table);
    for (int i = 0; i < view_count; i++)
        if (has_lists || !is_among(lists, view_names[i]))
            exec(db, "INSERT INTO %s %s FROM %s.\"%w\"", table, add_sql[i], schema, view_names[i]);
}

/* The rows of `whole` are in whole_row already. */
static void compare_views(sqlite3 *db, const char *other, bool has_lists)
{
    sqlite3_stmt *row = NULL;

    add_rows(db, other, "other_row", has_lists);
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT view, sum(sign), text FROM (SELECT view, text, 1 AS sign FROM whole_row"
                                        " WHERE ?1 OR view NOT IN list"
                                        " UNION ALL SELECT view, text, -1 FROM other_row)"
                                        " GROUP BY view, text HAVING sum(sign) <> 0 ORDER BY view LIMIT 1",
                                        -1, &row, NULL),
                     SQLITE_OK);
    sqlite3_bind_int(row, 1, has_lists);
    if (sqlite3_step(row) == SQLITE_ROW)
        ck_abort_msg("%s, view %s: %d: %s", other, sqlite3_column_text(row, 0), sqlite3_column_int(row, 1),
                     sqlite3_column_text(row, 2));
    sqlite3_finalize(row);
}

/* Each allocation against each moment, of database `live`. What is kept beside those are segments that carry them, or did so at a
 * peak. */
static void check_live_rows(sqlite3 *db)
{
    exec(db, "DROP TABLE IF EXISTS temp.met");
    exec(db, "CREATE TEMP TABLE met AS SELECT a.allocation_id, a.segment_id FROM whole.allocation AS a"
             " JOIN whole.heap AS h ON h.heap_id = a.heap_id WHERE a.end_kind = 0 OR EXISTS"
             " (SELECT 1 FROM whole.moment AS m WHERE coalesce(a.alloc_seq, -1) <= coalesce(m.seq, -1)"
             " AND a.free_seq > coalesce(m.seq, -1) AND ((m.kind IN (1, 6) AND m.heap_id = a.heap_id)"
             " OR (m.kind IN (3, 4) AND coalesce(m.process_id, h.process_id) = h.process_id AND m.input_id ="
             " (SELECT p.input_id FROM whole.process AS p WHERE p.process_id = h.process_id))"
             " OR (m.kind = 5 AND h.device_id IN (SELECT s.device_id FROM whole.z_device_sample AS s"
             " WHERE s.moment_id = m.moment_id))))");
    ck_assert_int_eq(
        ask(db, "SELECT count(*) FROM met WHERE allocation_id NOT IN (SELECT allocation_id FROM live.allocation)"), 0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM met WHERE segment_id IS NOT NULL AND segment_id NOT IN (SELECT "
                             "allocation_id FROM live.allocation)"),
                     0);
    ck_assert_int_eq(ask(db,
                         "SELECT count(*) FROM live.allocation WHERE is_segment = 0 AND allocation_id NOT IN (SELECT "
                         "allocation_id FROM met)"),
                     0);
    ck_assert_int_eq(
        ask(db, "SELECT count(*) FROM (SELECT * FROM live.allocation EXCEPT SELECT * FROM whole.allocation)"), 0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM whole.allocation") - ask(db, "SELECT count(*) FROM live.allocation"),
                     ask(db, "SELECT sum(allocation_count) FROM live.z_left_out"));
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM live.allocation WHERE operation_id IS NOT NULL AND operation_id NOT "
                             "IN (SELECT operation_id FROM "
                             "live.operation)"),
                     0);
}

static void check_none_rows(sqlite3 *db)
{
    ck_assert_int_eq(ask(db, "SELECT (SELECT count(*) FROM none.allocation) + (SELECT count(*) FROM none.copy)"
                             " + (SELECT count(*) FROM none.workspace) + (SELECT count(*) FROM none.z_stream_call)"),
                     0);
    ck_assert_int_eq(ask(db, "SELECT sum(allocation_count) FROM none.z_left_out"),
                     ask(db, "SELECT count(*) FROM whole.allocation"));
    ck_assert_int_eq(ask(db, "SELECT coalesce(max(last_allocation_id), 0) FROM none.z_left_out"),
                     ask(db, "SELECT coalesce(max(allocation_id), 0) FROM whole.allocation"));
}

/* A database with all rows of which one with less is made, in the place of `live`: no segment stays but those that carry what does. */
static void check_less_of_a_database(sqlite3 *db)
{
    ck_assert_int_eq(
        ask(db, "SELECT count(*) FROM (SELECT * FROM less.allocation EXCEPT SELECT * FROM live.allocation)"), 0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM less.allocation WHERE is_segment = 1 AND end_kind NOT IN (0, 3) AND"
                             " allocation_id NOT IN (SELECT allocation_id FROM met) AND allocation_id NOT IN"
                             " (SELECT segment_id FROM less.allocation WHERE segment_id IS NOT NULL)"),
                     0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM (SELECT * FROM less.operation EXCEPT SELECT * FROM live.operation)"),
                     0);
    exec(db, "DETACH live; ATTACH '%s/less.db' AS live", shell_folder);
    check_live_rows(db);
    exec(db, "DETACH none; ATTACH '%s/least.db' AS none", shell_folder);
    check_none_rows(db);
}

static void check_trace(const char *name)
{
    char line[2048];
    sqlite3 *db = NULL;

    snprintf(line, sizeof line,
             "rm -f *.db && $I --quiet %s -o whole.db && $I --quiet --detail live %s -o live.db &&"
             " $I --quiet --detail none %s -o none.db && $I --quiet --detail live whole.db -o less.db &&"
             " $I --quiet --detail none less.db -o least.db",
             name, name, name);
    expect(line, 0, "");
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    exec(db,
         "ATTACH '%s/whole.db' AS whole; ATTACH '%s/live.db' AS live; ATTACH '%s/none.db' AS none; ATTACH '%s/less.db' "
         "AS less",
         shell_folder, shell_folder, shell_folder, shell_folder);
    exec(db, "CREATE TABLE whole_row (view, text); CREATE TABLE other_row (view, text); CREATE TABLE list (view)");
    for (size_t i = 0; lists[i] != NULL; i++)
        exec(db, "INSERT INTO list VALUES (%Q)", lists[i]);
    learn_views(db);
    add_rows(db, "whole", "whole_row", true);
    compare_views(db, "live", true);
    compare_views(db, "none", false);
    check_live_rows(db);
    check_none_rows(db);
    compare_views(db, "less", true);
    check_less_of_a_database(db);
    sqlite3_close(db);
}

/* ---- Random traces ----------------------------------------------------------------------------------------------- */

static unsigned long seed;

static unsigned pick(unsigned below)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(seed >> 33) % below;
}

typedef struct slot {
    int heap;
    unsigned address;
    bool is_live;
} slot;

#define SLOTS 64

static void write_head(FILE *out)
{
    fputs("process 1 pid=100 host=h rank=0\nprocess 2 pid=200 host=h rank=1\n"
          "thread 1 process=1 tid=1\nthread 2 process=2 tid=2\n"
          "device 1 process=1 ordinal=0 physical=0 kind=npu capacity=100000000\n"
          "device 2 process=2 ordinal=0 physical=0 kind=npu capacity=100000000\n"
          "heap 1 process=1 device=1 level=driver basis=requested name=\"device memory\"\n"
          "heap 2 process=1 device=1 level=pool basis=block name=pool\n"
          "heap 3 process=2 device=2 level=driver basis=requested name=\"device memory\"\n"
          "heap 4 process=1 level=pinned basis=requested name=pinned\n"
          "stack 1: a.c:1:f < m.c:1:main\nstack 2: a.c:2:g < m.c:1:main\nstack 3: b.c:3:h\n"
          "- alloc baseline heap=4 address=0x70000000 requested=5000\n"
          "- alloc baseline heap=4 address=0x70100000 requested=60\n"
          "@1 alloc heap=1 address=0x10000000 requested=4194304 thread=1 stack=1\n"
          "@2 alloc heap=1 address=0x20000000 requested=4194304 thread=1 stack=2\n",
          out);
}

/* Blocks in two segments, driver memory of two processes, pinned memory. */
static unsigned address_of(int heap, unsigned index)
{
    if (heap == 2)
        return (index % 2 == 0 ? 0x10000000 : 0x20000000) + index * 0x8000;
    return (heap == 4 ? 0x40000000 : 0x50000000) + index * 0x100000 + (unsigned)heap;
}

static void write_event(FILE *out, long at, slot *slots)
{
    static const int heaps[] = {2, 2, 2, 2, 1, 3, 4};
    unsigned index = pick(SLOTS);
    slot *s = &slots[index];

    if (s->is_live) {
        fprintf(out, "@%ld free heap=%d address=0x%x thread=%d\n", at, s->heap, s->address, s->heap == 3 ? 2 : 1);
    } else {
        s->heap = heaps[pick(7)];
        s->address = address_of(s->heap, index);
        fprintf(out, "@%ld alloc heap=%d address=0x%x requested=%u block=%u thread=%d stack=%u\n", at, s->heap,
                s->address, 1 + pick(2000), 2048 + 512 * pick(40), s->heap == 3 ? 2 : 1, 1 + pick(3));
    }
    s->is_live = !s->is_live;
}

static void write_random(const char *path)
{
    slot slots[SLOTS] = {0};
    FILE *out = fopen(path, "w");

    ck_assert_ptr_nonnull(out);
    write_head(out);
    for (long at = 10; at < 10 + RANDOM_EVENTS; at++) {
        unsigned kind = pick(200);

        if (kind == 0)
            fprintf(out, "@%ld mark thread=%d name=m%ld\n", at, 1 + (int)pick(2), at);
        else if (kind == 1)
            fprintf(out, "@%ld alloc_failed thread=1 heap=1 requested=1 error=207001 free=5 total=9\n", at);
        else if (kind == 2)
            fprintf(out, "@%ld step number=%ld thread=1\n", at, at);
        else if (kind == 3)
            fprintf(out, "@%ld range_begin thread=1 number=%ld name=r\n", at, at);
        else if (kind == 4)
            fprintf(out, "@%ld copy thread=1 detail=h2d size=%u source=0x70000000 address=0x10000000 device=1\n", at,
                    pick(4096));
        else if (kind == 5)
            fprintf(out, "@%ld free heap=2 address=0x%x thread=1\n", at,
                    address_of(2, pick(SLOTS))); /* misuse, perhaps */
        else if (kind == 6)
            fprintf(out, "@%ld free heap=4 address=0x70000000 thread=1\n", at);
        else
            write_event(out, at, slots);
    }
    fclose(out);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

/* Several traces in each database: what is of each is a row of its own there (test_many.c), and most of the time is taken by databases
 * and by views, not by rows. */
START_TEST(answers_do_not_depend_on_the_detail)
{
    nm_run run;
    int count;

    expect("n=0; for t in $C/*/trace.txt; do n=$((n + 1)); $T $t $n.zst || exit 9; done", 0, "");
    run = shell_line("ls *.zst | wc -l");
    count = (int)strtol(run_out(&run), NULL, 10);
    run_free(&run);
    ck_assert_int_ge(count, 10);
    for (int first = 1; first <= count; first += TRACES_AT_ONCE) {
        char names[TRACES_AT_ONCE * 16] = "";

        for (int i = first; i < first + TRACES_AT_ONCE && i <= count; i++)
            snprintf(names + strlen(names), sizeof names - strlen(names), " %d.zst", i);
        check_trace(names);
    }
}
END_TEST

START_TEST(random_traces_have_the_same_answers_and_the_right_rows)
{
    for (int i = 0; i < RANDOM_TRACES; i++) {
        char path[128];

        seed = (unsigned long)i * 7919 + 1;
        snprintf(path, sizeof path, "%s/random.txt", shell_folder);
        write_random(path);
        expect("$T random.txt random.zst", 0, "");
        check_trace("random.zst");
        expect("test $(sqlite3 live.db 'SELECT count(*) > 20 AND (SELECT allocation_count FROM z_left_out) > 200 FROM "
               "allocation"
               " WHERE end_kind <> 0') = 1",
               0, "");
    }
}
END_TEST

/* Numbers of rows that were left out stay apart, and are none of another input. */
START_TEST(inputs_of_different_detail_merge)
{
    sqlite3 *db = NULL;
    char path[128];

    expect("$T $C/copies/trace.txt one.zst && $T $C/heap_place/trace.txt two.zst && $I --quiet one.zst two.zst -o "
           "all.db",
           0, "");
    expect("$I --quiet --detail none one.zst -o none.db && $I --quiet --detail live two.zst -o live.db &&"
           " $I --quiet none.db live.db -o mixed.db && $I --quiet one.zst mixed.db -o again.db",
           0, "");
    snprintf(path, sizeof path, "%s/mixed.db", shell_folder);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    exec(db, "ATTACH '%s/all.db' AS all_rows", shell_folder);
    ck_assert_int_gt(ask(db, "SELECT count(*) FROM misuse WHERE allocation_id IS NOT NULL"), 0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM (SELECT * FROM misuse EXCEPT SELECT * FROM all_rows.misuse)"), 0);
    ck_assert_int_eq(
        ask(db, "SELECT count(*) FROM (SELECT * FROM allocation EXCEPT SELECT * FROM all_rows.allocation)"), 0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM input WHERE detail = 'none'"), 1);
    sqlite3_close(db);
}
END_TEST

/* 25 events of 46 bytes are 1150. */
START_TEST(a_large_database_is_announced)
{
    expect("$T $C/leak/trace.txt one.zst && NPUMEM_INGEST_NOTE_BYTES=1149 $I one.zst -o x.db >text", 0,
           "npumem-ingest: x.db: about 1.1 KiB are expected, of 25 events (--detail live keeps fewer rows)\n");
    expect("NPUMEM_INGEST_NOTE_BYTES=1150 $I one.zst -o y.db 2>&1 >text | grep expected", 1, "");
    expect("NPUMEM_INGEST_NOTE_BYTES=1 $I --quiet one.zst -o z.db 2>&1 | grep expected", 1, "");
    expect("NPUMEM_INGEST_NOTE_BYTES=20 $I --detail none one.zst -o n.db >text", 0,
           "n.db: about 25 B are expected, of 25 events\n");
    expect("NPUMEM_INGEST_NOTE_BYTES=20 $I one.zst x.db -o m.db >text", 0, "are expected, of 25 events");
}
END_TEST

/* As many events as a database says that it has. */
START_TEST(less_detail_is_named_above_five_million_events)
{
    static const char line[] =
        "npumem-ingest: m.db: all rows of 5,000,001 events; --detail live has the same answers in a few "
        "megabytes, --window A..B all rows of a stretch\n";

    expect("$T $C/leak/trace.txt one.zst && $I one.zst -o x.db >text 2>said && ! grep detail said", 0, "");
    expect("sqlite3 x.db 'UPDATE input SET events_seen = 5000001, events_ingested = 5000001' && $I x.db -o m.db >text",
           0, line);
    expect("$I --lang zh --force x.db -o m.db >text", 0, "个事件的所有行；--detail live");
    expect("$I --quiet --force x.db -o m.db 2>&1 | grep detail", 1, "");
    expect("$I --detail live --force x.db -o m.db 2>&1 >text | grep detail", 1, "");
    expect("$I x.db 2>&1 >text | grep detail", 1, "");
    expect("sqlite3 x.db 'UPDATE input SET events_seen = 5000000, events_ingested = 5000000' && $I --force x.db -o "
           "m.db 2>&1 >text |"
           " grep detail",
           1, "");
}
END_TEST

START_TEST(the_option_is_checked)
{
    expect("$T $C/leak/trace.txt one.zst && $I --detail some one.zst", 2, "--detail some: must be all, live or none");
    expect("test ! -e one.db", 0, "");
    expect("$I --quiet --detail all one.zst -o a.db && $I --quiet one.zst -o b.db && cmp a.db b.db", 0, "");
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("detail");
    TCase *tests = tcase_create("detail");

    if (!shell_variables(argc, argv, "ITC"))
        return 2;
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 500);
    tcase_add_checked_fixture(tests, shell_make_folder, shell_remove_folder);
    tcase_add_test(tests, answers_do_not_depend_on_the_detail);
    tcase_add_test(tests, random_traces_have_the_same_answers_and_the_right_rows);
    tcase_add_test(tests, inputs_of_different_detail_merge);
    tcase_add_test(tests, a_large_database_is_announced);
    tcase_add_test(tests, less_detail_is_named_above_five_million_events);
    tcase_add_test(tests, the_option_is_checked);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures == 0 ? 0 : 1;
}
