/* SPDX-License-Identifier: Apache-2.0
 *
 * A recording that is asked and told while it runs: --ctl in all its forms, figures against the program's own books,
 * alarms, and what it writes of devices and the environment.
 *
 *     test_control NPUMEM_RECORD NPUMEM_INGEST PROGRAM_FOLDER DCMI_FOLDER    as $R $I $P $D in lines of shell
 */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/shell.h"

/* What the shell prints to standard output; static, cut at its end. */
static const char *output_of(const char *line, int exit_code)
{
    static char text[16384];
    nm_run run = shell_line(line);

    ck_assert_msg(run.exit_code == exit_code, "'%s' ended with %d: %s%s", line, run.exit_code, run_out(&run),
                  run_err(&run));
    snprintf(text, sizeof text, "%s", run_out(&run));
    run_free(&run);
    return text;
}

static const char *errors_of(const char *line, int exit_code)
{
    static char text[16384];
    nm_run run = shell_line(line);

    ck_assert_msg(run.exit_code == exit_code, "'%s' ended with %d: %s%s", line, run.exit_code, run_out(&run),
                  run_err(&run));
    snprintf(text, sizeof text, "%s", run_err(&run));
    run_free(&run);
    return text;
}

/* The first column of the first row. */
static const char *ask_cell(const char *database, const char *sql)
{
    static char text[4096];
    sqlite3 *db;
    sqlite3_stmt *statement;

    db = ask_open(shell_folder, database);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    text[0] = 0;
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != NULL)
        snprintf(text, sizeof text, "%s", sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return text;
}

/* ---- Asking and telling -------------------------------------------------------------------------------------------- */

/* A program that waits for the file `go`, in a recording whose first event is there. */
#define BEGIN(options)                                                                                                 \
    "rm -f go pid books; $R --force -q -o c.zst " options                                                              \
    " -- sh -c 'echo $$ > pid; $P/npu_train --steps 3 --leak --no-cleanup > books; while ! test -e go; do sleep 0.02;" \
    " done' & while ! test -s books; do sleep 0.02; done; "
#define END "; touch go; wait"

START_TEST(a_mark_is_a_moment_and_a_snapshot_can_be_ingested_at_once)
{
    nm_run run = shell(BEGIN("") "$R --ctl c.zst mark two words && $R --ctl c.zst snapshot half way &&"
                                 " $I --quiet --force -o now.db c.zst; echo $?" END "; $I --quiet --force c.zst");

    ck_assert_str_eq(run_err(&run), "");
    ck_assert_msg(strcmp(run_out(&run), "0\n") == 0 || strcmp(run_out(&run), "3\n") == 0, "%s", run_out(&run));
    run_free(&run);
    ck_assert_str_eq(
        ask_cell("now.db", "SELECT group_concat(name, '/') FROM (SELECT m.name FROM moment AS m JOIN z_moment_kind AS"
                           " k USING (kind) WHERE k.name = 'mark' AND m.name IN ('two words', 'half way')"
                           " ORDER BY seq)"),
        "two words/half way");
    ck_assert_str_eq(ask_cell("c.db", "SELECT verdict FROM completeness"), "complete");
}
END_TEST

START_TEST(a_recording_is_found_by_its_trace_its_folder_and_a_process)
{
    nm_run run =
        shell(BEGIN("--ring-dir /tmp") "$R --ctl c.zst status >/dev/null; echo $?; $R --ctl $(cat pid) status"
                                       " >/dev/null; echo $?; f=$(sed -n 's/.* \\(\\/tmp\\/npumem-[0-9a-f]*\\)"
                                       "\\/session$/\\1/p' /proc/$(cat pid)/maps | head -1); $R --ctl $f mark x;"
                                       " echo $?" END);

    ck_assert_str_eq(run_out(&run), "0\n0\n0\n");
    run_free(&run);
}
END_TEST

START_TEST(what_cannot_be_asked_says_why_and_how_it_ends)
{
    ck_assert_ptr_ne(strstr(errors_of("$R --ctl nothing.zst status", 1), "nothing.zst"), NULL);
    ck_assert_ptr_ne(strstr(errors_of("$R -q --force -o e.zst -- true; $R --ctl e.zst status", 1), "has ended"), NULL);
    ck_assert_ptr_ne(strstr(errors_of("echo x > no.zst; $R --ctl no.zst status", 1), "not a trace"), NULL);
    ck_assert_ptr_ne(strstr(errors_of("$R --ctl 999999999 status", 1), "no such process"), NULL);
    ck_assert_ptr_ne(strstr(errors_of("$R --ctl $$ status", 1), "not recorded"), NULL);
    ck_assert_ptr_ne(strstr(errors_of("$R --ctl e.zst", 2), "start, stop, mark, snapshot, stats or status"), NULL);
    ck_assert_ptr_ne(strstr(errors_of("$R --ctl e.zst nonsense", 2), "start, stop, mark"), NULL);
    ck_assert_ptr_ne(strstr(errors_of(BEGIN("") "$R --ctl c.zst stats; s=$?" END "; exit $s", 1), "--watch"), NULL);
    ck_assert_ptr_ne(strstr(errors_of(BEGIN("") "$R --ctl c.zst mark; s=$?" END "; exit $s", 1), "needs a text"), NULL);
}
END_TEST

/* ---- Figures ------------------------------------------------------------------------------------------------------- */

static long long book(const char *key)
{
    char line[256];

    snprintf(line, sizeof line, "sed -n 's/^%s //p' books", key);
    return atoll(output_of(line, 0));
}

/* The number behind "key": in the part of the answer that begins with `place`. */
static long long figure(const char *answer, const char *place, const char *key)
{
    char quoted[64];
    const char *at = strstr(answer, place);

    ck_assert_msg(at != NULL, "no %s in %s", place, answer);
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    at = strstr(at, quoted);
    ck_assert_msg(at != NULL, "no %s in %s", key, answer);
    return atoll(at + strlen(quoted));
}

START_TEST(figures_of_the_watch_are_the_programs_books)
{
    char answer[16384];

    snprintf(answer, sizeof answer, "%s", output_of(BEGIN("--watch") "$R --ctl c.zst stats" END, 0));
    ck_assert_int_eq(figure(answer, "\"pool\"", "live_count"), book("pool.0.live_count"));
    ck_assert_int_eq(figure(answer, "\"pool\"", "live_bytes"), book("pool.0.live_bytes"));
    ck_assert_int_eq(figure(answer, "\"pool\"", "allocation_count"), book("pool.0.allocation_count"));
    ck_assert_int_eq(figure(answer, "\"driver\"", "live_bytes"), book("driver.0.live_bytes"));
    ck_assert_int_eq(figure(answer, "\"driver\"", "peak_bytes"), book("driver.0.peak_bytes"));
    ck_assert_int_eq(figure(answer, "\"driver\"", "live_count"), book("driver.0.live_count"));
    ck_assert_int_gt(book("pool.0.live_count"), 0);
}
END_TEST

/* The shell, which is recorded too, has no heap. */
START_TEST(figures_of_one_process_are_those_of_its_heaps)
{
    ck_assert_str_eq(
        output_of(
            BEGIN("--watch") "$R --ctl c.zst stats >all; $R --ctl c.zst stats $(grep -o '\"pid\":[0-9]*' all | sed "
                             "'s/.*://; q') >one; $R --ctl c.zst stats $(cat pid) >none; $R --ctl c.zst stats me "
                             "2>why; echo $?" END,
            0),
        "1\n");
    ck_assert_str_eq(output_of("for f in all one none; do sed 's/.*\"heaps\"//' $f >$f.heaps; done; cmp all.heaps "
                               "one.heaps && cat none.heaps",
                               0),
                     ":[]}\n");
    ck_assert_str_eq(output_of("grep -c '\"level\":\"driver\"' one.heaps", 0), "1\n");
    ck_assert_ptr_ne(strstr(output_of("cat why", 0), "stats takes a process id, or nothing"), NULL);
}
END_TEST

/* ---- Alarms -------------------------------------------------------------------------------------------------------- */

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    while ((text = strstr(text, part)) != NULL) {
        count++;
        text += strlen(part);
    }
    return count;
}

START_TEST(an_alarm_is_a_line_and_a_mark_once_per_crossing)
{
    const char *lines =
        errors_of("$R --force -q -o a.zst --buffer 16M --alert 'live_count > 10' --alert 'live_bytes>1e15 B'"
                  " -- $P/npu_train --steps 200 --leak > books && $I --quiet --force a.zst",
                  0);

    ck_assert_ptr_ne(strstr(lines, "npumem-record: alert: pid "), NULL);
    ck_assert_uint_eq(count_of(lines, "live_count > 10: "), count_of(lines, "\n")); /* the other never passes */
    ck_assert_uint_eq(count_of(lines, "caching pool: live_count > 10"), 1);         /* it leaks: never below again */
    ck_assert_str_eq(ask_cell("a.db",
                              "SELECT count(*) FROM moment AS m JOIN z_moment_kind AS k USING (kind)"
                              " WHERE k.name = 'mark' AND m.name LIKE 'alert: pid % caching pool: live_count > 10%'"),
                     "1");
    ck_assert_str_eq(ask_cell("a.db", "SELECT verdict FROM completeness"), "complete");
}
END_TEST

/* The fullest of what the device says: libdcmi, whose words are in a file. It says the next when the trace has the last. */
START_TEST(an_alarm_of_a_device_goes_by_the_devices_own_word)
{
    const char *lines = errors_of(
        "say() { printf \"$1 65536\\n0 65536\\n\" > next; mv next dcmi; };"
        " heard() { $R --ctl d.zst snapshot && $I --quiet --force -o now.db d.zst; [ $1 = $(sqlite3 now.db 'SELECT"
        " used_bytes >> 20 FROM memory_sample WHERE total_bytes = 65536 << 20 ORDER BY seq DESC LIMIT 1') ]; } 2>&-;"
        " say 100; NPUMEM_CANN_DCMI_FILE=$PWD/dcmi LD_LIBRARY_PATH=$D $R --force -q -o d.zst --sample-interval 0.05"
        " --alert 'device_used > 90%' -- sh -c '$P/npu_train --steps 3 --no-cleanup --no-reset > books;"
        " until [ -e over ]; do sleep 0.02; done' & for m in 100 60000 100 61000; do say $m; until heard $m; do sleep "
        "0.02;"
        " done; done; touch over; wait; $I --quiet --force d.zst",
        0);

    ck_assert_uint_eq(count_of(lines, "alert: NPU 0: device_used > 90%: 9"), 2);
    ck_assert_ptr_ne(strstr(lines, "91.6 %, 58.6 GiB of 64.0 GiB (the device's word)"), NULL);
    ck_assert_str_eq(
        ask_cell("d.db", "SELECT max(used_bytes) / 1048576 FROM memory_sample WHERE total_bytes = 65536 * 1048576"),
        "61000");
}
END_TEST

START_TEST(a_wrong_alarm_is_refused)
{
    static const char *const wrong[] = {"",
                                        "live_count",
                                        "live_count >",
                                        "live_count < 5",
                                        "live_count >= 5",
                                        "live_count > 5 %",
                                        "live_count > 5KiB",
                                        "live_bytes > 5",
                                        "device_used > 90",
                                        "device_used > 101%",
                                        "device_used > 5 parsecs",
                                        "device_used > 5 GiB more",
                                        "something > 5",
                                        "live_countx > 5",
                                        "live_count > -5"};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        nm_run run = shell("$R -q -o w.zst --alert '%s' -- true", wrong[i]);

        ck_assert_msg(run.exit_code == 2, "'%s' is taken", wrong[i]);
        ck_assert_ptr_ne(strstr(run_err(&run), "--alert"), NULL);
        run_free(&run);
    }
}
END_TEST

/* ---- What it runs on ----------------------------------------------------------------------------------------------- */

START_TEST(nothing_of_the_environment_leaves_but_what_is_listed)
{
    output_of("HCCL_BUFFSIZE=7 ASCEND_LOG=3 RANK=2 AWS_SECRET=hush TOKEN=hush HCCLX=hush MY_ASCEND_=hush RANKS=hush"
              " $R --force -q -o v.zst -- $P/npu_train --steps 1 > books && $I --quiet --force v.zst",
              0);
    ck_assert_str_eq(ask_cell("v.db",
                              "SELECT group_concat(name || '=' || value, ' ') FROM (SELECT name, value FROM"
                              " z_process_environment WHERE name IN ('HCCL_BUFFSIZE', 'ASCEND_LOG', 'RANK') ORDER BY"
                              " name)"),
                     "ASCEND_LOG=3 HCCL_BUFFSIZE=7 RANK=2");
    ck_assert_str_eq(ask_cell("v.db", "SELECT count(*) FROM z_process_environment WHERE value LIKE '%hush%'"), "0");
    ck_assert_str_eq(output_of("grep -c hush v.db; zstd -dc v.zst | grep -c hush; true", 0), "0\n0\n");
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("control");
    TCase *tests = tcase_create("control");
    SRunner *runner = srunner_create(suite);

    if (!shell_variables(argc, argv, "RIPD"))
        return 2;
    tcase_set_timeout(tests, 240);
    tcase_add_test(tests, a_mark_is_a_moment_and_a_snapshot_can_be_ingested_at_once);
    tcase_add_test(tests, a_recording_is_found_by_its_trace_its_folder_and_a_process);
    tcase_add_test(tests, what_cannot_be_asked_says_why_and_how_it_ends);
    tcase_add_test(tests, figures_of_the_watch_are_the_programs_books);
    tcase_add_test(tests, figures_of_one_process_are_those_of_its_heaps);
    tcase_add_test(tests, an_alarm_is_a_line_and_a_mark_once_per_crossing);
    tcase_add_test(tests, an_alarm_of_a_device_goes_by_the_devices_own_word);
    tcase_add_test(tests, a_wrong_alarm_is_refused);
    tcase_add_test(tests, nothing_of_the_environment_leaves_but_what_is_listed);
    suite_add_tcase(suite, tests);
    shell_make_folder();
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    shell_remove_folder();
    return failed == 0 ? 0 : 1;
}
