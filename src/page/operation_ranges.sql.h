/* SPDX-License-Identifier: Apache-2.0. Made of operation_ranges.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_OPERATION_RANGES_SQL_H
#define NM_PAGE_OPERATION_RANGES_SQL_H

#include "store/question.h"

#define NM_OPERATION_RANGES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(operation_id) INTEGER(parent_id) TEXT(module) \
    TEXT(category)
NM_QUESTION_OF_TEXTS(operation_ranges, NM_OPERATION_RANGES_COLUMNS, NM_QUESTION_NONE)

#endif
