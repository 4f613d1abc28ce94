/* SPDX-License-Identifier: Apache-2.0 */
#include "support/shell.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 16384

char shell_folder[64];
static const char *words_before = "";
static int limit_seconds = 120;

void shell_make_folder(void)
{
    run_make_folder(shell_folder);
}

void shell_remove_folder(void)
{
    run_remove_folder(shell_folder);
}

bool shell_variables(int argc, char **argv, const char *names)
{
    if (argc != (int)strlen(names) + 1) {
        fprintf(stderr, "%s: wants %zu arguments\n", argv[0], strlen(names));
        return false;
    }
    for (int i = 0; names[i] != 0; i++)
        setenv((char[]){names[i], 0}, argv[i + 1], 1);
    return true;
}

void shell_before(const char *words, int seconds)
{
    words_before = words;
    limit_seconds = seconds;
}

nm_run shell_line(const char *line)
{
    char command[LINE_BYTES];
    int len = snprintf(command, sizeof command, "cd %s || exit 99; %s%s", shell_folder, words_before, line);

    ck_assert_int_lt(len, LINE_BYTES);
    nm_run run = run_shell(command, limit_seconds);
    ck_assert_msg(!run.is_timed_out, "'%s' did not end", line);
    return run;
}

nm_run shell(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    int len = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    ck_assert_int_lt(len, LINE_BYTES);
    return shell_line(line);
}
