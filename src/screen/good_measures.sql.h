/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of good_measures.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_GOOD_MEASURES_SQL_H
#define NM_SCREEN_GOOD_MEASURES_SQL_H

#include "store/question.h"

#define NM_GOOD_MEASURES_SQL \
    "SELECT measure, CASE measure WHEN 'pool hit rate' THEN min(value) WHEN 'zero copy' THEN min(value) ELSE " \
    "max(value) END AS worst_value FROM health AS h WHERE verdict = 'good' AND NOT EXISTS ( SELECT 1 FROM health " \
    "AS o WHERE o.measure = h.measure AND o.verdict NOT IN ('good', 'not applicable') ) GROUP BY measure ORDER BY " \
    "CASE measure WHEN 'fragmentation' THEN 0 WHEN 'pool hit rate' THEN 1 WHEN 'allocation cost' THEN 2 ELSE 3 END;"
#define NM_GOOD_MEASURES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(measure) REAL(worst_value)
NM_QUESTION_ROW(good_measures, NM_GOOD_MEASURES_COLUMNS)
NM_QUESTION_ASK(good_measures, NM_GOOD_MEASURES_SQL, NM_QUESTION_NONE)

#endif
