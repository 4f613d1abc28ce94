/* SPDX-License-Identifier: Apache-2.0. Made of chart_marks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_CHART_MARKS_SQL_H
#define NM_EXPORT_CHART_MARKS_SQL_H

#include "store/question.h"

#define NM_CHART_MARKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(at_number) FLAG(is_failure) TEXT(name)
#define NM_CHART_MARKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(has_times) INTEGER(process_id) INTEGER(device_id)
NM_QUESTION_OF_TEXTS(chart_marks, NM_CHART_MARKS_COLUMNS, NM_CHART_MARKS_PARAMETERS)

#endif
