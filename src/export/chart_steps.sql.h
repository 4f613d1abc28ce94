/* SPDX-License-Identifier: Apache-2.0. Made of chart_steps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_CHART_STEPS_SQL_H
#define NM_EXPORT_CHART_STEPS_SQL_H

#include "store/question.h"

#define NM_CHART_STEPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(begin_number)
#define NM_CHART_STEPS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(has_times) INTEGER(process_id) INTEGER(device_id) \
    INTEGER(most_count)
NM_QUESTION(chart_steps, NM_CHART_STEPS_COLUMNS, NM_CHART_STEPS_PARAMETERS)

#endif
