/* SPDX-License-Identifier: Apache-2.0. Made of check_base_partial.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_BASE_PARTIAL_SQL_H
#define NM_TOOL_CHECK_CHECK_BASE_PARTIAL_SQL_H

#include "store/question.h"

#define NM_CHECK_BASE_PARTIAL_SQL \
    "SELECT count(*) AS input_count, total(events_seen - events_ingested - events_unkept) AS missing_value, " \
    "coalesce( sum( is_complete <> 1 OR events_dropped > 0 OR events_damaged > 0 OR events_unrecovered > 0 OR " \
    "bytes_cut > 0 OR unknown_reference_count > 0 ), 0 ) AS lossy_count, ( SELECT i.state FROM base.input AS i " \
    "WHERE i.state NOT IN ('ended', 'recovered') ORDER BY i.state <> 'running', i.input_id LIMIT 1 ) AS state, " \
    "coalesce(sum(baseline = 'unknown'), 0) AS late_count, (SELECT count(*) FROM base.z_heap_sum WHERE " \
    "is_whole_run <> 1) AS thinned_count FROM base.input;"
#define NM_CHECK_BASE_PARTIAL_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(input_count) REAL(missing_value) \
    INTEGER(lossy_count) TEXT(state) INTEGER(late_count) INTEGER(thinned_count)
NM_QUESTION_OF_TEXTS(check_base_partial, NM_CHECK_BASE_PARTIAL_SQL, NM_CHECK_BASE_PARTIAL_COLUMNS, NM_QUESTION_NONE)

#endif
