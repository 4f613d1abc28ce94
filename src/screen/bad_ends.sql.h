/* SPDX-License-Identifier: Apache-2.0. Made of bad_ends.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_BAD_ENDS_SQL_H
#define NM_SCREEN_BAD_ENDS_SQL_H

#include "store/question.h"

#define NM_BAD_ENDS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(all_count) INTEGER(pid) FLAG(is_signal) \
    INTEGER(end_status) TEXT(reason)
NM_QUESTION_OF_TEXTS(bad_ends, NM_BAD_ENDS_COLUMNS, NM_QUESTION_NONE)

#endif
