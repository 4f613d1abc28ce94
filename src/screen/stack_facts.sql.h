/* SPDX-License-Identifier: Apache-2.0. Made of stack_facts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_STACK_FACTS_SQL_H
#define NM_SCREEN_STACK_FACTS_SQL_H

#include "store/question.h"

#define NM_STACK_FACTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_count) INTEGER(caller_count) \
    INTEGER(site_count) INTEGER(live_bytes) INTEGER(cut_bytes) INTEGER(unplaced_bytes) INTEGER(no_python_bytes)
NM_QUESTION(stack_facts, NM_STACK_FACTS_COLUMNS, NM_QUESTION_NONE)

#endif
