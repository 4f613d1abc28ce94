/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-record as a user sees it: how it ends, what it passes on, where it writes, what it says.
 *
 *     test_npumem_record NPUMEM_RECORD NPUMEM_INGEST PROGRAM_FOLDER    as $R $I $P in lines of shell
 */
#include <check.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/shell.h"

static bool is_there(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", shell_folder, name);
    return access(path, F_OK) == 0;
}

static size_t line_count(const char *text)
{
    size_t count = 0;

    for (; *text != 0; text++)
        count += *text == '\n';
    return count;
}

/* Ends a process that the recorded program has left behind; it fails where npumem-record has waited for that to end. */
static void end_what_was_left(const char *pid)
{
    ck_assert_int_gt(atoi(pid), 1);
    ck_assert_int_eq(kill(atoi(pid), SIGTERM), 0);
}

/* No ring folder of a recording is left: those of others have other owners, so only what this test asked for is looked at. */
static void check_no_rings(const char *ring_dir)
{
    DIR *opened = opendir(ring_dir);
    struct dirent *entry;

    ck_assert_ptr_nonnull(opened);
    while ((entry = readdir(opened)) != NULL)
        ck_assert_msg(strncmp(entry->d_name, "npumem-", 7) != 0, "%s was left", entry->d_name);
    closedir(opened);
}

/* ---- How it ends --------------------------------------------------------------------------------------------------- */

START_TEST(ends_with_the_status_of_the_program)
{
    static const int statuses[] = {0, 1, 42, 255};

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        nm_run run = shell("$R -q -o a.zst --force -- sh -c 'exit %d'", statuses[i]);
        ck_assert_int_eq(run.exit_code, statuses[i]);
        ck_assert_str_eq(run_err(&run), "");
        run_free(&run);
    }
}
END_TEST

START_TEST(ends_by_the_signal_that_ended_the_program)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGSEGV, SIGABRT, SIGINT, SIGPIPE, SIGUSR1};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        nm_run run = shell("exec $R -q -o a.zst --force -- sh -c 'kill -%d $$'", signals[i]);
        ck_assert_msg(WIFSIGNALED(run.status) && WTERMSIG(run.status) == signals[i], "signal %d gives %#x", signals[i],
                      run.status);
        run_free(&run);
    }
}
END_TEST

START_TEST(a_program_that_cannot_run_is_127_or_126_and_leaves_no_file)
{
    nm_run run = shell("$R -o a.zst -- ./nowhere");
    ck_assert_int_eq(run.exit_code, 127);
    ck_assert_uint_eq(line_count(run_err(&run)), 1);
    ck_assert_ptr_nonnull(strstr(run_err(&run), "./nowhere"));
    run_free(&run);
    run = shell("echo text > plain; $R -o a.zst -- ./plain");
    ck_assert_int_eq(run.exit_code, 126);
    run_free(&run);
    run = shell("NPUMEM=off $R -o a.zst -- ./nowhere");
    ck_assert_int_eq(run.exit_code, 127);
    run_free(&run);
    ck_assert(!is_there("a.zst"));
}
END_TEST

START_TEST(a_wrong_command_line_is_2)
{
    static const char *const lines[] = {"",
                                        "--nonsense -- true",
                                        "--stacks all -- true",
                                        "--stack-depth 0 -- true",
                                        "--stack-depth 256 -- true",
                                        "--buffer 1 -- true",
                                        "--buffer 2T -- true",
                                        "--on-full stop -- true",
                                        "--linger soon -- true",
                                        "--best-effort --required -- true",
                                        "-o '' -- true",
                                        "-o"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        nm_run run = shell("$R %s", lines[i]);
        ck_assert_msg(run.exit_code == 2, "'%s' ends with %d", lines[i], run.exit_code);
        ck_assert_uint_ge(line_count(run_err(&run)), 1);
        run_free(&run);
    }
}
END_TEST

START_TEST(help_and_version_go_to_standard_output)
{
    nm_run run = shell("$R --help");
    ck_assert_int_eq(run.exit_code, 0);
    ck_assert_ptr_nonnull(strstr(run_out(&run), "usage: npumem-record"));
    run_free(&run);
    run = shell("$R --version");
    ck_assert_int_eq(run.exit_code, 0);
    ck_assert_int_eq(strncmp(run_out(&run), "npumem-record ", 14), 0);
    run_free(&run);
}
END_TEST

/* ---- What it passes on --------------------------------------------------------------------------------------------- */

/* Starts the program, sends npumem-record the signal when the program is ready for it, gives how both ended. */
static void send_signal(int number)
{
    char *argv[] = {getenv("R"), "-q", "-o", "a.zst", "--force", "--", "sh", "-c", NULL, NULL};
    char script[256];
    int status = 0;

    snprintf(script, sizeof script, "trap 'exit 7' %d; : > ready; while :; do sleep 0.05; done", number);
    argv[8] = script;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (chdir(shell_folder) == 0)
            execv(argv[0], argv);
        _exit(125);
    }
    for (int i = 0; i < 1000 && !is_there("ready"); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    kill(pid, number);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 7, "signal %d gives %#x", number, (unsigned)status);
    nm_run run = shell("rm ready");
    run_free(&run);
}

START_TEST(signals_reach_the_program)
{
    static const int signals[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        send_signal(signals[i]);
}
END_TEST

START_TEST(standard_streams_and_signal_settings_are_the_programs_own)
{
    nm_run run = shell("echo from stdin | $R -q -o a.zst -- sh -c 'cat; echo to stderr >&2'");
    ck_assert_str_eq(run_out(&run), "from stdin\n");
    ck_assert_str_eq(run_err(&run), "to stderr\n");
    run_free(&run);

    nm_run plain = shell("grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status");
    run = shell("$R -q -o b.zst -- grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status");
    ck_assert_str_eq(run_out(&run), run_out(&plain));
    run_free(&plain);
    run_free(&run);
    plain = shell("ls /proc/self/fd");
    run = shell("$R -q -o c.zst -- ls /proc/self/fd");
    ck_assert_str_eq(run_out(&run), run_out(&plain));
    run_free(&plain);
    run_free(&run);
}
END_TEST

/* ---- Where it writes ----------------------------------------------------------------------------------------------- */

START_TEST(the_name_knows_host_pid_and_environment)
{
    nm_run run =
        shell("NAME=value $R -o 'x-%%h-%%p-%%{NAME}-%%{NO_SUCH_NAME}-%%%%.zst' -- sh -c 'echo $(hostname)-$$'");
    char name[256], *end = strchr((char *)run.out.data, '\n');

    ck_assert_ptr_nonnull(end);
    *end = 0;
    snprintf(name, sizeof name, "x-%s-value--%%.zst", run_out(&run));
    ck_assert_msg(is_there(name), "%s", name);
    ck_assert_ptr_nonnull(strstr(run_err(&run), name));
    run_free(&run);
    run = shell("$R -o 'x-%%z' -- true");
    ck_assert_int_eq(run.exit_code, 2);
    ck_assert_ptr_nonnull(strstr(run_err(&run), "%h, %p, %t"));
    run_free(&run);
    run = shell("$R -- true; ls npumem-$(hostname)-*.zst");
    ck_assert_int_eq(run.exit_code, 0);
    run_free(&run);
}
END_TEST

START_TEST(a_name_that_exists_gets_a_suffix_and_force_replaces)
{
    nm_run run = shell("echo precious > run.zst; $R -o run.zst -- true");
    ck_assert_uint_eq(line_count(run_err(&run)), 3);
    ck_assert_ptr_nonnull(strstr(run_err(&run), "run.zst exists; writing run-1.zst"));
    ck_assert_ptr_nonnull(strstr(run_err(&run), "next: npumem-ingest run-1.zst\n"));
    run_free(&run);
    run = shell("$R -q -o run.zst -- true; cat run.zst");
    ck_assert_str_eq(run_out(&run), "precious\n");
    ck_assert(is_there("run-1.zst"));
    ck_assert(is_there("run-2.zst"));
    run_free(&run);
    run = shell("$R -q --force -o run.zst -- true; zstd -qt run.zst");
    ck_assert_int_eq(run.exit_code, 0);
    ck_assert_str_eq(run_err(&run), "");
    run_free(&run);
}
END_TEST

START_TEST(a_dash_is_standard_output)
{
    nm_run run =
        shell("$R -o - -- $P/hello_host > trace 2> said; echo $?; zstd -qt trace && $I --quiet -o x.db - < trace; "
              "echo $?; cat said");

    ck_assert_int_eq(strncmp(run_out(&run), "0\n0\n", 4), 0);
    ck_assert_ptr_nonnull(strstr(run_out(&run), "npumem-record: "));
    ck_assert_uint_gt(line_count(run_out(&run)), 3); /* what the program prints is there too */
    ck_assert(is_there("x.db"));
    run_free(&run);
}
END_TEST

START_TEST(the_end_says_events_dropped_and_file)
{
    nm_run run = shell("$R --sample-interval 0 -o run.zst -- $P/spin_events --events 700");
    unsigned long long events = 0, dropped = 99;
    char thousands = 0;

    ck_assert_uint_eq(line_count(run_err(&run)), 2);
    ck_assert_int_eq(sscanf(run_err(&run), "npumem-record: %llu%c%3llu events, %llu dropped, run.zst", &dropped,
                            &thousands, &events, &dropped),
                     4);
    ck_assert_uint_eq(events + 1000, 1400 + 1); /* allocations, frees, and the end of the process */
    ck_assert_uint_eq(dropped, 0);
    run_free(&run);
    run = shell("$I --quiet run.zst && zstd -qt run.zst");
    ck_assert_int_eq(run.exit_code, 0);
    run_free(&run);
}
END_TEST

/* A sanitized npumem-record cannot be the program that it measures: the sanitizer refuses a preload. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/* How many figures there are: the share is the second. */
static int read_cost(const char *said, double *ns, double *percent)
{
    char unit[3] = "";
    const char *at = strstr(said, "npumem-record: recording took about ");

    ck_assert_msg(at != NULL, "%s", said);
    int count = sscanf(at, "npumem-record: recording took about %lf %2[a-z], %lf %% of the threads' time; next:", ns,
                       unit, percent);
    if (count < 3)
        count = sscanf(
            at, "npumem-record: recording took about %lf %2[a-z], less than %lf %% of the threads' time; next:", ns,
            unit, percent);
    if (count < 3)
        count = sscanf(at, "npumem-record: recording took about %lf %2[a-z]; next:", ns, unit);
    *ns *= strcmp(unit, "us") == 0 ? 1e3 : strcmp(unit, "ms") == 0 ? 1e6 : 1e9;
    return count - 1;
}

/* No event costs less than writing a cache line, and none more than some microseconds, wherever this runs. */
START_TEST(the_end_estimates_what_recording_took)
{
    double ns = 0, percent = 0;
    nm_run run = shell("$R --sample-interval 0 -o run.zst -- $P/spin_events --events 50000");

    read_cost(run_err(&run), &ns, &percent);
    ck_assert_msg(ns > 100000 * 3.0 && ns < 100000 * 30000.0, "%f ns for 100,000 events", ns);
    run_free(&run);
    run = shell("$R --sample-interval 0 -o slow.zst -- $P/npu_train --steps 12 --pace-us 100000 --report /dev/null");
    ck_assert_int_eq(read_cost(run_err(&run), &ns, &percent), 2);
    ck_assert_msg(percent > 0 && percent <= 100, "%f %%", percent);
    run_free(&run);
    run = shell("$R --sample-interval 0 -o short.zst -- $P/npu_train --steps 2 --pace-us 10000 --report /dev/null");
    ck_assert_int_eq(read_cost(run_err(&run), &ns, &percent), 1);
    run_free(&run);
}
END_TEST

#endif

START_TEST(the_end_names_the_next_command_where_there_is_one)
{
    nm_run run = shell("$R -o \"it's a.zst\" -- true; $R -o - -- true > x.zst; mkfifo f; cat f > y.zst & "
                       "$R -o f -- true; $R -o z.zst --report z.txt -- true; $R -o p.zst --keep last:1M -- true");

    ck_assert_ptr_nonnull(strstr(run_err(&run), "\nnpumem-record: next: npumem-ingest 'it'\\''s a.zst'\n"));
    ck_assert_ptr_nonnull(strstr(run_err(&run), "\nnpumem-record: next: npumem-ingest p.zst\n"));
    ck_assert_uint_eq(line_count(run_err(&run)), 7);
    run_free(&run);
    run = shell("eval \"$($R -o \"it's b.zst\" -- true 2>&1 | sed -n 's/.* next: npumem-ingest/$I --quiet/p')\" && $I "
                "--quiet p.zst && ls it*b.db p.db");
    ck_assert_str_eq(run_out(&run), "it's b.db\np.db\n");
    run_free(&run);
}
END_TEST

START_TEST(rings_are_where_they_were_asked_for_and_gone_afterwards)
{
    char ring_dir[128];
    nm_run run = shell("mkdir rings; $R -q -o a.zst --ring-dir $PWD/rings --buffer 64K -- sh -c 'ls -d rings/npumem-*; "
                       "stat -c %%a rings/npumem-*; $P/spin_events --events 10'");

    ck_assert_int_eq(run.exit_code, 0);
    ck_assert_int_eq(strncmp(run_out(&run), "rings/npumem-", 13), 0);
    ck_assert_ptr_nonnull(strstr(run_out(&run), "\n700\n"));
    run_free(&run);
    snprintf(ring_dir, sizeof ring_dir, "%s/rings", shell_folder);
    check_no_rings(ring_dir);
}
END_TEST

/* ---- When recording is impossible ---------------------------------------------------------------------------------- */

START_TEST(what_cannot_be_recorded_is_not_begun_unless_that_was_asked_for)
{
    static const char *const options[] = {"-o nowhere/a.zst", "-o a.zst --ring-dir /nowhere",
                                          "-o a.zst --ring-dir /proc", "-o /dev/full"};

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        nm_run run = shell("$R %s -- sh -c 'echo ran; exit 5'", options[i]);
        ck_assert_int_eq(run.exit_code, 2);
        ck_assert_str_eq(run_out(&run), "");
        ck_assert_uint_eq(line_count(run_err(&run)), 1);
        ck_assert_ptr_nonnull(strstr(run_err(&run), "; the program was not begun\n"));
        run_free(&run);
        run = shell("$R --best-effort %s -- sh -c 'echo ran; exit 5'", options[i]);
        ck_assert_int_eq(run.exit_code, 5);
        ck_assert_str_eq(run_out(&run), "ran\n");
        ck_assert_uint_eq(line_count(run_err(&run)), 1);
        ck_assert_ptr_nonnull(strstr(run_err(&run), "; the program runs unrecorded\n"));
        run_free(&run);
        run = shell("$R --required %s -- sh -c 'echo ran'", options[i]);
        ck_assert_int_eq(run.exit_code, 1);
        ck_assert_str_eq(run_out(&run), "");
        ck_assert_uint_eq(line_count(run_err(&run)), 1);
        run_free(&run);
        ck_assert(!is_there("a.zst"));
    }
}
END_TEST

START_TEST(a_library_that_does_not_load_is_noticed_before_the_program_runs)
{
    nm_run run =
        shell("mkdir -p lib none; echo nonsense > lib/libnpumem_libascend_kernel_hook.so; "
              "for folder in lib none; do NPUMEM_LIBRARY_DIR=$PWD/$folder $R -o a.zst -- echo ran; echo $?; done");

    ck_assert_str_eq(run_out(&run), "2\n2\n");
    ck_assert_uint_eq(line_count(run_err(&run)), 2);
    ck_assert(!is_there("a.zst"));
    run_free(&run);
    run = shell("NPUMEM_LIBRARY_DIR=$PWD/lib $R --best-effort -o a.zst -- sh -c 'echo ran; exit 5'");
    ck_assert_int_eq(run.exit_code, 5);
    ck_assert_str_eq(run_out(&run), "ran\n");
    ck_assert_uint_eq(line_count(run_err(&run)), 1);
    ck_assert_ptr_nonnull(strstr(run_err(&run), "unrecorded"));
    ck_assert(!is_there("a.zst"));
    run_free(&run);
}
END_TEST

START_TEST(off_means_off)
{
    nm_run run = shell("NPUMEM=off $R -o a.zst -- sh -c 'echo \"[$LD_PRELOAD$NPUMEM_SESSION]\"; exit 5'");

    ck_assert_int_eq(run.exit_code, 5);
    ck_assert_str_eq(run_out(&run), "[]\n");
    ck_assert_str_eq(run_err(&run), "");
    ck_assert(!is_there("a.zst"));
    run_free(&run);
}
END_TEST

/* ---- Processes that outlive the program ---------------------------------------------------------------------------- */

START_TEST(a_process_that_outlives_the_program_is_recorded_to_its_end)
{
    nm_run run = shell("$R -o a.zst -- sh -c '(sleep 0.5; exec $P/spin_events --events 100) > /dev/null & exit 3'; "
                       "echo $?; $I --quiet a.zst; sqlite3 a.db 'SELECT count(*) FROM allocation'");

    ck_assert_str_eq(run_out(&run), "3\n100\n");
    run_free(&run);
}
END_TEST

START_TEST(a_process_that_does_not_end_is_waited_for_no_longer_than_asked)
{
    nm_run run =
        shell("$R -q --linger 0.3 -o a.zst -- sh -c 'sleep 600 > /dev/null 2>&1 & echo $!; exit 3'; "
              "echo $?; $I --quiet a.zst; sqlite3 a.db \"SELECT count(*) FROM process WHERE end_kind = 'running'\"");

    ck_assert_ptr_nonnull(strstr(run_out(&run), "\n3\n1\n"));
    end_what_was_left(run_out(&run));
    run_free(&run);
}
END_TEST

START_TEST(a_background_process_that_is_not_recorded_is_not_waited_for)
{
    nm_run run =
        shell("$R -q --linger 600 -o a.zst -- sh -c 'env -u LD_PRELOAD -u NPUMEM_SESSION sleep 600 > /dev/null "
              "2>&1 & echo $!'");

    end_what_was_left(run_out(&run));
    run_free(&run);
}
END_TEST

/* ---- Finishing ----------------------------------------------------------------------------------------------------- */

START_TEST(a_whole_trace_has_nothing_to_finish)
{
    nm_run run = shell("$R -q -o a.zst -- true; cp a.zst b.zst; $R --finish a.zst && cmp a.zst b.zst");
    ck_assert_int_eq(run.exit_code, 0);
    run_free(&run);
    run = shell("echo text > text; $R --finish text; $R --finish nowhere");
    ck_assert_int_eq(run.exit_code, 1);
    run_free(&run);
}
END_TEST

START_TEST(a_killed_recording_is_finished_once)
{
    nm_run run =
        shell("mkdir rings; $R -q -o a.zst --ring-dir $PWD/rings -- sh -c 'echo $$ > child; $P/spin_events"
              " --events 500 --pace-ns 400000 --ack ack; until [ -e over ]; do sleep 0.02; done' > out & pid=$!; "
              "until [ -s ack ]; do sleep 0.01; done; kill -9 $pid; wait $pid; $R --finish a.zst; echo $?; "
              "touch over; while kill -0 $(cat child) 2>/dev/null; do sleep 0.02; done; "
              "$R --finish a.zst; echo $?; ls rings | wc -l; $I --quiet a.zst; echo $?; "
              "sqlite3 a.db 'SELECT count(*) FROM allocation'; zstd -qt a.zst; echo $?; $R --finish a.zst; "
              "echo $?");

    /* While the program runs nothing is finished; then all is there, and the rings are gone. */
    ck_assert_msg(strcmp(run_out(&run), "1\n0\n0\n0\n500\n0\n0\n") == 0, "%s\n%s", run_out(&run), run_err(&run));
    run_free(&run);
}
END_TEST

/* A parent's setting; the program keeps it. */
START_TEST(an_ignored_sigchld_hides_no_end)
{
    nm_run run = shell("ignoring() { timeout -s KILL 20 env --ignore-signal=CHLD \"$@\"; };"
                       " ignoring $R -q -o a.zst -- grep SigIgn /proc/self/status > with; echo $?;"
                       " ignoring grep SigIgn /proc/self/status > plain; cmp with plain; echo $?;"
                       " $I --quiet a.zst; echo $?");

    ck_assert_msg(strcmp(run_out(&run), "0\n0\n0\n") == 0, "%s\n%s", run_out(&run), run_err(&run));
    run_free(&run);
}
END_TEST

/* Program and recorder are killed, and then somebody gets at the rings. */
START_TEST(lost_rings_are_said_and_end_with_3)
{
    static const char *const damages[] = {"rm r.*", "for f in r.*; do head -c 5000 /dev/urandom > $f; done",
                                          "for f in r.*; do head -c 200000 /dev/zero > $f; done",
                                          "for f in r.*; do truncate -s 100000 $f; done", "rm p.*"};
    nm_run run =
        shell("mkdir rings; $R -q -o a.zst --ring-dir $PWD/rings -- sh -c 'echo $$ > child; exec $P/spin_events"
              " --events 0 --pace-ns 20000 --ack ack' > out & pid=$!; until [ -s ack ]; do sleep 0.01; done; sleep 0.7;"
              " kill -9 $pid $(cat child); wait $pid; cp -a rings saved");

    run_free(&run);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        run = shell("rm -rf rings *.db; cp -a saved rings; cp a.zst b.zst; (cd rings/*; %s); $I --quiet b.zst; echo $?;"
                    " $R --finish b.zst; echo $?; $I --quiet --force b.zst; echo $?; ls rings | wc -l;"
                    " sqlite3 b.db 'SELECT is_complete FROM input'",
                    damages[i]);
        ck_assert_msg(strcmp(run_out(&run), "3\n3\n3\n0\n0\n") == 0, "'%s':\n%s\n%s", damages[i], run_out(&run),
                      run_err(&run));
        ck_assert_msg(strstr(run_err(&run), i == 4 ? "without a file in the ring folder" : " at least ") != NULL,
                      "'%s':\n%s", damages[i], run_err(&run));
        run_free(&run);
    }
    run = shell("rm -rf rings *.db; $I --quiet a.zst; echo $?; $R --finish a.zst; echo $?");
    ck_assert_msg(strcmp(run_out(&run), "3\n1\n") == 0, "%s\n%s", run_out(&run), run_err(&run));
    run_free(&run);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("npumem-record");
    TCase *tests = tcase_create("npumem-record");

    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, shell_make_folder, shell_remove_folder);
    tcase_add_test(tests, ends_with_the_status_of_the_program);
    tcase_add_test(tests, ends_by_the_signal_that_ended_the_program);
    tcase_add_test(tests, a_program_that_cannot_run_is_127_or_126_and_leaves_no_file);
    tcase_add_test(tests, a_wrong_command_line_is_2);
    tcase_add_test(tests, help_and_version_go_to_standard_output);
    tcase_add_test(tests, signals_reach_the_program);
    tcase_add_test(tests, standard_streams_and_signal_settings_are_the_programs_own);
    tcase_add_test(tests, the_name_knows_host_pid_and_environment);
    tcase_add_test(tests, a_name_that_exists_gets_a_suffix_and_force_replaces);
    tcase_add_test(tests, a_dash_is_standard_output);
    tcase_add_test(tests, the_end_says_events_dropped_and_file);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_test(tests, the_end_estimates_what_recording_took);
#endif
    tcase_add_test(tests, the_end_names_the_next_command_where_there_is_one);
    tcase_add_test(tests, rings_are_where_they_were_asked_for_and_gone_afterwards);
    tcase_add_test(tests, what_cannot_be_recorded_is_not_begun_unless_that_was_asked_for);
    tcase_add_test(tests, a_library_that_does_not_load_is_noticed_before_the_program_runs);
    tcase_add_test(tests, off_means_off);
    tcase_add_test(tests, a_process_that_outlives_the_program_is_recorded_to_its_end);
    tcase_add_test(tests, a_process_that_does_not_end_is_waited_for_no_longer_than_asked);
    tcase_add_test(tests, a_background_process_that_is_not_recorded_is_not_waited_for);
    tcase_add_test(tests, a_whole_trace_has_nothing_to_finish);
    tcase_add_test(tests, a_killed_recording_is_finished_once);
    tcase_add_test(tests, lost_rings_are_said_and_end_with_3);
    tcase_add_test(tests, an_ignored_sigchld_hides_no_end);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv)
{
    if (!shell_variables(argc, argv, "RIP"))
        return 2;
    shell_before("", 60);
    SRunner *runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
