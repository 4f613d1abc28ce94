/* SPDX-License-Identifier: Apache-2.0
 *
 * --describe: the options for a man page and for shells.
 */
#ifndef NM_TOOL_COMMON_OPTIONS_DESCRIBE_H
#define NM_TOOL_COMMON_OPTIONS_DESCRIBE_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/common/option_table.h"

/* `what`: man, bash, zsh or fish. False: it is none of these. */
bool options_describe(const options_program *program, const char *what, FILE *out);

#endif
