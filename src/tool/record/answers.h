/* SPDX-License-Identifier: Apache-2.0
 *
 * --report: the answers of npumem-ingest in a file, when the trace is whole, and before that when something has happened that
 * somebody may want to know while the program goes on. The database that they come from is kept beside it: answers.txt,
 * answers.db. Both are replaced as a whole: a reader finds the old one or the new one.
 *
 *     record_answers_want(&answers, now_ns);                   what has happened
 *     if (record_answers_are_due(&answers, now_ns))            after each pass of the drain
 *         record_answers_begin(&answers, trace, now_ns);       when all is in the trace
 *     record_answers_take_end(&answers, pid, ok, now_ns);      of each process that has ended
 *     record_answers_stop(&answers), record_report(...);       at the end
 */
#ifndef NM_TOOL_RECORD_ANSWERS_H
#define NM_TOOL_RECORD_ANSWERS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct record_answers { /* a zeroed one: nobody has asked for any */
    const char *file;           /* borrowed; NULL: nothing below does anything */
    pid_t pid;                  /* of the process that writes them now; 0: none */
    int64_t began_ns;           /* CLOCK_MONOTONIC, as the others: when it began */
    int64_t wanted_ns;          /* they are wanted from then on; 0: they are not */
    int64_t rested_ns;          /* and not before, unless */
    bool is_asked_for;          /* somebody has asked for them */
    bool has_failed;            /* one of them has */
} record_answers;

/* The npumem-ingest beside this program, or its name alone, to be looked for in PATH. */
void record_ingest_program(char program[PATH_MAX]);

/* Answers are wanted, of what is in the trace at `at_ns`. However often that is said before they are begun, they are written
 * once; what is wanted while some are written are others, after them. */
void record_answers_want(record_answers *answers, int64_t at_ns);

/* The same for somebody who has asked: at once, without a rest after the last ones. */
void record_answers_ask(record_answers *answers);

/* One at a time; after each a rest of five seconds, or of ten times as long as it took. */
bool record_answers_are_due(const record_answers *answers, int64_t now_ns);

/* Begins to write them, in a process of its own and at the least priority. Only to a file: what else is there gets the last
 * ones alone. */
void record_answers_begin(record_answers *answers, const char *trace, int64_t now_ns);

/* A process has ended: true if it was the one. */
bool record_answers_take_end(record_answers *answers, pid_t pid, int wait_status, int64_t now_ns);

/* Ends the process that writes, and waits for its end. */
void record_answers_stop(record_answers *answers);

/* Runs the npumem-ingest beside this program. False: nothing was written; what fails is said in one line on standard error,
 * and changes nothing. */
bool record_report(const char *trace, const char *file);

#endif
