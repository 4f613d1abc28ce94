/* SPDX-License-Identifier: Apache-2.0. Made of check_hit_rates.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_HIT_RATES_SQL_H
#define NM_TOOL_CHECK_CHECK_HIT_RATES_SQL_H

#include "store/question.h"

#define NM_CHECK_HIT_RATES_SQL \
    "SELECT host, rank, pid, device, heap, level, CASE WHEN count < :floor_number THEN 1.0 ELSE value END AS " \
    "measured_value, NULL AS limit_value, CASE WHEN count < :floor_number THEN 'only ' || count || " \
    "' requests came after the warm-up' ELSE 'after the warm-up' END AS note FROM finding WHERE kind = " \
    "'pool hit rate' AND value IS NOT NULL AND (:rank IS NULL OR rank IS :rank) AND (:heap IS NULL OR heap IS " \
    ":heap OR level IS :heap);"
#define NM_CHECK_HIT_RATES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(heap) TEXT(level) REAL(measured_value) REAL(limit_value) TEXT(note)
#define NM_CHECK_HIT_RATES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(floor_number) INTEGER(rank) TEXT(heap)
NM_QUESTION_OF_TEXTS(check_hit_rates, NM_CHECK_HIT_RATES_SQL, NM_CHECK_HIT_RATES_COLUMNS, NM_CHECK_HIT_RATES_PARAMETERS)

#endif
