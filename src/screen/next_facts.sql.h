/* SPDX-License-Identifier: Apache-2.0. Made of next_facts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_NEXT_FACTS_SQL_H
#define NM_SCREEN_NEXT_FACTS_SQL_H

#include "store/question.h"

#define NM_NEXT_FACTS_SQL \
    "SELECT coalesce(max(kind = 'out of memory' AND severity = 'fault'), 0) AS is_fatal, ( SELECT w.next_command " \
    "FROM finding AS w WHERE w.severity = 'fault' AND w.kind IN ('out of memory', 'leak', 'misuse') AND " \
    "w.next_command IS NOT NULL ORDER BY CASE w.kind WHEN 'out of memory' THEN 0 WHEN 'leak' THEN 1 ELSE 2 END, " \
    "w.finding_id LIMIT 1 ) AS fault_command, (SELECT count(*) FROM completeness WHERE verdict NOT IN ('complete', " \
    "'begun', 'kept', 'contradictory')) AS lost_count, coalesce( sum(next_command GLOB 'npumem whatif*' OR (kind = " \
    "'out of memory' AND verdict IS 'fragmentation')), 0 ) AS pool_count, (SELECT path FROM input WHERE path <> " \
    "'-' AND (SELECT count(*) FROM input) = 1) AS input_path FROM finding;"
#define NM_NEXT_FACTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(is_fatal) TEXT(fault_command) INTEGER(lost_count) \
    INTEGER(pool_count) TEXT(input_path)
NM_QUESTION_OF_TEXTS(next_facts, NM_NEXT_FACTS_SQL, NM_NEXT_FACTS_COLUMNS, NM_QUESTION_NONE)

#endif
