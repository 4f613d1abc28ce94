/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-ingest as a user runs it: what it takes, refuses, prints and leaves behind.
 *
 *     test_ingest NPUMEM_INGEST TEXT2TRACE TRACE.txt    as $I $X $T in lines of shell
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/shell.h"

static void set_up(void)
{
    shell_make_folder();
    nm_run run = shell_line("$X $T run.zst 3");
    ck_assert_msg(run.exit_code == 0, "%s", run_err(&run));
    run_free(&run);
}

/* Exit status, standard error as an fnmatch-free part of it ("" : must be empty; NULL: any). */
static void expect(const char *line, int exit_code, const char *error_part)
{
    nm_run run = shell_line(line);

    ck_assert_msg(run.exit_code == exit_code, "%s: exit %d, %s%s", line, run.exit_code, run_out(&run), run_err(&run));
    if (error_part != NULL && error_part[0] == 0)
        ck_assert_msg(run_err(&run)[0] == 0, "%s: %s", line, run_err(&run));
    else if (error_part != NULL)
        ck_assert_msg(strstr(run_err(&run), error_part) != NULL, "%s: %s", line, run_err(&run));
    run_free(&run);
}

/* The same for a failure: one line that begins with the program's name, and nothing on standard output. */
static void expect_failure(const char *line, int exit_code, const char *error_part)
{
    nm_run run = shell_line(line);
    const char *newline = strchr(run_err(&run), '\n');

    ck_assert_msg(run.exit_code == exit_code, "%s: exit %d, %s", line, run.exit_code, run_err(&run));
    ck_assert_msg(strstr(run_err(&run), error_part) != NULL, "%s: %s", line, run_err(&run));
    ck_assert_int_eq(strncmp(run_err(&run), "npumem-ingest: ", 15), 0);
    ck_assert_msg(newline != NULL && newline[1] == 0, "%s: more than one line: %s", line, run_err(&run));
    ck_assert_str_eq(run_out(&run), "");
    run_free(&run);
}

/* The first line that a shell command prints. */
static void expect_output(const char *line, const char *expected)
{
    nm_run run = shell_line(line);

    ck_assert_msg(strcmp(run_out(&run), expected) == 0, "%s: %s%s", line, run_out(&run), run_err(&run));
    run_free(&run);
}

START_TEST(the_output_is_named_after_the_input)
{
    expect("$I run.zst", 0, "");
    expect("test -s run.db", 0, "");
    expect("cp run.zst noname && $I noname && test -s noname.db", 0, "");
    expect("mkdir a.b && cp run.zst a.b/noname && $I a.b/noname && test -s a.b/noname.db", 0, "");
    expect("cp run.zst .hidden && $I .hidden && test -s .hidden.db", 0, "");
    expect_output("ls -A | tr '\\n' ' '", ".hidden .hidden.db a.b noname noname.db run.db run.zst ");
}
END_TEST

START_TEST(content_decides_and_not_the_name)
{
    expect(
        "mv run.zst snapshot.pickle && $I snapshot.pickle && sqlite3 snapshot.db 'SELECT kind FROM input' | grep trace",
        0, "");
}
END_TEST

START_TEST(standard_input_is_read_as_a_dash)
{
    expect("$I -o x.db - < run.zst && $I -o y.db run.zst", 0, "");
    expect("cat run.zst | $I --force --quiet -o x.db -", 0, "");
    expect_output(
        "for d in x y; do sqlite3 $d.db 'SELECT count(*), sum(size_bytes) FROM allocation'; done | uniq | wc -l",
        "1\n");
    expect_failure("$I - < run.zst", 2, "needs -o");
}
END_TEST

START_TEST(the_same_input_gives_the_same_database)
{
    expect("$I -o x.db run.zst && $I -o y.db run.zst && cmp x.db y.db", 0, "");
}
END_TEST

START_TEST(usage_is_checked)
{
    expect_failure("$I", 2, "no input");
    expect_failure("echo nothing > text; $I run.zst text -o x.db; rc=$?; rm text; exit $rc", 1,
                   "npumem-ingest: text: ");
    expect_failure("cp run.zst other.zst; $I run.zst -; rc=$?; rm other.zst; exit $rc", 2, "input of its own");
    expect_failure("$I ''", 2, "no name");
    expect_failure("$I --csv-bom run.zst", 2, "--csv-bom needs --csv");
    expect_failure("$I -o - run.zst", 2, "cannot go to standard output");
    expect("$I --frobnicate run.zst", 2, "frobnicate");
    expect("$I -o", 2, NULL);
    expect("$I --help | grep -q '^usage: npumem-ingest'", 0, "");
    expect("$I --version | grep -q '^npumem-ingest [0-9]'", 0, "");
    expect_output("ls", "run.zst\n");
}
END_TEST

START_TEST(quiet_prints_nothing)
{
    expect_output("$I --quiet run.zst 2>&1", "");
}
END_TEST

START_TEST(what_exists_is_kept_unless_forced)
{
    expect("echo precious >run.db", 0, "");
    expect_failure("$I run.zst", 1, "run.db: is already there");
    expect_output("cat run.db", "precious\n");
    expect("$I --force run.zst && sqlite3 run.db 'PRAGMA integrity_check' | grep -q ok", 0, "");
    expect_failure("$I --force -o run.zst run.zst", 2, "is the input itself");
    expect_failure("cp run.zst trace.db && $I trace.db", 2, "is the input itself");
    expect("rm trace.db run.db && touch run.db-wal", 0, "");
    expect_failure("$I run.zst", 1, "-wal");
    expect("rm run.db-wal && mkdir run.db", 0, "");
    expect_failure("$I --force run.zst", 1, "a folder");
    expect_output("ls -A | tr '\\n' ' '", "run.db run.zst ");
}
END_TEST

START_TEST(csv_files_are_written_beside_the_database)
{
    expect("$I --csv out run.zst", 0, "");
    expect_output("head -n 1 out/leak_by_site.csv | tr -d '\\r\"' | cut -d, -f1-8",
                  "host,rank,pid,device,heap,level,site,verdict\n");
    expect_output(
        "ls out | tr '\\n' ' '",
        "catalog.csv finding.csv fragmentation.csv health.csv leak.csv leak_by_site.csv outstanding.csv peak.csv "
        "peak_by_site.csv pool_hit_rate.csv suspect_by_site.csv timeline.csv ");
    expect_failure("rm run.db && $I --csv out run.zst", 1, "out: ");
    expect("test ! -e run.db", 0, "");
    expect("$I --force --csv out --csv-bom run.zst && head -c 3 out/leak.csv | od -An -tx1 | grep -q 'ef bb bf'", 0,
           "");
    expect_output("ls -A | tr '\\n' ' '", "out run.db run.zst ");
}
END_TEST

START_TEST(bad_inputs_are_one_line_and_leave_nothing)
{
    expect_failure("$I missing.zst", 1, "missing.zst: cannot open: No such file");
    expect_failure(": >empty && $I empty", 1, "empty: ");
    expect_failure("echo hello >text && $I text", 1, "text: ");
    expect_failure("mkdir folder && $I -o x.db folder", 1, "folder: ");
    expect_failure("printf '\\200\\004cos\\nsystem\\n(S\"touch pwned\"\\ntR.' >evil && $I evil", 1, "evil: ");
    expect_failure("head -c 100000 /dev/zero | tr '\\0' '(' | sed 's/^/\\x80\\x04/' >nested && $I nested", 1,
                   "nested: ");
    expect_failure("head -c 4096 /dev/urandom >noise && $I noise", 1, "noise: ");
    expect("ls | grep -E 'db|pwned|tmp'", 1, "");
}
END_TEST

START_TEST(a_cut_trace_is_loaded_in_part_and_said)
{
    expect("head -c $(($(stat -c %s run.zst) - 10)) run.zst >cut.zst", 0, "");
    expect("$I cut.zst", 3, "npumem-ingest: cut.zst: not complete: ");
    expect_output("sqlite3 cut.db 'SELECT is_complete, bytes_cut > 0, events_ingested > 0 FROM input'", "0|1|1\n");
    expect_output("sqlite3 cut.db 'SELECT verdict FROM completeness'", "lossy\n");
}
END_TEST

START_TEST(a_damaged_trace_is_loaded_in_part_and_said)
{
    /* One byte in the middle: one block of three events is lost, and counted. */
    expect("cp run.zst bad.zst && s=$(stat -c %s run.zst) && printf 'X' |"
           " dd of=bad.zst bs=1 seek=$((s / 2)) conv=notrunc 2>/dev/null && $I bad.zst",
           3, "not complete");
    expect_output("sqlite3 bad.db 'SELECT events_seen = events_ingested + events_dropped + events_damaged +"
                  " events_unrecovered FROM input'",
                  "1\n");
}
END_TEST

START_TEST(a_full_disk_leaves_nothing)
{
    /* A limit on the size of files stands for the disk. */
    expect_failure("ulimit -f 40; $I run.zst", 1, "run.db: ");
    expect_output("ls", "run.zst\n");
}
END_TEST

/* The database is whole and stands: that is no failure, but not all was done. */
START_TEST(a_full_standard_output_is_told)
{
    expect("$I run.zst >/dev/full", 3,
           "standard output: cannot write: No space left on device; run.db is in its place");
    expect_output("sqlite3 run.db 'PRAGMA quick_check; SELECT is_complete FROM input'", "ok\n1\n");
    expect("$I --force run.zst >&-", 3, "standard output: cannot write: Bad file descriptor; run.db is in its place");
    expect("$I --force --quiet run.zst >/dev/full", 0, "");
    expect("$I run.zst run.db -o both.db >&-", 3,
           "standard output: cannot write: Bad file descriptor; both.db is in its");
    expect_output("sqlite3 both.db 'PRAGMA quick_check'", "ok\n");
}
END_TEST

START_TEST(site_rules_move_the_site)
{
    expect("echo 'function collate' >rules && $I --quiet --site-rules rules run.zst", 0, "");
    expect_output("sqlite3 run.db \"SELECT site FROM leak_by_site WHERE verdict = 'growing'\"", "train.py:8 main\n");
    expect_output("sqlite3 run.db \"SELECT pattern FROM plumbing WHERE origin = 'site rules'\"", "collate\n");
    expect_failure("printf 'function a\\nfoo b\\n' >bad && $I -o x.db --site-rules bad run.zst", 1, "bad: byte 11: ");
    expect_failure("$I -o x.db --site-rules none run.zst", 1, "none: cannot open");
    expect("test ! -e x.db", 0, "");
}
END_TEST

START_TEST(an_interrupt_leaves_nothing)
{
    static const char *const signals[] = {"INT", "TERM", "HUP"};
    char line[512];

    for (size_t index = 0; index < 3; index++) {
        /* Standard input stays open until the program has ended, or been told to: it waits for more of the trace. */
        snprintf(line, sizeof line,
                 "mkfifo p; exec 3<>p; env -i $I -o x.db - <p 3>&- & i=$!; cat run.zst run.zst run.zst run.zst >&3;"
                 " for n in $(seq 1000); do ls x.db.*.tmp >/dev/null 2>&1 && break; sleep 0.02; done;"
                 " ls x.db.*.tmp >/dev/null && kill -%s $i; [ %s = INT ] && exec 3>&-; wait $i; s=$?; rm p;"
                 " echo $((s > 128)) $(ls | tr '\\n' ' ')",
                 signals[index], signals[index]);
        nm_run run = shell_line(line);
        /* A shell starts background jobs with SIGINT ignored, and an ignored signal stays ignored. */
        if (strcmp(signals[index], "INT") != 0)
            ck_assert_msg(strcmp(run_out(&run), "1 run.zst\n") == 0, "%s: %s%s", signals[index], run_out(&run),
                          run_err(&run));
        run_free(&run);
        expect("rm -f x.db", 0, "");
    }
}
END_TEST

START_TEST(two_at_once_give_one_whole_winner)
{
    for (int round = 0; round < 5; round++) {
        expect("rm -f run.db; $I --quiet run.zst 2>/dev/null & $I --quiet run.zst 2>/dev/null; wait;"
               " sqlite3 run.db 'PRAGMA integrity_check' | grep -q ok",
               0, "");
        expect_output("ls | tr '\\n' ' '", "run.db run.zst ");
    }
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("npumem-ingest");
    TCase *tcase = tcase_create("ingest");

    if (!shell_variables(argc, argv, "IXT"))
        return 2;
    shell_before("", 60);
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, set_up, shell_remove_folder);
    tcase_add_test(tcase, the_output_is_named_after_the_input);
    tcase_add_test(tcase, content_decides_and_not_the_name);
    tcase_add_test(tcase, standard_input_is_read_as_a_dash);
    tcase_add_test(tcase, the_same_input_gives_the_same_database);
    tcase_add_test(tcase, usage_is_checked);
    tcase_add_test(tcase, quiet_prints_nothing);
    tcase_add_test(tcase, what_exists_is_kept_unless_forced);
    tcase_add_test(tcase, csv_files_are_written_beside_the_database);
    tcase_add_test(tcase, bad_inputs_are_one_line_and_leave_nothing);
    tcase_add_test(tcase, a_cut_trace_is_loaded_in_part_and_said);
    tcase_add_test(tcase, a_damaged_trace_is_loaded_in_part_and_said);
    tcase_add_test(tcase, a_full_disk_leaves_nothing);
    tcase_add_test(tcase, a_full_standard_output_is_told);
    tcase_add_test(tcase, site_rules_move_the_site);
    tcase_add_test(tcase, an_interrupt_leaves_nothing);
    tcase_add_test(tcase, two_at_once_give_one_whole_winner);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
