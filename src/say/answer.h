/* SPDX-License-Identifier: Apache-2.0
 *
 * What answers as JSON have in common, npumem.findings/1 (docs/json.md): their head, and figures.
 */
#ifndef NM_SAY_ANSWER_H
#define NM_SAY_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "say/sentence.h"

#define NM_ANSWER_SCHEMA "npumem.findings/1"

/* Opens the object and writes "schema", "program", "version", "database" (a path; NULL: null) and "language". */
void nm_answer_json_begin(nm_json *json, const char *program, const char *database, nm_language language);

/* Two members: "STEM_bytes", and "STEM_text" with the same in words. */
void nm_bytes_json(nm_json *json, const char *stem, int64_t bytes);

/* Closes it with a newline. The writer's first failure. */
nm_status nm_answer_json_end(nm_json *json);

/* A figure, and the view that has it: SELECT name FROM view WHERE key. Texts are borrowed. */
typedef struct nm_figure {
    const char *name; /* a column of the view */
    const char *unit; /* "bytes", "count", "ratio", "ns", "bytes a step" or "bytes an hour" */
    const char *view;
    bool is_real;
    double value; /* of a whole number: not used */
    int64_t count;
} nm_figure;

/* Opens an object with the figure, and the object of its key, whose members are written next (NULL: IS NULL); closes both. */
void nm_figure_json_begin(nm_json *json, const nm_figure *figure);
void nm_figure_json_end(nm_json *json);

#endif
