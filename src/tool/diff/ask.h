/* SPDX-License-Identifier: Apache-2.0
 *
 * A comparison, and how a question of queries/ is put to its database: with the options as parameters, to a CSV file where one
 * is wanted, and to whoever writes its rows as text.
 */
#ifndef NM_TOOL_DIFF_ASK_H
#define NM_TOOL_DIFF_ASK_H

#include "base/human.h"
#include "base/json.h"
#include "report/csv.h"
#include "store/foreign.h"
#include "tool/diff/options.h"

#define DIFF_TEXT_BYTES 512

typedef struct diff_run {
    const diff_options *options;
    const char *subject; /* the file that an error is about */
    nm_foreign *run;     /* owned; the base is attached to it */
    sqlite3 *db;         /* of it; borrowed */
    nm_csv *csv;
    nm_json *json; /* borrowed; NULL: text is printed */
    nm_compare_rules rules;
    int64_t difference_count;
} diff_run;

typedef void diff_write(diff_run *run, sqlite3_stmt *rows);

/* Runs one file of queries/, statement by statement. */
nm_status diff_ask(diff_run *run, nm_compare_question question, diff_write *write, nm_error *err);

/* The CSV files, if any were written, to their place. */
nm_status diff_publish(diff_run *run, nm_error *err);

/* "+1.2 GiB" */
const char *diff_signed_bytes(char out[NM_HUMAN_BYTES + 1], int64_t bytes);

/* A line of titles, NULL-terminated: the first over changes, as rows of sites and figures have them. */
void diff_write_titles(const char *const *titles);

/* "  and 3 more (--top, --csv)", where some are left. */
void diff_write_more(int64_t left_count);

/* Is a change of so many bytes one that --threshold leaves out? */
bool diff_is_small(const diff_run *run, double bytes);

/* "  none above 100 MiB; 3 smaller (--threshold)", or "  and 3 of ..." below others; nothing where none was left out. */
void diff_write_small(const diff_run *run, int64_t small_count, bool has_others);

#endif
