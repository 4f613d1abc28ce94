/* SPDX-License-Identifier: Apache-2.0
 *
 * Which stacks are asked for, and what is said of each.
 */
#ifndef NM_TOOL_STACK_ANSWER_H
#define NM_TOOL_STACK_ANSWER_H

#include <sqlite3.h>

#include "tool/stack/options.h"

/* Prints on standard output; *is_found is false where there is no such stack, which is said there. */
nm_status stack_answer(sqlite3 *db, const stack_options *options, bool has_color, bool *is_found, nm_error *err);

#endif
