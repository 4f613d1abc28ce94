/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorded program comes first: what a program prints and how it ends is the same with and without npumem-record, but
 * for the one line that the recorder prints at the end. Each case runs twice and is compared byte for byte.
 *
 *     test_transparency NPUMEM_RECORD PROGRAM_FOLDER
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "support/run.h"

static const char *recorder;
static const char *programs;
static char folder[64];

/* The part of standard error that is not the recorder's own: its lines begin with its name. */
static void drop_own_lines(nm_run *run)
{
    char *text = (char *)run->err.data;
    char *kept = text;

    for (char *line = text; *line != 0;) {
        char *end = strchr(line, '\n');
        size_t len = end == NULL ? strlen(line) : (size_t)(end - line) + 1;
        if (strncmp(line, "npumem-record: ", 15) != 0) {
            memmove(kept, line, len);
            kept += len;
        }
        line += len;
    }
    *kept = 0;
}

static void run_case(const char *line, const char *options)
{
    char command[2048], recorded[4096];

    /* exec: the shell itself must not stand between the program's end and what the test sees. */
    snprintf(command, sizeof command, "PATH=\"%s:$PATH\"; %s", programs, line);
    snprintf(recorded, sizeof recorded, "PATH=\"%s:$PATH\"; exec %s --force -o %s/t.zst %s -- /bin/sh -c '%s'",
             programs, recorder, folder, options, line);

    nm_run plain = run_shell(command, 60);
    nm_run with = run_shell(recorded, 60);
    drop_own_lines(&with);
    ck_assert_msg(!plain.is_timed_out && !with.is_timed_out, "'%s' did not end", line);
    ck_assert_msg(strcmp(run_out(&plain), run_out(&with)) == 0, "'%s': standard output differs:\n%s\n--- with:\n%s",
                  line, run_out(&plain), run_out(&with));
    ck_assert_msg(strcmp(run_err(&plain), run_err(&with)) == 0, "'%s': standard error differs:\n%s\n--- with:\n%s",
                  line, run_err(&plain), run_err(&with));
    ck_assert_msg(plain.exit_code == with.exit_code, "'%s': ends with %d, with the recorder %d", line, plain.exit_code,
                  with.exit_code);
    ck_assert_msg(!!WIFSIGNALED(plain.status) == !!WIFSIGNALED(with.status), "'%s': signal against exit", line);
    run_free(&plain);
    run_free(&with);
}

static const char *const device_programs[] = {
    "exec npu_train --steps 3",
    "exec npu_train --steps 5 --seed 7 --leak --fragment",
    "exec npu_train --steps 4 --threads 4",
    "exec npu_train --steps 3 --processes 3",
    "exec npu_train --steps 3 --no-cleanup",
    "exec npu_train --steps 3 --misuse",
    "exec npu_train --steps 3 --oom",
    "exec npu_train --steps 3 --leak-driver",
    "exec npu_train --no-such-option",
};

static const char *const torch_programs[] = {
    "torch_like --loader handle",
    "torch_like --loader default",
    "torch_like --loader linked",
    "torch_like --loader local --task-queue 2",
    "torch_like --loader deepbind --expandable",
};

START_TEST(device_programs_print_and_end_the_same)
{
    for (size_t i = 0; i < sizeof device_programs / sizeof *device_programs; i++)
        run_case(device_programs[i], "");
}
END_TEST

/* That it tells its pool's events when it is asked to is all that may differ. */
START_TEST(torch_npu_does_the_same_but_for_what_it_tells)
{
    char line[256];

    for (size_t i = 0; i < sizeof torch_programs / sizeof *torch_programs; i++) {
        run_case(torch_programs[i], "--no-pool-events");
        snprintf(line, sizeof line, "%s | grep -v ^mstx", torch_programs[i]);
        run_case(line, "");
    }
}
END_TEST

START_TEST(every_way_of_taking_stacks_leaves_the_program_alone)
{
    run_case("exec npu_train --steps 3", "--stacks none");
    run_case("exec npu_train --steps 3", "--stacks caller");
    run_case("exec npu_train --steps 3 --threads 3", "--stacks native --stack-depth 3");
    run_case("exec npu_train --steps 50 --threads 3", "--buffer 64K --on-full drop");
}
END_TEST

/* Paused, from step to step, and left alone in the middle. */
START_TEST(a_recording_of_a_part_leaves_the_program_alone)
{
    static const char *const options[] = {"--start-paused", "--duration 0.02", "--from-step 2 --to-step 3",
                                          "--watch --alert \"live_count > 3\" --alert \"device_used > 1MiB\""};

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        run_case("exec npu_train --steps 30 --threads 3", options[i]);
        run_case("exec npu_train --steps 5 --oom", options[i]);
        run_case("exec npu_train --steps 40 --kill-self", options[i]);
        run_case("npu_train --steps 5 >/dev/null; sleep 0.1; echo after; exit 6", options[i]);
    }
}
END_TEST

static const char *const host_programs[] = {
    "true",
    "false",
    "exit 42",
    "echo out; echo err >&2; exit 3",
    "kill -TERM $$",
    "kill -KILL $$",
    "kill -SEGV $$",
    "exec /no/such/program",
    "for i in 1 2 3 4 5; do /bin/true; done; ls /proc/self/fd | wc -l",
    "(echo child; exit 5); echo $?",
    "echo x | cat | cat; cat /dev/null; seq 1 2000 | tail -1",
    "ulimit -n 16; ls / >/dev/null; echo $?",
    "ulimit -v 400000; ls / >/dev/null; echo $?",
    "cd / && pwd; umask; id -u",
    "trap \"echo got; exit 9\" TERM; kill -TERM $$; sleep 1",
};

START_TEST(host_programs_print_and_end_the_same)
{
    for (size_t i = 0; i < sizeof host_programs / sizeof *host_programs; i++)
        run_case(host_programs[i], "");
}
END_TEST

/* Where a recording is impossible the program runs all the same, if that was asked for. */
START_TEST(a_recording_that_is_impossible_leaves_the_program_alone)
{
    static const char *const options[] = {"--ring-dir /proc", "-o /no/such/folder/t.zst", "--ring-dir /no/such/folder"};
    char option[64];

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        snprintf(option, sizeof option, "--best-effort %s", options[i]);
        run_case("exec npu_train --steps 2", option);
        run_case("echo hello; exit 7", option);
    }
}
END_TEST

START_TEST(off_means_off)
{
    char command[1024];

    snprintf(command, sizeof command,
             "NPUMEM=off %s -o %s/off.zst -- /bin/sh -c 'echo $LD_PRELOAD$NPUMEM_SESSION; exit 4'", recorder, folder);
    nm_run run = run_shell(command, 20);
    ck_assert_str_eq(run_out(&run), "\n");
    ck_assert_str_eq(run_err(&run), "");
    ck_assert_int_eq(run.exit_code, 4);
    run_free(&run);

    snprintf(command, sizeof command, "test ! -e %s/off.zst", folder);
    run = run_shell(command, 20);
    ck_assert_int_eq(run.exit_code, 0);
    run_free(&run);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    recorder = argv[1];
    programs = argv[2];

    Suite *suite = suite_create("transparency");
    TCase *tests = tcase_create("with and without");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, device_programs_print_and_end_the_same);
    tcase_add_test(tests, torch_npu_does_the_same_but_for_what_it_tells);
    tcase_add_test(tests, every_way_of_taking_stacks_leaves_the_program_alone);
    tcase_add_test(tests, a_recording_of_a_part_leaves_the_program_alone);
    tcase_add_test(tests, host_programs_print_and_end_the_same);
    tcase_add_test(tests, a_recording_that_is_impossible_leaves_the_program_alone);
    tcase_add_test(tests, off_means_off);
    suite_add_tcase(suite, tests);

    run_make_folder(folder);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    run_remove_folder(folder);
    return failed == 0 ? 0 : 1;
}
