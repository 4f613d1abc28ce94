/* SPDX-License-Identifier: Apache-2.0. Made of operation_ranges.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_OPERATION_RANGES_SQL_H
#define NM_PAGE_OPERATION_RANGES_SQL_H

#include "store/question.h"

#define NM_OPERATION_RANGES_SQL \
    "SELECT o.operation_id AS operation_id, o.parent_id AS parent_id, CASE WHEN k.name = 'module' THEN o.name END " \
    "AS module, CASE WHEN k.name = 'category' THEN o.name END AS category FROM operation AS o JOIN operation_kind " \
    "AS k ON k.kind = o.kind WHERE EXISTS ( SELECT 1 FROM operation AS m JOIN operation_kind AS n ON n.kind = " \
    "m.kind WHERE n.name IN ('module', 'category') ) ORDER BY o.operation_id;"
#define NM_OPERATION_RANGES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(operation_id) INTEGER(parent_id) TEXT(module) \
    TEXT(category)
NM_QUESTION_OF_TEXTS(operation_ranges, NM_OPERATION_RANGES_SQL, NM_OPERATION_RANGES_COLUMNS, NM_QUESTION_NONE)

#endif
