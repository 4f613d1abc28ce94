/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress line: on a terminal alone, made of its parts, and wiped; and its lines for programs. While a database is asked it says
 * how much is written.
 */
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/read_limit.h"
#include "support/suites.h"
#include "tool/common/busy.h"
#include "tool/common/progress.h"

/* Both ends of a terminal. */
static void open_terminal(int ends[2])
{
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(ends[0] >= 0 && grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0);
    ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(ends[1], 0);
}

/* What comes out at `fd` is `wanted`; a terminal may hand it on piece by piece. */
static void expect_read(int fd, const char *wanted)
{
    char said[256] = "";
    size_t len = 0;
    ssize_t got = 0;
    struct pollfd other = {.fd = fd, .events = POLLIN};

    while (len < sizeof said - 1 && poll(&other, 1, len < strlen(wanted) ? 5000 : 0) > 0 &&
           (got = read(fd, said + len, sizeof said - 1 - len)) > 0)
        len += (size_t)got;
    said[len] = 0;
    ck_assert_str_eq(said, wanted);
}

/* Standard error becomes `fd` while half of some work is told, and what comes of it is read from the other end. */
static void expect_said(int fd, int other, nm_progress_form form, const char *wanted)
{
    int kept = dup(STDERR_FILENO);
    nm_progress progress;

    ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
    nm_progress_begin(&progress, form, 0);
    nm_progress_part(&progress, 1, 2, "early"); /* a line comes after a second */
    progress.next_ns = 0;
    nm_progress_part(&progress, 1, 2, "half");
    nm_progress_part(&progress, 2, 2, "soon after"); /* and no more than five a second */
    nm_progress_end(&progress);
    ck_assert_int_ge(dup2(kept, STDERR_FILENO), 0);
    close(kept);
    expect_read(other, wanted);
}

START_TEST(a_bar_is_drawn_on_a_terminal_and_wiped)
{
    int ends[2];

    open_terminal(ends);
    expect_said(ends[1], ends[0], NM_PROGRESS_LINE, "\r\033[K[############............] half\r\033[K");
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* What an update says of a part of so much, on `ends`. */
static void expect_update(const int ends[2], nm_progress_form form, uint64_t total_bytes, const char *wanted)
{
    int kept = dup(STDERR_FILENO);
    nm_progress progress;

    ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
    nm_progress_begin(&progress, form, total_bytes);
    progress.next_ns = 0;
    nm_progress_update(&progress, 1 << 20, 1234);
    nm_progress_update(&progress, 2 << 20, 2345); /* too soon */
    ck_assert_int_ge(dup2(kept, STDERR_FILENO), 0);
    close(kept);
    expect_read(ends[0], wanted);
}

START_TEST(bytes_and_events_are_told_of_as_many_as_there_are)
{
    int ends[2];

    open_terminal(ends);
    expect_update(ends, NM_PROGRESS_LINE, 4 << 20,
                  "\r\033[K[######..................] 1.0 MiB of 4.0 MiB, 1,234 events");
    expect_update(ends, NM_PROGRESS_LINE, 0, "\r\033[K1.0 MiB, 1,234 events"); /* nobody knows how many */
    close(ends[0]);
    close(ends[1]);
    ck_assert_int_eq(pipe(ends), 0);
    expect_update(ends, NM_PROGRESS_LINES, 4 << 20, "progress 25\n");
    expect_update(ends, NM_PROGRESS_LINE, 4 << 20, ""); /* that is no terminal */
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* Some work of a bounded connection. */
static void ask_much(sqlite3 *db)
{
    ck_assert_int_eq(
        sqlite3_exec(db,
                     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) SELECT sum(i) FROM n",
                     NULL, NULL, NULL),
        SQLITE_OK);
}

/* What is said on `ends` while a database is asked, behind a second of it. */
static void expect_busy(const int ends[2], bool is_answer, const char *wanted)
{
    int kept = dup(STDERR_FILENO);
    sqlite3 *db;
    nm_read_limit guard;
    nm_busy busy;
    FILE *file = tmpfile();

    ck_assert(file != NULL && ftruncate(fileno(file), 3 << 20) == 0 && fseek(file, 0, SEEK_END) == 0);
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    nm_read_limit_begin(&guard, db, 1 << 20);
    ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
    if (is_answer)
        nm_busy_begin_answer(&busy, "comparing");
    else
        nm_busy_begin(&busy, "a picture", file);
    ask_much(db); /* too soon */
    busy.progress.next_ns = 0;
    ask_much(db);
    nm_busy_end(&busy);
    busy.progress.next_ns = 0;
    ask_much(db); /* nobody is told */
    ck_assert_int_ge(dup2(kept, STDERR_FILENO), 0);
    close(kept);
    nm_read_limit_end(&guard);
    sqlite3_close(db);
    fclose(file);
    expect_read(ends[0], wanted);
}

START_TEST(while_a_database_is_asked_it_says_how_much_is_written)
{
    int ends[2];

    open_terminal(ends);
    expect_busy(ends, false, "\r\033[Kwriting a picture: 3.0 MiB so far\r\033[K");
    expect_busy(ends, true, "\r\033[Kcomparing\r\033[K");
    close(ends[0]);
    close(ends[1]);
    ck_assert_int_eq(pipe(ends), 0);
    expect_busy(ends, false, "");
    expect_busy(ends, true, "");
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* What nm_progress_follow shows of another program's lines. */
static void expect_followed(const int ends[2], bool passes_others, const char *wanted)
{
    static const char text[] = "progress 10\nprogress looking for steps\nit is cut\nprogress 90\n";
    int lines[2], kept = dup(STDERR_FILENO);
    nm_error err;

    ck_assert(pipe(lines) == 0 && write(lines[1], text, strlen(text)) == (ssize_t)strlen(text) && close(lines[1]) == 0);
    ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
    ck_assert_int_eq(nm_progress_follow(lines[0], "reading", passes_others, &err), NM_OK);
    ck_assert_int_ge(dup2(kept, STDERR_FILENO), 0);
    close(kept);
    expect_read(ends[0], wanted);
}

START_TEST(what_another_program_says_is_passed_on_but_for_its_progress)
{
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    expect_followed(ends, true, "it is cut\n");
    expect_followed(ends, false, "");
    close(ends[0]);
    close(ends[1]);
}
END_TEST

START_TEST(nothing_goes_into_a_pipe_but_lines_for_a_program)
{
    int ends[2];

    ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
    expect_said(ends[1], ends[0], NM_PROGRESS_LINE, "");
    expect_said(ends[1], ends[0], NM_PROGRESS_NONE, "");
    expect_said(ends[1], ends[0], NM_PROGRESS_LINES, "progress 50\nprogress 50\n");
    close(ends[0]);
    close(ends[1]);
}
END_TEST

TEST_SUITE(test_progress)
{
    Suite *suite = suite_create("progress");
    TCase *tests = tcase_create("progress");

    tcase_add_test(tests, a_bar_is_drawn_on_a_terminal_and_wiped);
    tcase_add_test(tests, bytes_and_events_are_told_of_as_many_as_there_are);
    tcase_add_test(tests, while_a_database_is_asked_it_says_how_much_is_written);
    tcase_add_test(tests, what_another_program_says_is_passed_on_but_for_its_progress);
    tcase_add_test(tests, nothing_goes_into_a_pipe_but_lines_for_a_program);
    suite_add_tcase(suite, tests);
    return suite;
}
