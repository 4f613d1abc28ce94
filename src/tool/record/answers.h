/* SPDX-License-Identifier: Apache-2.0
 *
 * --report: the answers of npumem-ingest, written to a file when the trace is whole. The database that they come from is
 * kept beside it: answers.txt, answers.db.
 */
#ifndef NM_TOOL_RECORD_ANSWERS_H
#define NM_TOOL_RECORD_ANSWERS_H

#include <limits.h>

/* The npumem-ingest beside this program, or its name alone, to be looked for in PATH. */
void record_ingest_program(char program[PATH_MAX]);

/* Runs the npumem-ingest beside this program. What fails is said in one line on standard error, and changes nothing. */
void record_report(const char *trace, const char *file);

#endif
