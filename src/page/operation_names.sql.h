/* SPDX-License-Identifier: Apache-2.0. Made of operation_names.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_OPERATION_NAMES_SQL_H
#define NM_PAGE_OPERATION_NAMES_SQL_H

#include "store/question.h"

#define NM_OPERATION_NAMES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(operation_id) TEXT(name)
NM_QUESTION_OF_TEXTS(operation_names, NM_OPERATION_NAMES_COLUMNS, NM_QUESTION_NONE)

#endif
