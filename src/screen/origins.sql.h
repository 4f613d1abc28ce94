/* SPDX-License-Identifier: Apache-2.0. Made of origins.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_ORIGINS_SQL_H
#define NM_SCREEN_ORIGINS_SQL_H

#include "store/question.h"

#define NM_ORIGINS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(source) TEXT(kind) FLAG(is_given) TEXT(anchor) \
    INTEGER(fewest_count) INTEGER(most_count) INTEGER(process_count)
NM_QUESTION_OF_TEXTS(origins, NM_ORIGINS_COLUMNS, NM_QUESTION_NONE)

#endif
