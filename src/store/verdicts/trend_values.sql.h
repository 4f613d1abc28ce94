/* SPDX-License-Identifier: Apache-2.0. Made of trend_values.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_TREND_VALUES_SQL_H
#define NM_STORE_VERDICTS_TREND_VALUES_SQL_H

#include "store/question.h"

#define NM_TREND_VALUES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(device_id) \
    INTEGER(capacity_bytes) INTEGER(heap_id) INTEGER(level_code) INTEGER(generation) INTEGER(last_generation) \
    INTEGER(peak_bytes) INTEGER(live_bytes) INTEGER(peak_reserved_bytes) INTEGER(number) INTEGER(begin_ns) \
    INTEGER(graph_bytes) INTEGER(graph_reserved_bytes)
NM_QUESTION(trend_values, NM_TREND_VALUES_COLUMNS, NM_QUESTION_NONE)

#endif
