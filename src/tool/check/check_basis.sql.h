/* SPDX-License-Identifier: Apache-2.0. Made of check_basis.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_BASIS_SQL_H
#define NM_TOOL_CHECK_CHECK_BASIS_SQL_H

#include "store/question.h"

#define NM_CHECK_BASIS_SQL \
    "SELECT total(basis = 'exact') > 0 AS has_exact, total(basis IN ('curve', 'estimate')) > 0 AS has_estimate, " \
    "total(basis = 'none') > 0 AS has_untold FROM ( SELECT CASE :part WHEN 'fragmentation' THEN " \
    "i.fragmentation_basis WHEN 'hits' THEN i.hit_basis WHEN 'reserved' THEN CASE WHEN i.fragmentation_basis = " \
    "'none' THEN 'none' ELSE 'exact' END ELSE CASE WHEN i.device_basis <> 'exact' AND i.peak_basis = 'none' THEN " \
    "'none' ELSE 'exact' END END AS basis FROM main.input AS i WHERE :rank IS NULL OR EXISTS ( SELECT 1 FROM " \
    "main.process AS p WHERE p.input_id = i.input_id AND p.rank IS :rank ) );"
#define NM_CHECK_BASIS_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(has_exact) FLAG(has_estimate) FLAG(has_untold)
#define NM_CHECK_BASIS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(part) INTEGER(rank)
NM_QUESTION(check_basis, NM_CHECK_BASIS_SQL, NM_CHECK_BASIS_COLUMNS, NM_CHECK_BASIS_PARAMETERS)

#endif
