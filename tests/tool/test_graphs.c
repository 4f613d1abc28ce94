/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: a server that captures one for each batch size is recorded. The recorder asks the runtime nothing while a capture
 * is open, or the capture would be spoilt and the program end with an error; what was captured and executed is told.
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

static sqlite3 *record_and_ingest(const char *arguments)
{
    char command[1024];
    nm_run run;

    snprintf(command, sizeof command,
             "%s %s >%s/plain && %s --force -o %s/t.zst -- %s %s >%s/books && cmp %s/plain %s/books"
             " && %s --quiet --force -o %s/t.db %s/t.zst",
             program, arguments, folder, recorder, folder, program, arguments, folder, folder, folder, ingest, folder,
             folder);
    run = run_shell(command, 60);
    ck_assert_msg(run.exit_code == 0, "%s%s", run_out(&run), run_err(&run));
    run_free(&run);
    return ask_open(folder, "t.db");
}

static long long calls(sqlite3 *db, const char *kind)
{
    return ask_text(
        db, "SELECT count(*) FROM stream_call AS s JOIN stream_call_kind AS k USING (kind) WHERE k.name = ?1", kind);
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
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    run_remove_folder(folder);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
