/* SPDX-License-Identifier: Apache-2.0. Made of next_facts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_NEXT_FACTS_SQL_H
#define NM_SCREEN_NEXT_FACTS_SQL_H

#include "store/question.h"

#define NM_NEXT_FACTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(is_fatal) TEXT(fault_command) INTEGER(lost_count) \
    INTEGER(pool_count) TEXT(input_path)
NM_QUESTION_OF_TEXTS(next_facts, NM_NEXT_FACTS_COLUMNS, NM_QUESTION_NONE)

#endif
