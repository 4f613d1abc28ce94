/* SPDX-License-Identifier: Apache-2.0. Made of check_leaks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_LEAKS_SQL_H
#define NM_TOOL_CHECK_CHECK_LEAKS_SQL_H

#include "store/question.h"

#define NM_CHECK_LEAKS_SQL \
    "SELECT host, rank, pid, device, heap, level, CASE :verdict WHEN 'rising' THEN value ELSE bytes END AS " \
    "measured_value, NULL AS limit_value, site AS note FROM finding WHERE kind = 'leak' AND severity = 'fault' AND " \
    "(:verdict IS NULL OR verdict = :verdict) AND (:rank IS NULL OR rank IS :rank) AND (:heap IS NULL OR heap IS " \
    ":heap OR level IS :heap);"
#define NM_CHECK_LEAKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(verdict) INTEGER(rank) TEXT(heap)
NM_QUESTION_ASK(check_leaks, NM_CHECK_LEAKS_SQL, NM_CHECK_LEAKS_PARAMETERS)

#endif
