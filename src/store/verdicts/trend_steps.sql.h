/* SPDX-License-Identifier: Apache-2.0. Made of trend_steps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_TREND_STEPS_SQL_H
#define NM_STORE_VERDICTS_TREND_STEPS_SQL_H

#include "store/question.h"

#define NM_TREND_STEPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(generation) INTEGER(end_seq) INTEGER(number) \
    INTEGER(begin_ns)
#define NM_TREND_STEPS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id)
NM_QUESTION(trend_steps, NM_TREND_STEPS_COLUMNS, NM_TREND_STEPS_PARAMETERS)

#endif
