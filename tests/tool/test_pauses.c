/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings that do not record everything: begun paused, stopped and started, from step to step, for a time. npu_train
 * does the same every time with the same seed, so what a partial recording says of a step must be what a full one says.
 *
 *     test_pauses NPUMEM_RECORD NPUMEM_INGEST PROGRAM_FOLDER    as $R $I $P in lines of shell
 */
#include <check.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/shell.h"

static void expect_success(const char *line)
{
    nm_run run = shell_line(line);

    ck_assert_msg(run.exit_code == 0, "'%s' ended with %d: %s", line, run.exit_code, run_err(&run));
    run_free(&run);
}

static sqlite3 *open_database(const char *name)
{
    return ask_open(shell_folder, name);
}

/* All rows of a query, `|` between columns and a newline behind each row. */
static void ask_rows(const char *database, char *answer, size_t room, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void ask_rows(const char *database, char *answer, size_t room, const char *format, ...)
{
    char sql[2048];
    sqlite3 *db = open_database(database);
    sqlite3_stmt *statement;
    size_t len = 0;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    answer[0] = 0;
    while (sqlite3_step(statement) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(statement) && len < room; i++) {
            const char *text = (const char *)sqlite3_column_text(statement, i);

            len += (size_t)snprintf(answer + len, room - len, "%s%c", text == NULL ? "NULL" : text,
                                    i + 1 < sqlite3_column_count(statement) ? '|' : '\n');
        }
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static long long ask_number(const char *database, const char *sql)
{
    char answer[256];

    ask_rows(database, answer, sizeof answer, "%s", sql);
    return atoll(answer);
}

/* ---- What was live at each step ------------------------------------------------------------------------------------ */

#define LEVELS_MAX 16

typedef struct live_sum {
    long long count, bytes;
} live_sum;

typedef struct live_steps { /* steps `first` to `first + count - 1` of a program with one process */
    int first, count;
    long long *begin_seqs;        /* owned; ascending. */
    live_sum (*sums)[LEVELS_MAX]; /* owned; what changed since the step before, then what is live as it begins */
} live_steps;

static void read_steps(sqlite3 *db, int first, int last, live_steps *out)
{
    sqlite3_stmt *row;

    *out = (live_steps){.first = first, .count = last - first + 1};
    out->begin_seqs = calloc((size_t)out->count, sizeof *out->begin_seqs);
    out->sums = calloc((size_t)out->count, sizeof *out->sums);
    ck_assert(out->begin_seqs != NULL && out->sums != NULL);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT number, begin_seq FROM step", -1, &row, NULL), SQLITE_OK);
    while (sqlite3_step(row) == SQLITE_ROW) {
        int number = sqlite3_column_int(row, 0);

        if (number >= first && number <= last)
            out->begin_seqs[number - first] = sqlite3_column_int64(row, 1);
    }
    sqlite3_finalize(row);
    for (int i = 0; i < out->count; i++)
        ck_assert_msg(out->begin_seqs[i] > (i == 0 ? 0 : out->begin_seqs[i - 1]), "step %d is not there", first + i);
}

/* At the first step that begins after it. */
static void add_change(live_steps *steps, long long seq, long long level, int sign, long long bytes)
{
    int low = 0, high = steps->count;

    while (low < high) {
        int middle = (low + high) / 2;

        if (steps->begin_seqs[middle] > seq)
            high = middle;
        else
            low = middle + 1;
    }
    ck_assert(level >= 0 && level < LEVELS_MAX);
    if (low < steps->count) {
        steps->sums[low][level].count += sign;
        steps->sums[low][level].bytes += sign * bytes;
    }
}

static void add_allocations(sqlite3 *db, live_steps *steps)
{
    sqlite3_stmt *row;

    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT coalesce(alloc_seq, -1), free_seq, level, size_bytes FROM allocation"
                                        " JOIN heap USING (heap_id)",
                                        -1, &row, NULL),
                     SQLITE_OK);
    while (sqlite3_step(row) == SQLITE_ROW) {
        long long level = sqlite3_column_int64(row, 2), bytes = sqlite3_column_int64(row, 3);

        add_change(steps, sqlite3_column_int64(row, 0), level, 1, bytes);
        if (sqlite3_column_type(row, 1) != SQLITE_NULL)
            add_change(steps, sqlite3_column_int64(row, 1), level, -1, bytes);
    }
    sqlite3_finalize(row);
}

/* A line for each step and level of which something was live: what the rows of allocations add up to. To be freed. */
static char *live_at_steps(const char *database, int first, int last)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    sqlite3 *db = open_database(database);
    live_steps steps;

    read_steps(db, first, last, &steps);
    add_allocations(db, &steps);
    for (int i = 0; i < steps.count; i++)
        for (int level = 0; level < LEVELS_MAX; level++) {
            live_sum *sum = &steps.sums[i][level];

            sum->count += i > 0 ? steps.sums[i - 1][level].count : 0;
            sum->bytes += i > 0 ? steps.sums[i - 1][level].bytes : 0;
            if (sum->count != 0)
                fprintf(out, "step %d level %d: %lld, %lld bytes\n", first + i, level, sum->count, sum->bytes);
        }
    free(steps.begin_seqs);
    free(steps.sums);
    sqlite3_close(db);
    fclose(out);
    return text;
}

/* What began in the steps, all with their stacks; and which sites it came from. */
static void begun_in_steps(const char *database, int first, int behind, char *answer, size_t room)
{
    ask_rows(database, answer, room,
             "SELECT p.level, f.function, count(*), sum(a.size_bytes), sum(a.is_miss) FROM allocation AS a"
             " JOIN z_heap_place AS p USING (heap_id) JOIN step AS s ON s.number = %d JOIN step AS e ON e.number = %d"
             " LEFT JOIN stack AS t ON t.stack_id = a.stack_id LEFT JOIN frame AS f ON f.frame_id = t.site_frame_id"
             " WHERE a.alloc_seq > s.begin_seq AND a.alloc_seq < e.begin_seq GROUP BY 1, 2 ORDER BY 1, 2",
             first, behind);
}

static void copied_in_steps(const char *database, int first, int behind, char *answer, size_t room)
{
    ask_rows(database, answer, room,
             "SELECT c.kind, count(*), sum(c.size_bytes) FROM copy AS c JOIN step AS s ON s.number = %d"
             " JOIN step AS e ON e.number = %d WHERE c.seq > s.begin_seq AND c.seq < e.begin_seq GROUP BY 1 ORDER BY 1",
             first, behind);
}

static void expect_equal_steps(const char *full, const char *part, int first, int last)
{
    char *expected = live_at_steps(full, first, last), *got = live_at_steps(part, first, last);
    size_t at = 0;

    while (expected[at] != 0 && expected[at] == got[at])
        at++;
    while (at > 0 && expected[at - 1] != '\n')
        at--;
    ck_assert_msg(expected[0] != 0, "%s says nothing of steps %d to %d", full, first, last);
    ck_assert_msg(strcmp(expected, got) == 0, "of steps %d to %d, %s and %s first differ in\n%.80s--- and\n%.80s",
                  first, last, full, part, expected + at, got + at);
    free(expected);
    free(got);
}

static void expect_sound(const char *database)
{
    char answer[1024];

    ask_rows(
        database, answer, sizeof answer,
        "SELECT verdict = iif(baseline = 'none', 'complete', 'begun'), events_dropped, (SELECT count(*) FROM anomaly),"
        " unseen_origin_count FROM completeness");
    ck_assert_str_eq(answer, "1|0|0|0\n");
}

/* ---- From step to step --------------------------------------------------------------------------------------------- */

START_TEST(from_step_to_step_says_of_them_what_a_full_recording_says)
{
    char expected[4096], got[4096];

    expect_success("$R -q -o full.zst -- $P/npu_train --steps 20 --leak > full.txt && $I --quiet full.zst");
    expect_success("$R -q -o part.zst --from-step 10 --to-step 14 -- $P/npu_train --steps 20 --leak > part.txt &&"
                   " cmp full.txt part.txt && $I --quiet part.zst");
    expect_sound("full.db");
    expect_sound("part.db");
    expect_equal_steps("full.db", "part.db", 10, 15);
    begun_in_steps("full.db", 10, 15, expected, sizeof expected);
    begun_in_steps("part.db", 10, 15, got, sizeof got);
    ck_assert_str_eq(expected, got);
    copied_in_steps("full.db", 10, 15, expected, sizeof expected);
    copied_in_steps("part.db", 10, 15, got, sizeof got);
    ck_assert_str_eq(expected, got);
    ck_assert_int_eq(ask_number("part.db", "SELECT count(*) FROM copy"),
                     ask_number("part.db", "SELECT count(*) FROM copy, step AS s, step AS e WHERE s.number = 10"
                                           " AND e.number = 15 AND seq BETWEEN s.begin_seq AND e.begin_seq"));

    /* What leaked is what leaked; of what leaked unseen, where is not known. */
    ask_rows(
        "full.db", expected, sizeof expected,
        "SELECT level, count(*), sum(size_bytes) FROM allocation JOIN z_heap_place USING (heap_id) WHERE end_kind = 0"
        " GROUP BY 1");
    ask_rows(
        "part.db", got, sizeof got,
        "SELECT level, count(*), sum(size_bytes) FROM allocation JOIN z_heap_place USING (heap_id) WHERE end_kind = 0"
        " GROUP BY 1");
    ck_assert_str_eq(expected, got);
    ck_assert_int_eq(ask_number("part.db", "SELECT sum(leak_count) FROM leak_by_site WHERE site LIKE '%leak_one%'"), 5);
    ck_assert_int_eq(ask_number("part.db", "SELECT count(*) FROM leak WHERE stack_id IS NULL"), 0);
    ask_rows("part.db", got, sizeof got, "SELECT baseline FROM completeness");
    ck_assert_str_eq(got, "known\n");
    ask_rows("part.db", got, sizeof got,
             "SELECT count(*), sum(end_seq IS NULL), sum(is_memory_told), sum(is_end_known) FROM z_pause");
    ck_assert_str_eq(got, "2|1|0|1\n");
}
END_TEST

START_TEST(each_process_has_its_own_steps)
{
    char expected[4096], got[4096];
    static const char sum[] = "SELECT count(*), sum(a.size_bytes) FROM allocation AS a JOIN heap AS h USING (heap_id)"
                              " JOIN step AS s ON s.process_id = h.process_id AND s.number = 10 JOIN step AS e"
                              " ON e.process_id = h.process_id AND e.number = 15"
                              " WHERE a.alloc_seq > s.begin_seq AND a.alloc_seq < e.begin_seq";

    expect_success("$R -q -o four.zst -- $P/npu_train --steps 20 --processes 4 > full.txt && $I --quiet four.zst");
    expect_success(
        "$R -q -o some.zst --from-step 10 --to-step 14 -- $P/npu_train --steps 20 --processes 4 > part.txt &&"
        " cmp full.txt part.txt && $I --quiet some.zst");
    expect_sound("some.db");
    ask_rows("four.db", expected, sizeof expected, "%s", sum);
    ask_rows("some.db", got, sizeof got, "%s", sum);
    ck_assert_str_eq(expected, got);
    ck_assert_int_eq(ask_number("some.db", "SELECT count(*) FROM z_pause"), 8);
}
END_TEST

/* ---- Started late, stopped, started ------------------------------------------------------------------------------- */

START_TEST(begun_paused_it_knows_at_the_end_what_is_live)
{
    char expected[4096], got[4096];
    static const char live[] = "SELECT p.level, count(*), sum(a.size_bytes) FROM allocation AS a JOIN z_heap_place AS p"
                               " USING (heap_id) WHERE a.end_kind = 0 GROUP BY 1 ORDER BY 1";

    expect_success("$R -q -o all.zst -- $P/npu_train --steps 30 --leak --no-cleanup > full.txt && $I --quiet all.zst");
    expect_success("$R -q -o none.zst --start-paused -- $P/npu_train --steps 30 --leak --no-cleanup > part.txt &&"
                   " cmp full.txt part.txt && $I --quiet none.zst");
    expect_sound("none.db");
    ask_rows("all.db", expected, sizeof expected, "%s", live);
    ask_rows("none.db", got, sizeof got, "%s", live);
    ck_assert_str_eq(expected, got);
    ck_assert_int_eq(ask_number("none.db", "SELECT count(*) FROM allocation WHERE alloc_seq IS NOT NULL"), 0);
    ck_assert_int_eq(ask_number("none.db", "SELECT count(*) FROM leak"), 0); /* nobody knows where */
    ck_assert_int_eq(ask_number("none.db", "SELECT count(*) FROM copy"), 0);
    ck_assert_int_eq(ask_number("none.db", "SELECT count(*) FROM step"), 30);
}
END_TEST

START_TEST(npumem_paused_begins_paused_too)
{
    expect_success("NPUMEM=paused $R -q -o env.zst -- $P/npu_train --steps 5 > part.txt && $I --quiet env.zst");
    ck_assert_int_eq(ask_number("env.db", "SELECT count(*) FROM z_pause"), 1);
    ck_assert_int_eq(ask_number("env.db", "SELECT count(*) FROM copy"), 0);
}
END_TEST

START_TEST(a_failure_while_paused_finds_the_trace_up_to_date)
{
    char expected[4096], got[4096];
    static const char live[] =
        "SELECT p.level, count(*), sum(a.size_bytes) FROM allocation AS a JOIN z_heap_place AS p USING (heap_id),"
        " (SELECT min(seq) AS seq FROM failure) AS f WHERE (a.alloc_seq IS NULL OR a.alloc_seq < f.seq)"
        " AND (a.free_seq IS NULL OR a.free_seq > f.seq) GROUP BY 1 ORDER BY 1";

    expect_success("$R -q -o oom.zst -- $P/npu_train --steps 5 --oom > full.txt; $I --quiet oom.zst");
    expect_success("$R -q -o oomp.zst --start-paused -- $P/npu_train --steps 5 --oom > part.txt; $I --quiet oomp.zst");
    ask_rows("oom.db", expected, sizeof expected, "%s", live);
    ask_rows("oomp.db", got, sizeof got, "%s", live);
    ck_assert_str_ne(expected, "");
    ck_assert_str_eq(expected, got);
}
END_TEST

/* Of 2000 steps those from 100 to 499 fall into the first pause, which ends while the program runs; the second one is in
 * between there and step 1900, wherever; the third one is over before the program does anything. A snapshot is answered when
 * what was said before has come into force. */
static void stop_and_start(const char *options, const char *name)
{
    nm_run run = shell(
        "at() { until [ -e $1 ]; do sleep 0.01; done; }; $R -q -o %s.zst %s -- $P/npu_train --steps 2000 --pace-us 100"
        " --leak --wait-at 100:first --wait-at 500:middle --wait-at 1900:last > %s.txt & c=\"$R --ctl %s.zst\"; at "
        "first;"
        " $c stop && $c snapshot && rm first && at middle && rm middle && $c start && $c stop && sleep 0.05 && $c "
        "start &&"
        " at last && $c stop && $c start && $c snapshot && rm last; s=$?; rm -f first middle last; wait &&"
        " $I --quiet %s.zst; exit $s",
        name, options, name, name, name);

    ck_assert_msg(run.exit_code == 0, "%s", run_err(&run));
    run_free(&run);
}

/* What is posted within one look of the drain comes behind the last event that this finds: a short pause may last no time, the
 * first one, in which snapshots were answered, does not. */
static void expect_three_pauses(const char *part, int is_memory_told)
{
    char database[64], answer[1024];

    snprintf(database, sizeof database, "%s.db", part);
    expect_sound(database);
    ask_rows(
        database, answer, sizeof answer,
        "SELECT count(*), sum(end_seq IS NOT NULL), sum(is_memory_told), sum(is_end_known), min(end_ns >= begin_ns),"
        " (SELECT end_ns > begin_ns FROM z_pause ORDER BY begin_seq LIMIT 1) FROM z_pause");
    ck_assert_msg(strcmp(answer, is_memory_told ? "3|3|3|3|1|1\n" : "3|3|0|3|1|1\n") == 0, "%s", answer);
}

START_TEST(stopped_and_started_it_goes_on_where_the_program_is)
{
    int first;
    char sql[] = "SELECT max(s.number) + 1 FROM z_pause AS p JOIN step AS s ON s.begin_seq < p.end_seq";

    expect_success(
        "$R -q -o long.zst --buffer 64M -- $P/npu_train --steps 2000 --leak > long.txt && $I --quiet long.zst");
    stop_and_start("--watch --buffer 64M", "stopped");
    expect_success("cmp long.txt stopped.txt");
    expect_three_pauses("stopped", 0);
    first = (int)ask_number("stopped.db", sql);
    ck_assert_int_ge(first, 500);
    ck_assert_int_le(first, 1900);
    expect_equal_steps("long.db", "stopped.db", 1, 99);
    expect_equal_steps("long.db", "stopped.db", first, first + 3);
    expect_equal_steps("long.db", "stopped.db", 1998, 1999);
    ck_assert_int_lt(ask_number("stopped.db", "SELECT count(*) FROM copy"),
                     ask_number("long.db", "SELECT count(*) FROM copy"));
}
END_TEST

START_TEST(without_a_watch_memory_is_told_on_without_stacks)
{
    stop_and_start("--buffer 64M", "light");
    expect_three_pauses("light", 1);
    expect_equal_steps("long.db", "light.db", 1996, 1999);
    ck_assert_int_gt(ask_number("light.db", "SELECT count(*) FROM allocation WHERE stack_id IS NULL"), 100);
}
END_TEST

/* ---- For a time ---------------------------------------------------------------------------------------------------- */

START_TEST(after_its_duration_the_trace_is_whole_and_the_program_runs_on)
{
    nm_run run = shell(
        "$R -o short.zst --buffer 64M --duration 1 -- sh -c '$P/npu_train --steps 2000 --pace-us 1500 --leak; echo "
        "and after; exit 7'"
        " > short.txt");

    ck_assert_int_eq(run.exit_code, 7);
    ck_assert_ptr_ne(strstr(run_err(&run), "short.zst"), NULL);
    run_free(&run);
    expect_success("(cat long.txt; echo and after) | cmp - short.txt && $I --quiet short.zst");
    expect_sound("short.db");
    ck_assert_int_lt(ask_number("short.db", "SELECT count(*) FROM step"), 1900);
    ck_assert_int_gt(ask_number("short.db", "SELECT count(*) FROM step"), 2);
    ck_assert_int_lt(ask_number("short.db", "SELECT max(alloc_ns) FROM allocation"), 2900000000);
    expect_equal_steps("long.db", "short.db", 1, (int)ask_number("short.db", "SELECT max(number) FROM step"));
}
END_TEST

/* ---- The end of it ------------------------------------------------------------------------------------------------- */

START_TEST(the_answers_are_written_at_the_end)
{
    nm_run run = shell("$R -o r.zst --report answers.txt -- sh -c '$P/npu_train --steps 5 --leak >out.txt; exit 9' &&"
                       " exit 1; [ $? = 9 ] && $I --quiet -o again.db r.zst && test -e answers.db &&"
                       " grep -q 'leak_one_buffer' answers.txt && head -1 answers.txt");

    ck_assert_msg(run.exit_code == 0, "%s", run_err(&run));
    ck_assert_ptr_eq(strstr(run_out(&run), "r.zst  "), run_out(&run));
    run_free(&run);
    run = shell("$R -q -o r2.zst --report /no/such/folder/a.txt -- true; echo $?; $R --report - -- true; echo $?;"
                " $R -o - --report a.txt -- true | cat; $R --from-step 5 --to-step 4 -- true; echo $?");
    ck_assert_str_eq(run_out(&run), "0\n2\n2\n");
    ck_assert_ptr_ne(strstr(run_err(&run), "--report /no/such/folder/a.txt: cannot open: No such file"), NULL);
    run_free(&run);
}
END_TEST

static Suite *pauses(void)
{
    Suite *suite = suite_create("pause");
    TCase *tests = tcase_create("pause");

    tcase_set_timeout(tests, 240);
    tcase_add_test(tests, from_step_to_step_says_of_them_what_a_full_recording_says);
    tcase_add_test(tests, each_process_has_its_own_steps);
    tcase_add_test(tests, begun_paused_it_knows_at_the_end_what_is_live);
    tcase_add_test(tests, npumem_paused_begins_paused_too);
    tcase_add_test(tests, a_failure_while_paused_finds_the_trace_up_to_date);
    tcase_add_test(tests, stopped_and_started_it_goes_on_where_the_program_is);
    tcase_add_test(tests, without_a_watch_memory_is_told_on_without_stacks);
    tcase_add_test(tests, after_its_duration_the_trace_is_whole_and_the_program_runs_on);
    tcase_add_test(tests, the_answers_are_written_at_the_end);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv)
{
    SRunner *runner = srunner_create(pauses());

    if (!shell_variables(argc, argv, "RIP"))
        return 2;
    shell_before("", 400);
    shell_make_folder();
    srunner_set_fork_status(runner, CK_NOFORK); /* later cases read what earlier ones recorded */
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    shell_remove_folder();
    return failed == 0 ? 0 : 1;
}
