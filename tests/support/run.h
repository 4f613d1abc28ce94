/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a program as a user would and keeps what it printed. For tests of whole programs. Failure of the test harness
 * itself (no fork, no memory) ends the test with a Check failure.
 */
#ifndef NM_TESTS_SUPPORT_RUN_H
#define NM_TESTS_SUPPORT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* No nm_buffer: programs of tests that only start others are not linked again for what the others are made of. */
typedef struct run_output {
    uint8_t *data;
    size_t len, capacity;
} run_output;

typedef struct nm_run {
    int status;        /* as waitpid gives it */
    int exit_code;     /* exit status, or 128 + signal */
    bool is_timed_out; /* it was killed after its time */
    run_output out;    /* standard output, with a zero byte behind it */
    run_output err;    /* standard error, likewise */
} nm_run;

/* Runs argv (NULL-terminated, found on PATH) with `environment` ("NAME=value" strings, NULL-terminated, may be NULL)
 * added, standard input empty, in `folder` (NULL: here). Killed after `seconds`. Free the result with run_free. */
nm_run run_program(char *const argv[], char *const environment[], const char *folder, int seconds);

/* The same for a line of /bin/sh. */
nm_run run_shell(const char *command, int seconds);

void run_free(nm_run *run);

const char *run_out(const nm_run *run); /* never NULL */
const char *run_err(const nm_run *run);

/* A new empty folder below TMPDIR, and its removal with all that is in it. */
void run_make_folder(char path[static 64]);
void run_remove_folder(const char *path);

#endif
