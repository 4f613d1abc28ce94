/* SPDX-License-Identifier: Apache-2.0. Made of charts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_CHARTS_SQL_H
#define NM_EXPORT_CHARTS_SQL_H

#include "store/question.h"

#define NM_CHARTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(device_id) INTEGER(heap_id) \
    TEXT(title) INTEGER(capacity_bytes) INTEGER(chart_count)
#define NM_CHARTS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(charts, NM_CHARTS_COLUMNS, NM_CHARTS_PARAMETERS)

#endif
