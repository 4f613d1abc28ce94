/* SPDX-License-Identifier: Apache-2.0. Made of step_spans.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_STEP_SPANS_SQL_H
#define NM_STORE_VERDICTS_STEP_SPANS_SQL_H

#include "store/question.h"

NM_QUESTION_SCRIPT(step_spans)

#endif
