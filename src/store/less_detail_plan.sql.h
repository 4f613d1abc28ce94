/* SPDX-License-Identifier: Apache-2.0. Made of less_detail_plan.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_LESS_DETAIL_PLAN_SQL_H
#define NM_STORE_LESS_DETAIL_PLAN_SQL_H

#include "store/question.h"

#define NM_LESS_DETAIL_PLAN_SQL \
    "CREATE TEMP TABLE IF NOT EXISTS less_input ( input_id INTEGER PRIMARY KEY ); CREATE TEMP TABLE IF NOT EXISTS " \
    "less_kept ( allocation_id INTEGER PRIMARY KEY ); CREATE TEMP TABLE IF NOT EXISTS less_last ( owner, input_id, " \
    "last_id, left_out_count, PRIMARY KEY (owner, input_id) ); CREATE TEMP TABLE IF NOT EXISTS less_condition ( " \
    "owner PRIMARY KEY, condition ); DELETE FROM less_input; DELETE FROM less_kept; DELETE FROM less_last; DELETE " \
    "FROM less_condition;"
NM_QUESTION_SCRIPT(less_detail_plan, NM_LESS_DETAIL_PLAN_SQL)

#endif
