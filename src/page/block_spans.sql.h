/* SPDX-License-Identifier: Apache-2.0. Made of block_spans.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_BLOCK_SPANS_SQL_H
#define NM_PAGE_BLOCK_SPANS_SQL_H

#include "store/question.h"

#define NM_BLOCK_SPANS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(half_count)
NM_QUESTION(block_spans, NM_BLOCK_SPANS_COLUMNS, NM_QUESTION_NONE)

#endif
