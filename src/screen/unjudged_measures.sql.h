/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of unjudged_measures.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_UNJUDGED_MEASURES_SQL_H
#define NM_SCREEN_UNJUDGED_MEASURES_SQL_H

#include "store/question.h"

#define NM_UNJUDGED_MEASURES_SQL \
    "SELECT DISTINCT measure, reason FROM health WHERE verdict = 'unknown' ORDER BY reason <> " \
    "'not all was recorded', reason, measure;"
#define NM_UNJUDGED_MEASURES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(measure) TEXT(reason)
NM_QUESTION_ROW(unjudged_measures, NM_UNJUDGED_MEASURES_COLUMNS)
NM_QUESTION_ASK(unjudged_measures, NM_UNJUDGED_MEASURES_SQL, NM_QUESTION_NONE)

#endif
