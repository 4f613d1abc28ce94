/* SPDX-License-Identifier: Apache-2.0. Made of repeat_pairs.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_REPEAT_PAIRS_SQL_H
#define NM_STORE_REPEAT_PAIRS_SQL_H

#include "store/question.h"

#define NM_REPEAT_PAIRS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(number) INTEGER(kept_number) \
    INTEGER(repeated_count) INTEGER(input_count)
#define NM_REPEAT_PAIRS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(last_number)
NM_QUESTION(repeat_pairs, NM_REPEAT_PAIRS_COLUMNS, NM_REPEAT_PAIRS_PARAMETERS)

#endif
