/* SPDX-License-Identifier: Apache-2.0
 *
 * What --selfcheck reads and how it judges: the program's lines, the views' CSV files (also those of an npumem-ingest of
 * another version, or cut off), and when two figures are the same. And the programs that it runs: how they end, what they
 * say, and that nothing of them stays.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/suites.h"
#include "tool/selfcheck/text.h"

static selfcheck_place place;

static void set_up(void)
{
    ck_assert_int_eq(selfcheck_place_open(&place, NULL), NM_OK);
}

static void tear_down(void)
{
    char folder[PATH_MAX];

    strcpy(folder, place.folder);
    selfcheck_place_close(&place);
    ck_assert_int_ne(access(folder, F_OK), 0);
}

static void write_view(const char *view, const char *text)
{
    char name[64], path[PATH_MAX];
    FILE *file;

    selfcheck_path(&place, "csv", path);
    mkdir(path, 0700);
    snprintf(name, sizeof name, "csv/%s.csv", view);
    selfcheck_path(&place, name, path);
    file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

/* ---- Reading ------------------------------------------------------------------------------------------------------- */

START_TEST(the_programs_lines_are_found_among_others)
{
    selfcheck_said said;
    const char *output = "warning: something\nnpumem-selfcheck loop_ns 12345\n"
                         "npumem-selfcheck reserved_peak_bytes 18446744073709551614\nnpumem-selfcheck loop_nsx 1\n"
                         "npumem-selfcheck version a b  c\nnpumem-selfcheck why not \nx npumem-selfcheck step_count 7\n"
                         "npumem-selfcheck version d";
    const char *at = output;
    char text[SELFCHECK_TEXT_BYTES];

    selfcheck_listen(output, &said);
    ck_assert_uint_eq(said.values[SELFCHECK_LOOP_NS], 12345);
    ck_assert_uint_eq(said.values[SELFCHECK_RESERVED], UINT64_MAX - 1);
    ck_assert_uint_eq(said.values[SELFCHECK_STEPS], SELFCHECK_UNKNOWN);
    ck_assert_uint_eq(said.values[SELFCHECK_ALLOCATED], SELFCHECK_UNKNOWN);
    ck_assert_str_eq(said.why, "not ");
    ck_assert(selfcheck_next(&at, "version", text));
    ck_assert_str_eq(text, "a b  c");
    ck_assert(selfcheck_next(&at, "version", text));
    ck_assert_str_eq(text, "d");
    ck_assert(!selfcheck_next(&at, "version", text));
    selfcheck_listen("", &said);
    ck_assert_str_eq(said.why, "");
}
END_TEST

START_TEST(tables_are_read_with_quotes_commas_and_line_ends_in_cells)
{
    selfcheck_table table;

    write_view("v", "\"a\",\"b\",c\r\n\"x \"\"y\"\"\",\"1,\r\n2\",\r\n,,17\r\n\"\",\"-\",\"x\"");
    selfcheck_table_read(&place, "v", &table);
    ck_assert_uint_eq(table.row_count, 4);
    ck_assert_uint_eq(table.column_count, 3);
    ck_assert_str_eq(selfcheck_cell(&table, 1, "a"), "x \"y\"");
    ck_assert_str_eq(selfcheck_cell(&table, 1, "b"), "1,\r\n2");
    ck_assert_str_eq(selfcheck_cell(&table, 1, "c"), "");
    ck_assert_uint_eq(selfcheck_number(&table, 1, "c"), SELFCHECK_UNKNOWN);
    ck_assert_uint_eq(selfcheck_number(&table, 2, "c"), 17);
    ck_assert_uint_eq(selfcheck_number(&table, 3, "c"), SELFCHECK_UNKNOWN);
    ck_assert_str_eq(selfcheck_cell(&table, 2, "no such column"), "");
    ck_assert_str_eq(selfcheck_cell(&table, 4, "a"), "");
    selfcheck_table_free(&table);
}
END_TEST

START_TEST(what_is_no_table_has_no_rows)
{
    static const char *const texts[] = {"", "a,b\n1\n", "a,b\n1,2,3\n", "a,b\n1,2\n3,", "\"a"};
    selfcheck_table table;

    selfcheck_table_read(&place, "missing", &table);
    ck_assert_uint_eq(table.row_count, 0);
    selfcheck_table_free(&table);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_view("v", texts[i]);
        selfcheck_table_read(&place, "v", &table);
        ck_assert_msg(table.row_count <= 1, "%s", texts[i]); /* no row of values */
        ck_assert_str_eq(selfcheck_cell(&table, 1, "a"), "");
        selfcheck_table_free(&table);
    }
}
END_TEST

/* A file that is cut anywhere is read up to there or not at all, and never beyond. */
START_TEST(a_table_cut_at_every_byte_is_read_or_refused)
{
    const char *text = "\"a\",\"b\"\n\"1\"\"\",\"x\ny\"\n2,3\n";
    char part[64];

    for (size_t len = 0; len <= strlen(text); len++) {
        selfcheck_table table;

        snprintf(part, sizeof part, "%.*s", (int)len, text);
        write_view("v", part);
        selfcheck_table_read(&place, "v", &table);
        for (size_t row = 1; row < table.row_count; row++)
            ck_assert_uint_eq(table.column_count, 2);
        selfcheck_table_free(&table);
    }
}
END_TEST

/* ---- Judging ------------------------------------------------------------------------------------------------------- */

#define MIB ((uint64_t)1 << 20)

START_TEST(the_largest_pool_is_compared_to_the_byte_and_the_device_roughly)
{
    selfcheck_said said = {.values = {1000, 4096, 7, 1000 * MIB, 800 * MIB, 5, 1}};
    selfcheck_comparison comparison;

    write_view("peak", "level,heap,peak_bytes,peak_reserved_bytes\npool,small,10,20\npool,\"the, pool\",1000,4096\n"
                       "workspace,ws,5000,6000\ndriver,d,90000,\n");
    write_view("heap_total",
               "level,heap,allocation_count\npool,small,1\ndriver,\"the, pool\",3\npool,\"the, pool\",7\n");
    write_view("z_device_moment", "moment_kind,moment,recorded_bytes\nmark,selfcheck begin,1048576\n"
                                  "peak,selfcheck peak,1\nmark,selfcheck peak,209715200\n");
    selfcheck_compare(&place, &said, true, &comparison);
    ck_assert_str_eq(comparison.pool, "the, pool");
    ck_assert_uint_eq(comparison.lines[0].seen, 1000);
    ck_assert_uint_eq(comparison.lines[1].seen, 4096);
    ck_assert_uint_eq(comparison.lines[2].seen, 7);
    ck_assert_uint_eq(comparison.lines[3].said, 200 * MIB);
    ck_assert_uint_eq(comparison.lines[3].seen, 199 * MIB);
    for (size_t i = 0; i < SELFCHECK_LINES; i++)
        ck_assert(selfcheck_agrees(&comparison.lines[i]));
    said.values[SELFCHECK_ALLOCATED]++;
    said.values[SELFCHECK_COUNT] = SELFCHECK_UNKNOWN; /* it does not say */
    said.values[SELFCHECK_DEVICE_PEAK] -= 16 * MIB;   /* a mebibyte more than is allowed */
    selfcheck_compare(&place, &said, true, &comparison);
    ck_assert(!selfcheck_agrees(&comparison.lines[0]));
    ck_assert(selfcheck_agrees(&comparison.lines[2]));
    ck_assert(!selfcheck_agrees(&comparison.lines[3]));
}
END_TEST

START_TEST(what_the_recorder_has_not_seen_does_not_agree)
{
    selfcheck_said said = {.values = {1000, 4096, 7, 1000 * MIB, 800 * MIB, 5, 1}};
    selfcheck_comparison comparison;

    write_view("peak", "level,heap,peak_bytes,peak_reserved_bytes\ndriver,d,90000,\n");
    selfcheck_compare(&place, &said, false, &comparison);
    ck_assert_str_eq(comparison.pool, "");
    for (size_t i = 0; i < SELFCHECK_LINES; i++)
        ck_assert(!selfcheck_agrees(&comparison.lines[i]));
}
END_TEST

START_TEST(numbers_are_shown_and_medians_taken)
{
    static const int64_t times[SELFCHECK_ROUNDS] = {50, 10, 40, 20, 30};
    char text[32];

    ck_assert_int_eq(selfcheck_median(times), 30);
    selfcheck_digits(0, text);
    ck_assert_str_eq(text, "0");
    selfcheck_digits(999, text);
    ck_assert_str_eq(text, "999");
    selfcheck_digits(1234567, text);
    ck_assert_str_eq(text, "1,234,567");
    selfcheck_digits(UINT64_MAX - 1, text);
    ck_assert_str_eq(text, "18,446,744,073,709,551,614");
    selfcheck_digits(SELFCHECK_UNKNOWN, text);
    ck_assert_str_eq(text, "-");
}
END_TEST

/* ---- Running ------------------------------------------------------------------------------------------------------- */

static void run_shell_line(const char *line, const char *library_folder, selfcheck_run *out)
{
    const char *const arguments[] = {"/bin/sh", "-c", line, NULL};

    ck_assert_int_eq(selfcheck_run_program(&place, arguments, library_folder, out, NULL), NM_OK);
}

START_TEST(programs_end_as_they_do_and_what_they_say_is_kept)
{
    selfcheck_run run = {0};
    const char *const missing[] = {"/no/such/program", NULL};

    run_shell_line("mkdir -p deep/er; touch deep/er/file; echo out; echo err >&2; exit 7", NULL, &run);
    ck_assert_int_eq(run.exit_status, 7);
    ck_assert_str_eq((char *)run.out.data, "out\n");
    ck_assert_str_eq((char *)run.err.data, "err\n");
    ck_assert(!run.is_too_long);
    run_shell_line("kill -9 $$", NULL, &run);
    ck_assert_int_eq(run.exit_status, 128 + 9);
    ck_assert_str_eq((char *)run.out.data, "");
    ck_assert_int_eq(selfcheck_run_program(&place, missing, NULL, &run, NULL), NM_OK);
    ck_assert_int_eq(run.exit_status, 127);
    ck_assert_ptr_ne(strstr((char *)run.err.data, "/no/such/program: No such file"), NULL);
    selfcheck_run_free(&run);
}
END_TEST

START_TEST(a_library_folder_comes_before_the_others)
{
    selfcheck_run run = {0};

    unsetenv("LD_LIBRARY_PATH");
    run_shell_line("echo $LD_LIBRARY_PATH", "/first", &run);
    ck_assert_str_eq((char *)run.out.data, "/first\n");
    setenv("LD_LIBRARY_PATH", "/second", 1);
    run_shell_line("echo $LD_LIBRARY_PATH", "/first", &run);
    ck_assert_str_eq((char *)run.out.data, "/first:/second\n");
    unsetenv("LD_LIBRARY_PATH");
    selfcheck_run_free(&run);
}
END_TEST

START_TEST(a_signal_ends_the_program_and_all_that_it_started)
{
    selfcheck_run run = {0};

    run_shell_line("sleep 50 & echo $! > ../npumem-selfcheck-child.$PPID; kill -TERM $PPID; wait; wait", NULL, &run);
    ck_assert_int_eq(place.ended_by, SIGTERM);
    ck_assert_int_eq(run.exit_status, 128 + SIGTERM);
    ck_assert_int_lt(run.wall_ns, 10000000000);
    run_shell_line("p=$(cat ../npumem-selfcheck-child.$PPID); rm ../npumem-selfcheck-child.$PPID; i=0;"
                   " while kill -0 $p 2>/dev/null && ! grep -q '^State:.Z' /proc/$p/status && [ $i -lt 100 ];"
                   " do i=$((i + 1)); sleep 0.02; done; [ $i -lt 100 ]",
                   NULL, &run);
    ck_assert_int_eq(run.exit_status, 0);
    selfcheck_run_free(&run);
}
END_TEST

TEST_SUITE(test_selfcheck)
{
    Suite *suite = suite_create("selfcheck");
    TCase *tests = tcase_create("selfcheck");

    tcase_set_timeout(tests, 30);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_programs_lines_are_found_among_others);
    tcase_add_test(tests, tables_are_read_with_quotes_commas_and_line_ends_in_cells);
    tcase_add_test(tests, what_is_no_table_has_no_rows);
    tcase_add_test(tests, a_table_cut_at_every_byte_is_read_or_refused);
    tcase_add_test(tests, the_largest_pool_is_compared_to_the_byte_and_the_device_roughly);
    tcase_add_test(tests, what_the_recorder_has_not_seen_does_not_agree);
    tcase_add_test(tests, numbers_are_shown_and_medians_taken);
    tcase_add_test(tests, programs_end_as_they_do_and_what_they_say_is_kept);
    tcase_add_test(tests, a_library_folder_comes_before_the_others);
    tcase_add_test(tests, a_signal_ends_the_program_and_all_that_it_started);
    suite_add_tcase(suite, tests);
    return suite;
}
