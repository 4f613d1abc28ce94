/* SPDX-License-Identifier: Apache-2.0
 *
 * --help.
 */
#ifndef NM_TOOL_COMMON_OPTIONS_HELP_H
#define NM_TOOL_COMMON_OPTIONS_HELP_H

#include <stdio.h>

#include "tool/common/option_table.h"

/* The row's words, with what follows from it: its default, and whether it may be repeated. */
void options_print_words(const option_row *row, FILE *out);

#define OPTIONS_QUANTITIES_BYTES 1024

/* How sizes, shares and times are written, of those that the program takes; "" where it takes none. */
void options_say_quantities(const options_program *program, char out[OPTIONS_QUANTITIES_BYTES]);

void options_print_help(const options_program *program, FILE *out);

#endif
