/* SPDX-License-Identifier: Apache-2.0. Made of chart_usage.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_CHART_USAGE_SQL_H
#define NM_EXPORT_CHART_USAGE_SQL_H

#include "store/question.h"

#define NM_CHART_USAGE_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(max_number) INTEGER(max_live_bytes) \
    INTEGER(last_number) INTEGER(live_bytes) INTEGER(reserved_bytes)
#define NM_CHART_USAGE_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(has_times) INTEGER(heap_id)
NM_QUESTION(chart_usage, NM_CHART_USAGE_COLUMNS, NM_CHART_USAGE_PARAMETERS)

#endif
