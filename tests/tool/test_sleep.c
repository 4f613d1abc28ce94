/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs of frameworks as they run and end, from end to end: a server whose weights and cache sleep and wake at the same
 * addresses, and the torch_npu-like client that leaves what it holds to a reset at exit. Healthy they leak nothing at any
 * level, and nobody says otherwise; what is leaked beside that is found, all of it, once, and alone.
 *
 *     test_sleep NPUMEM_RECORD NPUMEM_INGEST NPUMEM_CHECK PROGRAM_FOLDER
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/run.h"

#define MIB INT64_C(1048576)

static const char *recorder, *ingest, *check, *programs;
static char folder[64];
static nm_run run;
static sqlite3 *db;

static int64_t book(const char *key)
{
    size_t length = strlen(key);

    for (const char *line = run_out(&run); line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            return strtoll(line + length + 1, NULL, 10);
    ck_abort_msg("no key %s", key);
    return 0;
}

/* Answers of the same trace, with other options; ends with sqlite3_close. */
static void load(const char *program, const char *options)
{
    char line[1024];

    snprintf(line, sizeof line, "%s --quiet --force %s -o %s/t.db %s/t.zst", ingest, options, folder, folder);
    nm_run done = run_shell(line, 120);
    ck_assert_msg(done.exit_code == 0, "%s: %s", program, run_err(&done));
    run_free(&done);
    db = ask_open(folder, "t.db");
}

/* Ends with run_free. */
static void record(const char *program)
{
    char line[1024];

    snprintf(line, sizeof line, "%s -q --buffer 8M --force -o %s/t.zst -- %s/%s", recorder, folder, programs, program);
    run = run_shell(line, 120);
    ck_assert_msg(run.exit_code == 0, "%s: %d: %s", program, run.exit_code, run_err(&run));
}

static void expect(const char *program, const char *sql, int64_t wanted)
{
    int64_t found = ask(db, sql);

    ck_assert_msg(found == wanted, "%s: %s is %" PRId64 ", not %" PRId64, program, sql, found, wanted);
}

static int gate(void)
{
    char line[512];

    snprintf(line, sizeof line, "%s %s/t.db --no-leak --no-growth --no-rising", check, folder);
    nm_run done = run_shell(line, 60);
    int status = done.exit_code;
    run_free(&done);
    return status;
}

static void assert_nothing_leaks(const char *program)
{
    expect(program, "SELECT count(*) FROM leak", 0);
    expect(program, "SELECT count(*) FROM leak_by_site", 0);
    expect(program, "SELECT count(*) FROM misuse", 0);
    expect(program, "SELECT count(*) FROM forecast WHERE verdict = 'growing'", 0);
    ck_assert_msg(gate() == 0, "%s: a gate fails", program);
}

/* Mapped memory is there once: as the mapping, not by its handles too; and the device is not said to have held more than it
 * says itself. */
static void assert_counted_once(const char *program)
{
    expect(program, "SELECT count(*) FROM outstanding WHERE level = 'physical'", 0);
    expect(program, "SELECT count(*) FROM suspect_by_site WHERE level = 'physical'", 0);
    expect(program,
           "SELECT (SELECT max(peak_bytes) FROM device_peak) > (SELECT max(bytes) FROM device_memory"
           " WHERE component = 'DEVICE USED' AND moment_kind = 'device peak')",
           0);
}

/* With the requests as steps, and without steps. */
static const char *const options[] = {"--step-at answer", ""};

START_TEST(a_server_that_sleeps_leaks_nothing)
{
    static const char *const commands[] = {"vllm_like", "vllm_like --end exit", "vllm_like --requests 36",
                                           "vllm_like --steady --end exit",
                                           "vllm_like --requests 5 --layers 6 --end exit"};

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        record(commands[i]);
        for (size_t k = 0; k < 2; k++) {
            load(commands[i], options[k]);
            assert_nothing_leaks(commands[i]);
            assert_counted_once(commands[i]);
            expect(commands[i], "SELECT sum(size_bytes) FROM outstanding WHERE level = 'driver'",
                   book("weights.bytes") + book("cache.bytes"));
            expect(commands[i], "SELECT count(*) FROM allocation JOIN heap USING (heap_id) WHERE level = 7",
                   book("map_count"));
            sqlite3_close(db);
        }
        run_free(&run);
    }
}
END_TEST

/* Weights and cache are blocks of a pool there, whose segments go while it sleeps and come again under them. */
START_TEST(a_pools_segments_sleep_and_wake_under_its_blocks)
{
    static const char *const commands[] = {"vllm_like --mem-pool", "vllm_like --mem-pool --end exit"};

    for (size_t i = 0; i < 2; i++) {
        record(commands[i]);
        for (size_t k = 0; k < 2; k++) {
            load(commands[i], options[k]);
            assert_nothing_leaks(commands[i]);
            assert_counted_once(commands[i]);
            expect(commands[i], "SELECT count(*) FROM outstanding WHERE level = 'driver'", 0);
            expect(commands[i], "SELECT sum(bytes) FROM device_memory WHERE moment_kind = 'end' AND component = 'APP'",
                   0);
            expect(commands[i],
                   "SELECT count(*) FROM peak WHERE heap = 'ptaCaching' AND reserved_at_peak_bytes < peak_bytes", 0);
            sqlite3_close(db);
        }
        run_free(&run);
    }
}
END_TEST

/* A pool's block of 2 MiB has 32 bytes more, in steps of 512. */
START_TEST(a_leak_beside_it_is_the_only_one_and_exact)
{
    static const struct {
        const char *command;
        int64_t bytes;
    } cases[] = {{"vllm_like --requests 10 --leak pool", 2 * MIB + 512},
                 {"vllm_like --requests 10 --leak pool --mem-pool --end exit", 2 * MIB + 512},
                 {"vllm_like --requests 10 --leak driver", 2 * MIB},
                 {"vllm_like --requests 10 --leak driver --mem-pool --end exit", 2 * MIB},
                 {"vllm_like --requests 10 --leak mapped --steady", 2 * MIB}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        record(cases[i].command);
        load(cases[i].command, options[0]);
        expect(cases[i].command, "SELECT count(*) FROM leak_by_site", 1);
        expect(cases[i].command,
               "SELECT leak_count FROM leak_by_site WHERE verdict = 'growing' AND site LIKE '%forget_one'", 10);
        expect(cases[i].command, "SELECT leak_bytes FROM leak_by_site", 10 * cases[i].bytes);
        expect(cases[i].command, "SELECT count(*) FROM leak", 10);
        expect(cases[i].command, "SELECT count(*) FROM misuse", 0);
        expect(cases[i].command, "SELECT count(*) FROM forecast WHERE verdict = 'growing' AND level = 'physical'", 0);
        ck_assert_msg(gate() == 1, "%s: no gate fails", cases[i].command);
        sqlite3_close(db);
        run_free(&run);
    }
}
END_TEST

START_TEST(a_client_that_ends_by_reset_leaks_what_it_leaks)
{
    static const char *const commands[] = {"torch_like --steps 12", "torch_like --steps 12 --no-reset",
                                           "torch_like --steps 12 --expandable --hccl"};
    char command[128];

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        record(commands[i]);
        load(commands[i], "");
        assert_nothing_leaks(commands[i]);
        sqlite3_close(db);
        run_free(&run);
        snprintf(command, sizeof command, "%s --leak", commands[i]);
        record(command);
        load(command, "");
        expect(command, "SELECT count(*) FROM leak_by_site", 1);
        expect(command, "SELECT leak_count FROM leak_by_site WHERE verdict = 'growing'", book("leak.count"));
        expect(command, "SELECT leak_bytes FROM leak_by_site", 12 * 3072); /* 3000 and 32, in steps of 512 */
        ck_assert_msg(gate() == 1, "%s: no gate fails", command);
        sqlite3_close(db);
        run_free(&run);
    }
}
END_TEST

static void set_up(void)
{
    run_make_folder(folder);
}

static void tear_down(void)
{
    run_remove_folder(folder);
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create("sleep");
    TCase *tests = tcase_create("end to end");
    SRunner *runner;
    int failed_count;

    if (argc != 5)
        return 2;
    recorder = argv[1];
    ingest = argv[2];
    check = argv[3];
    programs = argv[4];
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, a_server_that_sleeps_leaks_nothing);
    tcase_add_test(tests, a_pools_segments_sleep_and_wake_under_its_blocks);
    tcase_add_test(tests, a_leak_beside_it_is_the_only_one_and_exact);
    tcase_add_test(tests, a_client_that_ends_by_reset_leaks_what_it_leaks);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
