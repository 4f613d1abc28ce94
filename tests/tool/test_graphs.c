/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: a server that captures one for each batch size is recorded. The recorder asks the runtime nothing while a capture
 * is open, or the capture would be spoilt and the program end with an error; what was captured and executed is told. What the
 * graphs hold is no leak and no growth, however the program ends; what its requests leak is found beside them.
 *
 *     test_graphs NPUMEM_RECORD NPUMEM_INGEST PROGRAM
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/ask.h"
#include "support/run.h"

static const char *recorder, *ingest, *program;
static char folder[64];

/* Alone and recorded it prints the same and ends with the same status. */
static sqlite3 *record_and_ingest(const char *arguments)
{
    char command[1536];
    nm_run run;

    snprintf(command, sizeof command,
             "(%s %s) >%s/plain; plain=$?; (%s --buffer 8M --force -o %s/t.zst -- %s %s) >%s/books; [ $? = $plain ]"
             " && cmp %s/plain %s/books && %s --quiet --force -o %s/t.db %s/t.zst",
             program, arguments, folder, recorder, folder, program, arguments, folder, folder, folder, ingest, folder,
             folder);
    run = run_shell(command, 60);
    ck_assert_msg(run.exit_code == 0, "%s%s", run_out(&run), run_err(&run));
    run_free(&run);
    return ask_open(folder, "t.db");
}

/* The screen's line on graphs of what was ingested last. */
static void check_summary(const char *line)
{
    char command[512];
    nm_run run;

    snprintf(command, sizeof command, "%s --force -o %s/s.db %s/t.zst | sed -n '/graphs captured/{N;s/\\n  */ /;P}'",
             ingest, folder, folder);
    run = run_shell(command, 60);
    ck_assert_str_eq(run_out(&run), line);
    run_free(&run);
}

static long long calls(sqlite3 *db, const char *kind)
{
    return ask_text(
        db, "SELECT count(*) FROM z_stream_call AS s JOIN z_stream_call_kind AS k USING (kind) WHERE k.name = ?1",
        kind);
}

START_TEST(nothing_is_asked_while_a_capture_is_open)
{
    sqlite3 *db = record_and_ingest("5 40");

    ck_assert_int_eq(ask(db, "SELECT is_complete FROM input"), 1);
    ck_assert_int_eq(calls(db, "begin capture"), 5);
    ck_assert_int_eq(calls(db, "end capture"), 5);
    ck_assert_int_eq(calls(db, "execute graph"), 40);
    ck_assert_int_eq(calls(db, "destroy graph"), 5);
    /* A request that fails in a capture is told, and what was free then is not known. */
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM failure WHERE device_total_bytes IS NULL"), 5);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM failure"), 5);
    /* The device of what was allocated meanwhile is known without a question. */
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM allocation AS a JOIN heap AS h USING (heap_id) JOIN device AS d"
                             " USING (device_id) WHERE d.ordinal = 0 AND a.size_bytes = 1048576"),
                     5 + 1 + 40); /* what is freed in each capture, the output for a batch of one, and the requests */
    sqlite3_close(db);
}
END_TEST

START_TEST(samples_go_on_behind_a_capture)
{
    sqlite3 *db = record_and_ingest("1 3 keep");

    /* When the devices were set, at the resets; none in the capture, which sets device 1 for the first time. */
    ck_assert_int_ge(ask(db, "SELECT count(*) FROM memory_sample AS m JOIN device AS d USING (device_id)"
                             " WHERE d.ordinal = 0"),
                     2);
    ck_assert_int_eq(calls(db, "destroy graph"), 0);
    sqlite3_close(db);
}
END_TEST

/* ---- What graphs hold -------------------------------------------------------------------------------------------- */

#define GRAPHS   32
#define REQUESTS "3000"
#define UNIT     1048576LL
#define OUTPUTS  (GRAPHS * (GRAPHS + 1) / 2 * UNIT) /* of batches of 1 to 32 */

static long long leaks(sqlite3 *db)
{
    return ask(db, "SELECT count(*) FROM leak_by_site") + ask(db, "SELECT count(*) FROM leak");
}

static long long held(sqlite3 *db, const char *level)
{
    return ask_text(db,
                    "SELECT coalesce(sum(size_bytes), 0) FROM suspect_by_site WHERE verdict = 'not judged'"
                    " AND reason = 'held by graph' AND level = ?1",
                    level);
}

static const char *const ends[] = {"keep", "keep plain", "keep kill"};
static const char *const end_kinds[] = {"reset", "lives", "lives"};

START_TEST(what_graphs_hold_is_no_leak_however_the_program_ends)
{
    char words[64];

    snprintf(words, sizeof words, "%d " REQUESTS " %s", GRAPHS, ends[_i]);
    sqlite3 *db = record_and_ingest(words);
    ck_assert_int_eq(leaks(db), 0);
    ck_assert_int_eq(held(db, "driver"), OUTPUTS);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM suspect_by_site"), 1);
    check_summary("note     32 graphs captured, 0 destroyed; the others hold 528 MiB of driver memory\n");
    ck_assert_int_eq(ask(db, "SELECT sum(execute_count) FROM z_graph_memory"), 3000);
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM z_graph_memory WHERE end_kind = ?1", end_kinds[_i]), GRAPHS);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM forecast WHERE verdict = 'growing'"), 0);
    sqlite3_close(db);
}
END_TEST

/* Outputs and temporary blocks lie in segments of the captures: one of 8 MiB where they fit, else one for each of the two. */
START_TEST(the_same_of_a_pool_and_of_workspaces)
{
    char words[64];
    long long segments = 0;

    for (int size = 1; size <= GRAPHS; size++)
        segments += size < 8 ? 8 : size + 8;
    snprintf(words, sizeof words, "%d " REQUESTS " pool steps %s", GRAPHS, ends[_i]);
    sqlite3 *db = record_and_ingest(words);
    ck_assert_int_eq(leaks(db), 0);
    ck_assert_int_eq(held(db, "pool"), OUTPUTS);
    ck_assert_int_eq(held(db, "workspace"), GRAPHS * UNIT);
    ck_assert_int_eq(ask(db, "SELECT sum(block_bytes) FROM z_graph_memory"), OUTPUTS + GRAPHS * UNIT);
    ck_assert_int_eq(ask(db, "SELECT sum(driver_bytes) FROM z_graph_memory"), (segments + GRAPHS) * UNIT);
    check_summary(
        "note     32 graphs captured, 0 destroyed; the others hold 788 MiB of driver memory, and blocks of 560 MiB\n");
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM forecast WHERE verdict = 'growing'"), 0);
    sqlite3_close(db);
}
END_TEST

/* Sizes that are captured when they are first needed, and graphs that nobody destroys, step by step. */
START_TEST(graphs_in_the_loop_are_no_growth)
{
    static const char *const words[] = {"32 80 keep steps lazy", "32 80 keep steps lazy pool",
                                        "8 100 keep steps again pool", "8 100 keep steps again plain"};
    sqlite3 *db = record_and_ingest(words[_i]);

    ck_assert_int_ge(ask(db, "SELECT max(step_count) FROM step_origin"), 80);
    ck_assert_int_eq(leaks(db), 0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM suspect_by_site WHERE reason <> 'held by graph'"), 0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM forecast WHERE verdict = 'growing'"), 0);
    sqlite3_close(db);
}
END_TEST

/* 64 KiB a request. */
START_TEST(a_leak_beside_graphs_is_found)
{
    static const char *const words[] = {"keep steps leak", "keep steps leak pool", "keep steps leak pool plain",
                                        "keep steps leak pool kill"};
    char arguments[64];

    snprintf(arguments, sizeof arguments, "%d 400 %s", GRAPHS, words[_i]);
    sqlite3 *db = record_and_ingest(arguments);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM leak_by_site"), 1);
    ck_assert_int_eq(
        ask(db, "SELECT count(*) FROM leak_by_site WHERE verdict = 'growing' AND leak_bytes = 400 * 65536"), 1);
    ck_assert_int_eq(ask(db, "SELECT bytes_per_step FROM leak_by_site"), 65536);
    ck_assert_int_eq(held(db, _i == 0 ? "driver" : "pool"), OUTPUTS);
    ck_assert_int_ge(ask(db, "SELECT count(*) FROM forecast WHERE verdict = 'growing'"), 1);
    sqlite3_close(db);
}
END_TEST

/* Without a range that says it: executions, one graph or the pieces of one each, and the wait for them begin the steps. */
START_TEST(executions_begin_steps)
{
    static const char *const words[] = {"keep leak", "keep leak pool", "keep leak pool pieces"};
    static const char anchored[] =
        "SELECT count(*) FROM step_origin WHERE kind = 'graph' AND step_count = 400 AND recur_count = 400";
    char arguments[64];

    snprintf(arguments, sizeof arguments, "%d 400 %s", GRAPHS, words[_i]);
    sqlite3 *db = record_and_ingest(arguments);
    ck_assert_int_eq(ask(db, anchored), 1);
    /* The first request has leaked before the first step begins. */
    ck_assert_int_eq(ask(db, "SELECT leak_count FROM leak_by_site WHERE verdict = 'growing'"), 399);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM leak_by_site"), 1);
    ck_assert_int_eq(ask(db, "SELECT bytes_per_step FROM leak_by_site"), 65536);
    sqlite3_close(db);
    snprintf(arguments, sizeof arguments, "%d 400 %s silent", GRAPHS, words[_i]);
    db = record_and_ingest(arguments);
    ck_assert_int_eq(ask(db, anchored), 0);
    sqlite3_close(db);
}
END_TEST

/* Graphs are destroyed, and what they held is not freed. Once, without steps, nothing says that the program would have given
 * it back; in each step it grows. */
START_TEST(what_destroyed_graphs_leave_behind_is_judged_as_any_other)
{
    sqlite3 *db = record_and_ingest("8 100 forget plain");

    ck_assert_int_eq(ask(db, "SELECT count(*) FROM leak_by_site"), 0);
    check_summary("note     8 graphs captured, 8 destroyed\n");
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM suspect_by_site"), 1);
    ck_assert_int_eq(ask(db, "SELECT size_bytes FROM suspect_by_site WHERE reason <> 'held by graph'"), 36 * UNIT);
    sqlite3_close(db);
    db = record_and_ingest("1 100 anew forget steps");
    ck_assert_int_eq(ask(db, "SELECT leak_bytes FROM leak_by_site WHERE verdict = 'growing'"), 100 * UNIT);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM suspect_by_site"), 0);
    sqlite3_close(db);
}
END_TEST

int main(int count, char **arguments)
{
    Suite *suite = suite_create("graphs");
    TCase *tests = tcase_create("recorded");
    SRunner *runner;
    int failed_count;

    if (count != 4)
        return 2;
    recorder = arguments[1];
    ingest = arguments[2];
    program = arguments[3];
    run_make_folder(folder);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, nothing_is_asked_while_a_capture_is_open);
    tcase_add_test(tests, samples_go_on_behind_a_capture);
    tcase_add_loop_test(tests, what_graphs_hold_is_no_leak_however_the_program_ends, 0, 3);
    tcase_add_loop_test(tests, the_same_of_a_pool_and_of_workspaces, 0, 3);
    tcase_add_loop_test(tests, graphs_in_the_loop_are_no_growth, 0, 4);
    tcase_add_loop_test(tests, a_leak_beside_graphs_is_found, 0, 4);
    tcase_add_loop_test(tests, executions_begin_steps, 0, 3);
    tcase_add_test(tests, what_destroyed_graphs_leave_behind_is_judged_as_any_other);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    run_remove_folder(folder);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
