/* SPDX-License-Identifier: Apache-2.0. Made of block_counts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_BLOCK_COUNTS_SQL_H
#define NM_PAGE_BLOCK_COUNTS_SQL_H

#include "store/question.h"

#define NM_BLOCK_COUNTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(block_count)
NM_QUESTION(block_counts, NM_BLOCK_COUNTS_COLUMNS, NM_QUESTION_NONE)

#endif
