/* SPDX-License-Identifier: Apache-2.0
 *
 * A progress line (progress.h) while databases are asked: what is written, and how much of it is there; or what is done with them.
 */
#ifndef NM_TOOL_COMMON_BUSY_H
#define NM_TOOL_COMMON_BUSY_H

#include <stdio.h>

#include "tool/common/progress.h"

typedef struct nm_busy {
    nm_progress progress;
    const char *what; /* is written, safe to print; borrowed */
    FILE *out;        /* where; may be NULL, and be set later */
    bool is_answer;   /* nothing is written, and `what` is the line */
} nm_busy;

/* `busy` is the caller's and stays in its place until nm_busy_end. One at a time. */
void nm_busy_begin(nm_busy *busy, const char *what, FILE *out);

/* For a program that prints what it finds, with a line that is safe to print and borrowed. Nothing has been printed before. What
 * is printed to standard output is held back while a line may come, for both may be one terminal: the caller flushes it behind
 * nm_busy_end. */
void nm_busy_begin_answer(nm_busy *busy, const char *line);

void nm_busy_end(nm_busy *busy); /* wipes the line */

#endif
