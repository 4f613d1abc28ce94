/* SPDX-License-Identifier: Apache-2.0. Made of repeat_counts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_REPEAT_COUNTS_SQL_H
#define NM_STORE_REPEAT_COUNTS_SQL_H

#include "store/question.h"

#define NM_REPEAT_COUNTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(kept_count) FLAG(has_repeats)
NM_QUESTION(repeat_counts, NM_REPEAT_COUNTS_COLUMNS, NM_QUESTION_NONE)

#endif
