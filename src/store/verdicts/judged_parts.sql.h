/* SPDX-License-Identifier: Apache-2.0. Made of judged_parts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_JUDGED_PARTS_SQL_H
#define NM_STORE_VERDICTS_JUDGED_PARTS_SQL_H

#include "store/question.h"

#define NM_JUDGED_PARTS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(many_count) REAL(late_ratio)
NM_QUESTION_RUN(judged_parts, NM_JUDGED_PARTS_PARAMETERS)

#endif
