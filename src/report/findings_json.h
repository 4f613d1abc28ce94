/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers as JSON, npumem.findings/1 (docs/json.md, docs/npumem.findings.schema.json): the head that all programs' answers have, and
 * what table finding says of a database, as the screen and the page say it.
 *
 *     nm_json json = {.out = &buffer, .err = err};
 *     nm_answer_json_begin(&json, "ingest", "run.db", language);
 *     status = nm_findings_json(db, &options, &json, err);       or what else the program has to say
 *     status = nm_answer_json_end(&json);                        and write the buffer
 */
#ifndef NM_REPORT_FINDINGS_JSON_H
#define NM_REPORT_FINDINGS_JSON_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "say/sentence.h"

#define NM_ANSWER_SCHEMA "npumem.findings/1"

/* Which findings, all borrowed. Zero: all of them. */
typedef struct nm_findings_json_options {
    nm_language language;
    const char *database; /* its path in commands; NULL: "run.db" */
    const char *kind;     /* as finding.kind; NULL: any */
    const char *severity; /* as finding.severity; NULL: any */
    const char *site;     /* stands in the label of the site; NULL: any */
    int64_t finding_id;   /* this one alone, and no groups; 0: any */
    int64_t first_offset; /* so many are passed over, of each list; 0 or more */
    int64_t count_max;    /* of each list; 0: no limit */
} nm_findings_json_options;

/* Opens the object and writes "schema", "program", "version", "database" (a path; NULL: null) and "language". */
void nm_answer_json_begin(nm_json *json, const char *program, const char *database, nm_language language);

/* Closes it with a newline. The writer's first failure. */
nm_status nm_answer_json_end(nm_json *json);

/*
 * Writes the members "inputs", "groups", "findings" and "not_judged" into the object that is open, and for each of the last three how
 * many there are in all, as "group_count". `db` is one of this schema that can be believed (store/foreign.h). NM_ERR_FORMAT: what a
 * finding says cannot be read.
 */
nm_status nm_findings_json(sqlite3 *db, const nm_findings_json_options *options, nm_json *json, nm_error *err);

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
