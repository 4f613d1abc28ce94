/* SPDX-License-Identifier: Apache-2.0
 *
 * Pool events, marks and steps end to end: the torch_npu-like client, which tells its pools through mstx with all of
 * torch_npu's quirks, is recorded and ingested, and its books must be what the views say; with another tool behind the
 * recorder, which must get what it gets without it; and where its pools cannot be seen, that must be said.
 *
 *     test_pool_events NPUMEM_RECORD NPUMEM_INGEST PROGRAM_FOLDER SPY FAKE_TORCH_NPU HOOK
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/run.h"

static const char *recorder, *ingest, *programs, *spy, *fake_torch_npu, *hook;
static char folder[64];

/* The number after a key of `key value` lines; the test fails without it. */
static long long book(const char *books, const char *key)
{
    size_t length = strlen(key);

    for (const char *line = books; line != NULL && *line != 0;) {
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            return strtoll(line + length + 1, NULL, 10);
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    ck_abort_msg("no key %s", key);
    return 0;
}

static nm_run run_in_folder(const char *environment, const char *options, const char *program)
{
    char command[2048];
    nm_run run;

    snprintf(command, sizeof command, "cd %s && %s %s -q --force -o t.zst %s -- %s/%s", folder, environment, recorder,
             options, programs, program);
    run = run_shell(command, 120);
    ck_assert_msg(run.exit_code == 0, "%s: %d: %s", command, run.exit_code, run_err(&run));
    return run;
}

static sqlite3 *open_database(void)
{
    char command[1024];
    nm_run run;

    snprintf(command, sizeof command, "%s --quiet --force --threshold fragmentation=0 -o %s/t.db %s/t.zst", ingest,
             folder, folder);
    run = run_shell(command, 120);
    ck_assert_msg(run.exit_code == 0, "%s%s", run_out(&run), run_err(&run));
    run_free(&run);
    return ask_open(folder, "t.db");
}

#define FREED "allocation JOIN z_heap_place USING (heap_id) JOIN end_kind USING (end_kind)"

/* ---- Books against views ------------------------------------------------------------------------------------------- */

static void check_heap(sqlite3 *db, const char *books, const char *group, const char *heap)
{
    /* What the reset at exit ends was not freed. */
    static const char *const names[][3] = {{"allocation_count", "heap_total", "allocation_count"},
                                           {"free_count", FREED, "1"},
                                           {"allocated_block_bytes", "heap_total", "allocated_bytes"},
                                           {"freed_block_bytes", FREED, "size_bytes"},
                                           {"live_count", "heap_total", "outstanding_count"},
                                           {"live_block_bytes", "heap_total", "outstanding_bytes"},
                                           {"peak_block_bytes", "peak", "peak_bytes"},
                                           {"peak_reserved_bytes", "peak", "peak_reserved_bytes"}};
    char key[64], sql[256];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        long long in_books, in_view;

        snprintf(key, sizeof key, "%s.%s", group, names[i][0]);
        snprintf(sql, sizeof sql, "SELECT coalesce(sum(%s), 0) FROM %s WHERE heap = '%s'%s", names[i][2], names[i][1],
                 heap, strcmp(names[i][1], FREED) == 0 ? " AND name = 'freed'" : "");
        in_books = book(books, key);
        in_view = ask(db, sql);
        ck_assert_msg(in_books == in_view, "%s is %lld, but %s.%s of %s is %lld", key, in_books, names[i][1],
                      names[i][2], heap, in_view);
    }
}

static void check_books(sqlite3 *db, const char *books)
{
    static const char hits[] = "SELECT hit_count FROM pool_hit_rate WHERE heap = 'ptaCaching' AND bucket = 'all'";

    check_heap(db, books, "pool", "ptaCaching");
    check_heap(db, books, "workspace", "ptaWorkspace");
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM heap WHERE level IN (SELECT level FROM heap_level"
                             " WHERE name IN ('pool', 'workspace'))"),
                     2);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM allocation JOIN z_heap_place USING (heap_id)"
                             " WHERE heap LIKE 'pta%' AND (requested_bytes IS NOT NULL OR stream IS NOT NULL)"),
                     0);
    /* Also where the library of mstx had been opened a moment before. */
    ck_assert_int_eq(ask(db,
                         "SELECT count(*) FROM allocation JOIN z_heap_place USING (heap_id) JOIN stack USING (stack_id)"
                         " JOIN frame USING (frame_id) WHERE heap LIKE 'pta%' AND function IS NULL"),
                     0);
    ck_assert_int_eq(ask(db, hits), book(books, "pool.all.hit_count"));
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM step"), book(books, "step_count"));
    ck_assert_int_eq(ask(db, "SELECT coalesce(max(number) - min(number) + 1, 0) FROM step"), book(books, "step_count"));
    ck_assert_int_eq(ask(db,
                         "SELECT count(*) FROM moment JOIN z_moment_kind USING (kind) WHERE z_moment_kind.name = 'mark'"
                         " AND moment.name = 'half'"),
                     book(books, "mark_count"));
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM misuse WHERE kind <> 'stream never destroyed'"), 0);
    ck_assert_int_eq(ask(db, "SELECT is_complete FROM input"), 1);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM z_unseen WHERE kind = 'no pool events'"), 0);
}

/* What the pool keeps aside for another stream it tells as free: whoever records the events, nothing is claimed of it. With
 * an event of the program's own after a plain free the calls are the same, and nothing was kept aside. */
START_TEST(what_other_streams_still_use_is_not_claimed)
{
    static const char *const options[] = {"--record-stream", "--record-event"};
    char command[128];

    for (int i = 0; i < 6; i++) {
        snprintf(command, sizeof command, "torch_like %s --task-queue %d --steps 3", options[i % 2], i / 2);
        nm_run run = run_in_folder("", "", command);
        sqlite3 *db = open_database();
        long long aside_bytes = book(run_out(&run), "pool.max_aside_bytes");

        ck_assert_int_eq(aside_bytes, i % 2 == 0 ? (40 << 20) + 512 : 0);
        check_books(db, run_out(&run));
        ck_assert_int_eq(ask(db, "SELECT count(*) FROM pool_summary WHERE heap = 'ptaCaching' AND"
                                 " coalesce(pending_count, max_pending_bytes, pending_mib_seconds, max_wait_ns,"
                                 " pending_miss_count, pending_free_count) IS NULL"),
                         1);
        ck_assert_int_ge(ask(db, "SELECT max_pending_bound_bytes FROM pool_summary WHERE heap = 'ptaCaching'"),
                         aside_bytes);
        ck_assert_int_eq(ask(db, "SELECT count(*) FROM z_pool_miss_by_site WHERE heap = 'ptaCaching'"
                                 " AND cause IN ('cold', 'fragmentation')"),
                         0);
        ck_assert_int_eq(ask(db, "SELECT count(*) FROM health WHERE measure = 'fragmentation' AND heap = 'ptaCaching'"
                                 " AND reason = 'other streams may use it' AND verdict = 'unknown'"
                                 " AND advice LIKE '%: at most, for what other streams%'"
                                 " AND advice NOT LIKE '%give back%'"),
                         1);
        sqlite3_close(db);
        run_free(&run);
    }
}
END_TEST

START_TEST(books_equal_views_however_cann_is_loaded)
{
    static const char *const commands[] = {
        "torch_like --loader handle",
        "torch_like --loader default --expandable --steps 4",
        "torch_like --loader linked --task-queue 2 --leak",
        "torch_like --loader local --task-queue 0 --hccl",
        "torch_like --loader deepbind --expandable --unit 3000 --layers 7",
        "torch_like_linked --loader linked --close",
    };

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        nm_run run = run_in_folder("", "", commands[i]);
        sqlite3 *db = open_database();

        ck_assert_int_eq(book(run_out(&run), "mstx.is_on"), 1);
        check_books(db, run_out(&run));
        sqlite3_close(db);
        run_free(&run);
    }
}
END_TEST

START_TEST(every_process_of_a_python_program_tells_its_own)
{
    static const char *const prefixes[] = {"", "fork.", "spawn."};
    char key[64], command[1024];
    long long block_bytes = 0, step_count = 0;
    sqlite3 *db;
    nm_run run;

    snprintf(command, sizeof command,
             "cd %s && %s -q --force -o t.zst -- python3 %s/torch_like.py --steps 3 --fork --spawn", folder, recorder,
             programs);
    run = run_shell(command, 120);
    ck_assert_msg(run.exit_code == 0, "%s", run_err(&run));
    db = open_database();
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        snprintf(key, sizeof key, "%spool.allocated_block_bytes", prefixes[i]);
        block_bytes += book(run_out(&run), key);
        snprintf(key, sizeof key, "%sstep_count", prefixes[i]);
        step_count += book(run_out(&run), key);
    }
    ck_assert_int_eq(ask(db, "SELECT sum(allocated_bytes) FROM heap_total WHERE heap = 'ptaCaching'"), block_bytes);
    ck_assert_int_eq(ask(db, "SELECT count(DISTINCT pid) FROM heap_total WHERE heap = 'ptaCaching'"), 3);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM step"), step_count);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM misuse WHERE kind <> 'stream never destroyed'"), 0);
    sqlite3_close(db);
    run_free(&run);
}
END_TEST

START_TEST(without_pool_events_the_program_tells_none)
{
    nm_run run = run_in_folder("", "--no-pool-events", "torch_like --steps 3");
    sqlite3 *db = open_database();

    ck_assert_int_eq(book(run_out(&run), "mstx.is_on"), 0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM z_heap_place WHERE level IN ('pool', 'workspace')"), 0);
    /* Marks and steps need no gate. */
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM step"), book(run_out(&run), "step_count"));
    sqlite3_close(db);
    run_free(&run);
}
END_TEST

START_TEST(a_recording_inside_another_may_want_the_other_name)
{
    char command[1024];
    nm_run run;

    snprintf(
        command, sizeof command,
        "cd %s && %s -q --force -o outer.zst -- %s -q --no-pool-events --force -o t.zst -- %s/torch_like --steps 3",
        folder, recorder, recorder, programs);
    run = run_shell(command, 120);
    ck_assert_msg(run.exit_code == 0, "%s", run_err(&run));
    ck_assert_int_eq(book(run_out(&run), "mstx.is_on"), 0);
    run_free(&run);
}
END_TEST

/* ---- Another tool -------------------------------------------------------------------------------------------------- */

static char *read_report(const char *name)
{
    char path[128], *text = calloc(1, 1 << 16);
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "r");
    ck_assert_msg(file != NULL && text != NULL, "%s", path);
    ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, file), 0);
    fclose(file);
    return text;
}

/* The tool's report of a program that is not recorded, and of the same one recorded with `environment`. */
static nm_run check_reports(const char *environment, const char *program)
{
    char command[1024], *alone, *behind;
    nm_run run;

    snprintf(command, sizeof command, "cd %s && %s TORCH_SPY=alone.txt %s/%s", folder, environment, programs, program);
    run = run_shell(command, 120);
    ck_assert_int_eq(run.exit_code, 0);
    run_free(&run);
    snprintf(command, sizeof command, "%s TORCH_SPY=behind.txt", environment);
    run = run_in_folder(command, "", program);
    alone = read_report("alone.txt");
    behind = read_report("behind.txt");
    ck_assert_str_eq(alone, behind);
    free(alone);
    free(behind);
    return run;
}

START_TEST(a_tool_behind_gets_every_call_as_without_us)
{
    char environment[256];
    sqlite3 *db;
    nm_run run;

    snprintf(environment, sizeof environment, "LD_PRELOAD=%s", spy);
    run = check_reports(environment, "torch_like --steps 5 --hccl");
    db = open_database();
    check_books(db, run_out(&run));
    sqlite3_close(db);
    run_free(&run);
}
END_TEST

START_TEST(a_tool_that_is_named_is_told_instead_of_us_and_that_is_said)
{
    char environment[512];
    sqlite3 *db;
    nm_run run;

    /* Preloaded too, so that the gate is open without us, and named, so that it alone is asked. */
    snprintf(environment, sizeof environment, "MSTX_INJECTION_PATH=%s LD_PRELOAD=%s", spy, spy);
    run = check_reports(environment, "torch_like --steps 5");
    db = open_database();
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM z_heap_place WHERE level IN ('pool', 'workspace')"), 0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM step"), 0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM z_unseen WHERE kind = 'no pool events'"
                             " AND text LIKE '%MSTX_INJECTION_PATH%'"),
                     1);
    sqlite3_close(db);
    run_free(&run);
}
END_TEST

START_TEST(a_tool_that_is_us_is_told)
{
    char environment[512];
    sqlite3 *db;
    nm_run run;

    snprintf(environment, sizeof environment, "MSTX_INJECTION_PATH=%s", hook);
    run = run_in_folder(environment, "", "torch_like --steps 3");
    db = open_database();
    check_books(db, run_out(&run));
    sqlite3_close(db);
    run_free(&run);
}
END_TEST

/* ---- What cannot be seen ------------------------------------------------------------------------------------------- */

static void check_note(const char *options, const char *program, const char *text)
{
    char environment[256], sql[256];
    nm_run run;
    sqlite3 *db;

    snprintf(environment, sizeof environment, "LD_PRELOAD=%s", fake_torch_npu);
    run = run_in_folder(environment, options, program);
    db = open_database();
    snprintf(sql, sizeof sql, "SELECT count(*) FROM z_unseen WHERE kind = 'no pool events' AND text LIKE '%%%s%%'",
             text);
    ck_assert_msg(ask(db, sql) == 1, "%s %s: no note '%s'", options, program, text);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM z_unseen WHERE kind = 'no pool events'"), 1);
    sqlite3_close(db);
    run_free(&run);
}

START_TEST(torch_npu_without_pool_events_is_noted)
{
    char environment[256];
    nm_run run;
    sqlite3 *db;

    check_note("--no-pool-events", "torch_like --steps 2", "--no-pool-events");
    check_note("", "npu_train --steps 2", "asks for no tool");
    snprintf(environment, sizeof environment, "LD_PRELOAD=%s", fake_torch_npu);
    run = run_in_folder(environment, "", "torch_like --steps 2");
    db = open_database();
    check_books(db, run_out(&run)); /* all was seen */
    sqlite3_close(db);
    run_free(&run);
    /* Its gate looks for the library of mstx where ASCEND_HOME_PATH says. */
    snprintf(environment, sizeof environment, "ASCEND_HOME_PATH=/no/such/folder LD_PRELOAD=%s", fake_torch_npu);
    run = run_in_folder(environment, "", "torch_like --steps 2");
    db = open_database();
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM z_unseen WHERE text LIKE '%made no domain%'"), 1);
    sqlite3_close(db);
    run_free(&run);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("pool_events");
    TCase *tests = tcase_create("pool_events");
    SRunner *runner;
    int failed_count;

    if (argc != 7)
        return 2;
    recorder = argv[1];
    ingest = argv[2];
    programs = argv[3];
    spy = argv[4];
    fake_torch_npu = argv[5];
    hook = argv[6];
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, what_other_streams_still_use_is_not_claimed);
    tcase_add_test(tests, books_equal_views_however_cann_is_loaded);
    if (system("command -v python3 >/dev/null || ! echo 'skipped: no python3 here'") == 0)
        tcase_add_test(tests, every_process_of_a_python_program_tells_its_own);
    tcase_add_test(tests, without_pool_events_the_program_tells_none);
    tcase_add_test(tests, a_recording_inside_another_may_want_the_other_name);
    tcase_add_test(tests, a_tool_behind_gets_every_call_as_without_us);
    tcase_add_test(tests, a_tool_that_is_named_is_told_instead_of_us_and_that_is_said);
    tcase_add_test(tests, a_tool_that_is_us_is_told);
    tcase_add_test(tests, torch_npu_without_pool_events_is_noted);
    suite_add_tcase(suite, tests);
    run_make_folder(folder);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    run_remove_folder(folder);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
