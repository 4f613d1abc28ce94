/* SPDX-License-Identifier: Apache-2.0
 *
 * Tracebacks of Python in a log, in which those of several processes may stand line by line between each other. Of each process that
 * writes one, the last is kept; memory is bounded.
 */
#ifndef NM_SOURCE_LOG_STACK_H
#define NM_SOURCE_LOG_STACK_H

#include "source/gathered.h"

typedef struct nm_log_stacks nm_log_stacks;

nm_status nm_log_stacks_new(nm_log_stacks **out, nm_error *err);
void nm_log_stacks_free(nm_log_stacks *stacks); /* NULL is fine */

/* A line, and who wrote it. An exception that ends a traceback ends it here, too: ask for the stack of the line before. */
nm_status nm_log_stacks_line(nm_log_stacks *stacks, uint64_t writer, uint64_t line_number, nm_bytes line,
                             nm_error *err);

/* Does a line say anything of a traceback? Others need not be shown; those of others between are no matter. */
bool nm_log_stacks_wants(const nm_log_stacks *stacks, nm_bytes line);

/* The stack whose exception the line is, which ends it; 0: it is none's. `gathered` NULL: it is not wanted. */
nm_status nm_log_stacks_take(nm_log_stacks *stacks, uint64_t writer, uint64_t line_number, nm_gathered *gathered,
                             uint64_t *stack_id, nm_error *err);

#endif
