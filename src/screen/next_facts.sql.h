/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of next_facts.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_NEXT_FACTS_SQL_H
#define NM_SCREEN_NEXT_FACTS_SQL_H

#include "store/question.h"

#define NM_NEXT_FACTS_SQL \
    "SELECT (SELECT count(*) FROM leak_by_site) AS leak_count, (SELECT count(*) FROM out_of_memory WHERE outcome " \
    "IS NOT 'recovered') AS fatal_count, (SELECT count(*) FROM misuse) AS misuse_count, (SELECT count(*) FROM " \
    "completeness WHERE verdict NOT IN ('complete', 'begun', 'kept', 'contradictory')) AS lost_count, ( SELECT " \
    "count(*) FROM health AS h WHERE verdict IN ('warning', 'danger') AND ( measure = 'pool hit rate' OR ( measure " \
    "= 'fragmentation' AND NOT EXISTS ( SELECT 1 FROM z_heap_place AS p JOIN z_pool_effort AS e ON e.heap_id = " \
    "p.heap_id WHERE e.mapped_count > 0 AND p.pid IS h.pid AND p.host IS h.host AND p.device IS h.device AND " \
    "p.heap IS h.heap ) ) ) ) + (SELECT count(*) FROM out_of_memory WHERE verdict = 'fragmentation') AS " \
    "pool_count, (SELECT path FROM input WHERE path <> '-' AND (SELECT count(*) FROM input) = 1) AS input_path;"
#define NM_NEXT_FACTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(leak_count) INTEGER(fatal_count) \
    INTEGER(misuse_count) INTEGER(lost_count) INTEGER(pool_count) TEXT(input_path)
NM_QUESTION_ROW(next_facts, NM_NEXT_FACTS_COLUMNS)
NM_QUESTION_ASK(next_facts, NM_NEXT_FACTS_SQL, NM_QUESTION_NONE)

#endif
