/* SPDX-License-Identifier: Apache-2.0
 *
 * -o FILE of programs that print their answer (their rows: OPTIONS_OUTPUT of option_table.h). While the answer is printed,
 * standard output is a file beside FILE, which gets its name at the end: what prints need not know of it, and FILE is there
 * whole or not at all.
 */
#ifndef NM_TOOL_COMMON_ANSWER_H
#define NM_TOOL_COMMON_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "tool/common/exit_status.h"

typedef struct answer_request {
    const char *program; /* as messages begin */
    const char *path;    /* NULL, "-": standard output stays what it is */
    bool is_forced;      /* replace a file of that name */
    bool is_quiet;       /* what goes to standard output goes nowhere */
    const char *const *inputs;
    size_t input_count; /* files that FILE must not be */
    exit_code failed;   /* how the program ends when there is no answer, and when FILE cannot be written: said then */
} answer_request;

/* Calls run(context), which prints, and gives its exit status back; of those, `failed` and EXIT_USAGE are no answers: nothing is
 * left of FILE then. What stands beside it is removed when a signal ends the program: takes signals over (store/cleanup.h). */
int answer_run(const answer_request *request, int (*run)(const void *context), const void *context);

/* May `path`, another output, be written? Not over what is asked. */
nm_status answer_check_output(const answer_request *request, const char *path, nm_error *err);

/*
 * Where a file that the answer is made of may lie meanwhile, to be freed; NULL: out of memory. Beside `path`; where that is NULL or
 * "-", as `scratch_name` in the temporary folder, and files that are made from now on are nobody else's to read.
 */
char *answer_scratch(const char *path, const char *scratch_name);

/* The answer of a database beside it: "runs/a.db" with ".html" -> "runs/a.html". To be freed; NULL: out of memory. */
char *answer_beside(const char *database, const char *suffix);

/* Where that is, as an error that it cannot be written names it: `path`, or the temporary folder. */
const char *answer_written(const char *path);

/* What is printed to, for messages: "standard output", or FILE. Safe to print. */
const char *answer_name(void);

#endif
