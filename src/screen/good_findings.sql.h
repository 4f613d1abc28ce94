/* SPDX-License-Identifier: Apache-2.0. Made of good_findings.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_GOOD_FINDINGS_SQL_H
#define NM_SCREEN_GOOD_FINDINGS_SQL_H

#include "store/question.h"

#define NM_GOOD_FINDINGS_SQL \
    "SELECT kind, sentence, max(CASE WHEN kind IN ('pool hit rate', 'zero copy') THEN -value ELSE value END) AS " \
    "worst_value FROM finding AS f WHERE severity = 'good' AND NOT EXISTS (SELECT 1 FROM finding AS o WHERE o.kind " \
    "= f.kind AND o.severity <> 'good') GROUP BY kind ORDER BY CASE kind WHEN 'leak' THEN 0 WHEN 'fragmentation' " \
    "THEN 1 WHEN 'pool hit rate' THEN 2 WHEN 'allocation cost' THEN 3 WHEN 'zero copy' THEN 4 WHEN 'out of memory' " \
    "THEN 5 ELSE 6 END;"
#define NM_GOOD_FINDINGS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) TEXT(sentence) REAL(worst_value)
NM_QUESTION_OF_TEXTS(good_findings, NM_GOOD_FINDINGS_SQL, NM_GOOD_FINDINGS_COLUMNS, NM_QUESTION_NONE)

#endif
