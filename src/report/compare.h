/* SPDX-License-Identifier: Apache-2.0
 *
 * Two databases compared: the questions are files of queries/, embedded, run as they are with their parameters. `main` of the
 * connection is the second of the two, B, and its `base` the first, A (nm_foreign_attach).
 */
#ifndef NM_REPORT_COMPARE_H
#define NM_REPORT_COMPARE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Their places among the embedded files. */
typedef enum nm_compare_question {
    NM_COMPARE_FIGURES,
    NM_COMPARE_ENVIRONMENT,
    NM_COMPARE_SITES,
    NM_COMPARE_LEAKS,
    NM_COMPARE_MOMENTS, /* of `main` alone */
} nm_compare_question;

/* The parameters of the questions; what a question has and a choice has not is its default. Texts are borrowed. */
typedef struct nm_compare_choice {
    const char *base_path, *level, *at; /* NULL: none */
    const char *from, *to;              /* of NM_COMPARE_MOMENTS, in its words */
    bool has_rank, is_by_rank;
    int64_t rank;
    uint64_t threshold_bytes;
    int64_t row_count_max; /* 0: all */
} nm_compare_choice;

/* Gets the statement that answers, not yet stepped. */
typedef nm_status nm_compare_take(void *context, sqlite3_stmt *rows, nm_error *err);

/* Runs one file, statement by statement. */
nm_status nm_compare_ask(sqlite3 *db, nm_compare_question question, const nm_compare_choice *choice,
                         nm_compare_take *take, void *context, nm_error *err);

/* "diff_figures.sql" */
const char *nm_compare_name(nm_compare_question question);

/* The versions of the rules of sites, of A and B: where they differ, no site of one is one of the other. */
typedef struct nm_compare_rules {
    int64_t base_version, run_version;
} nm_compare_rules;

/* NM_ERR_USAGE: sums of the two are not of the same thing, or their sites go by different rules of one version; *rules, which
 * may be NULL: of different ones that is no error, but figures and environments alone can be compared. */
nm_status nm_compare_check(sqlite3 *db, const nm_compare_choice *choice, nm_compare_rules *rules, nm_error *err);

#endif
