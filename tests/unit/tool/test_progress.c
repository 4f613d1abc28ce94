/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress line: on a terminal alone, made of its parts, and wiped; and its lines for programs.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/suites.h"
#include "tool/common/progress.h"

/* Standard error becomes `fd` while half of some work is told, and what comes of it is read from the other end. */
static void expect_said(int fd, int other, nm_progress_form form, const char *wanted)
{
    char said[256] = "";
    int kept = dup(STDERR_FILENO);
    nm_progress progress;
    ssize_t len;

    ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
    nm_progress_begin(&progress, form, 0);
    nm_progress_part(&progress, 1, 2, "early"); /* a line comes after a second */
    progress.next_ns = 0;
    nm_progress_part(&progress, 1, 2, "half");
    nm_progress_part(&progress, 2, 2, "soon after"); /* and no more than five a second */
    nm_progress_end(&progress);
    ck_assert_int_ge(dup2(kept, STDERR_FILENO), 0);
    close(kept);
    len = read(other, said, sizeof said - 1);
    said[len > 0 ? len : 0] = 0;
    ck_assert_str_eq(said, wanted);
}

START_TEST(a_bar_is_drawn_on_a_terminal_and_wiped)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);

    ck_assert(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    int ours = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(ours, 0);
    expect_said(ours, terminal, NM_PROGRESS_LINE, "\r\033[K[############............] half\r\033[K");
    close(ours);
    close(terminal);
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
    tcase_add_test(tests, nothing_goes_into_a_pipe_but_lines_for_a_program);
    suite_add_tcase(suite, tests);
    return suite;
}
