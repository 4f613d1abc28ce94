/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of misuses.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_MISUSES_SQL_H
#define NM_SCREEN_MISUSES_SQL_H

#include "store/question.h"

#define NM_MISUSES_SQL \
    "SELECT kind, count(*) AS misuse_count, min(anomaly_id) AS first_id, site FROM misuse GROUP BY kind ORDER BY " \
    "count(*) DESC, kind LIMIT 4;"
#define NM_MISUSES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) INTEGER(misuse_count) INTEGER(first_id) TEXT(site)
NM_QUESTION_ROW(misuses, NM_MISUSES_COLUMNS)
NM_QUESTION_ASK(misuses, NM_MISUSES_SQL, NM_QUESTION_NONE)

#endif
