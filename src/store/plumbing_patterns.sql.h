/* SPDX-License-Identifier: Apache-2.0. Made of plumbing_patterns.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_PLUMBING_PATTERNS_SQL_H
#define NM_STORE_PLUMBING_PATTERNS_SQL_H

#include "store/question.h"

#define NM_PLUMBING_PATTERNS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(target) TEXT(pattern) TEXT(origin)
NM_QUESTION_OF_TEXTS(plumbing_patterns, NM_PLUMBING_PATTERNS_COLUMNS, NM_QUESTION_NONE)

#endif
