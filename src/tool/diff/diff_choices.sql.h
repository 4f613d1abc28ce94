/* SPDX-License-Identifier: Apache-2.0. Made of diff_choices.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_DIFF_DIFF_CHOICES_SQL_H
#define NM_TOOL_DIFF_DIFF_CHOICES_SQL_H

#include "store/question.h"

#define NM_DIFF_CHOICES_SQL \
    "SELECT EXISTS (SELECT 1 FROM process WHERE :rank IS NULL OR rank = :rank) AS has_rank, EXISTS (SELECT 1 FROM " \
    "heap_level WHERE :level IS NULL OR name = :level) AS has_level, EXISTS (SELECT 1 FROM input WHERE :mark IS " \
    "NULL OR detail <> 'none') AS has_rows, EXISTS (SELECT 1 FROM moment WHERE :mark IS NULL OR (kind = 3 AND name " \
    "= :mark)) AS has_mark, ( SELECT group_concat(name, ', ') FROM (SELECT DISTINCT name FROM moment WHERE kind = " \
    "3 LIMIT 8) ) AS mark_names;"
#define NM_DIFF_CHOICES_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(has_rank) FLAG(has_level) FLAG(has_rows) \
    FLAG(has_mark) TEXT(mark_names)
#define NM_DIFF_CHOICES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) TEXT(level) TEXT(mark)
NM_QUESTION_OF_TEXTS(diff_choices, NM_DIFF_CHOICES_SQL, NM_DIFF_CHOICES_COLUMNS, NM_DIFF_CHOICES_PARAMETERS)

#endif
