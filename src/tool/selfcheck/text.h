/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of --selfcheck: what a person at another machine needs to know to judge it.
 */
#ifndef NM_TOOL_SELFCHECK_TEXT_H
#define NM_TOOL_SELFCHECK_TEXT_H

#include "tool/selfcheck/figures.h"

#define SELFCHECK_ROUNDS     5
#define SELFCHECK_LINE_BYTES 512

typedef struct selfcheck_times {
    int64_t loop_ns[SELFCHECK_ROUNDS]; /* by the program's own word; 0: it said none */
    int64_t wall_ns[SELFCHECK_ROUNDS];
} selfcheck_times;

typedef struct selfcheck_result {
    const char *program; /* in words */
    bool is_torch, is_standin;
    bool is_recorded;                  /* there is a trace, and the views of it; */
    bool is_compared;                  /* and all runs went well */
    char reason[SELFCHECK_LINE_BYTES]; /* the first thing that is wrong; empty: nothing */
    char spoken[SELFCHECK_LINE_BYTES]; /* the same in the reader's language: reports are in English */
    nm_buffer notes[2];                /* owned, by language: lines on what was not there */
    nm_buffer versions[2];             /* owned, by language: what the program said it runs on, lines */
    nm_buffer functions[2];    /* owned, by language: the section on what CANN exports; empty: no program ended well */
    size_t new_function_count; /* of them: not in the list */
    nm_buffer answers;         /* owned: of npumem-ingest */
    selfcheck_run last;        /* owned: the run that went wrong, or the last one */
    selfcheck_times plain, recorded;
    selfcheck_comparison comparison;
} selfcheck_result;

/* Appends to *brief the part that is shown on a terminal, to *rest what the file has below it; in the language of nm_spoken. */
void selfcheck_write(const selfcheck_place *place, const selfcheck_result *result, nm_buffer *brief, nm_buffer *rest);

/* The figures as JSON; `report` is the name of the file that has it all. */
nm_status selfcheck_write_json(const selfcheck_result *result, const char *report, nm_buffer *out, nm_error *err);

const char *selfcheck_reason(const selfcheck_result *result);  /* in the language of nm_spoken; "": none */
const char *selfcheck_verdict(const selfcheck_result *result); /* "AGREES", "DISAGREES" or "FAILED" */
const char *selfcheck_state(const selfcheck_line *line);       /* "same", "about the same", "DIFFERS" or "not said" */

/* Appends one formatted text, in the language of nm_spoken; what there is no memory for is left out. */
void selfcheck_say(nm_buffer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

int64_t selfcheck_median(const int64_t times[SELFCHECK_ROUNDS]);

#endif
