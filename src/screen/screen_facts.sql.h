/* SPDX-License-Identifier: Apache-2.0. Made of screen_facts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_SCREEN_FACTS_SQL_H
#define NM_SCREEN_SCREEN_FACTS_SQL_H

#include "store/question.h"

#define NM_SCREEN_FACTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_count) INTEGER(holder_count) \
    INTEGER(device_holder_count) INTEGER(device_count) INTEGER(step_count) FLAG(has_ranks) FLAG(is_listed) \
    TEXT(device_kind)
NM_QUESTION_OF_TEXTS(screen_facts, NM_SCREEN_FACTS_COLUMNS, NM_QUESTION_NONE)

#endif
