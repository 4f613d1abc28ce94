/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of /bin/sh, run in a folder of the test's own, with the programs under test in variables of one letter.
 */
#ifndef NM_TESTS_SUPPORT_SHELL_H
#define NM_TESTS_SUPPORT_SHELL_H

#include <stdbool.h>

#include "support/run.h"

extern char shell_folder[64];

/* A new empty folder, and its removal with all that is in it: before and after a test. */
void shell_make_folder(void);
void shell_remove_folder(void);

/* The program's arguments become variables: the first one $ and the first letter of `names`, and so on. False, and a line on
 * standard error, when there are not as many. */
bool shell_variables(int argc, char **argv, const char *names);

/* What stands before every line from now on (borrowed; ends with a separator), and how long a line may take: nothing and
 * two minutes without it. */
void shell_before(const char *words, int seconds);

/* Runs the line. One that does not end in time ends the test. Free the result with run_free. */
nm_run shell_line(const char *line);
nm_run shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
