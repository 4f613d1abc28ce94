/* SPDX-License-Identifier: Apache-2.0. Made of unjudged.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_UNJUDGED_SQL_H
#define NM_TOOL_MCP_UNJUDGED_SQL_H

#include "store/question.h"

#define NM_UNJUDGED_SQL \
    "SELECT min(finding_id) AS finding_id, kind, text, reason, count(*) AS finding_count FROM finding WHERE " \
    "severity = 'not judged' AND (:kind IS NULL OR kind = :kind) AND (:severity IS NULL OR severity = :severity) " \
    "AND (:rank IS NULL OR rank = :rank) GROUP BY kind, text, reason ORDER BY min(finding_id);"
#define NM_UNJUDGED_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_id) TEXT(kind) TEXT(text) TEXT(reason) \
    INTEGER(finding_count)
#define NM_UNJUDGED_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) TEXT(severity) INTEGER(rank)
NM_QUESTION_OF_TEXTS(unjudged, NM_UNJUDGED_SQL, NM_UNJUDGED_COLUMNS, NM_UNJUDGED_PARAMETERS)

#endif
