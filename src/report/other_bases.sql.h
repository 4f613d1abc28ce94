/* SPDX-License-Identifier: Apache-2.0. Made of other_bases.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_OTHER_BASES_SQL_H
#define NM_REPORT_OTHER_BASES_SQL_H

#include "store/question.h"

#define NM_OTHER_BASES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(level) TEXT(base_basis) TEXT(run_basis)
#define NM_OTHER_BASES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) TEXT(level)
NM_QUESTION_OF_TEXTS(other_bases, NM_OTHER_BASES_COLUMNS, NM_OTHER_BASES_PARAMETERS)

#endif
