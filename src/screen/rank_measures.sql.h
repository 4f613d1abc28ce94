/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of rank_measures.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_RANK_MEASURES_SQL_H
#define NM_SCREEN_RANK_MEASURES_SQL_H

#include "store/question.h"

#define NM_RANK_MEASURES_SQL \
    "SELECT measure, verdict, count(DISTINCT coalesce('r' || rank, coalesce(host, '') || ' ' || pid)) AS " \
    "holder_count, max(CASE WHEN measure IN ('pool hit rate', 'zero copy') THEN -value ELSE value END) AS " \
    "worst_value, rank IS NOT NULL AS has_rank, coalesce(rank, pid) AS number, value AS measured_value FROM " \
    "(SELECT * FROM health WHERE verdict IN ('danger', 'warning') ORDER BY rank, pid) AS h GROUP BY measure, " \
    "verdict ORDER BY verdict, measure;"
#define NM_RANK_MEASURES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(measure) TEXT(verdict) INTEGER(holder_count) \
    REAL(worst_value) FLAG(has_rank) INTEGER(number) REAL(measured_value)
NM_QUESTION_ROW(rank_measures, NM_RANK_MEASURES_COLUMNS)
NM_QUESTION_ASK(rank_measures, NM_RANK_MEASURES_SQL, NM_QUESTION_NONE)

#endif
