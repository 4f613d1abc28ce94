/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of merge_numbers.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_STORE_MERGE_NUMBERS_SQL_H
#define NM_STORE_MERGE_NUMBERS_SQL_H

#include "store/question.h"

#define NM_MERGE_NUMBERS_SQL \
    "SELECT name, target FROM merge_column WHERE owner = :owner AND target IS NOT NULL ORDER BY place;"
#define NM_MERGE_NUMBERS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(name) TEXT(target)
#define NM_MERGE_NUMBERS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(owner)
NM_QUESTION_ROW(merge_numbers, NM_MERGE_NUMBERS_COLUMNS)
NM_QUESTION_ASK(merge_numbers, NM_MERGE_NUMBERS_SQL, NM_MERGE_NUMBERS_PARAMETERS)

#endif
