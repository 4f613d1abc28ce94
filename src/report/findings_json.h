/* SPDX-License-Identifier: Apache-2.0
 *
 * What table finding says of a database, as JSON: npumem.findings/1 (docs/json.md, docs/npumem.findings.schema.json), as the screen
 * and the page say it. The head of an answer is of say/answer.h:
 *
 *     nm_json json = {.out = &buffer, .err = err};
 *     nm_answer_json_begin(&json, "ingest", "run.db", language);
 *     status = nm_findings_json(db, &options, &json, err);       or what else the program has to say
 *     if (status == NM_OK)
 *         status = nm_answer_json_end(&json);                    and write the buffer
 */
#ifndef NM_REPORT_FINDINGS_JSON_H
#define NM_REPORT_FINDINGS_JSON_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"
#include "say/answer.h"

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

/*
 * Writes the members "inputs", "groups", "findings" and "not_judged" into the object that is open, and for each of the last three how
 * many there are in all, as "group_count". `db` is one of this schema that can be believed (store/foreign.h). NM_ERR_FORMAT: what a
 * finding says cannot be read.
 */
nm_status nm_findings_json(sqlite3 *db, const nm_findings_json_options *options, nm_json *json, nm_error *err);

/* Appends a whole answer of a program that has no more to say. */
nm_status nm_findings_json_append(sqlite3 *db, const char *program, const nm_findings_json_options *options,
                                  nm_buffer *out, nm_error *err);

#endif
