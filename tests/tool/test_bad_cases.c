/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs and machines that make recording hard. Each program runs with and without the recorder, and must print and end
 * the same; what was recorded must be what it says it did; and what was not is said, in the last line and in the answers.
 * What this machine does not allow (some of it needs root, or namespaces) is left out, with a line that says so.
 *
 *     test_bad_cases NPUMEM_RECORD NPUMEM_INGEST PROGRAM_FOLDER STEP_CLOCK    as $R $I $P $C in lines of shell
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/ask.h"
#include "support/shell.h"

#define COUNT   40 /* allocations of a thread in each phase of bad_cases */
#define THREADS 3

static sqlite3 *db; /* of what was recorded last */

/* ---- With and without --------------------------------------------------------------------------------------------- */

/* Read by the test's shells. `both OPTIONS -- WORDS` runs WORDS by itself and recorded ($W stands before either), and
 * compares; what the recorder itself said is in `said`. */
static const char functions[] =
    "export NPUMEM_CANN_DEVICES=8 PATH=\"$P:$PATH\"\n"
    "words() { while [ \"$1\" != -- ]; do shift; done; shift; $W \"$@\"; }\n"
    "both() { words \"$@\" > plain.out 2> plain.err; echo $? > plain.end\n"
    "  $W $R --force -o t.zst \"$@\" > with.out 2> with.all; echo $? > with.end\n"
    "  grep -v '^npumem-record: ' with.all > with.err; grep '^npumem-record: ' with.all > said\n"
    "  for i in out err end; do diff plain.$i with.$i || return 9; done; }\n"
    "ingest() { $I --force t.zst > answers 2> complaints; s=$?; [ $s = 0 -o $s = 3 ]; }\n";

static void expect(const char *line)
{
    nm_run run = shell_line(line);

    ck_assert_msg(run.exit_code == 0, "'%s' ended with %d:\n%s%s", line, run.exit_code, run_out(&run), run_err(&run));
    run_free(&run);
}

static void open_database(void)
{
    sqlite3_close(db);
    db = ask_open(shell_folder, "t.db");
}

/* bad_cases with these words, once by itself and once recorded. */
static void both(const char *options, const char *words)
{
    char line[1024];

    snprintf(line, sizeof line, "both %s -- bad_cases %s && [ $(cat plain.end) = 5 ] && ingest", options, words);
    expect(line);
    open_database();
}

/* False: it is not allowed here, and is left out. */
static bool can(const char *line, const char *what)
{
    nm_run run = shell_line(line);
    bool is_able = run.exit_code == 0;

    run_free(&run);
    if (!is_able)
        printf("skipped: %s\n", what);
    return is_able;
}

static bool is_root(const char *what)
{
    if (geteuid() != 0)
        printf("skipped: needs root: %s\n", what);
    return geteuid() == 0;
}

/* What a user without any rights must come to: ./test.sh in a clone below /root runs this behind tests/support/reachable.sh. */
static bool can_be_reached(const char *what)
{
    return can("setpriv --reuid 65534 --regid 65534 --clear-groups test -x $P/bad_cases", what);
}

static void expect_text(const char *file, const char *text)
{
    nm_run run = shell("cat %s", file);

    ck_assert_msg(strstr(run_out(&run), text) != NULL, "%s does not say '%s':\n%s", file, text, run_out(&run));
    run_free(&run);
}

/* ---- What was recorded --------------------------------------------------------------------------------------------- */

static long long phase_count(int phase)
{
    char sql[128];

    snprintf(sql, sizeof sql, "SELECT count(*) FROM allocation WHERE requested_bytes / 10000 = %d", phase);
    return ask(db, sql);
}

/* Recorded allocations of the phases (before, after, parked, new, child), in threads' worth. */
static void expect_phases(int before, int after, int parked, int made, int child)
{
    const int expected[] = {before, after, parked, made, child};

    for (int i = 0; i < 5; i++)
        ck_assert_msg(phase_count(i + 1) == expected[i] * COUNT, "phase %d: %lld allocations, not %d", i + 1,
                      phase_count(i + 1), expected[i] * COUNT);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM allocation WHERE requested_bytes / 10000 BETWEEN 1 AND 5"
                             " AND free_seq IS NOT NULL"),
                     (before + after + parked + made + child) * COUNT / 2);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM misuse"), 0);
}

static void expect_everything(void)
{
    expect_phases(1, 1, THREADS, THREADS, 1);
    ck_assert_int_eq(ask(db, "SELECT verdict = 'complete' AND events_dropped = 0 FROM completeness"), 1);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM z_unseen"), 0);
}

/* Threads that had no ring before get none, and the child cannot join; why is said, and how much is missing. */
static void expect_first_thread_alone(const char *why)
{
    char text[128];

    expect_phases(1, 1, 0, 0, 0);
    ck_assert_int_ge(ask(db, "SELECT events_dropped FROM input"), 2 * THREADS * (COUNT + COUNT / 2));
    ck_assert_int_eq(ask(db, "SELECT verdict = 'lossy' FROM completeness"), 1);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM leak"), 0); /* what was lost may have been their frees */
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM z_unseen WHERE kind = 'no ring' AND text = ?1", why), 1);
    snprintf(text, sizeof text, "not seen, threads that got no ring: %s", why);
    expect_text("answers", text);
    expect_text("said", " dropped, ");
}

static void expect_unseen_child(void)
{
    ck_assert_int_eq(ask(db, "SELECT sum(unseen_count) FROM z_unseen WHERE kind = 'unseen process'"), 1);
    ck_assert_int_eq(ask(db, "SELECT processes_unjoined = 1 AND is_complete = 0 FROM input"), 1);
    ck_assert_int_eq(ask(db, "SELECT verdict = 'lossy' FROM completeness"), 1);
    expect_text("complaints", "1 process could not join the recording");
    expect_text("said", " 1 process could not write to the ring folder");
    expect_text("answers", "not seen, a process: it could not write to the ring folder");
}

static void set_up(void)
{
    char path[128];
    FILE *file;

    shell_make_folder();
    snprintf(path, sizeof path, "%s/functions", shell_folder);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(functions, file);
    fclose(file);
}

static void tear_down(void)
{
    sqlite3_close(db);
    db = NULL;
    shell_remove_folder();
}

/* ---- What a program does to itself --------------------------------------------------------------------------------- */

/* The recorder holds none open, so it loses none. */
START_TEST(closed_descriptors_change_nothing)
{
    static const char *const words[] = {"none", "close", "close-range", "close --early", "close-range --early"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        both("", words[i]);
        expect_everything();
    }
    expect("grep -qx 'closed 0' with.out");
}
END_TEST

START_TEST(another_folder_changes_nothing)
{
    both("", "chdir /");
    expect_everything();
    both("", "chdir / --early");
    expect_everything();
}
END_TEST

START_TEST(another_root_is_recorded_where_rings_are)
{
    if (!is_root("chroot"))
        return;
    expect("mkdir jail");
    both("", "chroot $PWD/jail");
    expect_first_thread_alone("No such file or directory");
    expect_unseen_child();
    both("--stacks none", "chroot $PWD/jail");
    expect_first_thread_alone("No such file or directory");
}
END_TEST

START_TEST(dropped_privileges_are_recorded_where_rings_are)
{
    if (!is_root("setuid"))
        return;
    both("", "drop");
    expect_first_thread_alone("Permission denied");
    expect_unseen_child();
    if (!can_be_reached("a program that gives up root before it begins"))
        return;
    both("", "drop --early");
    expect_phases(0, 0, 0, 0, 0);
    ck_assert_int_ge(ask(db, "SELECT events_dropped FROM input"), (2 + 2 * THREADS) * (COUNT + COUNT / 2));
}
END_TEST

START_TEST(limits_are_the_programs_own)
{
    both("", "limit-memory");
    expect_first_thread_alone("Cannot allocate memory");
    both("", "limit-files");
    expect_first_thread_alone("Too many open files");
    both("", "limit-size"); /* a ring that grew beyond it would end the program with SIGXFSZ */
    expect_first_thread_alone("File too large");
    both("", "limit-size --early");
    expect_phases(0, 0, 0, 0, 0);
    both("", "limit-processes");
    ck_assert_int_eq(ask(db, "SELECT events_dropped FROM input"), 0);
}
END_TEST

/* The limit holds for npumem-record too: its rings, and its file. */
START_TEST(limits_around_the_recorder_leave_the_program_alone)
{
    expect("for w in --fsize=100000 --fsize=4096 --fsize=100 --nofile=8 --nofile=5 --as=600000000;"
           " do W=\"prlimit $w\"; both --best-effort -- bad_cases none --threads 1 || exit; done");
    expect("W='prlimit --fsize=100000'; both --keep last:64K -- bad_cases none && ingest");
}
END_TEST

/* In a filter of system calls nothing new can be opened or mapped; what is there works without any. */
START_TEST(filters_of_system_calls_are_kept_to)
{
    if (!can("words -- bad_cases strict; [ $? = 5 ]", "seccomp"))
        return;
    both("", "refuse");
    expect_phases(1, 1, 0, 0, 0);
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM z_unseen WHERE kind = ?1", "no ring"), 1);
    both("--sample-interval 0", "strict");
    expect_phases(1, 1, 0, 0, 0);
    ck_assert_int_eq(ask(db, "SELECT verdict = 'complete' AND events_dropped = 0 FROM completeness"), 1);
    both("--stacks none --on-full drop --sample-interval 0", "strict");
    expect_phases(1, 1, 0, 0, 0);
}
END_TEST

/* ---- The ring folder ----------------------------------------------------------------------------------------------- */

START_TEST(a_ring_folder_that_goes_away_leaves_what_is_mapped)
{
    expect("mkdir rings");
    both("--ring-dir $PWD/rings", "remove-late $PWD/rings");
    expect_first_thread_alone("No such file or directory");
    expect_unseen_child();
}
END_TEST

/* Has the drain not found them yet, then all is lost, and it says so: of the program, or of its first thread's ring where the
 * drain came between the two. The child's file could not be made, ever. */
START_TEST(rings_that_are_removed_at_once_are_missed)
{
    expect("mkdir rings");
    for (int i = 0; i < 5; i++) {
        long long processes, rings;

        both("--ring-dir $PWD/rings", "remove $PWD/rings");
        ck_assert_int_eq(phase_count(3) + phase_count(4) + phase_count(5), 0);
        ck_assert_int_eq(phase_count(1), phase_count(2));
        processes = ask(db, "SELECT ifnull(sum(unseen_count), 0) FROM z_unseen WHERE kind = 'unseen process'");
        rings = ask(db, "SELECT ifnull(sum(note_count), 0) FROM z_unseen"
                        " WHERE kind = 'no ring' AND text = 'it was removed before it was read'");
        ck_assert_int_ge(processes, 1);
        ck_assert_int_eq(processes - 1 + rings, phase_count(1) == 0);
        ck_assert_int_eq(ask(db, "SELECT is_complete FROM input"), 0);
        ck_assert_int_eq(ask(db, "SELECT is_loss_exact FROM input"), rings == 0);
    }
}
END_TEST

/* Has this shell a mount namespace of its own? Then it may mount. */
static const char private_mounts[] = "unshare -m true";

static void both_with_disk(const char *size, const char *target, const char *words)
{
    nm_run run = shell("mkdir -p disk; unshare -m sh -c '. ./functions; mount -t tmpfs -o size=%s none %s && both %s'"
                       " && [ $(cat plain.end) = 5 ] && ingest",
                       size, target, words);

    ck_assert_msg(run.exit_code == 0, "%s%s", run_out(&run), run_err(&run));
    run_free(&run);
    open_database();
}

START_TEST(a_full_ring_folder_leaves_what_is_mapped)
{
    if (!can(private_mounts, "a file system of its own"))
        return;
    both_with_disk("24m", "disk", "--ring-dir $PWD/disk -- bad_cases fill $PWD/disk");
    expect_first_thread_alone("No space left on device");
    expect_unseen_child();
}
END_TEST

/* As Docker gives it: 64 MiB. A ring of the usual size for each would be too much. */
START_TEST(many_threads_share_a_small_ring_folder)
{
    if (!can(private_mounts, "a file system of its own"))
        return;
    both_with_disk("64m", "/dev/shm", "-- bad_cases none --threads 110");
    expect_phases(1, 1, 110, 110, 1);
    ck_assert_int_eq(ask(db, "SELECT verdict = 'complete' AND events_dropped = 0 FROM completeness"), 1);
}
END_TEST

/* ---- The machine --------------------------------------------------------------------------------------------------- */

START_TEST(a_clock_that_steps_is_not_looked_at)
{
    expect("export LD_PRELOAD=$C; both -- bad_cases slow && unset LD_PRELOAD && ingest");
    open_database();
    expect_everything();
    ck_assert_int_eq(ask(db, "SELECT min(alloc_ns) > 0 AND max(coalesce(free_ns, alloc_ns)) < 60000000000"
                             " FROM allocation"),
                     1);
    ck_assert_int_eq(ask(db, "SELECT min(end_ns > begin_ns AND end_ns < 60000000000) FROM process"), 1);
    ck_assert_int_eq(
        ask(db, "SELECT abs(start_realtime_ns / 1000000000 - strftime('%s', 'now')) < 2 * 3600 FROM input"), 1);
    /* The second that it slept is a second. */
    ck_assert_int_eq(ask(db, "SELECT (SELECT min(alloc_ns) FROM allocation WHERE requested_bytes / 10000 = 2)"
                             " - (SELECT max(alloc_ns) FROM allocation WHERE requested_bytes / 10000 = 1)"
                             " BETWEEN 990000000 AND 30000000000"),
                     1);
    ck_assert_int_eq(ask(db,
                         "SELECT count(*) FROM (SELECT alloc_ns - lag(alloc_ns) OVER (ORDER BY alloc_seq) AS passed_ns"
                         " FROM allocation) WHERE passed_ns < 0"),
                     0);
}
END_TEST

/* The clock that only runs on may be another one in a container. */
START_TEST(a_time_namespace_is_recorded_where_the_counter_counts)
{
    if (!can("unshare -T --monotonic 100000 true && [ $(cat /sys/devices/system/clocksource/*/current_clocksource) = "
             "tsc ]",
             "a time namespace"))
        return;
    expect("both -- unshare -T --monotonic 100000 $P/bad_cases slow && ingest");
    open_database();
    expect_phases(1, 1, THREADS, THREADS, 1);
    ck_assert_int_eq(ask(db, "SELECT max(coalesce(free_ns, alloc_ns)) < 60000000000 FROM allocation"), 1);
}
END_TEST

/* The loader drops LD_PRELOAD there. */
START_TEST(a_setuid_program_is_said_to_be_unseen)
{
    if (!is_root("a setuid program") || !can_be_reached("a setuid program whose libraries its owner cannot come to") ||
        !can("cp $P/bad_cases own && chown 65534 own && chmod 4755 own && ! ./own none; [ $? = 0 ]",
             "a setuid program"))
        return;
    expect("both -- ./own none && ingest");
    open_database();
    ck_assert_int_eq(ask(db, "SELECT processes_seen = 0 FROM input"), 1);
    expect_text("said", "no process loaded the recorder, ");
    expect_text("said",
                "./own is setuid or setgid, so that the loader drops LD_PRELOAD: record a copy without that bit");
    expect_text("answers", "no process loaded the recorder");
    expect("both -- sh -c 'exec ./own slow' && ingest");
    open_database();
    ck_assert_int_eq(ask(db, "SELECT processes_seen = 1 AND processes_left = 1 FROM input"), 1);
    expect_text("said", "1 became a program that does not load the recorder");
}
END_TEST

/* Nobody, a root that cannot be written, a /dev/shm that is not there: rings and trace are in the one folder that can be. */
START_TEST(nobody_in_a_read_only_root_is_recorded)
{
    static const char inside[] =
        "chmod 1777 .; echo 'mount --bind . . && cd \"$PWD\" && mount -t tmpfs -o ro none /dev/shm &&"
        " mount -o remount,bind,ro / || exit 77; exec setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs"
        " --bounding-set=-all sh -c \". ./functions; TMPDIR=$PWD; export TMPDIR; $LINE\"' > inside.sh;"
        " inside() { LINE=\"$*\" unshare -m sh inside.sh; };";
    char line[2048];

    if (!is_root("another user") || !can_be_reached("another user, who cannot come to the build folder"))
        return;
    snprintf(line, sizeof line, "%s inside '! touch /touched 2>/dev/null && bad_cases none; [ $? = 5 ]'", inside);
    if (!can(line, "a root that cannot be written"))
        return;
    snprintf(line, sizeof line, "%s inside 'both -- bad_cases none && ingest'", inside);
    expect(line);
    open_database();
    expect_everything();
}
END_TEST

/* Without npumem-record around it, a program's first event starts the drain: which needs a process. */
START_TEST(a_drain_that_cannot_be_started_leaves_the_program_alone)
{
    if (!is_root("another user") || !can_be_reached("another user, who cannot come to the build folder"))
        return;
    expect("chmod 1777 .; words -- bad_cases none > plain.out; eval \"$($R --print-env --ring-dir $PWD -o t.zst)\";"
           " setpriv --reuid 65534 --clear-groups prlimit --nproc=0:0 $P/bad_cases none --threads 0 > with.out 2> "
           "with.err;"
           " [ $? = 5 ] && [ ! -s with.err ] && [ ! -e t.zst ]");
}
END_TEST

/* Valgrind runs the program and the libraries preloaded to it: it finds nothing to complain of in them. It takes the counter's
 * instruction for illegal where the processor does not say that it has it, which some virtual ones do that run it all the same. */
START_TEST(a_program_under_valgrind_is_recorded)
{
    if (!can("valgrind --version", "valgrind") || !can("[ $(uname -m) != x86_64 ] || grep -qw rdtscp /proc/cpuinfo",
                                                       "valgrind on a processor that does not tell of rdtscp"))
        return;
    expect("both -- valgrind -q --error-exitcode=9 bad_cases none && [ $(cat plain.end) = 5 ] && [ ! -s with.err ] && "
           "ingest");
    open_database();
    expect_phases(1, 1, THREADS, THREADS, 1);
    ck_assert_int_eq(ask(db, "SELECT verdict = 'complete' AND events_dropped = 0 FROM completeness"), 1);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM z_unseen"), 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("bad_cases");
    TCase *tests = tcase_create("bad_cases");
    TCase *heavy = tcase_create("valgrind");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 200);
    tcase_add_test(tests, closed_descriptors_change_nothing);
    tcase_add_test(tests, another_folder_changes_nothing);
    tcase_add_test(tests, another_root_is_recorded_where_rings_are);
    tcase_add_test(tests, dropped_privileges_are_recorded_where_rings_are);
    tcase_add_test(tests, limits_are_the_programs_own);
    tcase_add_test(tests, limits_around_the_recorder_leave_the_program_alone);
    tcase_add_test(tests, filters_of_system_calls_are_kept_to);
    tcase_add_test(tests, a_ring_folder_that_goes_away_leaves_what_is_mapped);
    tcase_add_test(tests, rings_that_are_removed_at_once_are_missed);
    tcase_add_test(tests, a_full_ring_folder_leaves_what_is_mapped);
    tcase_add_test(tests, many_threads_share_a_small_ring_folder);
    tcase_add_test(tests, a_clock_that_steps_is_not_looked_at);
    tcase_add_test(tests, a_time_namespace_is_recorded_where_the_counter_counts);
    tcase_add_test(tests, a_setuid_program_is_said_to_be_unseen);
    tcase_add_test(tests, nobody_in_a_read_only_root_is_recorded);
    tcase_add_test(tests, a_drain_that_cannot_be_started_leaves_the_program_alone);
    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(heavy, set_up, tear_down);
    tcase_set_timeout(heavy, 200);
    tcase_add_test(heavy, a_program_under_valgrind_is_recorded);
    suite_add_tcase(suite, heavy);
    return suite;
}

int main(int argc, char **argv)
{
    if (!shell_variables(argc, argv, "RIPC"))
        return 2;
    shell_before(". ./functions; ", 120);
    SRunner *runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
