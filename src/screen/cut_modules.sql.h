/* SPDX-License-Identifier: Apache-2.0. Made of cut_modules.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_CUT_MODULES_SQL_H
#define NM_SCREEN_CUT_MODULES_SQL_H

#include "store/question.h"

#define NM_CUT_MODULES_SQL \
    "WITH RECURSIVE outwards (stack_id, bytes) AS ( SELECT p.stack_id, p.live_bytes FROM z_peak_stack AS p JOIN " \
    "stack AS k ON k.stack_id = p.stack_id JOIN heap AS h ON h.heap_id = p.heap_id WHERE k.is_cut = 1 AND NOT " \
    "p.is_baseline AND NOT ( h.level IN (1, 7) AND EXISTS ( SELECT 1 FROM heap AS o JOIN z_heap_sum AS t ON " \
    "t.heap_id = o.heap_id WHERE o.process_id = h.process_id AND o.device_id IS h.device_id AND o.level IN (2, 3) " \
    "AND t.peak_reserved_bytes > 0 ) ) UNION ALL SELECT k.parent_id, o.bytes FROM outwards AS o JOIN stack AS k ON " \
    "k.stack_id = o.stack_id WHERE k.parent_id IS NOT NULL ) SELECT f.module AS module, sum(o.bytes) AS bytes FROM " \
    "outwards AS o JOIN stack AS k ON k.stack_id = o.stack_id JOIN frame AS f ON f.frame_id = k.frame_id WHERE " \
    "k.parent_id IS NULL AND f.module IS NOT NULL GROUP BY f.module ORDER BY sum(o.bytes) DESC, f.module LIMIT 1;"
#define NM_CUT_MODULES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(module) INTEGER(bytes)
NM_QUESTION_OF_TEXTS(cut_modules, NM_CUT_MODULES_SQL, NM_CUT_MODULES_COLUMNS, NM_QUESTION_NONE)

#endif
