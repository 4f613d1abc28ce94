/* SPDX-License-Identifier: Apache-2.0. Made of step_span.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_STEP_SPAN_SQL_H
#define NM_STORE_VERDICTS_STEP_SPAN_SQL_H

#include "store/question.h"

#define NM_STEP_SPAN_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(first_generation) INTEGER(step_count)
#define NM_STEP_SPAN_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id)
NM_QUESTION(step_span, NM_STEP_SPAN_COLUMNS, NM_STEP_SPAN_PARAMETERS)

#endif
