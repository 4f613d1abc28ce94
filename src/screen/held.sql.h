/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of held.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_HELD_SQL_H
#define NM_SCREEN_HELD_SQL_H

#include "store/question.h"

#define NM_HELD_SQL \
    "SELECT c.component AS component, c.heap AS heap, c.bytes AS bytes, c.active_bytes AS active_bytes, " \
    "c.free_bytes AS free_bytes FROM out_of_memory AS o JOIN z_out_of_memory_component AS c ON c.out_of_memory_id " \
    "= o.out_of_memory_id WHERE o.out_of_memory_id = :case_id AND c.component <> 'DEVICE USED' AND c.bytes <> 0 " \
    "AND abs(c.bytes) * 200 >= o.own_bytes + coalesce(o.other_bytes, 0) ORDER BY c.bytes DESC, c.component, c.heap " \
    "LIMIT :most_count;"
#define NM_HELD_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(component) TEXT(heap) INTEGER(bytes) INTEGER(active_bytes) \
    INTEGER(free_bytes)
#define NM_HELD_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(case_id) INTEGER(most_count)
NM_QUESTION_ROW(held, NM_HELD_COLUMNS)
NM_QUESTION_ASK(held, NM_HELD_SQL, NM_HELD_PARAMETERS)

#endif
