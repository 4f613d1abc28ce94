/* SPDX-License-Identifier: Apache-2.0. Made of pool_rows.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_WHATIF_POOL_ROWS_SQL_H
#define NM_TOOL_WHATIF_POOL_ROWS_SQL_H

#include "store/question.h"

#define NM_POOL_ROWS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(missing_count) INTEGER(thinned_count) \
    INTEGER(late_count)
NM_QUESTION(pool_rows, NM_POOL_ROWS_COLUMNS, NM_QUESTION_NONE)

#endif
