/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of all_views.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_REPORT_ALL_VIEWS_SQL_H
#define NM_REPORT_ALL_VIEWS_SQL_H

#include "store/question.h"

#define NM_ALL_VIEWS_SQL \
    "SELECT name FROM sqlite_master WHERE type = 'view' AND (:has_internal OR substr(name, 1, 1) <> '_') AND name " \
    "NOT IN ('allocation_detail', 'stack_text') ORDER BY name;"
#define NM_ALL_VIEWS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(name)
#define NM_ALL_VIEWS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(has_internal)
NM_QUESTION_ROW(all_views, NM_ALL_VIEWS_COLUMNS)
NM_QUESTION_ASK(all_views, NM_ALL_VIEWS_SQL, NM_ALL_VIEWS_PARAMETERS)

#endif
