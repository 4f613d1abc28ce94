/* SPDX-License-Identifier: Apache-2.0. Made of chart_usage.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_CHART_USAGE_SQL_H
#define NM_EXPORT_CHART_USAGE_SQL_H

#include "store/question.h"

#define NM_CHART_USAGE_SQL \
    "SELECT coalesce(CASE WHEN :has_times THEN max_ns ELSE max_seq END, 0) AS max_number, max_live_bytes, " \
    "coalesce(CASE WHEN :has_times THEN last_ns ELSE last_seq END, 0) AS last_number, live_bytes, reserved_bytes " \
    "FROM usage WHERE heap_id = :heap_id ORDER BY last_seq;"
#define NM_CHART_USAGE_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(max_number) INTEGER(max_live_bytes) \
    INTEGER(last_number) INTEGER(live_bytes) INTEGER(reserved_bytes)
#define NM_CHART_USAGE_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(has_times) INTEGER(heap_id)
NM_QUESTION(chart_usage, NM_CHART_USAGE_SQL, NM_CHART_USAGE_COLUMNS, NM_CHART_USAGE_PARAMETERS)

#endif
