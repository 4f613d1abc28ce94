/* SPDX-License-Identifier: Apache-2.0
 *
 * block_spans.sql: half of the numbers that rows of allocations span.
 * Made of that file by the target `sql`; a test compares them. store/question.h says how it is used.
 */
/* clang-format off */
#ifndef NM_REPORT_BLOCK_SPANS_SQL_H
#define NM_REPORT_BLOCK_SPANS_SQL_H

#include "store/question.h"

#define NM_BLOCK_SPANS_SQL \
    "SELECT (SELECT max(allocation_id) FROM allocation) / 2 - (SELECT min(allocation_id) FROM allocation) / 2 AS " \
    "half_count;"
#define NM_BLOCK_SPANS_COLUMNS(INTEGER, FLAG, REAL, TEXT) \
    INTEGER(half_count)
NM_QUESTION_ROW(block_spans, NM_BLOCK_SPANS_COLUMNS)
NM_QUESTION_ASK(block_spans, NM_BLOCK_SPANS_SQL, NM_QUESTION_NONE)
NM_QUESTION_GET(block_spans, NM_QUESTION_NONE)

#endif
