/* SPDX-License-Identifier: Apache-2.0. Made of against_runs.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_AGAINST_RUNS_SQL_H
#define NM_PAGE_AGAINST_RUNS_SQL_H

#include "store/question.h"

#define NM_AGAINST_RUNS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(letter) TEXT(name) INTEGER(process_count) \
    INTEGER(rank_count) INTEGER(step_count) INTEGER(lossy_count)
#define NM_AGAINST_RUNS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(own_name) TEXT(other_name)
NM_QUESTION_OF_TEXTS(against_runs, NM_AGAINST_RUNS_COLUMNS, NM_AGAINST_RUNS_PARAMETERS)

#endif
