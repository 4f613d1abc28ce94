/* SPDX-License-Identifier: Apache-2.0. Made of merge_numbers.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_MERGE_NUMBERS_SQL_H
#define NM_STORE_MERGE_NUMBERS_SQL_H

#include "store/question.h"

#define NM_MERGE_NUMBERS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(name) TEXT(target)
#define NM_MERGE_NUMBERS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(owner)
NM_QUESTION_OF_TEXTS(merge_numbers, NM_MERGE_NUMBERS_COLUMNS, NM_MERGE_NUMBERS_PARAMETERS)

#endif
