/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading a command line by the table of its program.
 */
#ifndef NM_TOOL_COMMON_OPTIONS_H
#define NM_TOOL_COMMON_OPTIONS_H

#include "tool/common/option_table.h"

typedef enum options_outcome {
    OPTIONS_READ,
    OPTIONS_DONE,      /* what was asked has been printed: the program ends, and well */
    OPTIONS_WRONG,     /* said in one line: it ends with 2 */
    OPTIONS_NO_MEMORY, /* said */
} options_outcome;

/* Reads the command line into the structure. *operands: what is no option, within argv, NULL at the end. */
options_outcome options_read(const options_program *program, int argc, char **argv, void *into, char ***operands);

/* With what a program ends whose command line was not OPTIONS_READ; `no_memory` is EXIT_UNUSABLE where EXIT_NO is an answer. */
int options_end(options_outcome outcome, exit_code no_memory);

/* "PROGRAM: TEXT (--help says more)" on standard error: for what the table cannot see, as two options that exclude each
 * other. OPTIONS_WRONG. */
options_outcome options_refuse(const options_program *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
