/* SPDX-License-Identifier: Apache-2.0. Made of check_basis.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_BASIS_SQL_H
#define NM_TOOL_CHECK_CHECK_BASIS_SQL_H

#include "store/question.h"

#define NM_CHECK_BASIS_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(has_exact) FLAG(has_estimate) FLAG(has_untold)
#define NM_CHECK_BASIS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(part) INTEGER(rank)
NM_QUESTION(check_basis, NM_CHECK_BASIS_COLUMNS, NM_CHECK_BASIS_PARAMETERS)

#endif
