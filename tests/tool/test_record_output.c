/* SPDX-License-Identifier: Apache-2.0
 *
 * The output of npumem-record: whose file it is, what --force replaces, what is left when the disk is full, and readers that
 * do not read.
 *
 *     test_record_output NPUMEM_RECORD NPUMEM_INGEST PROGRAM_FOLDER    as $R $I $P in lines of shell
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/shell.h"

/* Runs the lines and wants what they print. */
static void expect(const char *lines, const char *out)
{
    nm_run run = shell_line(lines);

    ck_assert_msg(strcmp(run_out(&run), out) == 0, "%s\nprinted:\n%s\nnot:\n%s\nand said:\n%s", lines, run_out(&run),
                  out, run_err(&run));
    run_free(&run);
}

/* A recording into $1 with options $2 that goes on until end_it: the program has made 500 allocations and waits. */
#define RECORD_AND_WAIT                                                                                                \
    "record() { $R -q -o $1 $2 -- sh -c '$P/spin_events --events 500 >/dev/null; touch begun; until [ -e over ]; do"   \
    " sleep 0.02; done' & r=$!; until [ -e begun ]; do sleep 0.02; done; }; end_it() { touch over; wait $r; }; "       \
    "rows() { $I --quiet --force -o x.db $1; echo $?; sqlite3 x.db 'SELECT count(*) FROM allocation'; }; "

/* ---- Whose file it is ---------------------------------------------------------------------------------------------- */

START_TEST(a_file_that_is_recorded_is_not_taken_away)
{
    expect(
        RECORD_AND_WAIT
        "record a.zst; $R -o a.zst --force -- echo ran 2>err; echo $?; wc -l < err; cat err; $R --finish a.zst "
        "2>err; echo $?; cat err; $I --quiet -o live.db a.zst 2>err; sqlite3 live.db 'SELECT count(*) FROM "
        "allocation'; $R --attach $PWD/rings -o a.zst "
        "--force; echo $?; ls -d rings 2>err; $R -q -o a.zst -- echo ran too 2>err; ls; end_it; rows a.zst; $R -q -o "
        "a.zst --force -- echo ran; echo $?",
        "2\n1\nnpumem-record: a.zst: is being recorded\n"
        "1\nnpumem-record: a.zst: is being recorded\n"
        "500\n2\nran too\na-1.zst\na.zst\nbegun\nerr\nlive.db\n"
        "0\n500\nran\n0\n");
}
END_TEST

START_TEST(neither_are_the_parts_of_one)
{
    expect(
        RECORD_AND_WAIT
        "record a.zst '--keep last:1M'; $R -o a.zst --force --keep last:1M -- echo ran 2>err; echo $?; cat err; "
        "$R --finish a.zst 2>err; echo $?; cat err; ls; end_it; rows a.zst; $R -q -o a.zst --force --keep last:1M -- "
        "echo ran; echo $?",
        "2\nnpumem-record: a.zst: is being recorded\n"
        "1\nnpumem-record: a.zst: is being recorded\na.zst.000\nbegun\nerr\n"
        "0\n500\nran\n0\n");
}
END_TEST

START_TEST(the_claim_dies_with_the_recorder_while_the_program_runs_on)
{
    expect(RECORD_AND_WAIT "record a.zst; kill -9 $r; wait $r; $R -q -o a.zst --force -- echo ran; echo $?; touch over",
           "ran\n0\n");
}
END_TEST

START_TEST(force_puts_a_new_file_in_the_place_of_what_is_there)
{
    expect("echo precious > target; ln -s target link.zst; ln -s nowhere gone.zst; ln target hard.zst; exec 3<target; "
           "for name in link gone hard; do $R -q -o $name.zst --force -- true; echo $?; zstd -qt $name.zst; echo $?; "
           "stat -c %F $name.zst; done; cat target; ls nowhere 2>err; mkdir folder; $R -q -o folder --force --required "
           "-- true 2>err; echo $?",
           "0\n0\nregular file\n0\n0\nregular file\n0\n0\nregular file\nprecious\n1\n");
}
END_TEST

/* ---- A full disk --------------------------------------------------------------------------------------------------- */

/* `few` and `many` allocations while there is room, and while the file may not grow. */
#define FULL_DISK                                                                                                      \
    "begin() { $R -o a.zst -- sh -c '$P/spin_events --events 500; touch begun; until [ -e go ]; do sleep 0.02; done; " \
    "$P/spin_events --events 20000 --threads 2 --pace-ns 20000; touch many; until [ -e over ]; do sleep 0.02; done;"   \
    " $P/spin_events --events 777' >/dev/null 2>err & r=$!; until [ -e begun ]; do sleep 0.02; done; sleep 0.7; "      \
    "prlimit --pid $r --fsize=$(($(stat -c %s a.zst) + 4096)):; touch go; until [ -e many ]; do sleep 0.02; done; }; " \
    "said() { tr -d , < err | awk '/ events/ { for (i = 3; i <= NF; i++) if ($i ~ /^(events|dropped|could)/) "         \
    "n += $(i - 1) } END { print n }'; }; "                                                                            \
    "ask() { sqlite3 a.db \"SELECT $1 FROM input\"; }; "

START_TEST(a_disk_that_stays_full_is_counted_to_the_event)
{
    /* 500, twice 20,000 and 777 allocations with their frees, and the ends of the small processes. */
    expect(FULL_DISK
           "begin; touch over; wait $r; echo $?; zstd -qt a.zst; echo $?; $I --quiet a.zst; echo $?; "
           "[ $(said) = $(ask events_seen) ] || echo $(said) is not $(ask events_seen); ask 'is_complete, "
           "events_seen BETWEEN 82554 AND 83554, events_ingested < 2000, events_damaged, events_unrecovered'; "
           "$R --finish a.zst 2>&1",
           "0\n0\n3\n0|1|1|0|0\nnpumem-record: a.zst: is whole already\n");
}
END_TEST

START_TEST(a_disk_that_has_room_again_is_written_again)
{
    expect(FULL_DISK
           "begin; prlimit --pid $r --fsize=unlimited:; sleep 0.4; touch over; wait $r; $I --quiet a.zst; echo "
           "$?; [ $(said) = $(ask events_seen) ] || echo $(said) is not $(ask events_seen); ask 'is_complete, "
           "events_seen BETWEEN 82554 AND 83554, events_dropped > 10000, events_damaged'; sqlite3 a.db 'SELECT "
           "count(*) FROM allocation GROUP BY heap_id HAVING count(*) IN (500, 777)'",
           "3\n0|1|1|0\n500\n777\n");
}
END_TEST

START_TEST(a_recorder_killed_at_a_full_disk_has_counted_what_it_let_go)
{
    expect(FULL_DISK "begin; sleep 0.3; kill -9 $r; wait $r; touch over; for i in $(seq "
                     "100); do $R --finish a.zst >finish 2>&1; [ $? = 1 ] || break; sleep 0.05; done; $I --quiet "
                     "a.zst; echo $?; ask 'is_complete, events_seen BETWEEN 82554 AND 83554'",
           "3\n0|1\n");
}
END_TEST

/* The recorder does nothing for a while: the rings are full, and what comes is dropped. A note has that, too, and once. */
START_TEST(what_full_rings_dropped_at_a_full_disk_is_counted_once)
{
    expect(
        "$R -o a.zst -- sh -c '$P/spin_events --events 500; touch begun; until [ -e go ]; do sleep 0.02; done; "
        "$P/spin_events --events 400000; touch many; until [ -e over ]; do sleep 0.02; done; $P/spin_events "
        "--events 777' >/dev/null 2>err & r=$!; until [ -e begun ]; do sleep 0.02; done; sleep 0.7; prlimit --pid $r "
        "--fsize=$(($(stat -c %s a.zst) + 4096)):; kill -STOP $r; touch go; until [ -e many ]; do sleep 0.02; done; "
        "kill -CONT $r; sleep 1; kill -9 $r; wait $r; touch over; for i in $(seq 100); do $R --finish a.zst >finish "
        "2>&1; [ $? = 1 ] || break; sleep 0.05; done; $I --quiet a.zst; echo $?; sqlite3 a.db 'SELECT is_complete, "
        "events_dropped > 400000, events_seen BETWEEN 802554 AND 803554 FROM input'",
        "3\n0|1|1\n");
}
END_TEST

/* ---- Readers ------------------------------------------------------------------------------------------------------- */

START_TEST(a_fifo_that_nobody_reads_holds_nobody)
{
    expect("mkfifo f; $R --linger 1 -o f -- sh -c 'exit 5' 2>err; echo $?; grep -c 'nobody reads' err; "
           "$R --linger 60 -o f -- sh -c 'exit 5' 2>err & r=$!; sleep 1; kill -TERM $r; sleep 0.2; kill -TERM $r; wait "
           "$r; "
           "echo $?",
           "5\n1\n5\n");
}
END_TEST

START_TEST(a_fifo_that_is_read_late_gets_all)
{
    expect("mkfifo f; $R -q -o f -- $P/spin_events --events 3000 >/dev/null & sleep 1; cat f > a.zst; wait; zstd -qt "
           "a.zst; "
           "$I --quiet a.zst; echo $?; sqlite3 a.db 'SELECT count(*) FROM allocation'",
           "0\n3000\n");
}
END_TEST

/* Nobody reads what fills it. */
static void fill(int writer)
{
    char some[4096] = "";

    ck_assert_int_ge(writer, 0);
    ck_assert_int_eq(fcntl(writer, F_SETFL, O_NONBLOCK), 0);
    while (write(writer, some, sizeof some) > 0)
        ;
}

START_TEST(a_reader_that_stops_reading_holds_nobody_and_two_interrupts_end_it)
{
    char path[128];

    snprintf(path, sizeof path, "%s/f", shell_folder);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDWR | O_CLOEXEC);
    fill(reader);
    expect("$R -o f -- sh -c '$P/spin_events --events 3000 >/dev/null; touch over' 2>err & r=$!; until [ -e over ]; do "
           "sleep 0.02; done; sleep 1; kill -0 $r; echo $?; kill -INT $r; sleep 0.3; kill -INT $r; wait "
           "$r; "
           "echo $?; grep -c 'could not be written' err",
           "0\n0\n1\n");
    close(reader);
}
END_TEST

START_TEST(standard_error_that_nobody_reads_holds_nobody)
{
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    fill(ends[1]);
    nm_run run = shell("timeout 20 $R -o a.zst -- sh -c 'echo ran; exit 5' 2>/proc/%d/fd/%d; echo $?; zstd -qt a.zst; "
                       "echo $?",
                       (int)getpid(), ends[1]);
    ck_assert_str_eq(run_out(&run), "ran\n5\n0\n");
    run_free(&run);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

int main(int argc, char **argv)
{
    if (!shell_variables(argc, argv, "RIP"))
        return 2;
    shell_before("export R I P; ", 40);
    Suite *suite = suite_create("record_output");
    TCase *tests = tcase_create("record_output");

    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, shell_make_folder, shell_remove_folder);
    tcase_add_test(tests, a_file_that_is_recorded_is_not_taken_away);
    tcase_add_test(tests, neither_are_the_parts_of_one);
    tcase_add_test(tests, the_claim_dies_with_the_recorder_while_the_program_runs_on);
    tcase_add_test(tests, force_puts_a_new_file_in_the_place_of_what_is_there);
    tcase_add_test(tests, a_disk_that_stays_full_is_counted_to_the_event);
    tcase_add_test(tests, a_disk_that_has_room_again_is_written_again);
    tcase_add_test(tests, a_recorder_killed_at_a_full_disk_has_counted_what_it_let_go);
    tcase_add_test(tests, what_full_rings_dropped_at_a_full_disk_is_counted_once);
    tcase_add_test(tests, a_fifo_that_nobody_reads_holds_nobody);
    tcase_add_test(tests, a_fifo_that_is_read_late_gets_all);
    tcase_add_test(tests, a_reader_that_stops_reading_holds_nobody_and_two_interrupts_end_it);
    tcase_add_test(tests, standard_error_that_nobody_reads_holds_nobody);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
