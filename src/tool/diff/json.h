/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-diff --json: all rows of the questions, with the names of their columns, into the object "diff".
 */
#ifndef NM_TOOL_DIFF_JSON_H
#define NM_TOOL_DIFF_JSON_H

#include "tool/diff/ask.h"
#include "tool/diff/diff_heads.sql.h"

/* One of the two databases: "a" or "b". */
void diff_json_head(nm_json *json, const char *name, const char *path, const nm_diff_heads_row *row);

/* The rows of a question as a member of its own, with what they make out of run->difference_count. */
nm_status diff_json_rows(diff_run *run, nm_compare_question question, sqlite3_stmt *rows, nm_error *err);

/* Opens and closes the answer; the latter prints it. */
void diff_json_begin(diff_run *run);
nm_status diff_json_end(diff_run *run, nm_error *err);

#endif
