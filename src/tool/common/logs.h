/* SPDX-License-Identifier: Apache-2.0
 *
 * Logs among what the operands name: those of a folder, and which of several tell of memory that ran out.
 */
#ifndef NM_TOOL_COMMON_LOGS_H
#define NM_TOOL_COMMON_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

typedef struct tool_log {
    char *path;       /* owned */
    int64_t start_ns; /* of its first failure, by its own digits, or NM_NO_TIME */
    bool is_silent;   /* it has none */
    bool is_operand;  /* and was named by itself */
    bool is_old;      /* of an earlier run than the last one of its folder */
} tool_log;

typedef struct tool_logs {
    tool_log *items; /* owned; by path */
    size_t count, capacity;
} tool_logs;

/* Adds the texts in a folder and those below it, which are read. Files of other kinds are left out. */
nm_status tool_logs_find(const char *folder, tool_logs *out, nm_error *err);

nm_status tool_logs_add_silent(tool_logs *logs, const char *path, nm_error *err);

/* Is the file a text in which nothing of memory that ran out stands? Of what is no text: false. */
bool tool_log_is_silent(const char *path);

/* A line for each that was left out because it is old, and for the others together. */
void tool_logs_say_left_out(const tool_logs *logs, const char *program, FILE *out);

void tool_logs_free(tool_logs *logs);

#endif
