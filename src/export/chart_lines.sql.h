/* SPDX-License-Identifier: Apache-2.0. Made of chart_lines.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_CHART_LINES_SQL_H
#define NM_EXPORT_CHART_LINES_SQL_H

#include "store/question.h"

#define NM_CHART_LINES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) TEXT(name) INTEGER(peak_bytes) \
    INTEGER(peak_number)
#define NM_CHART_LINES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(has_times) INTEGER(heap_id) INTEGER(process_id) \
    INTEGER(device_id)
NM_QUESTION_OF_TEXTS(chart_lines, NM_CHART_LINES_COLUMNS, NM_CHART_LINES_PARAMETERS)

#endif
