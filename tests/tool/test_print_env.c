/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-record --print-env: processes that it does not start record themselves into one drain of their host. The processes
 * print the same as without; how long things take is waited for, never assumed.
 *
 *     test_print_env NPUMEM_RECORD NPUMEM_INGEST PROGRAM_FOLDER    as $R $I $P in lines of shell
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/shell.h"

/* A drain lingers for longer than the processes of a test can be apart, and is told to end when the last one has.
 *
 * `asked` evaluates what --print-env prints for its options; `ended FILE` waits until the drain has ended that trace:
 * npumem-ingest has no more to complain of then, and the ring folder is gone. `drain` prints the process number of the test's
 * drain. */
static const char functions[] =
    "export NPUMEM_CANN_DEVICES=8;"
    " asked() { eval \"$($R --print-env --ring-dir \"$PWD\" \"$@\")\"; };"
    " ended() { for i in $(seq 1500); do [ -e \"$1\" ] && ! ls -d npumem-* >/dev/null 2>&1 && LD_PRELOAD= $I --quiet "
    "--force \"$1\" && "
    "return 0;"
    " sleep 0.1; done 2>/dev/null; echo \"$1 is not ended\"; return 1; };"
    " drain() { for p in $(grep -lz -e --serv[e] /proc/[0-9]*/cmdline); do p=${p%/*};"
    " grep -qzx \"NPUMEM_OUTPUT=$PWD/$1\" $p/environ && echo ${p#/proc/}; done 2>/dev/null; };"
    " say() { sqlite3 \"$1\" \"$2\"; }; ";

static void expect(nm_run run, const char *out)
{
    ck_assert_msg(run.exit_code == 0 && strcmp(run_out(&run), out) == 0, "status %d, wanted:\n%s\nhad:\n%s%s",
                  run.exit_code, out, run_out(&run), run_err(&run));
    run_free(&run);
}

START_TEST(processes_of_a_host_get_one_trace)
{
    expect(
        shell(
            "$P/npu_train --steps 3 > plain;"
            "(asked -o run.zst --linger 100; for r in 0 1 2 3 4 5 6 7; do RANK=$r LOCAL_RANK=$r WORLD_SIZE=8"
            " ASCEND_RT_VISIBLE_DEVICES=$r setsid $P/npu_train --steps 3 > out.$r & done; wait); kill $(drain run.zst);"
            "for r in 0 1 2 3 4 5 6 7; do cmp plain out.$r || echo $r differs; done; ended run.zst; ls *.zst;"
            "say run.db 'SELECT count(*), count(DISTINCT pid), min(rank), max(rank), count(DISTINCT rank),"
            " min(world_size), sum(end_kind = \"exit\" AND end_status = 0) FROM process';"
            "say run.db 'SELECT count(DISTINCT physical_ordinal) FROM device';"
            "say run.db 'SELECT is_complete, events_dropped FROM input';"
            "say run.db 'SELECT count(DISTINCT n) FROM (SELECT count(*) AS n FROM allocation JOIN heap USING (heap_id)"
            " GROUP BY process_id)'"),
        "run.zst\n8|8|0|7|8|8|8\n8\n1|0\n1\n");
}
END_TEST

START_TEST(who_does_not_use_the_device_starts_nothing)
{
    expect(shell("(asked -o run.zst; for i in $(seq 50); do sh -c 'exec /bin/true'; done; $P/hello_host 2>&1 >out);"
                 " cat out; rm out; ls; drain run.zst; true"),
           "and to standard error\nhello from the host\n");
}
END_TEST

START_TEST(a_later_process_gets_a_later_trace)
{
    expect(shell("(asked -o run.zst --linger 0; $P/npu_train --steps 1 > first; ended run.zst; $P/npu_train --steps 1 "
                 "> second;"
                 " ended run-1.zst); cmp first second; ls *.zst"),
           "run-1.zst\nrun.zst\n");
}
END_TEST

START_TEST(children_and_what_they_become_are_in_the_same_trace)
{
    expect(shell("$P/launch_ranks --way exec > plain;"
                 "(asked -o run.zst --linger 100; $P/launch_ranks --way exec > one; $P/launch_ranks --way fork --late "
                 "> two);"
                 "kill $(drain run.zst); cmp plain one; cmp plain two; ended run.zst; ls *.zst;"
                 "say run.db 'SELECT count(*), count(rank), count(DISTINCT pid) FROM process'"),
           "run.zst\n16|16|16\n");
}
END_TEST

START_TEST(options_reach_the_drain)
{
    expect(shell("(asked --output=run.zst --linger=1 --stacks none; echo \"$NPUMEM_OPTIONS\" | sed \"s|$PWD|HERE|\";"
                 " echo \"${NPUMEM_OUTPUT#$PWD/}\"; $P/npu_train --steps 1 > out); ended run.zst;"
                 "say run.db 'SELECT count(*) FROM stack'"),
           "--ring-dir=HERE --linger=1 --stacks=none\nrun.zst\n0\n");
    expect(shell("mkdir 'a b\\c'; cd 'a b\\c'; (eval \"$($R --print-env --ring-dir \"$PWD\" -o \"it's %%%%.zst\" "
                 "--linger 1)\";"
                 " $P/npu_train --steps 1 > out); ended \"it's %%.zst\" > /dev/null; ls *.zst"),
           "it's %.zst\n");
}
END_TEST

/* The drain that gives up is nobody's child, and may take longer to end than the program. */
START_TEST(where_nothing_can_be_recorded_the_program_runs_all_the_same)
{
    expect(shell("$P/npu_train --steps 2 > plain; (asked -o nowhere/run.zst; $P/npu_train --steps 2 > out; echo $?);"
                 "cmp plain out; for i in $(seq 600); do [ -z \"$(drain nowhere/run.zst)\" ] && break; sleep 0.1; done;"
                 "drain nowhere/run.zst; ls"),
           "0\nout\nplain\n");
    expect(shell("(asked -o run.zst; export NPUMEM=off; $P/npu_train --steps 2 > out; echo $?); cmp plain out; ls"),
           "0\nout\nplain\n");
}
END_TEST

START_TEST(a_killed_drain_is_followed_by_another)
{
    expect(
        shell("(asked -o run.zst --linger 100; $P/npu_train --steps 1 > out; first=$(drain run.zst); kill -9 $first;"
              " while [ -e /proc/$first ]; do sleep 0.05; done; $P/npu_train --steps 1 > out2; second=$(drain run.zst);"
              " [ -n \"$second\" ] && kill $second); cmp out out2; for i in $(seq 1500); do $I --quiet --force "
              "run-1.zst && "
              "break;"
              " sleep 0.1; done 2>/dev/null; $I --quiet --force run-1.zst || echo run-1.zst is not ended; $R -q "
              "--finish run.zst; $I --quiet --force "
              "run.zst; echo $?; ls *.zst"),
        "0\nrun-1.zst\nrun.zst\n");
}
END_TEST

START_TEST(a_container_records_into_a_drain_of_its_own)
{
    nm_run able = shell("unshare -r -p -m -f --mount-proc true");
    bool is_able = able.exit_code == 0;

    run_free(&able);
    if (!is_able)
        printf("skipped: a container may not be made here\n");
    else
        expect(
            shell(
                "$P/npu_train --steps 2 > plain; (asked -o run.zst --linger 100;"
                " unshare -r -p -m -f --mount-proc sh -c \"mount -t tmpfs none /dev/shm; $P/npu_train --steps 2 > one;"
                " $P/npu_train --steps 2 > two; p=\\$(grep -lz -e --serv[e] /proc/[0-9]*/cmdline); p=\\${p%%/*}; kill "
                "\\${p#/proc/};"
                " while ls -d npumem-* >/dev/null 2>&1; do sleep 0.1; done\");"
                " cmp plain one; cmp plain two; $I --quiet run.zst; say run.db 'SELECT count(*) FROM process'"),
            "2\n");
}
END_TEST

/* Who evaluates what there is of it must hear that it is not whole. */
START_TEST(what_cannot_be_printed_is_said)
{
    nm_run run = shell("[ ! -e /dev/full ] || $R --print-env -o run.zst >/dev/full; echo $?");

    ck_assert_msg(strcmp(run_out(&run), "1\n") == 0 || access("/dev/full", F_OK) != 0, "%s", run_out(&run));
    ck_assert_msg(strcmp(run_err(&run), "npumem-record: cannot write to standard output\n") == 0 ||
                      access("/dev/full", F_OK) != 0,
                  "%s", run_err(&run));
    run_free(&run);
}
END_TEST

START_TEST(wrong_use_is_2)
{
    static const char *const lines[] = {"--print-env -- true", "--print-env -o -", "--print-env --stacks all"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        nm_run run = shell("$R %s", lines[i]);
        ck_assert_msg(run.exit_code == 2, "'%s' ends with %d", lines[i], run.exit_code);
        ck_assert_str_eq(run_out(&run), "");
        run_free(&run);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("print_env");
    TCase *tests = tcase_create("print_env");

    tcase_add_checked_fixture(tests, shell_make_folder, shell_remove_folder);
    tcase_set_timeout(tests, 500);
    tcase_add_test(tests, processes_of_a_host_get_one_trace);
    tcase_add_test(tests, who_does_not_use_the_device_starts_nothing);
    tcase_add_test(tests, a_later_process_gets_a_later_trace);
    tcase_add_test(tests, children_and_what_they_become_are_in_the_same_trace);
    tcase_add_test(tests, options_reach_the_drain);
    tcase_add_test(tests, where_nothing_can_be_recorded_the_program_runs_all_the_same);
    tcase_add_test(tests, a_killed_drain_is_followed_by_another);
    tcase_add_test(tests, a_container_records_into_a_drain_of_its_own);
    tcase_add_test(tests, what_cannot_be_printed_is_said);
    tcase_add_test(tests, wrong_use_is_2);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv)
{
    if (!shell_variables(argc, argv, "RIP"))
        return 2;
    shell_before(functions, 400);
    SRunner *runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
