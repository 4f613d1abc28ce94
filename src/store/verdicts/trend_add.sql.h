/* SPDX-License-Identifier: Apache-2.0. Made of trend_add.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_TREND_ADD_SQL_H
#define NM_STORE_VERDICTS_TREND_ADD_SQL_H

#include "store/question.h"

#define NM_TREND_ADD_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(device_id) INTEGER(heap_id) TEXT(measure) \
    INTEGER(step_count) INTEGER(fitted_count) REAL(growth_value) INTEGER(line_bytes) INTEGER(scatter_bytes) \
    REAL(t_value) REAL(t_needed_value) TEXT(verdict) TEXT(reason) INTEGER(limit_bytes) INTEGER(left_step_count) \
    INTEGER(full_step) INTEGER(full_ns)
NM_QUESTION_RUN(trend_add, NM_TREND_ADD_PARAMETERS)

#endif
